"""What the Python module costs beside C++, as ratios of what was measured by turns in one run.

usage: PYTHONPATH=build/release/python python3 bench/python.py PROGRAM
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import springtime_cloth as st

ROUNDS = 5


def seconds_of(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def least(*works):
    """The least time of each, of several rounds by turns: a busy machine slows all alike."""
    times = [[seconds_of(work) for work in works] for _ in range(ROUNDS)]
    return [min(column) for column in zip(*times)]


def advance_overhead():
    """A frame of a cloth by a call each, beside all frames in one call."""
    cloth = st.grid_cloth(8, 8, length=1.0, width=1.0, mass=0.2, stiffness=20.0, damping=0.01)
    frames = 20000
    simulation = st.Simulation(cloth, 1e-3, substeps=1)
    simulation.hold("corner-nw")

    def singly():
        for _ in range(frames):
            simulation.advance()

    one_by_one, at_once = least(singly, lambda: simulation.advance(frames))
    return {"microseconds": 1e6 * (one_by_one - at_once) / frames,
            "frame_microseconds": 1e6 * at_once / frames, "ratio": one_by_one / at_once}


def import_seconds():
    """In processes of their own: without the start of the interpreter."""
    least_of = {"springtime_cloth": float("inf"), "numpy": float("inf")}
    for _ in range(ROUNDS):
        for name in least_of:
            code = (f"import time; begin = time.perf_counter(); import {name}; "
                    "print(time.perf_counter() - begin)")
            told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
            least_of[name] = min(least_of[name], float(told.stdout))
    seconds = least_of["springtime_cloth"]
    return {"seconds": seconds, "ratio_to_numpy": seconds / least_of["numpy"]}


def learning_ratio(program, options, flags):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "motion.h5"
        cloth = st.grid_cloth(24, 24, length=1.0, width=1.0, mass=0.2, stiffness=30.0, damping=0.02)
        st.generate(cloth, rollouts=8, seconds=2.0).save(path)
        motion = st.Motion.load(path)
        python, command = [], []
        for number in range(ROUNDS):
            python.append(st.learn(motion, **options).seconds)
            run = pathlib.Path(folder) / f"run{number}"
            subprocess.run([program, "train", path, "--out", run, "--quiet", *flags], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            command.append(json.loads((run / "result.json").read_text())["seconds"])
        return {"python_seconds": min(python), "command_seconds": min(command),
                "ratio": min(python) / min(command)}


if __name__ == "__main__":
    print(json.dumps({
        "benchmark": "python",
        "advance": advance_overhead(),
        "import": import_seconds(),
        "learn_linear": learning_ratio(sys.argv[1], {"method": "linear"}, ["--method", "linear"]),
        "learn_trajectory": learning_ratio(
            sys.argv[1], {"method": "trajectory", "law": "published", "homogeneous_iterations": 8,
                          "horizons": [(16, 0.4)]},
            ["--method", "trajectory", "--law", "published", "--homogeneous-iterations", "8",
             "--horizons", "0.4", "--iterations", "16"]),
    }, indent=2))
