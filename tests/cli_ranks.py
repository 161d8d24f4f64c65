"""The command line under mpirun: the same bytes with any number of ranks, what is left when a rank dies or a disk
is full, and sweeps.

    cli_ranks.py PROGRAM
"""

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

# Whoever runs the tests, and however few cores there are.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
CLOTH = ("--grid", "6x6", "--length", "1", "--width", "1", "--mass", "0.5", "--stiffness", "20", "--damping", "0.2",
         "--anchor-size", "1")
DESCENT = ("--method", "trajectory", "--law", "published", "--horizons", "0.2", "--homogeneous-iterations", "2",
           "--validate-every", "1", "--no-report")
LONG = "300"  # iterations, so that there are many left when the second one is seen


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.shared = pathlib.Path(cls.scratch.name)
        for name, seed in (("motion.h5", "3"), ("test.h5", "4")):
            subprocess.run([sys.argv[1], "generate", *CLOTH, "--rollouts", "9", "--seconds", "0.5", "--stride", "5",
                            "--seed", seed, "--quiet", "--out", name],
                           cwd=cls.shared, check=True, stdout=subprocess.DEVNULL)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.folder = self.shared / self.id().rsplit(".", 1)[-1]
        self.folder.mkdir()
        self.motion, self.test = str(self.shared / "motion.h5"), str(self.shared / "test.h5")

    def command(self, ranks, *arguments):
        """Without MPI for no ranks."""
        start = ["mpirun", "-n", str(ranks)] if ranks else []
        return [*start, sys.argv[1], *arguments]

    def run_it(self, ranks, *arguments, code=0, **more):
        told = subprocess.run(self.command(ranks, *arguments), cwd=self.folder, env=ENVIRONMENT, text=True,
                              capture_output=True, timeout=1800, check=False, **more)
        self.assertEqual(told.returncode, code, told.stderr)
        return told

    def same(self, make, path):
        """Makes a file without MPI and with 1 to 4 ranks; make(ranks, folder) gets the arguments."""
        hashes = {}
        for ranks in range(5):
            out = self.folder / str(ranks)
            out.mkdir()
            self.run_it(ranks, *make(out), "--threads", str(1 + ranks % 2), "--quiet")
            hashes[ranks] = digest(out / path)
        self.assertEqual(len(set(hashes.values())), 1, hashes)

    # ---- The same bytes

    def test_generate(self):
        self.same(lambda out: ("generate", *CLOTH, "--rollouts", "21", "--seconds", "0.2", "--stride", "5",
                               "--out", str(out / "m.h5")), "m.h5")

    def test_identify_and_evaluate(self):
        self.same(lambda out: ("train", self.motion, "--method", "linear", "--no-report",
                               "--out", str(out / "run")), "run/cloth.json")
        told = {}
        for ranks in range(5):
            result = json.loads(self.run_it(ranks, "evaluate", "0/run/cloth.json", self.test, "--json",
                                            "--quiet").stdout)
            told[ranks] = json.dumps(result, sort_keys=True)
        self.assertEqual(len(set(told.values())), 1, told)

    def test_train(self):
        """The gradient is in the log of every iteration."""
        logs = []
        for ranks in range(5):
            out = str(self.folder / str(ranks))
            self.run_it(ranks, "train", self.motion, *DESCENT, "--iterations", "3", "--out", out, "--quiet",
                        "--threads", "1")
            lines = [json.loads(line) for line in (self.folder / out / "log.jsonl").read_text().splitlines()]
            for line in lines:
                line.pop("seconds")
            logs.append((digest(self.folder / out / "cloth.json"), json.dumps(lines)))
        self.assertGreaterEqual(len(json.loads(logs[0][1])), 3)
        self.assertEqual(len(set(logs)), 1, [log[0] for log in logs])

    # ---- What goes wrong

    def ranks_of(self, process):
        """The processes that mpirun has started, the first rank first."""
        found = {}
        while len(found) < 3:
            self.assertIsNone(process.poll(), "it ended before all ranks were there")
            for entry in pathlib.Path("/proc").iterdir():
                try:
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    if parent != process.pid:
                        continue
                    words = (entry / "environ").read_bytes().split(b"\0")
                    ranks = [word for word in words if word.startswith(b"OMPI_COMM_WORLD_RANK=")]
                    if ranks:
                        found[int(ranks[0].split(b"=")[1])] = int(entry.name)
                except (OSError, ValueError, IndexError):
                    continue  # no process, or one that has just ended
        return [found[rank] for rank in sorted(found)]

    def test_a_rank_that_dies_is_named_and_the_rest_goes_on_with_other_ranks(self):
        arguments = ("train", self.motion, *DESCENT, "--iterations", LONG, "--threads", "1", "--quiet")
        self.run_it(0, *arguments, "--out", "whole")
        process = subprocess.Popen(self.command(3, *arguments, "--out", "cut"), cwd=self.folder, env=ENVIRONMENT,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        ranks = self.ranks_of(process)
        log = self.folder / "cut" / "log.jsonl"
        while not log.exists() or log.read_text().count("\n") < 2:
            self.assertIsNone(process.poll(), "it ended too soon")
            time.sleep(0.01)
        os.kill(ranks[2], signal.SIGKILL)
        told = process.communicate()[1]
        self.assertNotEqual(process.returncode, 0)
        self.assertRegex(told, r"rank 2\b")
        self.assertFalse((self.folder / "cut" / "cloth.json").exists())
        self.run_it(2, "train", "--resume", "cut", "--threads", "1", "--quiet", "--no-report")
        self.assertEqual(digest(self.folder / "cut" / "cloth.json"), digest(self.folder / "whole" / "cloth.json"))

    def test_a_full_disk_leaves_what_was_finished(self):
        arguments = ("generate", *CLOTH, "--rollouts", "40", "--seconds", "0.5", "--stride", "5", "--quiet",
                     "--threads", "1")
        self.run_it(0, *arguments, "--out", "whole.h5")
        half = (self.folder / "whole.h5").stat().st_size // 2
        limit = f"ulimit -f {half // 1024}; trap '' XFSZ; exec \"$@\""
        told = subprocess.run(["mpirun", "-n", "3", "bash", "-c", limit, "bash", sys.argv[1], *arguments,
                               "--out", "cut.h5"],
                              cwd=self.folder, env=ENVIRONMENT, text=True, capture_output=True, check=False)
        self.assertEqual(told.returncode, 1, told.stderr)
        self.assertIn("cut.h5", told.stderr)
        self.run_it(2, *arguments, "--out", "cut.h5", "--resume")
        self.assertEqual(digest(self.folder / "cut.h5"), digest(self.folder / "whole.h5"))

    def test_a_signal_leaves_what_resume_goes_on_from(self):
        """From a scheduler every rank gets it, and the first one says what to do. mpirun passes it on to the ranks,
        too, but not always what they say then."""
        arguments = ("train", self.motion, *DESCENT, "--iterations", LONG, "--threads", "1", "--quiet")
        self.run_it(0, *arguments, "--out", "whole")
        for out in ("ranks", "mpirun"):
            process = subprocess.Popen(self.command(3, *arguments, "--out", out), cwd=self.folder, env=ENVIRONMENT,
                                       text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            ranks = self.ranks_of(process)
            log = self.folder / out / "log.jsonl"
            while not log.exists() or log.read_text().count("\n") < 2:
                self.assertIsNone(process.poll(), "it ended too soon")
                time.sleep(0.01)
            if out == "ranks":
                for rank in reversed(ranks):
                    os.kill(rank, signal.SIGTERM)
                self.assertIn("--resume", process.communicate()[1])
                self.assertEqual(process.returncode, 1)
            else:
                process.send_signal(signal.SIGTERM)
                process.communicate()
                self.assertNotEqual(process.returncode, 0)
            self.run_it(2, "train", "--resume", out, "--threads", "1", "--quiet", "--no-report")
            self.assertEqual(digest(self.folder / out / "cloth.json"), digest(self.folder / "whole" / "cloth.json"))

    def test_the_script_for_a_scheduler_runs_as_printed(self):
        page = pathlib.Path(__file__).parent.parent / "docs" / "scale.md"
        script = page.read_text().split("```bash\n")[1].split("```")[0]
        (self.folder / "train.sh").write_text(script)
        (self.folder / "motion.h5").symlink_to(self.motion)
        path = f"{pathlib.Path(sys.argv[1]).parent}:{os.environ['PATH']}"
        for _ in range(2):  # the second time it goes on in what is there
            told = subprocess.run(["bash", "train.sh"], cwd=self.folder, text=True, capture_output=True, check=False,
                                  env={**ENVIRONMENT, "PATH": path, "SLURM_NTASKS": "3"})
            self.assertEqual(told.returncode, 0, told.stderr)
        self.run_it(0, "train", self.motion, "--out", "alone", "--quiet", "--no-report")
        self.assertEqual(digest(self.folder / "run" / "cloth.json"), digest(self.folder / "alone" / "cloth.json"))

    def test_bad_input_is_said_once(self):
        told = self.run_it(3, "train", "no-such-file.h5", code=2)
        self.assertEqual(told.stderr.count("springtime: "), 1, told.stderr)

    def test_without_the_component_it_says_what_to_install(self):
        alone = self.folder / "springtime"
        alone.write_bytes(pathlib.Path(sys.argv[1]).read_bytes())
        alone.chmod(0o755)
        told = subprocess.run([str(alone), "inspect", self.motion], text=True, capture_output=True, check=False,
                              env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
        self.assertEqual(told.returncode, 2)
        self.assertIn("scripts/setup mpi", told.stderr)

    # ---- Sweeps

    def study(self, text):
        (self.folder / "study.toml").write_text(f'motion = "{self.motion}"\n{text}')

    PRODUCT = """
test = "../test.h5"
ensemble = 2
[train]
method = "linear"
[product]
grid = ["6x6", "5x5"]
"""

    def test_a_sweep_is_the_same_on_cores_and_ranks(self):
        self.study(self.PRODUCT)
        tables = []
        for ranks in (0, 3):
            told = json.loads(self.run_it(ranks, "sweep", "study.toml", "--out", str(ranks), "--json", "--quiet",
                                          "--no-report").stdout)
            self.assertEqual(len(told["members"]), 4)
            self.assertEqual(told["best"].split(",")[0], "grid-6x6")
            self.assertLess(told["ensembles"]["grid-6x6"]["motion_spread"], 1e-3)
            for row in told["members"].values():
                row.pop("seconds")
            tables.append((json.dumps(told["members"]), json.dumps(told["ensembles"]),
                           [digest(path) for path in sorted((self.folder / str(ranks)).rglob("cloth.json"))]))
        self.assertEqual(tables[0], tables[1])

    def test_a_member_that_fails_is_told_and_the_others_go_on(self):
        self.study('[train]\nmethod = "linear"\n[[member]]\nname = "good"\n'
                   '[[member]]\nname = "bad"\ngrid = "1x1"\n[[member]]\nname = "other"\ngrid = "5x5"\n')
        for ranks in (0, 2):
            told = self.run_it(ranks, "sweep", "study.toml", "--out", str(ranks), "--json", "--no-report", code=1)
            result = json.loads(told.stdout)
            self.assertEqual([row["state"] for row in result["members"].values()], ["done", "failed", "done"])
            self.assertIn("grid", result["failures"]["bad"])
            self.assertIn("bad", told.stderr)

    def test_again_it_does_what_is_missing(self):
        self.study(self.PRODUCT)
        self.run_it(0, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report")
        cloths = sorted((self.folder / "s" / "members").glob("*/cloth.json"))
        before = {path: (path.stat().st_mtime_ns, digest(path)) for path in cloths}
        subprocess.run(["rm", "-r", cloths[1].parent], check=True)
        self.run_it(2, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report")
        for i, path in enumerate(cloths):
            self.assertEqual(digest(path), before[path][1])
            self.assertEqual(path.stat().st_mtime_ns == before[path][0], i != 1)

    def test_another_study_is_refused(self):
        self.study(self.PRODUCT)
        self.run_it(0, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report")
        self.study(self.PRODUCT.replace("5x5", "4x4"))
        told = self.run_it(0, "sweep", "study.toml", "--out", "s", "--no-report", code=2)
        self.assertIn("study.toml", told.stderr)

    def test_motions_are_opened_before_anything_is_trained(self):
        for text in (self.PRODUCT.replace("test.h5", "no-test.h5"),
                     self.PRODUCT + '[[member]]\nname = "far"\nmotion = "no-motion.h5"\n'):
            self.study(text)
            told = self.run_it(0, "sweep", "study.toml", "--out", "s", "--no-report", code=2)
            self.assertIn("no-", told.stderr)
            self.assertFalse((self.folder / "s").exists())

    def test_another_test_is_measured_without_training(self):
        sweep = ("sweep", "study.toml", "--out", "s", "--quiet", "--no-report", "--json")
        self.study(self.PRODUCT)
        first = json.loads(self.run_it(0, *sweep).stdout)
        cloths = {path: path.stat().st_mtime_ns for path in (self.folder / "s" / "members").glob("*/cloth.json")}
        self.study("# another\n" + self.PRODUCT.replace("../test.h5", self.motion))
        second = json.loads(self.run_it(0, *sweep).stdout)
        for name, row in second["members"].items():
            if name.startswith("grid-5x5"):  # the other grid is that of the motion: no error at all
                self.assertNotEqual(row["test_rmse"], first["members"][name]["test_rmse"])
            kept = json.loads((self.folder / "s" / "members" / name / "test.json").read_text())
            self.assertEqual(kept["motion"], self.motion)
            self.assertEqual(row["validation_rmse"], first["members"][name]["validation_rmse"])
        self.assertEqual(len(cloths), 4)
        for path, time_of in cloths.items():
            self.assertEqual(path.stat().st_mtime_ns, time_of)

    def test_a_member_that_cannot_be_measured_is_a_line_of_the_table(self):
        sweep = ("sweep", "study.toml", "--out", "s", "--quiet", "--no-report", "--json")
        self.study(self.PRODUCT)
        self.run_it(0, *sweep)
        members = sorted((self.folder / "s" / "members").glob("*/cloth.json"))
        members[0].write_text("no cloth")
        (members[0].parent / "test.json").unlink()
        members[2].write_text("no cloth either")  # its error is known, so the ensemble finds it
        result = json.loads(self.run_it(0, *sweep, code=1).stdout)
        self.assertEqual([row["state"] for row in result["members"].values()].count("done"), 3)
        bad, group = members[0].parent.name, members[2].parent.name.rsplit(",", 1)[0]
        self.assertEqual(result["members"][bad]["state"], "failed")
        self.assertEqual(set(result["failures"]), {bad, group})

    def test_a_frame_that_shows_nothing_is_left_out_of_the_error_of_an_ensemble(self):
        frames, dark = 30, 20
        lines = ["time," + ",".join(f"p{i}.{axis}" for i in range(25) for axis in "xyz")]
        for frame in range(frames):
            row = [f"{frame / 60:.6f}"]
            for i in range(25):
                along, down = i % 5 / 4, i // 5 / 4
                fall = 0.05 * (frame / 60) ** 2 * 9.81 * (along + down)
                row += [""] * 3 if frame == dark and i else [f"{along}", f"{1 - fall}", f"{down}"]
            lines.append(",".join(row))
        (self.folder / "seen.csv").write_text("\n".join(lines) + "\n")
        self.run_it(0, "import", "seen.csv", "--grid", "5x5", "--length", "1", "--width", "1", "--mass", "0.5",
                    "--pinned", "corner-nw", "--unit", "m", "--out", "seen.h5", "--quiet")
        self.study('test = "seen.h5"\nensemble = 2\n[train]\nmethod = "linear"\n')
        result = json.loads(self.run_it(0, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report",
                                        "--json").stdout)
        self.assertGreater(result["ensembles"]["all"]["motion_error"], 0)
        rows = (self.folder / "s" / "ensembles" / "all" / "motion.csv").read_text().split()[1:]
        self.assertEqual(len(rows), frames - 1)
        self.assertNotIn("nan", "".join(rows))

    def test_long_names_of_members_are_shortened(self):
        self.study('[train]\nmethod = "linear"\n[product]\ngrid = ["6x6"]\n[[member]]\n'
                   f'name = "{"a" * 300}"\n[[member]]\nname = "{"a" * 299}b"\n')
        result = json.loads(self.run_it(0, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report",
                                        "--json").stdout)
        self.assertEqual(list(result["members"])[1:], [f"{'a' * 180}-{i}" for i in (2, 3)])

    def test_two_sweeps_do_not_collide(self):
        self.study(f'[train]\n{toml(DESCENT)}iterations = [4000]\n[product]\nseed = [1, 2]\n')
        first = subprocess.Popen(self.command(0, "sweep", "study.toml", "--out", "s", "--quiet", "--no-report"),
                                 cwd=self.folder, text=True, stderr=subprocess.PIPE)
        while not list(self.folder.glob("s/members/*/config.toml")):
            self.assertIsNone(first.poll(), "it ended too soon")
            time.sleep(0.01)
        told = self.run_it(2, "sweep", "study.toml", "--out", "s", "--no-report", code=1)
        self.assertIn("another springtime", told.stderr)
        first.send_signal(signal.SIGINT)
        self.assertIn("the same command goes on", first.communicate()[1])
        self.assertEqual(first.returncode, 1)

    def test_what_is_no_study(self):
        for text, word in (("motion = 3", "motion"), ("[product]\ngrid = 3", "grid"), ("colour = 1", "colour"),
                           ("ensemble = 1", "ensemble"), ("[[member]]\ngrid = '3x3'", "name"), ("x =", "TOML"),
                           ("[[member]]\nname='a'\n[[member]]\nname='a'", "'a'"),
                           ("ensemble = 60000\n[product]\nbatch = [1, 2]", "split")):
            (self.folder / "bad.toml").write_text(text + "\n")
            told = self.run_it(0, "sweep", "bad.toml", "--out", "s", code=2)
            self.assertIn("bad.toml", told.stderr)
            self.assertIn(word, told.stderr)
        self.assertFalse((self.folder / "s").exists())


def toml(flags):
    """Flags as keys; switches without a value are left out."""
    pairs = [(flags[i][2:], flags[i + 1]) for i in range(len(flags) - 1)
             if flags[i].startswith("--") and not flags[i + 1].startswith("--")]
    return "".join(f"{key} = {value if value[0].isdigit() else repr(value)}\n" for key, value in pairs)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
