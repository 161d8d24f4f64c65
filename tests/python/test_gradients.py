"""Gradients against central differences of the same runs, in double precision."""

import importlib.util

import numpy as np
import pytest

import springtime_cloth as st

FRAMES, DT = 12, 1 / 60
EXACT = {"device": "reference"}


def difference(function, x, step):
    """(f(x + h) - f(x - h)) / 2h, whose error is O(h^2)."""
    return (function(x + step) - function(x - step)) / (2 * step)


@pytest.fixture
def follower(cloth):
    """Another cloth than the one whose motion it follows, with every kind of parameter of springs."""
    return cloth.with_law("full").with_parameters(
        stiffness=1.3 * cloth.stiffness, range_stiffness_0=0.7 * cloth.stiffness, damping=0.04,
        isotropic_damping=0.02, bending_stiffness=0.5, bending_damping=0.01)


def test_rollout_gradient_is_that_of_the_loss(follower, motion):
    clips = motion.clips(0.4).select([0, 3])
    loss, gradient = st.rollout_gradient(follower, clips, **EXACT)
    assert loss > 1e-3
    assert list(gradient) == list(follower.parameters)
    draw = np.random.default_rng(3)
    for name, values in follower.parameters.items():
        direction = draw.normal(size=values.shape) * values

        def along(x):
            changed = follower.with_parameters(**{name: values + x * direction})
            return st.rollout_gradient(changed, clips, **EXACT)[0]

        slope = difference(along, 0.0, 1e-5)
        # Seen: differences of 1e-10 relative to slopes of 1e-5 to 1e-1; rounding of the loss allows
        # 1e-16 / 1e-5 and the square of the step 1e-10.
        assert np.vdot(gradient[name], direction) == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_single_precision_gradients_agree(follower, motion):
    exact = st.rollout_gradient(follower, motion, **EXACT)
    fast = st.rollout_gradient(follower, motion, device="cpu")
    assert fast[0] == pytest.approx(exact[0], rel=1e-4)
    for name, values in exact[1].items():
        scale = np.abs(values).max()
        np.testing.assert_allclose(fast[1][name], values, atol=2e-3 * scale)


def test_the_loss_of_the_truth_is_rounding(cloth, motion):
    loss, gradient = st.rollout_gradient(cloth, motion.clips(0.4))
    assert loss < 1e-4  # positions of a metre in float32, over some hundred steps


def test_a_gradient_step_lowers_the_loss(motion, cloth):
    clips = motion.clips(0.4)
    stiffness = np.full_like(cloth.stiffness, 45.0)
    loss, gradient = st.rollout_gradient(cloth.with_parameters(stiffness=stiffness), clips)
    step = 2.0 / np.abs(gradient.stiffness).max()
    better = cloth.with_parameters(stiffness=stiffness - step * gradient.stiffness)
    assert st.rollout_gradient(better, clips)[0] < loss


def test_wrong_clips_are_named(cloth, motion):
    for clips in (None, [(0, 1)], cloth):
        with pytest.raises(st.Error) as raised:
            st.rollout_gradient(cloth, clips)
        assert raised.value.field == "clips"
    with pytest.raises(st.Error):
        motion.clips(1e6)


# ---- A run as a function of all that goes into it

def swing():
    """Paths of two hands, frames x 2 x 3."""
    time = np.arange(FRAMES + 1) * DT
    left = np.stack([-0.5 + 0.3 * time, 0.2 * np.sin(6 * time), -0.4 + 0 * time], axis=1)
    return np.stack([left, left + [1.0, 0, 0]], axis=1)


def cost(trace, weights):
    return float(np.vdot(weights, trace.positions))


@pytest.fixture
def weights(cloth):
    return np.random.default_rng(2).normal(size=(FRAMES + 1, cloth.particle_count, 3))


def hands(cloth):
    return cloth.particles(["corner-nw", "corner-ne"])


def test_trace_is_the_simulation(cloth):
    trace = st.trace(cloth, FRAMES, DT, held=["corner-nw"])
    simulation = st.Simulation(cloth, DT)
    simulation.hold("corner-nw")
    for frame in range(FRAMES + 1):
        np.testing.assert_allclose(trace.positions[frame], simulation.positions, atol=2e-6)
        simulation.advance()


