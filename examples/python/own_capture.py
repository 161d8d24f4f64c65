"""From a capture of one's own to a learned cloth: a reader in NumPy, learning, a test on unseen motion.

usage: own_capture.py [--quick]

The capture is examples/own-data: 49 points of a swinging handkerchief in mm with z up, as a tracker
wrote them. Only read() knows the format; yours may look otherwise.
"""

import pathlib
import sys

import numpy as np

import springtime_cloth as st

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "own-data"
SHEET = {"grid": (7, 7), "length": 0.3, "width": 0.3, "mass": 0.03}  # [m], [kg]


def read(path):
    """Positions in m with y up, frames x points x 3, NaN where a point is not seen; frames a second."""
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    x, y, z = (table[:, 2 + axis::3] / 1000 for axis in range(3))
    return np.stack([x, z, -y], axis=2), 1 / np.median(np.diff(table[:, 1]))


def motion_of(path, seconds):
    positions, fps = read(path)
    frames = round(seconds * fps)
    return st.Motion(positions[:frames], fps=fps, driven=[0, 6], drag=2.0, **SHEET)


def main(quick):
    motion = motion_of(FOLDER / "swing.csv", 1.5 if quick else 60)
    less = {"homogeneous_iterations": 3, "horizons": [(3, 0.2)]} if quick else {}
    learned = st.learn(motion, progress=True, law="full", globals=False, **less)
    print(learned.summary)
    print(f"stiffness of the springs: {learned.cloth.stiffness.min():.3g} to "
          f"{learned.cloth.stiffness.max():.3g} N/m")

    unseen = motion_of(FOLDER / "unseen.csv", 1 if quick else 60)
    print(st.evaluate(learned.cloth, unseen))
    learned.cloth.save("handkerchief.json", overwrite=True)
    st.export(learned.cloth, "handkerchief.ply", overwrite=True)
    print("wrote handkerchief.json and handkerchief.ply")


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
