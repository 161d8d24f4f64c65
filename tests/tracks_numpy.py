"""Has NumPy write array files, and compares what the library reads.

usage: tracks_numpy.py READ_TRACKS
"""

import io
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import numpy as np

READ_TRACKS = ""


def read_tracks(*arguments):
    """The lines of read_tracks as {word: [list of words, one list per line]}."""
    text = subprocess.run([READ_TRACKS, *arguments], check=True, capture_output=True,
                          text=True).stdout
    found = {}
    for line in text.splitlines():
        word, *rest = line.split(" ")
        found.setdefault(word, []).append(rest)
    return found


def refusal(*arguments):
    done = subprocess.run([READ_TRACKS, *arguments], capture_output=True, text=True)
    assert done.returncode == 2, done
    return done.stderr


class NumpyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.npy = os.path.join(folder.name, "a.npy")
        self.npz = os.path.join(folder.name, "a.npz")
        self.random = np.random.default_rng(7)

    def assert_frames(self, lines, array):
        # Numbers are printed with all digits and go from float to double exactly: no tolerance.
        found = np.array(lines, dtype="f8").reshape(len(array), -1)
        np.testing.assert_array_equal(found, array.astype("f8").reshape(len(array), -1))

    def test_types_and_byte_orders(self):
        for kind in "<f4", ">f4", "<f8", ">f8":
            array = self.random.standard_normal((5, 7, 3)).astype(kind)
            array[2, 3] = np.nan
            np.save(self.npy, array)
            found = read_tracks(self.npy)
            self.assertEqual(found["points"], [["7"]])
            self.assert_frames(found["position"], array)

    def test_versions_of_the_format(self):
        array = self.random.standard_normal((2, 3, 3)).astype("f4")
        for version in (1, 0), (2, 0), (3, 0):
            with open(self.npy, "wb") as file:
                np.lib.format.write_array(file, array, version=version)
            self.assert_frames(read_tracks(self.npy)["position"], array)

    def test_stored_and_deflated_archives(self):
        x, v = self.random.standard_normal((2, 40, 600, 3))  # several blocks of the reader
        names = np.array([f"mårker {i}" for i in range(600)])
        for save in np.savez, np.savez_compressed:
            save(self.npz, position=x.astype("f4"), velocity=v, time=0.1 * np.arange(40), fps=30,
                 names=names, note="from a test")
            found = read_tracks(self.npz)
            self.assert_frames(found["position"], x.astype("f4"))
            self.assert_frames(found["velocity"], v)
            self.assert_frames(found["time"], 0.1 * np.arange(40))
            self.assertEqual(found["rate"], [["30"]])
            self.assertEqual([" ".join(words) for words in found["name"]], list(names))

    def test_zip64_and_unnamed_arrays(self):
        array = self.random.standard_normal((3, 4, 5, 3))
        with zipfile.ZipFile(self.npz, "w") as archive:
            with archive.open("arr_0.npy", "w", force_zip64=True) as member:
                np.save(member, array)
        self.assert_frames(read_tracks(self.npz)["position"], array)

    def test_choice_by_name(self):
        first, second = self.random.standard_normal((2, 3, 4, 3))
        np.savez(self.npz, left=first, right=second)
        self.assertIn("left (3 x 4 x 3), right (3 x 4 x 3)",
                      refusal(self.npz))
        self.assert_frames(read_tracks("--array", "right", self.npz)["position"], second)

    def test_refusals(self):
        array = np.zeros((4, 5, 3), "f4")
        np.save(self.npy, np.asfortranarray(array))
        self.assertIn("np.ascontiguousarray", refusal(self.npy))
        np.save(self.npy, np.array([[[None] * 3]]), allow_pickle=True)
        self.assertIn("Python objects", refusal(self.npy))
        np.save(self.npy, np.zeros((2, 2), [("x", "f4"), ("y", "f4")]))
        self.assertIn("floats are needed", refusal(self.npy))
        np.save(self.npy, array.reshape(4, 15))
        self.assertIn("array.reshape(4, 5, 3)", refusal(self.npy))

    def test_damage_anywhere_in_deflated_numbers_is_noticed(self):
        np.savez_compressed(self.npz, x=self.random.standard_normal((4, 5, 3)))
        with open(self.npz, "rb") as file:
            whole = file.read()
        with zipfile.ZipFile(io.BytesIO(whole)) as archive:
            packed = archive.infolist()[0].compress_size
        for place in range(len("x.npy") + 30 + 20, packed, 40):
            damaged = bytearray(whole)
            damaged[place] ^= 0x10
            with open(self.npz, "wb") as file:
                file.write(damaged)
            self.assertIn(self.npz + ": ", refusal(self.npz))


if __name__ == "__main__":
    READ_TRACKS = sys.argv[1]
    unittest.main(argv=sys.argv[:1], verbosity=2)