def test_gradient_by_paths(cloth, weights):
    paths = swing()
    gradient = st.trace(cloth, FRAMES, DT, held=hands(cloth), paths=paths, **EXACT).back(weights)
    assert gradient.paths.shape == paths.shape
    direction = np.random.default_rng(4).normal(size=paths.shape)

    def along(x):
        return cost(st.trace(cloth, FRAMES, DT, held=hands(cloth), paths=paths + x * direction,
                             **EXACT), weights)

    assert np.vdot(gradient.paths, direction) == pytest.approx(difference(along, 0.0, 1e-6),
                                                               rel=1e-6)  # seen: 3e-8


def test_gradient_by_parameters_gravity_and_drag(follower, weights):
    # Not flat: springs at rest are where stiffness changes from compression to tension.
    start = follower.flat() + 0.01 * np.random.default_rng(9).normal(size=(30, 3))
    options = {"held": "edge-north", "start": start, **EXACT}
    gradient = st.trace(follower, FRAMES, DT, **options).back(weights)
    for name, values in follower.parameters.items():
        def along(x):
            changed = follower.with_parameters(**{name: values * (1 + x)})
            return cost(st.trace(changed, FRAMES, DT, **options), weights)

        slope = difference(along, 0.0, 1e-4)
        assert np.vdot(gradient.parameters[name], values) == pytest.approx(slope, rel=1e-6)
    for axis in range(3):
        def pulled(x):
            gravity = np.array([0, -9.81, 0]) + x * np.eye(3)[axis]
            return cost(st.trace(follower, FRAMES, DT, gravity=gravity, **options), weights)

        assert gradient.gravity[axis] == pytest.approx(difference(pulled, 0.0, 1e-4), rel=1e-6)

    def slowed(x):
        return cost(st.trace(follower, FRAMES, DT, drag=x, **options), weights)

    assert gradient.drag == pytest.approx(difference(slowed, 1.0, 1e-4), rel=1e-6)


def test_gradient_by_the_start(cloth, weights):
    draw = np.random.default_rng(5)
    start = cloth.flat() + 0.02 * draw.normal(size=(30, 3)), 0.3 * draw.normal(size=(30, 3))
    options = {"held": [0, 5], **EXACT}
    gradient = st.trace(cloth, FRAMES, DT, start=start, **options).back(weights)
    for part, found in ((0, gradient.start_positions), (1, gradient.start_velocities)):
        direction = draw.normal(size=(30, 3))

        def along(x):
            moved = [values.copy() for values in start]
            moved[part] += x * direction
            return cost(st.trace(cloth, FRAMES, DT, start=tuple(moved), **options), weights)

        assert np.vdot(found, direction) == pytest.approx(difference(along, 0.0, 1e-6), rel=1e-5)


def test_a_trace_may_be_walked_back_twice(cloth, weights):
    trace = st.trace(cloth, FRAMES, DT, held="corner-nw")
    first, second = trace.back(weights), trace.back(weights)
    np.testing.assert_array_equal(first.start_positions, second.start_positions)
    double = trace.back(2 * weights)
    np.testing.assert_allclose(double.start_positions, 2 * first.start_positions, rtol=1e-5,
                               atol=1e-5)


def test_what_has_no_gradient_is_refused(cloth, weights):
    sphere = st.obstacles("sphere", cloth)
    with pytest.raises(st.Error):
        st.trace(cloth, FRAMES, DT, obstacles=sphere)
    with pytest.raises(st.Error) as raised:
        st.trace(cloth, FRAMES, DT).back(weights[1:])
    assert raised.value.field == "by_position"
    with pytest.raises(st.Failure):
        st.trace(cloth.with_parameters(stiffness=1e8), 60, DT, held=0, substeps=1)


# torch is large and rarely there; its test is there where it is.
if importlib.util.find_spec("torch"):
    def test_inside_torch(cloth, motion):
        import torch
        clips = motion.clips(0.4)

        class RolloutLoss(torch.autograd.Function):
            @staticmethod
            def forward(ctx, stiffness):
                loss, ctx.gradient = st.rollout_gradient(
                    cloth.with_parameters(stiffness=stiffness.detach().numpy()), clips, **EXACT)
                return stiffness.new_tensor(loss)

            @staticmethod
            def backward(ctx, upstream):
                return upstream * torch.from_numpy(ctx.gradient.stiffness)

        stiffness = torch.tensor(1.2 * cloth.stiffness, requires_grad=True)
        assert torch.autograd.gradcheck(RolloutLoss.apply, stiffness, eps=1e-4, atol=1e-7)
