"""Two users of HDF5 in one process, whichever came first, and both at once."""

import os
import subprocess
import sys
import threading

import h5py
import numpy as np
import pytest

import springtime_cloth as st

BOTH = """
import {first}
import {second}
import h5py, numpy as np, springtime_cloth as st
motion = st.Motion(np.arange(72, dtype=np.float32).reshape(6, 4, 3), fps=60, grid=(2, 2), length=1,
                   width=1, mass=1)
with h5py.File("other.h5", "w") as file:
    file["x"] = np.arange(5)
    motion.save("ours.h5")                                   # while a file of h5py is open
    np.testing.assert_array_equal(file["x"][:], np.arange(5))
with h5py.File("ours.h5") as file:
    ours = st.Motion.load("ours.h5")                         # the same file, opened by both
    np.testing.assert_array_equal(file["rollouts/000000/position"][:], ours[0].positions)
try:
    st.Motion.load("other.h5")
except st.Error as error:
    print(type(error).__name__)
try:
    h5py.File("none.h5")
except FileNotFoundError as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize("first, second", [("h5py", "springtime_cloth"),
                                           ("springtime_cloth", "h5py")])
def test_both_read_and_write(tmp_path, first, second):
    done = subprocess.run([sys.executable, "-c", BOTH.format(first=first, second=second)],
                          cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Error\nFileNotFoundError\n"), done.stderr
    assert done.stderr == ""  # neither makes the other print its error stack


def test_both_at_once(tmp_path):
    """Our calls run without the interpreter's lock, so both libraries work at the same time."""
    positions = np.random.default_rng(1).normal(size=(400, 64, 3)).astype(np.float32)
    motion = st.Motion(positions, fps=60, grid=(8, 8), length=1, width=1, mass=1)
    wrong = []

    def ours():
        for number in range(10):
            path = tmp_path / f"ours{number}.h5"
            motion.save(path)
            if not np.array_equal(st.Motion.load(path)[0].positions, positions):
                wrong.append(path)

    def theirs():
        for number in range(30):
            path = tmp_path / f"theirs{number}.h5"
            with h5py.File(path, "w") as file:
                file["x"] = positions
            with h5py.File(path) as file:
                if not np.array_equal(file["x"][:], positions):
                    wrong.append(path)

    threads = [threading.Thread(target=work) for work in (ours, theirs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
