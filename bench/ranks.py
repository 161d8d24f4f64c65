"""What ranks cost and gain: seconds per iteration of a descent, and of a linear solve, alone and under mpirun.

    ranks.py PROGRAM [ROUNDS]

All numbers of a line are the least of several rounds, in which the ways to run take turns, so that a busy machine
slows all of them. Prints JSON.
"""

import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
GRID, SOLVED_GRID, ROLLOUTS, SECONDS, HORIZON, ITERATIONS = "24x24", "16x16", 16, 2, 1, 8
# Ranks (0: without mpirun) and threads of each.
WAYS = {"alone, 1 thread": (0, 1), "alone, 2 threads": (0, 2), "1 rank, 1 thread": (1, 1),
        "2 ranks, 1 thread": (2, 1), "4 ranks, 1 thread": (4, 1)}


def run(folder, program, ranks, *arguments):
    start = ["mpirun", "-n", str(ranks), "--bind-to", "none"] if ranks else []  # as free as without it
    subprocess.run([*start, program, *arguments], cwd=folder, env=ENVIRONMENT, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def cpu_seconds():
    """Of all programs that have ended, mpirun and its ranks included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def iteration(folder, program, ranks, threads):
    before = cpu_seconds()
    run(folder, program, ranks, "train", "motion.h5", "--method", "trajectory", "--law", "published", "--horizons",
        str(HORIZON), "--iterations", str(ITERATIONS), "--homogeneous-iterations", "1", "--validate-every", "1000",
        "--validation-rollouts", "1", "--threads", str(threads), "--no-report", "--quiet", "--out", "run",
        "--overwrite")
    cpu = cpu_seconds() - before
    lines = [json.loads(line) for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
    return {"iteration": min(line["seconds"] for line in lines if line.get("validation_rmse") is None),
            "cpu_of_run": cpu}


def solve(folder, program, ranks, threads):
    run(folder, program, ranks, "train", "camera.h5", "--method", "linear", "--threads", str(threads), "--no-report",
        "--quiet", "--out", "solved", "--overwrite")
    return {"solve": json.loads((folder / "solved" / "result.json").read_text())["training_seconds"]}


def bytes_per_reduction(folder):
    """Of one rank: where its part is one node of the tree over the clips, that is the header of an answer, the first
    clip and how many, and the arrays with their lengths."""
    cloth = json.loads((folder / "run" / "cloth.json").read_text())
    springs = len(cloth["springs"]["stiffness"])
    return 1 + 8 + 16 + 8 + 2 * (8 + 8 * springs), 2 * springs


def main():
    program, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make = ("--grid", GRID, "--rollouts", str(ROLLOUTS), "--seconds", str(SECONDS), "--quiet")
        run(folder, program, 0, "generate", *make, "--out", "motion.h5")
        camera = [word if word != GRID else SOLVED_GRID for word in make]
        run(folder, program, 0, "generate", *camera, "--fps", "60", "--positions-only", "--noise", "0.001", "--out",
            "camera.h5")
        least = {way: {} for way in WAYS}
        for _ in range(rounds):
            for way, (ranks, threads) in WAYS.items():
                for measure in (iteration, solve):
                    for what, taken in measure(folder, program, ranks, threads).items():
                        least[way][what] = min(taken, least[way].get(what, taken))
        size, parameters = bytes_per_reduction(folder)
    one, two = least["alone, 1 thread"], least["alone, 2 threads"]
    under, ranks = least["1 rank, 1 thread"], least["2 ranks, 1 thread"]
    print(json.dumps({
        "benchmark": "ranks", "cores": os.cpu_count(), "rounds": rounds,
        "motion": f"{ROLLOUTS} rollouts of {SECONDS} s; iterations {GRID}, solve {SOLVED_GRID} with noise", "clips": 32, "seconds_of_a_clip": HORIZON,
        "parameters": parameters, "bytes_per_reduction_and_rank": size, "seconds": least,
        "overhead_of_one_rank": {what: under[what] / one[what] - 1 for what in one},
        "two_ranks_over_two_threads": {what: two[what] / ranks[what] for what in one}}, indent=1))


if __name__ == "__main__":
    main()
