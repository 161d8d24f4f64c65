"""The part of cli_test.py about motion that comes from elsewhere: import, learn, evaluate, export."""

import json
import math

import h5py
import numpy as np

from cli_kinds import long_run

# A cloth of the size of a handkerchief: steps of a millisecond would be unstable.
KERCHIEF = ["--length", "0.3", "--width", "0.3", "--mass", "0.03"]
SHEET = ["--grid", "9x9", *KERCHIEF, "--driven", "corner-nw", "--driven", "corner-ne", "--drag", "2"]


def hand_paths(seed, seconds):
    """Two corners swung by hands: smooth, slow at first, of a few tenths of a metre a second."""
    rng = np.random.default_rng(seed)
    pace, phase, reach = rng.uniform(2, 5, 6), rng.uniform(0, 2 * math.pi, 6), rng.uniform(.03, .06, 6)
    lines = ["time,handle,x,y,z"]
    for time in np.arange(0, seconds + 0.04, 0.05):
        ramp = 1 - math.exp(-(time / 0.7) ** 2)
        a = ramp * reach * np.sin(pace * time + phase)
        nw, ne = a[:3], a[:3] + 0.2 * a[3:]
        for name, (x, y, z) in (("corner-nw", nw), ("corner-ne", ne)):
            lines.append(f"{time:.3f},{name},{x:.6f},{y:.6f},{z:.6f}")
    return "\n".join(lines) + "\n"


