"""Clips of the 32 x 32 cloth in JAX: the published law, there, and there and back. Prints JSON."""
import json
import sys
import time

import jax
import jax.numpy as jnp

import grid

a, b = (jnp.asarray(ends) for ends in grid.springs())
rest = jnp.asarray(grid.rest_lengths())


def step(state, parameters, free):
    x, v = state
    stiffness, damping = parameters
    d = x[:, b] - x[:, a]
    w = v[:, b] - v[:, a]
    length = jnp.sqrt(jnp.sum(d * d, axis=-1))
    pull = stiffness * (length - rest) / length + damping * jnp.sum(w * d, axis=-1) / length**2
    f = pull[..., None] * d
    force = jnp.zeros_like(x).at[:, a].add(f).at[:, b].add(-f)
    acceleration = force / grid.MASS + jnp.array([0.0, grid.GRAVITY, 0.0]) - grid.DRAG * v
    v = v + grid.DT * free * acceleration
    return x + grid.DT * v, v


def run(parameters, x, free):
    def body(state, _):
        return step(state, parameters, free), None

    (x, _), _ = jax.lax.scan(body, (x, jnp.zeros_like(x)), None, length=grid.STEPS)
    return x


def loss(parameters, x, free):
    return jnp.sum(run(parameters, x, free) ** 2)


def milliseconds(work, rounds=5):
    jax.block_until_ready(work())
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        jax.block_until_ready(work())
        best = min(best, time.perf_counter() - begin)
    return 1e3 * best


def main():
    count = len(grid.rest_lengths())
    parameters = (jnp.full(count, grid.STIFFNESS), jnp.full(count, grid.DAMPING))
    there, back = jax.jit(run), jax.jit(jax.grad(loss))
    results = []
    for clips in map(int, sys.argv[1:] or ["32"]):
        x, free = (jnp.asarray(values) for values in grid.starts(clips))
        results.append({"clips": clips, "steps": grid.STEPS,
                        "there": milliseconds(lambda: there(parameters, x, free)),
                        "there_and_back": milliseconds(lambda: back(parameters, x, free))})
    print(json.dumps({"library": f"jax {jax.__version__}", "device": str(jax.devices()[0]),
                      "works": results}))


main()
