"""The verb export as a person uses it; part of cli_test.py."""

import json


class Exporting:
    def test_export_errors(self):
        self.generate("m.h5", "--rollouts", "1")
        self.generate("two.h5", "--rollouts", "2")
        self.generate("gaps.h5", "--rollouts", "1", "--gaps", "0.02",
                      "--seconds", "6")
        (self.folder / "empty").mkdir()
        before = sorted(self.folder.iterdir())
        for arguments, message in (
            (["m.h5"], "--to is required"),
            (["m.h5", "--to", "fbx"], "csv, glb, mdd, newton, npz, obj, pc2"),
            (["none.h5", "--to", "csv"], "none.h5: no such file"),
            (["empty", "--to", "csv"], "empty: a folder without cloth.json"),
            (["two.h5", "--to", "csv"], "two.h5: has 2 rollouts; say which with --rollout 0 to 1"),
            (["two.h5", "--to", "csv", "--rollout", "2"], "--rollout '2': two.h5 has 0 to 1"),
            (["two.h5", "--to", "csv", "--rollout", "first"], "--rollout 'first'"),
            (["gaps.h5", "--to", "mdd"], "mdd cannot leave a landmark out: export csv or npz"),
            (["m.h5", "--to", "png"], "png holds the weight maps of a cloth, not motion"),
            (["m.h5", "--to", "csv", "--size", "64"], "is a motion, but --size is about pictures"),
            (["m.h5", "--to", "csv", "--fps", "-3"], "--fps: -3"),
            (["m.h5", "--to", "csv", "--from", "9"], "no frame from 9 s"),
            (["m.h5", "--to", "csv", "--layout", "round"], "--layout"),
            (["m.h5", "--to", "csv", "--out", "none/m.csv"], "there is no directory none"),
            (["m.h5", "--to", "csv", "--maps", "m.cloth.json"], "csv has no place for weight maps"),
            (["m.h5", "--to", "csv", "--out", "m.h5", "--overwrite"], "is read as well"),
            (["m.cloth.json", "--to", "mdd"], "mdd holds motion, and a cloth file has none"),
            (["m.cloth.json", "--to", "ply", "--fps", "20"], "is a cloth, but --fps is about motion"),
            (["m.cloth.json", "--to", "png", "--size", "0"], "--size: 0"),
            (["m.cloth.json", "--to", "glb", "--color", "red"], "--color: there is no map 'red'"),
        ):
            result = self.run_it("export", *arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_export_never_overwrites_unasked(self):
        self.generate("m.h5", "--rollouts", "1")
        self.run_it("export", "m.h5", "--to", "csv")
        before = (self.folder / "m.csv").read_bytes()
        result = self.run_it("export", "m.h5", "--to", "csv", "--fps", "25", code=2)
        self.assertIn("m.csv: exists already; replace it with --overwrite", result.stderr)
        self.assertEqual((self.folder / "m.csv").read_bytes(), before)
        self.run_it("export", "m.h5", "--to", "csv", "--fps", "25", "--overwrite")
        self.assertEqual(len((self.folder / "m.csv").read_text().splitlines()), 1 + 11)

    def test_export_of_all_rollouts_and_json(self):
        self.generate("m.h5", "--rollouts", "3")
        result = self.run_it("export", "m.h5", "--to", "pc2", "--rollout", "all", "--json")
        seen = json.loads(result.stdout)
        self.assertEqual((seen["format"], seen["frames"], seen["points"], seen["faces"]),
                         ("pc2", 3 * 21, 64, 49))
        expected = [f"m-{r:06}.{end}" for r in range(3) for end in ("pc2", "pc2.rest.obj")]
        self.assertEqual([name.rsplit("/", 1)[-1] for name in seen["files"]], expected)
        for name in expected:
            self.assertTrue((self.folder / name).is_file())

    def test_export_fills_gaps_only_when_asked(self):
        self.generate("m.h5", "--rollouts", "1", "--gaps", "0.02",
                      "--seconds", "6")
        found = json.loads(self.run_it("export", "m.h5", "--to", "csv", "--json").stdout)
        self.assertEqual(found["filled"], 0)
        self.assertIn(",,,", (self.folder / "m.csv").read_text())
        result = self.run_it("export", "m.h5", "--to", "usda", "--fill", "--json")
        found = json.loads(result.stdout)
        self.assertGreater(found["filled"], 0)
        self.assertIn(f"missing at {found['filled']} places", result.stderr)
        self.assertNotIn("nan", (self.folder / "m.usda").read_text())

    def test_export_of_a_run_folder(self):
        self.generate("m.h5", "--rollouts", "1")
        (self.folder / "run").mkdir()
        (self.folder / "m.cloth.json").rename(self.folder / "run/cloth.json")
        self.run_it("export", "run", "--to", "png", "--out", "maps/", "--size", "16")
        self.assertTrue((self.folder / "maps/stretch_warp.png").is_file())
        result = self.run_it("export", "run", "--to", "ply")
        self.assertRegex(result.stdout, r"damping_\w+ +6 +6 +N s/m|stretch.warp")
        self.assertTrue((self.folder / "run/cloth.ply").is_file())
        self.assertTrue((self.folder / "run/cloth.ply.ranges.json").is_file())

    def test_a_rope_goes_through_all_verbs(self):
        rope = ["--grid", "1x12", "--length", "1", "--width", "0.02", "--mass", "0.1", "--stiffness",
                "20", "--damping", "0.02", "--anchor-size", "1", "--seconds", "1", "--stride", "20",
                "--quiet"]
        self.run_it("generate", *rope, "--rollouts", "8", "--out", "rope.h5")
        self.run_it("generate", *rope, "--rollouts", "2", "--seed", "99", "--out", "unseen.h5")
        self.run_it("train", "rope.h5", "--grid", "1x12", "--method", "linear", "--out", "run",
                    "--quiet")
        result = self.run_it("evaluate", "run/cloth.json", "unseen.h5", "--out", "found.json",
                             "--quiet", "--json")
        found = json.loads(result.stdout)
        self.assertGreater(found["times_better"]["static"], 50)
        self.assertTrue((self.folder / "found.frames.png").is_file())
        self.assertEqual(self.inspect("run/cloth.json")["springs"], 11 + 10)
        self.run_it("simulate", "run/cloth.json", "--pin", "corner-nw", "--seconds", "0.2", "--out",
                    "swing.h5", "--quiet")
        for to in ("obj", "ply", "usda", "glb", "csv", "npz", "mdd", "pc2"):
            told = json.loads(self.run_it("export", "swing.h5", "--to", to, "--json").stdout)
            self.assertEqual((told["points"], told["faces"]), (12, 0))
        for to in ("obj", "ply", "usda", "glb", "csv", "npz", "png"):
            self.run_it("export", "run", "--to", to, "--out", f"rest.{to}")
        self.assertIn("\nl 1/1 2/2 3/3", (self.folder / "rest.obj").read_text())
