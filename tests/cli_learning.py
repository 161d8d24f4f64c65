"""The part of cli_test.py about learning: train, reproduce, and how well a cloth is known."""

import filecmp
import json
import pathlib
import re
import signal
import subprocess
import sys
import time

from cli_kinds import long_run

PROGRAM = sys.argv[1]


class Learning:
    # ---- train and reproduce ---------------------------------------------------------------

    TRAIN = ["--grid", "8x8", "--stiffness-iterations", "30", "--damping-iterations", "15", "--batch",
             "4", "--clip-steps", "100", "--rounds", "2", "--quiet", "--method", "gradient"]

    SHORT = ["--horizons", "0.2", "0.4", "--iterations", "6", "4", "--homogeneous-iterations", "10",
             "--batch", "4"]

    def train(self, out, *more, code=0):
        return self.run_it("train", "m.h5", "--out", out, *self.TRAIN, *more, code=code)

    def test_train_learns_and_says_so(self):
        self.generate("m.h5", "--rollouts", "6")
        seen = json.loads(self.train("run", "--json").stdout)
        self.assertEqual((seen["iterations"], seen["finished"]), (90, True))
        self.assertGreater(seen["seconds"], 0)
        self.assertGreater(seen["final_loss"], 0)
        # Ninety iterations cannot reach the truth, but must beat the best constants.
        self.assertLess(seen["validation_rmse"], 0.8 * seen["homogeneous_validation_rmse"])
        lines = [json.loads(line) for line in
                 (self.folder / "run/log.jsonl").read_text().splitlines()]
        self.assertEqual([line["iteration"] for line in lines], list(range(90)))
        self.assertLess(lines[-1]["loss"]["total"], 0.5 * lines[0]["loss"]["total"])
        self.assertEqual(self.inspect("run/cloth.json")["springs"], 306)
        config = (self.folder / "run/config.toml").read_text()
        self.assertIn("stiffness-iterations = 30\n", config)
        self.assertIn("clip-steps = 100\n", config)
        result = self.train("run", code=2)
        self.assertIn("run", result.stderr)

    def test_train_solves_and_says_so(self):
        self.generate("m.h5", "--rollouts", "6")
        truth = json.loads((self.folder / "m.cloth.json").read_text())["springs"]
        for method, word in (("linear", "force form"), ("auto", "not refined by gradient")):
            told = json.loads(self.run_it("train", "m.h5", "--grid", "8x8", "--method", method,
                                          "--out", method, "--quiet", "--json").stdout)
            self.assertEqual((told["iterations"], told["finished"]), (0, True))
            self.assertIn(word, told["summary"])
            self.assertEqual(told["identification"]["form"], "force")
            learned = json.loads((self.folder / method / "cloth.json").read_text())["springs"]
            for kind in ("stiffness", "damping"):
                for value, true, error in zip(learned[kind], truth[kind], learned["errors"][kind]):
                    if error is not None:
                        self.assertAlmostEqual(value, true, delta=1e-3)  # of 25 to 100 and 6
        # Springs within the anchors of all rollouts are unseen, and inspect lists them.
        unseen = [s for s, error in enumerate(learned["errors"]["stiffness"]) if error is None]
        self.assertLessEqual(set(told["identification"]["unseen"]), set(unseen))
        again = json.loads(self.run_it("train", "--resume", "linear", "--quiet", "--json").stdout)
        self.assertEqual(again["validation_rmse"], told["validation_rmse"])
        words = self.run_it("inspect", "linear").stdout
        self.assertIn("springtime inspect linear --design", words)
        self.assertNotIn("would help most", words)
        self.assertIn("would help most", self.run_it("inspect", "linear", "--design").stdout)

    def test_train_tells_noise(self):
        self.generate("m.h5", "--rollouts", "6", "--seconds", "2", "--stride", "16", "--noise", "0.002")
        told = json.loads(self.run_it("train", "m.h5", "--grid", "8x8", "--out", "run", "--method",
                                      "linear", "--quiet", "--json").stdout)
        self.assertEqual(told["identification"]["form"], "weak")
        noise = told["identification"]["noise"]
        # 5 rollouts, 125 frames, 64 particles: some 1e4 squares, so 1 percent; five times that.
        self.assertAlmostEqual(noise["level"], 0.002, delta=0.002 * 0.05)
        self.assertTrue(noise["white"])
        self.assertIn("noise of the positions: 0.002 m, white in time", told["summary"])

    def test_train_refines_where_springs_do_not_fit(self):
        """On a grid of its own no springs balance the forces: the descent goes on from the best."""
        self.generate("m.h5", "--rollouts", "4", "--seconds", "1")
        told = json.loads(self.run_it(
            "train", "m.h5", "--grid", "6x6", "--out", "run", *self.SHORT, "--quiet",
            "--json").stdout)
        self.assertEqual(list(told["steps"]), ["homogeneous, published law", "homogeneous, lean law",
                                               "per spring, lean law"])
        for word in ("linear answer", "the first shape follows", "kept"):
            self.assertIn(word, told["summary"])
        self.assertLess(told["homogeneous_validation_rmse"], told["linear_validation_rmse"])
        # On motion that nothing was learned from.
        self.generate("unseen.h5", "--rollouts", "4", "--seconds", "1", "--seed", "9")
        better = self.evaluate("run/cloth.json", "unseen.h5")["times_better"]
        self.assertGreater(better["static"], 3)  # seen: 4.5
        self.assertGreater(better["handles"], 3)
        first = (self.folder / "run/cloth.json").read_bytes()
        self.run_it("train", "--resume", "run", "--quiet")
        self.assertEqual((self.folder / "run/cloth.json").read_bytes(), first)

    def test_flags_of_another_method_are_refused(self):
        self.generate("m.h5", "--rollouts", "3")
        for arguments, message in (
            (["--freeze", "damping"], "add --method gradient"),
            (["--stiffness-start", "50"], "add --method gradient"),
            (["--rounds", "2"], "add --method gradient"),
            (["--horizons", "0.5"], "--horizons has 1 numbers and --iterations 0"),
            (["--method", "guess"], "guess"),
            (["--form", "weak", "--window", "9", "--grid", "8x8"], "window"),
        ):
            told = self.run_it("train", "m.h5", "--out", "x", "--quiet", *arguments, code=2)
            self.assertIn(message, told.stderr)

    @long_run
    def test_reproduce_generalisation(self):
        self.run_it("reproduce", "generalisation", "--scale", "smoke", "--out", "g", "--quiet")
        result = json.loads((self.folder / "g/result.json").read_text())
        rows = {row["name"]: row for row in result["rows"]}
        for name in ("homogeneous, published law (k, b)", "homogeneous, lean law",
                     "per spring, lean law: what `train` learns by default",
                     "the source itself, 1 % stiffer", "nothing moves"):
            self.assertGreater(rows[name]["unseen"]["mean"], 0)
            self.assertGreater(rows[name]["anchors_3"]["mean"], 0)
        # The floor and the ceiling.
        ours = rows["per spring, lean law: what `train` learns by default"]["unseen"]["mean"]
        self.assertLess(rows["the source itself, 1 % stiffer"]["unseen"]["mean"], ours)
        self.assertLess(ours, rows["nothing moves"]["unseen"]["mean"])
        self.assertIn("| nothing moves |", (self.folder / "g/result.md").read_text())

    @long_run
    def test_reproduce_identification(self):
        self.run_it("reproduce", "identification", "--scale", "smoke", "--out", "r", "--quiet")
        result = json.loads((self.folder / "r/result.json").read_text())
        self.assertEqual(set(result["data"]), {"clean", "camera", "camera-1mm", "camera-1cm"})
        clean = result["data"]["clean"]
        self.assertLess(clean["linear"]["damping_rmse"], 1e-3)
        self.assertLess(clean["linear"]["damping_rmse"], clean["gradient"]["damping_rmse"])
        before = (self.folder / "r/result.json").read_bytes()
        self.run_it("reproduce", "identification", "--scale", "smoke", "--out", "r", "--quiet")
        self.assertEqual((self.folder / "r/result.json").read_bytes(), before)

    def test_laws_are_made_shown_learned_and_resumed(self):
        law = ("--stiffness", "50", "--knots", "-0.05", "0", "--range-stiffness", "5; rows 0-0.5 = 8",
               "15", "--isotropic-damping", "0.05")
        self.generate("law.h5", "--rollouts", "4", *law)
        seen = self.inspect("law.cloth.json")
        self.assertEqual(seen["version"], 3)
        self.assertEqual([r["from"] for r in seen["ranges"]], [None, -0.05])
        self.assertEqual([r["to"] for r in seen["ranges"]], [-0.05, 0])
        self.assertEqual([r["stiffness"]["max"] for r in seen["ranges"]], [8, 15])
        self.assertEqual(seen["isotropic_damping"]["max"], 0.05)
        words = self.run_it("inspect", "law.cloth.json").stdout
        self.assertIn("from strain -0.05 to 0", words)
        self.assertIn("isotropic damping", words)
        self.assertNotIn("triangles", words)

        self.run_it("train", "law.h5", "--out", "run", *self.TRAIN, "--stiffness-iterations", "3",
                    "--damping-iterations", "2", "--knots", "-0.05", "0", "--isotropic-damping")
        learned = self.inspect("run/cloth.json")
        self.assertEqual(len(learned["ranges"]), 2)
        last = json.loads((self.folder / "run/log.jsonl").read_text().splitlines()[-1])
        self.assertEqual(len(last["range_stiffness"]), 2)
        self.assertGreater(last["isotropic_damping"]["max"], 0)
        self.run_it("train", "--resume", "run")  # the knots come from the folder

        message = self.generate("n.h5", "--range-stiffness", "3", code=2).stderr
        self.assertIn("--range-stiffness: 1 fields, but the 0 knots leave 0 ranges", message)
        message = self.generate("n.h5", "--knots", "0", "0", code=2).stderr
        self.assertIn("knots at strains 0, 0", message)

    def test_the_full_law_is_made_shown_learned_and_exported(self):
        self.generate("full.h5", "--rollouts", "4", "--law", "full", "--isotropic-damping", "0.05",
                      "--bend-stiffness", "1; rows 0-0.5 = 2", "--bend-damping", "0.02")
        seen = self.inspect("full.cloth.json")
        self.assertEqual(seen["version"], 4)
        self.assertEqual(len(seen["ranges"]), 1)
        self.assertEqual(seen["bends"]["bending_stiffness"]["max"], 2)
        self.assertEqual(seen["bends"]["bending_damping"]["min"], 0.02)
        self.run_it("train", "full.h5", "--out", "run", *self.TRAIN, "--stiffness-iterations", "3",
                    "--damping-iterations", "2", "--law", "full")
        learned = self.inspect("run/cloth.json")
        self.assertEqual(learned["bends"]["count"], seen["bends"]["count"])
        last = json.loads((self.folder / "run/log.jsonl").read_text().splitlines()[-1])
        self.assertGreater(last["bending_stiffness"]["max"], 0)
        self.assertTrue((self.folder / "run/bending.png").exists())
        self.run_it("train", "--resume", "run")  # the law comes from the folder
        self.run_it("train", "full.h5", "--out", "bends", *self.TRAIN, "--stiffness-iterations", "1",
                    "--damping-iterations", "1", "--bends")
        self.assertEqual(self.inspect("bends/cloth.json")["ranges"], [])
        self.assertIn("soft", self.generate("n.h5", "--law", "soft", code=2).stderr)

    def test_another_resolution(self):
        self.generate("m.h5", "--rollouts", "3", "--grid", "7x9", "--length", "3", "--width", "2")
        self.run_it("train", "m.h5", "--out", "run", *self.TRAIN, "--grid", "6x5")
        self.assertEqual(self.inspect("run/cloth.json")["grid"], [6, 5])
        self.run_it("evaluate", "run/cloth.json", "m.h5", "--quiet")

    @long_run
    def test_interrupted_training_resumes_bit_for_bit(self):
        self.generate("m.h5", "--rollouts", "6")
        self.train("whole", "--damping-iterations", "300")
        process = subprocess.Popen([PROGRAM, "train", "m.h5", "--out", "parts", *self.TRAIN,
                                    "--damping-iterations", "300"], cwd=self.folder, text=True,
                                   stderr=subprocess.PIPE)
        log = self.folder / "parts/log.jsonl"
        while process.poll() is None and not (
                log.exists() and log.read_text().count("\n") > 20):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        stderr = process.communicate()[1]
        self.assertEqual(process.returncode, 1, stderr)
        self.assertRegex(stderr, r"interrupted after \d+ of 660 iterations of: train; springtime train --resume")
        self.run_it("train", "--resume", "parts", "--quiet")
        self.assertTrue(filecmp.cmp(self.folder / "whole/cloth.json", self.folder / "parts/cloth.json",
                                    shallow=False))
        strip = lambda name: [dict(json.loads(line), seconds=0) for line in
                              (self.folder / name / "log.jsonl").read_text().splitlines()]
        self.assertEqual(strip("whole"), strip("parts"))
        # A damaged checkpoint is refused and the one before it used: the end is the same.
        newest = max(self.folder.glob("parts/checkpoint-*.bin"), key=lambda p: p.stat().st_mtime_ns)
        data = bytearray(newest.read_bytes())
        data[len(data) // 2] ^= 1
        newest.write_bytes(data)
        again = self.run_it("train", "--resume", "parts")
        self.assertIn(newest.name, again.stderr)
        self.assertTrue(filecmp.cmp(self.folder / "whole/cloth.json", self.folder / "parts/cloth.json",
                                    shallow=False))

    def test_settings_survive_a_resume(self):
        """What a run stores must be read back, however it was written."""
        self.generate("m.h5", "--rollouts", "6", "--drag", ".5")
        self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", "7", "--quiet")
        self.train("run", "--log-parameters", "--stiffness-rate", ".05", "--force-weight", "1", "2",
                   "--families", "structural,diagonal", "--device", "reference")
        first = (self.folder / "run/cloth.json").read_bytes()
        seen = json.loads(self.run_it("train", "--resume", "run", "--quiet", "--json").stdout)
        self.assertEqual(seen["iterations"], 90)
        self.assertGreater(seen["final_loss"], 0)
        self.assertEqual((self.folder / "run/cloth.json").read_bytes(), first)
        result = self.run_it("train", "--resume", "run", "--seed", "3", code=2)
        self.assertIn("cannot resume with 'seed = 3', it was made with 'seed = 1'", result.stderr)

    def test_flags_before_the_file_and_tables_in_toml(self):
        self.generate("m.h5", "--rollouts", "3")
        self.run_it("simulate", "--gravity", "0", "-1.62", "0", "m.cloth.json", "--seconds", "0.1",
                    "--out", "a.h5", "--quiet")
        self.assertEqual(self.inspect("a.h5")["gravity"], [0, -1.62, 0])
        (self.folder / "g.toml").write_text(
            'gravity = [0, -2, 0]\nseconds = 0.2\n[simulate]\nseconds = 0.08\n')
        self.run_it("simulate", "m.cloth.json", "--config", "g.toml", "--out", "b.h5", "--quiet")
        seen = self.inspect("b.h5")
        self.assertEqual((seen["gravity"], seen["frames"]), ([0, -2, 0], 3))  # 0.08 s of 40 ms

    def test_train_bad_input(self):
        self.generate("m.h5", "--rollouts", "2")
        for arguments, message in (
            (["train"], "no motion file; give one, or --resume FOLDER"),
            (["train", "none.h5"], "none.h5"),
            (["train", "m.h5", "--method", "gradient", "--clip-steps", "10"], "--clip-steps"),
            (["train", "m.h5", "--start-share", "2"], "--start-share"),
            (["train", "m.h5", "--passes", "triple"], "triple"),
            (["train", "m.h5", "--method", "gradient", "--clip-steps", "9999"], "clips"),
            (["train", "m.h5", "--validation-share", "2"], "validation"),
            (["train", "m.h5", "--validate-every", "-3"], "--validate-every"),
            (["train", "--resume", "nowhere"], "nowhere"),
            (["reproduce", "gravity"], "no such experiment; there are reconstruction, generalisation, locking, drape, identification, maps, baselines, and all"),
            (["reproduce", "drape", "--baselines"], "--baselines: is for reproduce generalisation and all, not drape"),
        ):
            self.assertIn(message, self.run_it(*arguments, "--out", "x", code=2).stderr)
            self.assertFalse((self.folder / "x").exists())  # nothing to clear away

    def plan(self, *arguments):
        return json.loads(self.run_it("reproduce", *arguments, "--plan").stdout)

    def test_scales_of_reproduce_have_the_same_rows(self):
        full = self.plan("all", "--baselines", "--scale", "full")
        self.assertEqual(list(full), ["drape", "generalisation", "identification", "locking", "maps",
                                      "reconstruction"])
        self.assertIn("mesh-graph-nets", full["generalisation"])
        for scale in ("quick", "smoke"):
            self.assertEqual(self.plan("all", "--baselines", "--scale", scale), full)
        self.assertNotIn("neural-ode", self.plan("generalisation")["generalisation"])

    @staticmethod
    def rows_of(experiment, result):
        """Keys of the rows that were made, in the order of the plan."""
        if experiment == "reconstruction":
            return sorted(result["methods"])
        if experiment == "locking":
            return sorted(key for key in result if key.startswith("fold-"))
        if experiment == "drape":
            return sorted(drape["obstacle"] for drape in result["drapes"])
        if experiment == "identification":
            return sorted([f"{data}-{method}" for data in result["data"] for method in ("linear", "gradient")]
                          + [f"triangles-{row['key']}" for row in result["triangles"]])
        return sorted(row["key"] for row in result["rows"])

    @long_run
    def test_reproduce_all_makes_every_row_once(self):
        self.run_it("reproduce", "all", "--scale", "smoke", "--out", "a", "--quiet")
        result = json.loads((self.folder / "a/result.json").read_text())
        plan = self.plan("all", "--scale", "smoke")
        self.assertEqual(set(result["experiments"]), set(plan))
        for experiment, keys in plan.items():
            part = result["experiments"][experiment]
            self.assertEqual(self.rows_of(experiment, part), sorted(keys))
            self.assertEqual(part, json.loads((self.folder / f"a/{experiment}/result.json").read_text()))
            self.assertIn(f"## {part['title']}", (self.folder / "a/result.md").read_text())
        maps = {row["key"]: row for row in result["experiments"]["maps"]["rows"]}
        self.assertEqual(maps["source"]["correlation"], 1)
        self.assertLess(abs(maps["learned"]["correlation"]), 1)
        self.assertEqual(len(maps["learned"]["stiffness"]), maps["source"]["rows"] * maps["source"]["cols"])

        # An interrupted run goes on: what is finished stays, what is missing is made again, from the
        # trainings that are there.
        for name in ("a/result.json", "a/maps/result.json"):
            (self.folder / name).unlink()
        kept = (self.folder / "a/drape/result.json").stat().st_mtime_ns
        told = self.run_it("reproduce", "all", "--scale", "smoke", "--out", "a").stderr
        self.assertIn("the report shows 4 of 18 runs: default, published-law, coupled-long, whole\n", told)
        again = json.loads((self.folder / "a/result.json").read_text())
        self.assertEqual(again["experiments"], result["experiments"])
        self.assertEqual((self.folder / "a/drape/result.json").stat().st_mtime_ns, kept)
        self.run_it("reproduce", "all", "--scale", "quick", "--out", "a", code=2)
        self.run_it("reproduce", "all", "--scale", "smoke", "--seed", "2", "--out", "a", code=2)

    @long_run
    def test_reproduce_writes_the_tables(self):
        self.run_it("reproduce", "reconstruction", "--scale", "smoke", "--out", "r", "--quiet")
        result = json.loads((self.folder / "r/result.json").read_text())
        for key in ("motion_rmse", "stiffness_rmse", "damping_rmse", "baselines", "validation_rmse",
                    "iterations", "seconds", "final_loss", "rounding_floor"):
            self.assertIn(key, result)
        self.assertEqual(set(result["methods"]),
                         {"dual-pass", "default", "single-pass", "position-loss"})
        self.assertEqual(result["methods"]["dual-pass"]["published"],
                         {"stiffness_rmse": 14.3, "damping_rmse": 1.9})
        self.assertIn("| single pass | 6 |", (self.folder / "r/result.md").read_text())

    CAMERA = ["--noise", "0.001", "--gaps", "0.15", "--gap-seconds", "0.05"]

    def test_motion_as_a_camera_sees_it(self):
        import h5py
        import numpy
        self.generate("m.h5", "--rollouts", "5", *self.CAMERA)
        self.generate("part.h5", "--rollouts", "2", *self.CAMERA)
        self.run_it("generate", "--out", "part.h5", "--rollouts", "5", "--resume", "--quiet")
        self.assertTrue(filecmp.cmp(self.folder / "m.h5", self.folder / "part.h5", shallow=False))
        with h5py.File(self.folder / "m.h5") as file:
            positions = [rollout["position"][:] for rollout in file["rollouts"].values()]
            self.assertNotIn("velocity", file["rollouts/000000"])
        missing = numpy.mean([numpy.isnan(x[:, :, 0]).mean() for x in positions])
        seen = self.inspect("m.h5")
        self.assertEqual((seen["velocities"], seen["never_seen"]), (False, []))
        self.assertAlmostEqual(seen["gaps"], missing, places=12)
        # 5 x 64 chains of 21 frames, whose mean varies like that of 2000 draws: by 0.008.
        self.assertAlmostEqual(missing, 0.15, delta=5 * 0.008)
        self.assertRegex(self.run_it("inspect", "m.h5").stdout, r"velocities stored +no")
        # The true cloth follows its own motion up to noise and the start it has to guess.
        result = self.evaluate("m.cloth.json", "m.h5")
        self.assertLess(result["motion_rmse"]["mean"], 0.2 * result["baselines"]["static"]["mean"])
        self.run_it("simulate", "m.cloth.json", "--start", "m.h5#1", "--seconds", "0.04", "--quiet")
        short = ["--grid", "8x8", "--rounds", "1", "--stiffness-iterations", "2",
                 "--damping-iterations", "2", "--batch", "4", "--clip-steps", "100"]
        told = self.run_it("train", "m.h5", "--out", "run", "--method", "gradient", *short)
        self.assertIn("position loss", told.stderr)
        # Gaps everywhere leave no window whole: the default then learns by gradient, and says why.
        told = self.run_it("train", "m.h5", "--out", "auto", "--grid", "8x8", *self.SHORT)
        self.assertIn("not solved linearly, so learned by gradient alone", told.stdout)
        told = self.run_it("train", "m.h5", "--out", "x", "--method", "linear", "--grid", "8x8",
                           code=2)
        self.assertIn("no window in which all neighbours of a particle are seen", told.stderr)

    def test_frames_per_second(self):
        # The longest steps up to 1 ms: 1/60 s is 17 of 1/1020 s, 1/50 s is 20 of 1 ms.
        for fps, stride in ((60, 17), (50, 20), (2000, 1)):
            self.run_it("generate", "--out", f"{fps}.h5", "--fps", fps, "--grid", "8x8", "--mass",
                        "6.4", "--seconds", "0.1", "--rollouts", "1", "--quiet")
            seen = self.inspect(f"{fps}.h5")
            self.assertEqual((seen["stride"], seen["velocities"]), (stride, True))
            self.assertAlmostEqual(seen["dt"], 1 / (fps * stride), places=15)
            self.assertEqual(seen["frames"], fps // 10 + 1)
        for arguments, message in (
            (["--fps", "60", "--stride", "3"], "both say when frames are stored"),
            (["--fps", "0"], "--fps: 0 frames a second"),
            (["--noise", "-1"], "noise of -1 m"),
            (["--gaps", "1"], "a share of gaps of 1"),
            (["--gap-seconds", "1"], "give --gaps too"),
        ):
            result = self.run_it("generate", "--out", "x.h5", *arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertFalse((self.folder / "x.h5").exists())

    # ---- at real scale -----------------------------------------------------------------------

    def filmed(self, out, *more, grid="6x6", stiffness=100, damping=0.02, seconds=2,
               amplitude=1):
        """A cloth of 0.3 m and 30 g whose two upper corners swing to and fro, as a camera sees it."""
        import h5py
        import math
        self.run_it("generate", "--out", "source.h5", "--length", "0.3", "--width", "0.3",
                    "--mass", "0.03", "--stiffness", stiffness, "--damping", damping,
                    "--grid", grid, "--rollouts", "1", "--seconds", "0.02", "--stride", "10",
                    "--overwrite", "--quiet")
        with open(self.folder / "path.csv", "w") as file:
            file.write("time,handle,x,y,z\n")
            for step in range(50 * seconds + 1):
                t = step / 50
                swing = [amplitude * 0.05 * (1 - math.cos(2 * math.pi * t)),
                         amplitude * 0.04 * math.sin(5 * t) ** 2]
                for corner, x in (("corner-nw", -0.15), ("corner-ne", 0.15)):
                    file.write(f"{t},{corner},{x + swing[0]},{swing[1]},-0.15\n")
        self.run_it("simulate", "source.cloth.json", "--handles", "path.csv",
                    "--seconds", seconds, "--drag", "2", "--fps", "30", "--out", out, "--overwrite", "--quiet", *more)
        with h5py.File(self.folder / out, "r+") as file:
            file.attrs["captured"] = 1
            interval = file.attrs["dt"] * file.attrs["stride"]
            file.attrs["dt"], file.attrs["stride"] = interval / 34, 34

    def test_simulate_as_a_camera_sees_it(self):
        import h5py
        import numpy
        self.generate("m.h5", "--rollouts", "1")
        film = ["simulate", "m.cloth.json", "--pin", "corner-nw", "--seconds", "1", "--fps", "60",
                "--quiet"]
        self.run_it(*film, "--out", "clear.h5")
        self.run_it(*film, "--out", "seen.h5", "--noise", "0.002", "--gaps", "0.2", "--seed", "5")
        self.assertAlmostEqual(self.inspect("seen.h5")["dt"], 1 / (60 * 17), places=15)
        with h5py.File(self.folder / "clear.h5") as a, h5py.File(self.folder / "seen.h5") as b:
            clear, seen = a["rollouts/000000"], b["rollouts/000000"]
            self.assertIn("velocity", clear)
            self.assertNotIn("velocity", seen)
            noise = seen["position"][:] - clear["position"][:]
        # 64 landmarks, 61 frames: 9400 numbers, so 0.7 percent; 64 chains with gaps of 15 frames
        # vary like 500 draws, by 0.018.
        self.assertAlmostEqual(numpy.nanstd(noise), 0.002, delta=5 * 0.007 * 0.002)
        self.assertAlmostEqual(numpy.isnan(noise).mean(), 0.2, delta=5 * 0.018)
        for arguments, message in ((["--stride", "3"], "both say when frames are stored"),
                                   (["--gap-seconds", "1"], "give --gaps too"),
                                   (["--noise", "-1"], "noise of -1 m")):
            told = self.run_it(*film, "--out", "x.h5", *arguments, code=2)
            self.assertIn(message, told.stderr)
            self.assertFalse((self.folder / "x.h5").exists())

    @long_run
    def test_captured_motion_is_learned_and_run(self):
        """One take with noise, gaps (of held points too) and steps that are too long for the springs."""
        self.filmed("take.h5", "--noise", "0.001", "--gaps", "0.05", "--gap-seconds", "0.1")
        few = ["--horizons", "0.3", "--iterations", "4", "--homogeneous-iterations", "20", "--batch",
               "8"]
        told = self.run_it("train", "take.h5", "--out", "run", *few)
        self.assertIn("3 segments of about 0.667 s", told.stderr)
        self.assertRegex(told.stderr, "to [^ ]+ m with 6 x 6 .* to [^ ]+ m with 11 x 11")
        result = json.loads((self.folder / "run/result.json").read_text())
        self.assertGreater(result["substeps"], 1)
        self.run_it("train", "--resume", "run", "--quiet")
        # Another motion of the same cloth, which nothing was learned from.
        self.filmed("unseen.h5", amplitude=1.5)
        judged = self.evaluate("run/cloth.json", "unseen.h5")
        self.assertGreater(judged["times_better"]["handles"], 3)
        self.assertGreater(judged["times_better"]["homogeneous"], 0.9)
        self.assertAlmostEqual(
            judged["times_better"]["static"],
            judged["baselines"]["static"]["mean"] / judged["motion_rmse"]["mean"], places=9)
        self.assertIn("better by a factor", self.run_it("evaluate", "run/cloth.json",
                                                        "take.h5").stdout)
        # On a grid of its own it starts from that motion, corners and all.
        self.run_it("train", "take.h5", "--grid", "4x5", "--out", "own", *few, "--quiet")
        import h5py
        import numpy
        for cloth, corners in (("run", [0, 5]), ("own", [0, 4])):
            self.run_it("simulate", f"{cloth}/cloth.json", "--start", "take.h5#0", "--fps", "30",
                        "--seconds", "2", "--out", f"{cloth}.h5", "--quiet")
            with h5py.File(self.folder / f"{cloth}.h5") as a, \
                    h5py.File(self.folder / "take.h5") as b:
                ours, seen = a["rollouts/000000"], b["rollouts/000000"]
                self.assertEqual(list(ours["handles"]), corners)
                # The keys are 1/50 s apart, of which every frame takes its own share: float
                # rounding where frames are keys.
                numpy.testing.assert_allclose(
                    ours["position"][::3][:, corners], seen["handle_position"][::5], atol=1e-6)

    def test_short_takes_are_solved_whole(self):
        """Pieces of less than a second would leave no room for the windows of the solve."""
        import h5py
        self.filmed("a.h5", "--noise", "0.0005")
        with h5py.File(self.folder / "a.h5", "r+") as file:
            take = file["rollouts/000000"]
            short = take["position"][:40]
            del take["position"]
            take["position"] = short
            file.copy(take, file["rollouts"], name="000001")
        told = self.run_it("train", "a.h5", "--out", "run", "--method", "linear")
        self.assertIn("2 rollouts, one of which is not trained on but validates", told.stderr)
        self.assertIn("equations", told.stdout)

    @long_run
    def test_grid_is_finer_where_that_follows_clearly_better(self):
        """Every second point of a viscous cloth that is thrown about: here the finer grid wins."""
        import numpy
        self.filmed("fine.h5", grid="7x7", stiffness=200, damping=0.5, seconds=3,
                    amplitude=2)
        self.run_it("export", "fine.h5", "--to", "npz", "--out", "fine.npz", "--quiet")
        with numpy.load(self.folder / "fine.npz") as fine:
            position = fine["position"]
        seen = position.reshape(len(position), 7, 7, 3)[:, ::2, ::2].reshape(-1, 16, 3)
        numpy.save(self.folder / "take.npy", seen)
        self.run_it("import", "take.npy", "--grid", "4x4", "--length", "0.3", "--width", "0.3",
                    "--mass", "0.03", "--drag", "2", "--fps", "30", "--driven", "corner-nw",
                    "--driven", "corner-ne", "--raw-handles", "--trust", "--out", "take.h5",
                    "--quiet")
        few = ["--horizons", "0.3", "--iterations", "4", "--homogeneous-iterations", "20", "--batch",
               "8", "--globals", "none"]
        told = self.run_it("train", "take.h5", "--out", "run", *few)
        found = re.search(r"to ([^ ]+) m with 4 x 4 .* to ([^ ]+) m with 7 x 7: so the surrogate "
                          r"has 7 x 7", told.stderr)
        self.assertTrue(found, told.stderr)
        self.assertLess(float(found[2]), 0.8 * float(found[1]))
        again = self.run_it("train", "--resume", "run")
        self.assertNotIn("so the surrogate", again.stderr)
        cloth = json.loads((self.folder / "run/cloth.json").read_text())
        self.assertEqual(len(cloth["particles"]["rest"]), 49)

    # ---- how well it is known, and what to record next ---------------------------------------

    def known_cloth(self, name, force=0.05):
        """A cloth of 5 x 5 with standard errors of 1 percent, in the eastern half 10; the springs
        along the west edge are unseen."""
        self.generate("k.h5", "--rollouts", "1", "--grid", "5x5", "--mass", "2.5", "--length", "2",
                      "--width", "2", "--stiffness", "30", "--damping", "0.6", "--anchor-size", "1",
                      "--overwrite")
        cloth = json.loads((self.folder / "k.cloth.json").read_text())
        springs, rest = cloth["springs"], cloth["particles"]["rest"]

        def error(spring, value):
            u = [rest[end][0] for end in springs["ends"][spring]]
            return None if max(u) == 0 else value * (0.1 if sum(u) / 2 > 1 else 0.01)

        springs["errors"] = {"force": force}
        for kind in ("stiffness", "damping"):
            springs["errors"][kind] = [error(s, value) for s, value in enumerate(springs[kind])]
        (self.folder / name).write_text(json.dumps(cloth))
        return cloth

    def test_inspect_tells_how_well_a_cloth_is_known(self):
        self.known_cloth("c.json")
        self.assertIsNone(self.inspect("k.cloth.json")["determination"])
        seen = self.inspect("c.json")["determination"]
        structural = seen["stiffness"]["structural"]
        # Of 40 structural springs 4 lie along the west edge; the middles of 20 lie in the east.
        self.assertEqual((structural["springs"], structural["unseen"]), (40, 4))
        self.assertAlmostEqual(structural["median"], 0.1)
        self.assertIsNone(structural["worst"])
        self.assertEqual(len(seen["unseen"]), 4 + 3)  # and three bending springs
        self.assertEqual(seen["unseen"][0]["reason"], None)
        self.assertEqual([len(row) for row in seen["map"]], [4] * 4)
        self.assertAlmostEqual(seen["map"][1][1], 0.01)
        self.assertAlmostEqual(seen["map"][1][3], 0.1)
        self.assertEqual(seen["next"]["experiments"], [])
        seen = json.loads(self.run_it("inspect", "c.json", "--design", "--json").stdout)["determination"]
        experiments = seen["next"]["experiments"]
        gains = [experiment["gain"] for experiment in experiments]
        self.assertEqual((len(gains), gains), (24, sorted(gains, reverse=True)))
        self.assertGreater(gains[-1], 0)
        self.assertLess(experiments[0]["stiffness_error"], seen["next"]["stiffness_error"])
        self.assertEqual((seen["unseen"][0]["family"], seen["unseen"][0]["where"]),
                         ("structural", "row 0 col 0 to row 1 col 0"))
        text = self.run_it("inspect", "c.json", "--quiet", "--design").stdout
        for experiment in experiments[:3]:
            self.assertIn(experiment["name"], text)
        self.assertFalse((self.folder / "determination.png").exists())

    def test_inspect_a_run_folder(self):
        self.known_cloth("c.json")
        self.run_it("simulate", "k.cloth.json", "--pin", "edge-west", "--seconds", "0.2", "--drag",
                    "0.3", "--out", "m.h5", "--quiet")
        run = self.folder / "run"
        run.mkdir()
        self.assertIn("run: holds no run", self.run_it("inspect", "run", code=2).stderr)
        (run / "cloth.json").write_bytes((self.folder / "c.json").read_bytes())
        (run / "config.toml").write_text(f'motion = "{self.folder / "m.h5"}"\n')
        seen = json.loads(self.run_it("inspect", "run", "--design", "--json").stdout)
        self.assertEqual((seen["kind"], seen["springs"]), ("run", 102))
        self.assertEqual(pathlib.Path(seen["picture"]).name, "determination.png")
        self.assertEqual((run / "determination.png").read_bytes()[1:4], b"PNG")
        for spring in seen["determination"]["unseen"]:
            self.assertEqual(spring["reason"], "both ends are held in all rollouts")
        # Another drag is another motion, and tells another lot.
        (self.folder / "m.h5").unlink()
        told = self.run_it("inspect", "run")
        self.assertIn("the motion of this run cannot be read", told.stderr)
        self.assertIn("determination.png", told.stdout)
        usual = json.loads(self.run_it("inspect", "run", "--design", "--json").stdout)["determination"]
        self.assertIsNone(usual["unseen"][0]["reason"])
        self.assertNotEqual(usual["next"], seen["determination"]["next"])
        # A run that learned no errors, and errors without noise.
        (run / "cloth.json").write_bytes((self.folder / "k.cloth.json").read_bytes())
        self.assertIn("how well it is known was not learned", self.run_it("inspect", "run").stdout)
        self.known_cloth("exact.json", force=0)
        self.assertNotIn("--design", self.run_it("inspect", "exact.json").stdout)
        self.assertIn("--design: exact.json: what to record next is not known",
                      self.run_it("inspect", "exact.json", "--design", code=2).stderr)
        self.assertIn("is a motion", self.run_it("inspect", "k.h5", "--design", code=2).stderr)

    DESIGN = ["--design-for", "c.json", "--seconds", "0.4", "--quiet"]

    def test_generate_makes_the_motion_that_tells_most(self):
        cloth = self.known_cloth("c.json")
        result = json.loads(self.run_it("generate", *self.DESIGN, "--rollouts", "2", "--fps", "50",
                                        "--out", "d.h5", "--json").stdout)
        best = result["next"]["experiments"][0]
        self.assertEqual(result["experiment"], best["name"])
        seen = self.inspect("d.h5")
        self.assertEqual((seen["rollouts"], seen["landmarks"], seen["frames"]), (2, 25, 21))
        import h5py
        places = {"corner-nw": [0], "corner-ne": [4], "corner-sw": [20], "corner-se": [24],
                  "center": [12], "edge-north": [0, 1, 2, 3, 4], "edge-south": [20, 21, 22, 23, 24],
                  "edge-west": [0, 5, 10, 15, 20], "edge-east": [4, 9, 14, 19, 24]}
        pinned = sorted({particle for pin in best["pins"] for particle in places[pin]})
        with h5py.File(self.folder / "d.h5") as file:
            starts = [rollout["position"][0] for rollout in file["rollouts"].values()]
            for rollout in file["rollouts"].values():
                self.assertEqual(list(rollout["handles"]), pinned)
            source = json.loads(file["source_cloth"][()])
        self.assertGreater(abs(starts[0] - starts[1]).max(), 0.01)  # tilts differ
        self.assertLess(abs(starts[0][:, 1]).max(), 0.25 * 2 ** 0.5)  # and are small
        self.assertEqual(source["springs"]["stiffness"], cloth["springs"]["stiffness"])
        self.assertNotIn("errors", source["springs"])
        text = self.run_it("generate", *self.DESIGN, "--rollouts", "1", "--noise", "0.001", "--gaps",
                           "0.1", "--out", "n.h5").stdout
        self.assertIn("would help most", text)
        self.assertRegex(text, r"chosen +pin ")
        self.assertFalse(self.inspect("n.h5")["velocities"])
        # Resumed to the same bytes.
        self.run_it("generate", *self.DESIGN, "--rollouts", "1", "--fps", "50", "--out", "part.h5")
        self.run_it("generate", "--out", "part.h5", "--resume", "--rollouts", "2", "--quiet")
        self.assertTrue(self.same_files("d.h5", "part.h5"))

    def test_design_refuses_what_makes_no_sense_beside_it(self):
        self.known_cloth("c.json")
        for flag, value in (("grid", "8x8"), ("stiffness", "3"), ("mass", "1"), ("density", "1"),
                            ("anchors", "1"), ("anchor-size", "1"), ("anchor-radius", "1"),
                            ("source", "fem"), ("preset", "reference"), ("mesh", "3x3")):
            told = self.run_it("generate", *self.DESIGN, f"--{flag}", value, "--out", "x.h5", code=2)
            self.assertIn(f"--{flag}: with --design-for the cloth comes from c.json", told.stderr)
        told = self.run_it("generate", "--design-for", "k.cloth.json", "--out", "x.h5", code=2)
        self.assertIn("k.cloth.json: has no standard errors", told.stderr)
        told = self.run_it("generate", "--design-for", "none.json", "--out", "x.h5", code=2)
        self.assertIn("none.json", told.stderr)
        self.known_cloth("exact.json", force=0)
        told = self.run_it("generate", "--design-for", "exact.json", "--out", "x.h5", code=2)
        self.assertIn("springs.errors.force, is 0", told.stderr)
        (self.folder / "x.cloth.json").write_bytes((self.folder / "c.json").read_bytes())
        told = self.run_it("generate", "--design-for", "x.cloth.json", "--out", "x.h5", code=2)
        self.assertIn("x.cloth.json: is read as well", told.stderr)
        self.assertFalse((self.folder / "x.h5").exists())
