"""What the tests of the Python module share.

PYTHONPATH finds the module, SPRINGTIME_PROGRAM is the command line, SPRINGTIME_SOURCE the repository.
"""

import os
import pathlib
import subprocess

import pytest

import springtime_cloth as st

SOURCE = pathlib.Path(os.environ["SPRINGTIME_SOURCE"])
PROGRAM = os.environ["SPRINGTIME_PROGRAM"]


def springtime(*arguments, folder):
    """Runs the command line and returns what it prints."""
    done = subprocess.run([PROGRAM, *map(str, arguments), "--quiet"], cwd=folder, check=True,
                          capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def cloth():
    return st.grid_cloth(5, 6, length=1.0, width=0.8, mass=0.2, damping=0.05,
                         stiffness="30; patch 0.3-0.7 0.3-0.7 = 60")


@pytest.fixture
def motion(cloth):
    """Clean motion of `cloth`, with velocities and accelerations."""
    return st.generate(cloth, rollouts=3, seconds=1.0, pinned=["corner-nw", "corner-ne"])
