"""A robot swings a towel so that its free edge reaches a target: gradients lead through the simulator.

usage: towel.py [--quick]

Two hands hold the upper corners of a towel. Their path is a sum of slow waves whose amplitudes are the
controls. The simulator tells how the last frame changes with the place of the hands in every frame;
the rest is the chain rule and a few steps of Adam.
"""

import sys

import numpy as np

import springtime_cloth as st

DT = 1 / 60  # [s]
SECONDS = 1.0
TARGET_SHIFT = np.array([0.0, 0.25, 0.45])  # of the free edge from where it hangs [m]


def make_towel(quick):
    size = 6 if quick else 12
    towel = st.grid_cloth(size, size, length=0.5, width=0.7, mass=0.25, stiffness=120.0, damping=0.1,
                          law="full")
    # Terry resists folding and wrinkles die out in it. Springs alone would wrinkle like chaos, and a
    # gradient through chaos leads nowhere.
    towel = towel.with_parameters(isotropic_damping=0.05, bending_stiffness=1.0)
    hanging = towel.flat()
    hanging[:, 1] = -hanging[:, 2] - 0.35  # v points down
    hanging[:, 2] = 0
    return towel, hanging


class Swing:
    """Paths of the hands from a few numbers, and the cost of the towel's last frame."""

    def __init__(self, towel, hanging):
        self.towel, self.start = towel, hanging
        self.hands = towel.particles(["corner-nw", "corner-ne"])
        self.edge = towel.particles("edge-south")
        self.target = hanging[self.edge] + TARGET_SHIFT
        time = np.arange(round(SECONDS / DT) + 1) * DT
        # Waves that begin at rest: 1 - cos, half a turn to three turns.
        self.waves = np.stack([1 - np.cos(np.pi * k * time / SECONDS) for k in (1, 2, 3, 4)])

    def paths(self, controls):
        shift = np.einsum("kf,ka->fa", self.waves, controls)  # of both hands, frames x 3
        return self.start[self.hands] + shift[:, None, :]

    def cost(self, controls):
        """The mean squared distance to the target [m^2] with a little for large motions; gradient."""
        trace = st.trace(self.towel, self.waves.shape[1] - 1, DT, held=self.hands,
                         paths=self.paths(controls), start=self.start)
        off = trace.positions[-1, self.edge] - self.target
        by_position = np.zeros_like(trace.positions)
        by_position[-1, self.edge] = 2 * off / len(self.edge)
        by_paths = trace.back(by_position).paths
        gradient = np.einsum("kf,fa->ka", self.waves, by_paths.sum(axis=1))
        effort = 0.02
        return (float((off ** 2).sum() / len(self.edge) + effort * (controls ** 2).sum()),
                gradient + 2 * effort * controls)


def adam(function, x, steps, rate):
    mean, square = np.zeros_like(x), np.zeros_like(x)
    best = x, np.inf
    for step in range(1, steps + 1):
        value, gradient = function(x)
        gradient *= min(1.0, 0.5 / np.linalg.norm(gradient))  # one wild step must not spoil the rest
        if value < best[1]:
            best = x, value
        if step == 1 or step % 10 == 0:
            print(f"step {step:3}: cost {value:.5f} m^2")
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient ** 2
        x = x - rate * (mean / (1 - 0.9 ** step)) / (np.sqrt(square / (1 - 0.99 ** step)) + 1e-8)
    return best


def main(quick):
    swing = Swing(*make_towel(quick))
    start = np.zeros((4, 3))
    first, _ = swing.cost(start)
    controls, last = adam(swing.cost, start, 20 if quick else 60, 0.01)
    print(f"the cost went down from {first:.4f} to {last:.4f} m^2")
    if not last < 0.5 * first:
        sys.exit("the swing did not get better")

    # The same path in the simulation that a robot would be driven with.
    simulation = st.Simulation(swing.towel, DT, start=swing.start)
    hands = [simulation.hold(hand) for hand in swing.hands]
    for frame in swing.paths(controls)[1:]:
        for hand, place in zip(hands, frame):
            simulation.move(hand, place)
        simulation.advance()
    off = simulation.positions[swing.edge] - swing.target
    print(f"in the simulation the edge ends {np.sqrt((off ** 2).sum(axis=1).mean()):.3f} m from "
          "its target")


if __name__ == "__main__":
    main("--quick" in sys.argv[1:])
