"""The part of cli_test.py about writing: two writers at once, what is replaced and what is not, what a run is
resumed from, and output that does not arrive."""

import filecmp
import json
import re
import resource
import shutil
import signal
import subprocess
import sys

from cli_kinds import long_run

PROGRAM = sys.argv[1]
ROUNDS = 20
TINY = ["--grid", "6x6", "--mass", "3.6", "--seconds", "0.4", "--stride", "20", "--rollouts", "3",
        "--anchor-size", "1"]
SHEET = ["--grid", "6x6", "--length", "15.5", "--width", "15.5", "--mass", "3.6", "--trust"]
SOLVE = ["--grid", "6x6", "--method", "linear", "--quiet"]


class Writing:
    def start(self, *arguments, **more):
        return subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **more)

    def names(self, folder="."):
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def tiny(self, out, *more):
        self.run_it("generate", "--out", out, "--quiet", *TINY, *more)

    def together(self, one, other):
        """Runs two commands at once; the exit codes, and what they said."""
        processes = [self.start(*one), self.start(*other)]
        said = [process.communicate()[1] for process in processes]
        return [process.returncode for process in processes], said

    def expect_one_winner(self, one, other, out, expected, removed):
        """Two commands that write the same name, many times. `expected` are the files that each would make
        alone; exactly one of the two must be there, and the other must have said why it is not."""
        before = self.names()
        for _ in range(ROUNDS):
            codes, said = self.together(one, other)
            self.assertEqual(codes.count(0), 1, (codes, said))
            winner = codes.index(0)
            self.assertTrue(self.same_files(out, expected[winner]), (codes, said))
            self.assertRegex(said[1 - winner], "another springtime is writing|exists already|"
                                               "was made by another program")
            self.assertIn(codes[1 - winner], (1, 2))
            for name in removed:
                (self.folder / name).unlink()
            self.assertEqual(self.names(), before)
        # With --overwrite both may win, one after the other.
        for _ in range(ROUNDS):
            codes, said = self.together([*one, "--overwrite"], [*other, "--overwrite"])
            self.assertIn(0, codes)
            won = [name for name, code in zip(expected, codes) if code == 0]
            self.assertTrue(any(self.same_files(out, name) for name in won), (codes, said))
            for code, text in zip(codes, said):
                if code != 0:
                    self.assertEqual(code, 1)
                    self.assertIn("another springtime is writing this", text)
        for name in removed:
            (self.folder / name).unlink()
        self.assertEqual(self.names(), before)

    def test_two_that_generate_one_file(self):
        commands = [["generate", "--quiet", *TINY, "--seed", seed, "--out"] for seed in (1, 2)]
        for command, name in zip(commands, ("a.h5", "b.h5")):
            self.run_it(*command, name)
        self.expect_one_winner(*[[*command, "m.h5"] for command in commands], "m.h5",
                               ("a.h5", "b.h5"), ("m.h5", "m.cloth.json"))

    def test_two_that_simulate_one_file(self):
        self.tiny("s.h5")
        commands = [["simulate", "s.cloth.json", "--start", f"s.h5#{start}", "--seconds", "0.4",
                     "--quiet", "--out"] for start in (0, 1)]
        for command, name in zip(commands, ("a.h5", "b.h5")):
            self.run_it(*command, name)
        self.expect_one_winner(*[[*command, "m.h5"] for command in commands], "m.h5",
                               ("a.h5", "b.h5"), ("m.h5",))

    def test_two_that_import_one_file(self):
        commands = []
        for name, seed in (("a", 1), ("b", 2)):
            self.tiny(f"{name}0.h5", "--seed", seed)
            self.run_it("export", f"{name}0.h5", "--to", "csv", "--rollout", "0", "--out",
                        f"{name}.csv", "--quiet")
            commands.append(["import", f"{name}.csv", *SHEET, "--quiet", "--out"])
            self.run_it(*commands[-1], f"{name}.h5")
        self.expect_one_winner(*[[*command, "m.h5"] for command in commands], "m.h5",
                               ("a.h5", "b.h5"), ("m.h5",))

    def test_two_that_export_one_file(self):
        self.tiny("s.h5")
        for format in ("npz", "csv"):
            commands = [["export", "s.h5", "--to", format, "--rollout", rollout, "--quiet", "--out"]
                        for rollout in (0, 1)]
            for command, name in zip(commands, ("a", "b")):
                self.run_it(*command, f"{name}.{format}")
            self.expect_one_winner(*[[*command, "m"] for command in commands], "m",
                                   (f"a.{format}", f"b.{format}"), ("m",))

    def test_two_that_train_in_one_folder(self):
        self.tiny("m.h5", "--rollouts", "4")
        command = ["train", "m.h5", "--out", "run", *SOLVE]
        self.run_it(*command[:3], "alone", *SOLVE)
        for _ in range(ROUNDS):
            codes, said = self.together(command, command)
            self.assertEqual(codes.count(0), 1, (codes, said))
            self.assertRegex(said[1 - codes.index(0)], "another springtime is writing|holds a run")
            self.assertEqual(self.names("run"), self.names("alone"))
            self.assertTrue(self.same_files("run/cloth.json", "alone/cloth.json"))
            shutil.rmtree(self.folder / "run")

    def wait_for(self, process, path):
        """Until the process has made the file. Its end, not a time, is what stops the wait in vain."""
        while not path.exists():
            self.assertIsNone(process.poll(), process.stderr)

    def test_a_run_that_is_under_way_is_left_alone(self):
        self.tiny("m.h5", "--rollouts", "4")
        process = self.start("train", "m.h5", "--out", "run", *self.TRAIN, "--grid", "6x6",
                             "--stiffness-iterations", "100000")
        self.wait_for(process, self.folder / "run/config.toml")
        for arguments in (["--resume", "run"], ["m.h5", "--out", "run", "--overwrite"]):
            told = self.run_it("train", *arguments, code=1)
            self.assertIn("run: another springtime is writing into this folder", told.stderr)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        self.run_it("train", "m.h5", "--out", "run", "--overwrite", *SOLVE)  # its lock died with it
        self.assertFalse((self.folder / "run/checkpoint-a.bin").exists())

    # ---- what is replaced -------------------------------------------------------------------

    def test_a_part_with_rollouts_is_kept_and_known_by_every_verb(self):
        process = self.start("generate", "--quiet", *TINY, "--seconds", "4", "--rollouts", "100000",
                             "--out", "m.h5")
        part = self.folder / "m.h5.part"
        self.wait_for(process, part)
        while part.stat().st_size < 300_000:
            self.assertIsNone(process.poll())
        busy = self.run_it("inspect", "m.h5.part", code=1).stderr
        self.assertIn("m.h5.part: another springtime is writing this", busy)
        process.send_signal(signal.SIGINT)  # leaves m.h5; a kill might tear the part
        process.communicate()
        (self.folder / "m.h5").rename(part)
        (self.folder / "m.cloth.json").rename(self.folder / "c.json")
        before = part.read_bytes()
        for verb in (["generate", *TINY], ["simulate", "c.json"]):
            told = self.run_it(*verb, "--out", "m.h5", code=2).stderr
            self.assertRegex(told, r"m.h5.part: holds \d+ of 100000 rollouts.*--resume.*--overwrite")
        self.assertEqual(part.read_bytes(), before)
        done = json.loads(self.run_it("inspect", "m.h5.part", "--json").stdout)["rollouts"]
        for verb in (["inspect", "m.h5.part"],
                     ["evaluate", "c.json", "m.h5.part"],
                     ["export", "m.h5.part", "--to", "csv", "--rollout", "0"],
                     ["simulate", "c.json", "--start", "m.h5.part#0", "--seconds", "0.1"],
                     ["train", "m.h5.part", *SOLVE]):
            told = self.run_it(*verb, "--quiet").stderr
            self.assertIn(f"m.h5.part: is not finished, it holds {done} of 100000 rollouts", told)
            self.assertIn("springtime generate --resume --out m.h5 goes on", told)
        self.run_it("generate", "--resume", "--rollouts", done + 2, "--out", "m.h5", "--quiet")
        self.assertEqual(self.inspect("m.h5")["rollouts"], done + 2)
        self.assertFalse(part.exists())

    def test_interrupting_an_overwrite_keeps_what_was_there(self):
        self.tiny("m.h5")
        kept = [(self.folder / name).read_bytes() for name in ("m.h5", "m.cloth.json")]
        process = self.start("generate", "--quiet", *TINY, "--seconds", "4", "--rollouts", "100000",
                             "--out", "m.h5", "--overwrite")
        part = self.folder / "m.h5.part"
        self.wait_for(process, part)
        while part.stat().st_size < 300_000:
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        self.assertEqual(process.returncode, 1)
        self.assertIn("m.h5 is as it was", said)
        self.assertEqual([(self.folder / name).read_bytes() for name in ("m.h5", "m.cloth.json")], kept)
        told = self.run_it("generate", "--resume", "--out", "m.h5", code=2).stderr
        self.assertIn("m.h5: is of another run than m.h5.part", told)
        (self.folder / "m.h5").unlink()
        (self.folder / "m.cloth.json").unlink()
        done = int(re.search(r"interrupted; (\d+) of", said).group(1))
        self.run_it("generate", "--resume", "--rollouts", done, "--out", "m.h5", "--quiet")
        self.assertEqual(self.names(), ["m.cloth.json", "m.h5"])

    def test_nothing_is_replaced_unasked_and_no_input_ever(self):
        self.tiny("m.h5")
        self.run_it("train", "m.h5", "--out", "run", *SOLVE)
        self.run_it("export", "m.h5", "--to", "csv", "--rollout", "0", "--out", "m.csv", "--quiet")
        (self.folder / "takes").mkdir()
        shutil.copy(self.folder / "m.csv", self.folder / "takes/a.csv")
        (self.folder / "link.h5").symlink_to("m.h5")
        (self.folder / "s.toml").write_text("seconds = 0.1\n")
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        cloth = "run/cloth.json"
        for out, arguments in (
            ("m.h5", ["simulate", cloth, "--start", "m.h5#0"]),
            ("link.h5", ["simulate", cloth, "--start", "m.h5#0"]),
            (cloth, ["simulate", cloth]),
            ("s.toml", ["simulate", cloth, "--config", "s.toml"]),
            (cloth, ["generate", "--design-for", cloth]),
            ("run/cloth.h5", ["generate", "--design-for", "run/cloth.cloth.json"]),
            ("s.toml", ["generate", "--config", "s.toml"]),
            ("m.csv", ["import", "m.csv", *SHEET]),
            ("takes/a.csv", ["import", "takes", *SHEET]),
            ("m.h5", ["export", "m.h5", "--to", "csv", "--rollout", "0"]),
            (cloth, ["export", "run", "--to", "csv"]),
            (cloth, ["export", "m.h5", "--to", "ply", "--rollout", "0", "--maps", "run"]),
            ("m.h5", ["evaluate", cloth, "m.h5"]),
            ("run/homogeneous.json", ["evaluate", cloth, "m.h5"]),
        ):
            if "run/cloth.cloth.json" in arguments or "homogeneous" in out:
                shutil.copy(self.folder / cloth, self.folder / "run" /
                            ("cloth.cloth.json" if "homogeneous" not in out else "homogeneous.json"))
            if arguments[0] != "generate":
                self.run_it(*arguments, "--out", out, code=2)
            told = self.run_it(*arguments, "--out", out, "--overwrite", code=2).stderr
            self.assertIn("is read as well", told, arguments)
            self.assertIn("standard output",
                          self.run_it(*arguments, "--out", "-", "--overwrite", code=2).stderr)
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, path)
        # What is no input is replaced, but only when asked.
        self.run_it("evaluate", cloth, "m.h5", "--out", "e.json", "--quiet")
        told = self.run_it("evaluate", cloth, "m.h5", "--out", "e.json", code=2).stderr
        self.assertIn("e.json: exists already; replace it with --overwrite", told)
        self.run_it("evaluate", cloth, "m.h5", "--out", "e.json", "--overwrite", "--quiet")

    def test_folders_of_others_are_left_alone(self):
        self.tiny("m.h5", "--rollouts", "4")
        for name in ("cloth.json", "stiffness.png", "step-1.json", "fingerprint.json"):
            folder = self.folder / name.replace(".", "-")
            folder.mkdir()
            (folder / name).write_text("mine")
            for more in ([], ["--overwrite"]):
                self.assertIn(name, self.run_it("train", "m.h5", "--out", folder.name, *SOLVE, *more,
                                                code=2).stderr)
            for verb in (["demo", "--overwrite"], ["reproduce", "locking", "--scale", "smoke"]):
                told = self.run_it(*verb, "--out", folder.name, code=2).stderr
                self.assertIn("is not ours", told)
            self.assertEqual(self.names(folder.name), [name])
            self.assertEqual((folder / name).read_text(), "mine")
        for verb in (["train", "m.h5"], ["demo"], ["reproduce", "locking"]):
            self.assertIn("standard output", self.run_it(*verb, "--out", "-", code=2).stderr)
        # A run is replaced when asked, and what else lies there stays.
        self.run_it("train", "m.h5", "--out", "run", *SOLVE)
        (self.folder / "run/notes.txt").write_text("mine")
        (self.folder / "run/step-7.json").write_text("{}")
        self.assertIn("--overwrite", self.run_it("train", "m.h5", "--out", "run", *SOLVE, code=2).stderr)
        shutil.copy(self.folder / "m.h5", self.folder / "run/result.json")
        told = self.run_it("train", "run/result.json", "--out", "run", *SOLVE, "--overwrite", code=2)
        self.assertIn("is read as well", told.stderr)
        self.run_it("train", "m.h5", "--out", "run", *SOLVE, "--overwrite")
        self.assertEqual((self.folder / "run/notes.txt").read_text(), "mine")
        self.assertFalse((self.folder / "run/step-7.json").exists())

    def test_folders_of_results_are_replaced_when_asked(self):
        # Versions before had no marker in their folders.
        for verb, left in ((["demo"], ("source.json", "motion.h5", "test.h5")),
                           (["reproduce", "locking"], ("result.json", "result.md"))):
            old = self.folder / ("old-" + verb[0])
            old.mkdir()
            for name in left:
                (old / name).write_text("{}")
            told = self.run_it(*verb, "--out", old.name, code=2).stderr
            self.assertIn("filled by an older version; replace it with --overwrite", told)
            self.assertEqual(self.names(old.name), sorted(left))
            # With one of these missing it may be of anybody.
            (old / left[0]).unlink()
            self.assertIn("is not ours", self.run_it(*verb, "--out", old.name, "--overwrite", code=2).stderr)

    @long_run
    def test_reproduce_begins_anew_when_told_to(self):
        self.run_it("reproduce", "locking", "--scale", "smoke", "--out", "r", "--quiet")
        result = (self.folder / "r/result.json").read_text()
        told = self.run_it("reproduce", "locking", "--scale", "quick", "--out", "r", code=2).stderr
        self.assertIn("filled with other settings (reproduction.toml has them); replace it with --overwrite", told)
        self.assertEqual((self.folder / "r/result.json").read_text(), result)
        (self.folder / "r/notes.txt").write_text("mine")
        made = next((self.folder / "r").rglob("train.h5"))
        before = made.stat().st_mtime_ns
        self.run_it("reproduce", "locking", "--scale", "smoke", "--out", "r", "--quiet")
        self.assertEqual(made.stat().st_mtime_ns, before)  # taken up
        self.run_it("reproduce", "locking", "--scale", "smoke", "--out", "r", "--quiet", "--overwrite")
        self.assertGreater(made.stat().st_mtime_ns, before)
        self.assertEqual((self.folder / "r/notes.txt").read_text(), "mine")

    def test_bad_input_leaves_no_folder(self):
        self.tiny("m.h5", "--rollouts", "4")
        for bad in (["--grid", "0x0"], ["--grid", "99999x9"]):
            told = self.run_it("train", "m.h5", "--out", "x", *bad, code=2).stderr
            self.assertIn("--grid: grid", told)
            self.assertFalse((self.folder / "x").exists())
        (self.folder / "empty").mkdir()
        self.assertIn("holds no run", self.run_it("inspect", "empty", code=2).stderr)
        self.assertIn("is a directory", self.run_it("generate", "--out", "empty", code=2).stderr)
        self.assertIn("the name is empty", self.run_it("generate", "--out", "", code=2).stderr)

    def test_settings_of_older_versions(self):
        self.tiny("m.h5", "--rollouts", "4")
        (self.folder / "c.toml").write_text('solver = "iterative"\n')
        told = self.run_it("train", "m.h5", "--out", "x", "--config", "c.toml", code=2).stderr
        self.assertIn("c.toml:1: key 'solver': this setting is gone", told)
        (self.folder / "c.toml").write_text('solver = "direct"\n')  # as older runs have it
        self.run_it("train", "m.h5", "--out", "x", "--config", "c.toml", *SOLVE)

    # ---- what is resumed --------------------------------------------------------------------

    def begun_run(self):
        """A run that was interrupted, and the cloth that it would have learned."""
        self.tiny("m.h5", "--rollouts", "4")
        few = [*self.TRAIN, "--grid", "6x6", "--stiffness-iterations", "300", "--damping-iterations", "1",
               "--rounds", "1"]
        self.run_it("train", "m.h5", "--out", "whole", *few)
        process = self.start("train", "m.h5", "--out", "run", *few)
        self.wait_for(process, self.folder / "run/homogeneous.json")
        process.send_signal(signal.SIGTERM)
        process.communicate()

    def test_resume_refuses_another_motion_and_other_settings(self):
        self.begun_run()
        config = self.folder / "run/config.toml"
        good, motion = config.read_bytes(), (self.folder / "m.h5").read_bytes()
        for place in range(0, len(good), 13):
            flipped = bytearray(good)
            flipped[place] ^= 1
            config.write_bytes(flipped)
            told = self.run_it("train", "--resume", "run", code=2).stderr
            self.assertIn("run/config.toml: is not what the run was begun with", told)
        config.write_bytes(good)
        # The last bytes are positions of the last rollout.
        changed = bytearray(motion)
        changed[motion.rindex(b"\x3f")] ^= 1
        for other in (bytes(changed), None):
            if other:
                (self.folder / "m.h5").write_bytes(other)
            else:
                self.tiny("m.h5", "--rollouts", "4", "--seed", "9", "--overwrite")
            told = self.run_it("train", "--resume", "run", code=2).stderr
            self.assertIn("m.h5: is not the motion that run was begun with", told)
        # It has moved; it has another name; it is named again.
        (self.folder / "m.h5").unlink()
        told = self.run_it("train", "--resume", "run", code=2).stderr
        self.assertIn("springtime train --resume run MOTION.h5", told)
        (self.folder / "elsewhere").mkdir()
        (self.folder / "elsewhere/moved.h5").write_bytes(motion)
        self.run_it("train", "--resume", "run", "--quiet", "elsewhere/moved.h5")
        self.assertTrue(self.same_files("run/cloth.json", "whole/cloth.json"))
        told = self.run_it("train", "--resume", "run", "--overwrite", "elsewhere/moved.h5", code=2).stderr
        self.assertIn("--resume and --overwrite", told)

    # ---- what cannot be written -------------------------------------------------------------

    def test_a_result_that_does_not_arrive_is_a_failure(self):
        self.tiny("m.h5")
        run = [["inspect", "m.h5"], ["evaluate", "m.cloth.json", "m.h5"], ["generate", "--help"],
               ["export", "m.h5", "--to", "csv", "--rollout", "0", "--overwrite"], ["--version"],
               ["train", "m.h5", *SOLVE, "--overwrite"]]
        for arguments in run:
            for more in ([], ["--json"]):
                if more and arguments[-1] in ("--help", "--version"):
                    continue
                with open("/dev/full", "w") as full:
                    told = subprocess.run([PROGRAM, *arguments, *more], cwd=self.folder, stdout=full,
                                          stderr=subprocess.PIPE, text=True)
                self.assertEqual(told.returncode, 1, (arguments, told.stderr))
                self.assertIn("standard output: cannot be written", told.stderr)
        # Nothing that is opened takes the place of a closed standard output.
        command = f"'{PROGRAM}' generate {' '.join(TINY)} --out closed.h5 --quiet --json >&-"
        self.assertEqual(subprocess.run(["sh", "-c", command], cwd=self.folder,
                                        stderr=subprocess.DEVNULL).returncode, 1)
        self.assertTrue(self.same_files("closed.h5", "m.h5"))

    def test_a_full_disk_is_a_failure_and_leaves_nothing(self):
        self.tiny("s.h5", "--seconds", "4")
        self.run_it("export", "s.h5", "--to", "csv", "--rollout", "0", "--out", "s.csv", "--quiet")
        before = self.names()

        def little_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        for arguments in (["generate", *TINY, "--out", "m.h5"],
                          ["simulate", "s.cloth.json", "--out", "m.h5"],
                          ["import", "s.csv", *SHEET, "--out", "m.h5"],
                          *[["export", "s.h5", "--to", format, "--rollout", "0", "--out", "m"]
                            for format in ("csv", "npz", "usda", "glb", "mdd", "obj", "ply")]):
            process = self.start(*arguments, "--quiet", preexec_fn=little_room)
            said = process.communicate()[1]
            self.assertEqual(process.returncode, 1, (arguments, said))
            self.assertIn("File too large", said)
            self.assertEqual(self.names(), before)
        # Nobody may make files there.
        told = self.run_it("export", "s.h5", "--to", "csv", "--rollout", "0", "--out", "/proc/m.csv",
                           code=1).stderr
        self.assertIn("/proc/m.csv: cannot be written", told)

    def test_an_export_that_is_stopped_leaves_nothing(self):
        self.tiny("s.h5", "--grid", "30x30", "--rollouts", "1", "--seconds", "6", "--stride", "4")
        before = self.names()
        for format in ("npz", "csv", "obj"):
            command = ["export", "s.h5", "--to", format, "--out", "m", "--quiet"]
            process = self.start(*command)
            self.wait_for(process, self.folder / "m.part")
            process.send_signal(signal.SIGTERM)
            process.communicate()
            self.assertEqual((process.returncode, self.names()), (1, before))
            process = self.start(*command)
            self.wait_for(process, self.folder / "m.part")
            process.send_signal(signal.SIGKILL)
            process.communicate()
            self.assertEqual(self.names(), sorted([*before, "m.part"]))
            self.run_it("export", "s.h5", "--to", format, "--until", "0.1", "--out", "m", "--quiet")
            self.assertEqual(self.names(), sorted([*before, "m"]))
            path = self.folder / "m"
            shutil.rmtree(path) if path.is_dir() else path.unlink()
