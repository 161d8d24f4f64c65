"""Writes motion files as docs/formats.md says, with h5py, and compares what the library reads.

usage: formats_h5py.py READ_MOTION FORMATS_MD
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import h5py
import numpy as np

READ_MOTION = ""
FORMATS_MD = ""


def read_motion(path):
    """The lines of read_motion as {word: [list of numbers, one list per line]}."""
    text = subprocess.run([READ_MOTION, path], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        word, *numbers = line.split()
        found.setdefault(word, []).append([float(n) for n in numbers])
    return found


def checksum(values):
    """Sum of (i mod 97 + 1) x_i over float32 values, as read_motion computes it."""
    flat = np.asarray(values, "f4").astype("f8").ravel()
    return float(np.sum((np.arange(flat.size) % 97 + 1) * flat))


def put_header(file, rest, **others):
    file.attrs.update(format="springtime-motion", version=1, units="m, kg, s, N")
    file.attrs.update(sheet_length=2.5, sheet_width=1.25, mass=0.3, dt=1e-3, stride=40)
    file.attrs.update(gravity=[0.5, -9.81, 0.25], drag=0.125, wind=[1, 2, 3])
    file.attrs.update(others)
    file["rest"] = rest


class FormatsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "motion.h5")
        self.folder = folder.name

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        # Sums of some hundred terms in another order: far below 1e-12 of their size.
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-10)

    def test_example_of_the_page(self):
        with open(FORMATS_MD, encoding="utf-8") as page:
            example = re.search(r"```python\n(.*?)```", page.read(), re.DOTALL).group(1)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        exec(compile(example, "docs/formats.md", "exec"), {})
        found = read_motion("towel.h5")
        self.assertEqual(found["version"], [[1]])
        self.assertEqual(found["rollouts"], [[3, 0]])
        self.assertEqual(found["rest"][0][0], 12)
        self.assert_close(found["time"], [[1 / 60, 1]])
        # A plate that turns about its north edge keeps its lengths: the south edge is 0.4 m away.
        with h5py.File("towel.h5") as file:
            self.assertEqual(file.attrs["captured"], 1)
            for number in range(3):
                position = file[f"rollouts/{number:06}/position"][:]
                self.assertEqual(position.shape, (120, 12, 3))
                distance = np.linalg.norm(position[:, 8:] - position[:, :4], axis=2)
                np.testing.assert_allclose(distance, 0.4, rtol=1e-6)
                frames, x = found["rollout"][number][:2]
                self.assertEqual(frames, 120)
                np.testing.assert_allclose(x, checksum(position), rtol=1e-7)

    def test_all_that_the_page_allows(self):
        random = np.random.default_rng(5)
        rest = random.random((11, 2))
        x, v, a = random.standard_normal((3, 7, 11, 3))
        key_time, key_position = [0.0, 0.5, 2.0], random.standard_normal((3, 2, 3))
        with h5py.File(self.path, "w", libver="latest") as file:
            put_header(file, rest, seed=np.uint64(2**63 + 2048), rollouts_planned=5, generator="me")
            file["config"] = "été"
            file["source_cloth"] = np.bytes_(b"{}")
            first = file.create_group("rollouts/000000")
            first.create_dataset("position", data=x, dtype="f8", compression="gzip", shuffle=True)
            first.create_dataset("velocity", data=v, dtype=">f4", chunks=(2, 5, 3))
            first.create_dataset("acceleration", data=a, dtype="f4", fletcher32=True)
            first["handles"] = np.array([10, 0], "i8")
            first["handle_time"] = key_time
            first["handle_position"] = key_position
            second = file.create_group("rollouts/000001")
            second.create_dataset("position", data=x[:4], dtype="f4")
            second["handles"] = np.array([3], "u2")
        found = read_motion(self.path)
        self.assertEqual(found["rollouts"], [[2, 5]])
        self.assertEqual(found["sheet"], [[2.5, 1.25, 0.3]])
        self.assertEqual(found["air"], [[0.5, -9.81, 0.25, 0.125, 1, 2, 3]])
        self.assertEqual(found["seed"], [[2**63 + 2048]])
        self.assertEqual(found["texts"], [[5, 2]])
        self.assert_close(found["rest"][0], [11, np.sum(np.arange(1, 12) * (rest @ [1, 2]))])
        keys = np.sum(np.arange(1, 7) * (key_position.reshape(6, 3) @ [1, 2, 3]))
        self.assert_close(
            found["rollout"][0],
            [7, checksum(x), checksum(v), 231, checksum(a), 2, 10, 2.0, keys],
        )
        # Without velocities there are none.
        self.assert_close(found["rollout"][1], [4, checksum(x[:4]), 0, 0, 0, 1, 3, 0, 0])

    def test_gaps_are_nan_and_need_their_attribute(self):
        x = np.random.default_rng(6).standard_normal((4, 5, 3)).astype("f4")
        x[1, 2] = np.nan
        with h5py.File(self.path, "w") as file:
            put_header(file, np.zeros((5, 2)), gaps=1)
            file["rollouts/000000/position"] = x
        self.assertEqual(read_motion(self.path)["missing"], [[1]])
        with h5py.File(self.path, "a") as file:
            file.attrs["gaps"] = 0
        done = subprocess.run([READ_MOTION, self.path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("frame 1, landmark 2: position nan is not finite", done.stderr)

    def test_refusal_is_one_line_and_exit_code_2(self):
        with h5py.File(self.path, "w") as file:
            put_header(file, np.zeros((4, 2)))
            file["rollouts/000000/position"] = np.zeros((3, 5, 3), "f4")
        done = subprocess.run([READ_MOTION, self.path], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(
            done.stderr,
            self.path + ": /rollouts/000000/position has shape 3 x 5 x 3, but /rest has 4"
            " landmarks; frames x 4 x 3 is needed\n",
        )


if __name__ == "__main__":
    READ_MOTION, FORMATS_MD = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
