"""Runs bench_gpu, then the same work in JAX and PyTorch where these are installed, and prints one table as JSON:
scripts/bench gpu."""
import json
import pathlib
import subprocess
import sys

PEERS = pathlib.Path(__file__).parent / "peers"
CLIPS = [32, 132]


def ours(program):
    return json.loads(subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout)


def peer(module, script, python):
    if subprocess.run([python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode:
        return {"library": module, "missing": f"{python} has no {module}"}
    run = subprocess.run([python, script, *map(str, CLIPS)], cwd=PEERS, stdout=subprocess.PIPE)
    if run.returncode:
        return {"library": module, "failed": f"exit code {run.returncode}"}
    return json.loads(run.stdout.splitlines()[-1])


def with_ratios(found, table):
    """How many times longer than our kernels, for the same clips."""
    for work in found.get("works", []):
        for name, back in (("there", False), ("there_and_back", True)):
            same = [one for one in table["works"]
                    if one["work"] == "published law" and one["clips"] == work["clips"]
                    and (one["back"] > 0) == back]
            if same:
                work[f"{name}_over_ours"] = round(work[name] / same[0]["milliseconds"], 1)
    return found


def main():
    program, python = sys.argv[1:]
    table = ours(program)
    table["peers"] = [with_ratios(peer("jax", "jax_cloth.py", python), table),
                      with_ratios(peer("torch", "torch_cloth.py", python), table)]
    print(json.dumps(table, indent=1))


main()
