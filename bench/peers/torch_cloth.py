"""Clips of the 32 x 32 cloth in PyTorch: the published law, there, and there and back, as it is written and
with a compiled step. Prints JSON."""
import json
import sys
import time

import torch

import grid

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
a, b = (torch.as_tensor(ends, dtype=torch.long, device=device) for ends in grid.springs())
rest = torch.as_tensor(grid.rest_lengths(), device=device)
gravity = torch.tensor([0.0, grid.GRAVITY, 0.0], device=device)


def step(x, v, stiffness, damping, free):
    d = x[:, b] - x[:, a]
    w = v[:, b] - v[:, a]
    length = d.norm(dim=-1)
    pull = stiffness * (length - rest) / length + damping * (w * d).sum(-1) / length**2
    f = pull[..., None] * d
    force = torch.zeros_like(x).index_add(1, a, f).index_add(1, b, -f)
    acceleration = force / grid.MASS + gravity - grid.DRAG * v
    v = v + grid.DT * free * acceleration
    return x + grid.DT * v, v


def run(one_step, parameters, x, free):
    v = torch.zeros_like(x)
    for _ in range(grid.STEPS):
        x, v = one_step(x, v, *parameters, free)
    return x


def there(one_step, parameters, x, free):
    with torch.no_grad():
        run(one_step, parameters, x, free)


def there_and_back(one_step, parameters, x, free):
    torch.autograd.grad((run(one_step, parameters, x, free) ** 2).sum(), parameters)


def milliseconds(work, rounds=3):
    work()
    best = float("inf")
    for _ in range(rounds):
        if device.type == "cuda":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return 1e3 * best


def main():
    count = len(grid.rest_lengths())
    parameters = [torch.full((count,), value, device=device, requires_grad=True)
                  for value in (grid.STIFFNESS, grid.DAMPING)]
    results = []
    for clips in map(int, sys.argv[1:] or ["32"]):
        x, free = (torch.as_tensor(values, device=device) for values in grid.starts(clips))
        for name, one_step in (("as written", step), ("compiled", torch.compile(step))):
            results.append({
                "clips": clips, "steps": grid.STEPS, "how": name,
                "there": milliseconds(lambda: there(one_step, parameters, x, free)),
                "there_and_back": milliseconds(
                    lambda: there_and_back(one_step, parameters, x, free))})
    print(json.dumps({"library": f"torch {torch.__version__}", "device": str(device),
                      "works": results}))


main()
