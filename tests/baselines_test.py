"""`reproduce generalisation --baselines`: rows, refusals, and what an interruption leaves."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]
BASELINE = pathlib.Path(PROGRAM).with_name("springtime-baseline")
KEYS = ["mesh-graph-nets", "neural-ode-published", "neural-ode"]


def read_tensors(path):
    """Arrays of a file of tensors, by name."""
    import numpy
    arrays = {}
    with open(path, "rb") as file:
        assert file.readline() == b"springtime tensors 1\n"
        heads = []
        while (line := file.readline().split())[0] != b"end":
            if line[0] == b"array":
                heads.append((line[1].decode(), {b"f32": "<f4", b"f64": "<f8", b"i64": "<i8"}[line[2]],
                              [int(n) for n in line[3:]]))
        for name, kind, shape in heads:
            arrays[name] = numpy.fromfile(file, kind, math.prod(shape)).reshape(shape)
    return arrays


class Baselines(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def reproduce(self, *arguments):
        return subprocess.run(
            [PROGRAM, "reproduce", *arguments, "--scale", "smoke", "--quiet", "--no-report"],
            cwd=self.folder, capture_output=True, text=True, check=True)

    def rows(self, out):
        result = json.loads((self.folder / out / "result.json").read_text())
        return {row["key"]: row for row in result["rows"]}

    def test_untrained_baselines_are_not_called_trained(self):
        self.reproduce("baselines", "--out", "b")
        rows = self.rows("b")
        for key in KEYS:
            self.assertIs(rows[key]["trained"], False)
        self.assertIn("stopped after 4 steps, too few", rows["mesh-graph-nets"]["verdict"])
        self.assertIn("too few", rows["neural-ode"]["verdict"])
        self.assertIn("before it was reached", rows["neural-ode-published"]["verdict"])
        text = (self.folder / "b/result.md").read_text()
        self.assertIn("| MeshGraphNets | stopped after 4 steps", text)
        # What a row must say of a baseline that was run.
        for key in ("unseen", "anchors_1", "anchors_3", "anchors_4", "longer"):
            self.assertGreater(rows["mesh-graph-nets"][key]["mean"], 0)
        for key in ("parameters", "steps", "seconds", "seconds_per_simulated_second",
                    "seconds_per_step_and_particle", "after"):
            self.assertGreater(rows["mesh-graph-nets"][key], 0)
        self.assertEqual(rows["mesh-graph-nets"]["unseen"]["over_time"][0], 0)

        # A second run takes everything as it is: files of models and errors do not change.
        made = {path: path.stat().st_mtime_ns for path in self.folder.glob("b/smoke/*/model*.tensors")}
        self.assertEqual(len(made), 2 * (1 + 5))
        errors = {key: rows[key]["unseen"] for key in KEYS}
        self.reproduce("baselines", "--out", "b")
        after = {path: path.stat().st_mtime_ns for path in made if "-" in path.name}
        self.assertEqual(after, {path: time for path, time in made.items() if "-" in path.name})
        self.assertEqual({key: self.rows("b")[key]["unseen"] for key in KEYS}, errors)

    def test_errors_are_those_of_the_free_landmarks(self):
        """From the predicted motion and the motion file, without a line of the program."""
        import h5py
        import numpy
        self.reproduce("baselines", "--out", "b")
        folder = self.folder / "b/smoke"
        subprocess.run([BASELINE, "evaluate", "--model", folder / "mgn/model.tensors", "--motion",
                        folder / "tensors/anchors_3.tensors", "--out", folder / "moved.tensors",
                        "--positions", "--device", "cpu"], check=True)
        seen = read_tensors(folder / "moved.tensors")
        self.assertEqual(seen["position"].shape[0], len(seen["error"]))
        with h5py.File(folder / "unseen-3.h5") as file:
            for r, name in enumerate(sorted(file["rollouts"])):
                rollout = file["rollouts"][name]
                target = rollout["position"][:]
                free = numpy.ones(target.shape[1], bool)
                free[rollout["handles"][:]] = False
                self.assertLess(free.sum(), len(free))
                distance = ((seen["position"][r].astype(float) - target) ** 2).sum(-1)
                error = numpy.sqrt(distance[:, free].mean(-1))
                self.assertLess(abs(error - seen["error"][r]).max(), 1e-6)
        self.assertAlmostEqual(self.rows("b")["mesh-graph-nets"]["anchors_3"]["mean"],
                               seen["error"].mean(), places=9)

    def test_rows_stand_beside_those_of_springs(self):
        plan = json.loads(self.reproduce("generalisation", "--baselines", "--plan").stdout)
        self.reproduce("generalisation", "--baselines", "--out", "g")
        self.assertEqual(list(self.rows("g")), plan["generalisation"])
        for key in KEYS:
            self.assertIn(key, plan["generalisation"])
        ratios = json.loads((self.folder / "g/result.json").read_text())["springs_over_mesh_graph_nets"]
        rows = self.rows("g")
        self.assertAlmostEqual(ratios["motion"] * rows["mesh-graph-nets"]["unseen"]["mean"],
                               rows["default"]["unseen"]["mean"])
        self.assertIs(ratios["trained"], False)
        self.assertIn("which were not trained to their end", (self.folder / "g/result.md").read_text())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