class OwnData:
    def make_kerchief(self):
        self.run_it("generate", "--grid", "9x9", *KERCHIEF, "--stiffness",
                    "150; patch 0.3-0.7 0.3-0.7 = 450", "--damping", "0.02", "--rollouts", "1",
                    "--seconds", "0.1", "--out", "source.h5", "--quiet")

    def swing(self, name, seed, seconds, *camera):
        (self.folder / "paths.csv").write_text(hand_paths(seed, seconds))
        self.run_it("simulate", "source.cloth.json", "--handles", "paths.csv", "--drag", "2",
                    "--seconds", str(seconds), "--fps", "60", *camera, "--seed", str(seed),
                    "--out", name, "--quiet")

    def positions(self, name, rollout=0):
        with h5py.File(self.folder / name) as file:
            return file[f"rollouts/{rollout:06}/position"][:]

    def bring(self, *files, out, code=0, sheet=SHEET):
        return self.run_it("import", *sheet, *files, "--out", out, "--json", "--quiet", code=code)

    def test_motion_of_every_format_comes_back(self):
        self.make_kerchief()
        self.swing("m.h5", 1, 1)
        truth = self.positions("m.h5")
        for form, more, files in (("csv", [], ["m.csv"]), ("csv", ["--layout", "long"], ["long.csv"]),
                                  ("npz", [], ["m.npz"]), ("mdd", [], ["m.mdd"]),
                                  ("pc2", [], ["m.pc2", "--fps", "60"]),
                                  ("obj", [], ["m-obj", "--fps", "60"]),
                                  ("ply", [], ["m-ply", "--fps", "60"])):
            self.run_it("export", "m.h5", "--to", form, *more, "--out", files[0], "--quiet")
            told = json.loads(self.bring(*files, "--overwrite", out="back.h5").stdout)
            self.assertAlmostEqual(told["frame_rate"], 60, places=3)
            self.assertEqual(told["takes"][0]["outlier_count"], 0)
            self.assertTrue(np.array_equal(self.positions("back.h5"), truth), form)
        # A cache says nothing of the sheet: the mesh that lies beside it does.
        told = json.loads(self.run_it(
            "import", "m.mdd", "--rest", "m.mdd.rest.obj", "--mass", "0.03", "--driven", "corner-nw",
            "--driven", "corner-ne", "--json", "--quiet", "--out", "rest.h5").stdout)
        with h5py.File(self.folder / "rest.h5") as rest, h5py.File(self.folder / "m.h5") as source:
            self.assertLess(np.abs(rest["rest"][:] - source["rest"][:]).max(), 1e-6)
        self.assertEqual(told["driven"], [0, 8])

    @long_run
    def test_own_motion_is_learned_and_beats_what_needs_no_learning(self):
        self.make_kerchief()
        # It falls from flat at first, which would make bad baselines: two seconds are left out.
        for name, seed, seconds in (("a", 1, 6), ("b", 2, 6), ("unseen", 9, 5)):
            self.swing(f"{name}.h5", seed, seconds, "--noise", "0.001", "--gaps", "0.02")
            self.run_it("export", f"{name}.h5", "--to", "csv", "--from", "2", "--quiet")
        self.bring("a.csv", "b.csv", out="takes.h5")
        self.bring("unseen.csv", out="test.h5")
        lost = np.isnan(self.positions("takes.h5")).mean()  # gaps are still gaps
        self.assertGreater(lost, 0.01)
        self.assertLess(lost, 0.03)
        self.run_it("train", "takes.h5", "--out", "run", "--quiet")
        told = json.loads(self.run_it("evaluate", "run/cloth.json", "test.h5", "--json",
                                      "--quiet").stdout)
        for baseline in ("static", "handles"):
            self.assertLess(3 * told["motion_rmse"]["mean"], told["baselines"][baseline]["mean"])
        self.assertEqual([w for w in told["warnings"] if "handles" in w or "nothing" in w], [])

    def test_import_reads_what_lies_beside_the_data(self):
        self.make_kerchief()
        self.swing("m.h5", 1, 1, "--noise", "0.0001")
        self.run_it("export", "m.h5", "--to", "csv", "--quiet")
        beside = ('grid = "9x9"\nlength = 0.3\nwidth = 0.3\nmass = 0.03\ndrag = 2\n'
                  'driven = ["corner-nw", "corner-ne"]\n')
        (self.folder / "m.toml").write_text(beside)
        told = json.loads(self.run_it("import", "m.csv", "--json", "--out", "a.h5").stdout)
        self.assertEqual((told["driven"], told["mass"]), ([0, 8], 0.03))
        told = json.loads(self.run_it("import", "m.csv", "--json", "--mass", "0.05", "--out",
                                      "b.h5").stdout)
        self.assertEqual(told["mass"], 0.05)  # what is given wins
        (self.folder / "m.toml").write_text(beside.replace("0.03", '"30g"'))
        self.assertIn("m.toml:4: key 'mass' is '30g'; a number is needed: Mass of the whole cloth [kg]",
                      self.run_it("import", "m.csv", "--out", "c.h5", code=2).stderr)
        (self.folder / "m.toml").write_text(beside + "gird = 3\n")
        self.assertIn("m.toml", self.run_it("import", "m.csv", "--out", "c.h5", code=2).stderr)
        (self.folder / "m.toml").unlink()
        (self.folder / "import.toml").write_text(beside)
        self.run_it("import", "m.csv", "--out", "d.h5", "--quiet")
        text = self.run_it("import", "m.csv", "--out", "e.h5", "--quiet").stdout
        for word in ("9 x 9", "metres", "quadratics"):
            self.assertIn(word, text)
        self.assertRegex(text, r"driven +1, 9\n")

    def test_driven_points_follow_logs(self):
        self.make_kerchief()
        for name, seed in (("a", 1), ("b", 2)):
            self.swing(f"{name}.h5", seed, 3, "--noise", "0.003")
            self.run_it("export", f"{name}.h5", "--to", "csv", "--quiet")
            # The log of a tool that does not turn: halfway between the corners, a tenth of a second
            # ahead of the recording.
            with h5py.File(self.folder / f"{name}.h5") as file:
                times = file["rollouts/000000/handle_time"][:]
                middle = file["rollouts/000000/handle_position"][:].mean(axis=1)
            rows = [f"{t - 0.1:.4f},{x:.6f},{y:.6f},{z:.6f}" for t, (x, y, z) in zip(times, middle)]
            (self.folder / f"{name}.log.csv").write_text("time,x,y,z\n" + "\n".join(rows) + "\n")
        told = json.loads(self.bring("a.csv", "b.csv", "--handle-path", "a.log.csv", "b.log.csv",
                                     out="both.h5").stdout)
        for take in told["takes"]:
            self.assertAlmostEqual(take["handle_log"]["delay"], 0.1, delta=0.02)
        self.assertIn("1 files for 2 recordings",
                      self.bring("a.csv", "b.csv", "--handle-path", "a.log.csv", out="c.h5",
                                 code=2).stderr)
        self.assertIn("--handle-delay", self.bring("a.csv", "--handle-delay", "soon", out="c.h5",
                                                   code=2).stderr)
        self.assertFalse((self.folder / "c.h5").exists())
        # What was there before an import that fails is there afterwards.
        before = (self.folder / "both.h5").read_bytes()
        self.bring("a.csv", "b.csv", "--handle-path", "a.log.csv", "a.csv", "--overwrite",
                   out="both.h5", code=2)
        self.assertEqual((self.folder / "both.h5").read_bytes(), before)

    def test_points_on_a_curve_are_a_rope(self):
        s = np.cumsum([0, .02, .1, .09, .11, .1, .1, .02])
        frames = []
        for t in np.arange(0, 2, 0.02):  # a chain that hangs between two ends and swings
            sag = 0.1 + 0.01 * math.sin(5 * t)
            x = np.stack([s * (1 - sag), -2 * sag * np.sin(math.pi * s / s[-1]) * s[-1] / math.pi,
                          0.05 * math.sin(4 * t) * np.sin(math.pi * s / s[-1])], axis=1)
            frames.append(x)
        np.save(self.folder / "rope.npy", np.array(frames))
        held = ["--mass", "0.02", "--driven", "particle:0", "--driven", "particle:7", "--fps", "50"]
        told = json.loads(self.bring("rope.npy", out="rope.h5", sheet=held).stdout)
        self.assertIn("a rope of 8 points", told["rest_reason"])
        again = json.loads(self.bring("rope.npy", "--grid", "1x8", out="row.h5", sheet=held).stdout)
        self.assertEqual(told["sheet"], again["sheet"])

    def test_scattered_takes_share_a_sheet(self):
        self.make_kerchief()
        held = ["--mass", "0.03", "--driven", "particle:0", "--driven", "particle:8", "--drag", "2"]
        for name, seed in (("a", 1), ("b", 2)):
            self.swing(f"{name}.h5", seed, 3, "--noise", "0.002")
            self.run_it("export", f"{name}.h5", "--to", "csv", "--from", "2", "--quiet")
        told = json.loads(self.bring("a.csv", out="first.h5", sheet=held).stdout)
        self.assertEqual(told["labels"][:2], ["1", "2"])  # quotes are for people
        self.bring("b.csv", "--rest", "first.h5", out="second.h5", sheet=held)
        with h5py.File(self.folder / "first.h5") as a, h5py.File(self.folder / "second.h5") as b:
            self.assertTrue(np.array_equal(a["rest"][:], b["rest"][:]))
        told = self.bring("b.csv", "--rest", "first.h5", "--overwrite", out="first.h5", code=2,
                          sheet=held)
        self.assertIn("is read as well", told.stderr)
        # The source knows its sheet: what was laid out is a bit larger or smaller, but not by a third.
        self.bring("a.csv", "--length", "0.4", "--width", "0.4", "--trust", out="large.h5", sheet=held)
        told = self.run_it("evaluate", "source.cloth.json", "large.h5", code=2)
        for size in ("0.3 m x 0.3 m", "0.4 m x 0.4 m"):
            self.assertIn(size, told.stderr)

    def test_import_refuses_with_words(self):
        self.make_kerchief()
        self.swing("m.h5", 1, 1)
        self.run_it("export", "m.h5", "--to", "csv", "--quiet")
        for more, words in ((["--unit", "mm"], "stretched 0.001-fold"), (["--up", "z"], "--up y"),
                            (["--up", "w"], "--up"), (["--unit", "parsec"], "--unit"),
                            (["--drop", "nobody"], "nobody"), (["--driven", "nobody"], "nobody"),
                            (["--from", "7"], "change --from"), (["--mass", "0"], "--mass")):
            told = self.bring("m.csv", *more, out="x.h5", code=2).stderr
            self.assertIn(words, told)
            self.assertFalse((self.folder / "x.h5").exists())
        sheet = ["--grid", "8x9", *KERCHIEF]
        self.assertIn("81 points, but a grid of 8 x 9 has 72",
                      self.bring("m.csv", out="x.h5", code=2, sheet=sheet).stderr)
        self.assertIn("needs no import", self.bring("m.h5", out="x.h5", code=2).stderr)
        self.bring("m.csv", out="x.h5")
        self.assertIn("--overwrite", self.bring("m.csv", out="x.h5", code=2).stderr)
