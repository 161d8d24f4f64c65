"""The 32 x 32 cloth of the GPU benchmark as arrays, for the same work in other libraries."""
import numpy as np

ROWS = COLS = 32
SIDE = 15.5  # [m]
MASS = 102.4 / (ROWS * COLS)  # [kg]
STIFFNESS, DAMPING = 25.0, 6.0  # [N/m], [N s/m]
GRAVITY, DRAG, DT = -9.81, 0.1, 1e-3
STEPS = 500


def springs():
    """Ends of all springs: along rows and columns, both diagonals, and across two cells."""
    index = np.arange(ROWS * COLS).reshape(ROWS, COLS)
    pairs = [
        (index[:, :-1], index[:, 1:]),
        (index[:-1], index[1:]),
        (index[:-1, :-1], index[1:, 1:]),
        (index[:-1, 1:], index[1:, :-1]),
        (index[:, :-2], index[:, 2:]),
        (index[:-2], index[2:]),
    ]
    return (np.concatenate([a.ravel() for a, _ in pairs]).astype(np.int32),
            np.concatenate([b.ravel() for _, b in pairs]).astype(np.int32))


def rest_positions():
    u, v = np.meshgrid(np.linspace(0, SIDE, COLS), np.linspace(0, SIDE, ROWS))
    return np.stack([u.ravel(), np.zeros(ROWS * COLS), v.ravel()], axis=1)


def starts(clips):
    """A slightly shaken sheet per clip, and which particles are free: two corners are held."""
    random = np.random.default_rng(1)
    position = rest_positions()[None] + 0.02 * random.standard_normal((clips, ROWS * COLS, 3))
    free = np.ones((ROWS * COLS, 1))
    free[[0, COLS - 1]] = 0
    return position.astype(np.float32), free.astype(np.float32)


def rest_lengths():
    a, b = springs()
    x = rest_positions()
    return np.linalg.norm(x[b] - x[a], axis=1).astype(np.float32)
