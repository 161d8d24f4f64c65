"""Running cloths: handles, threads, interruptions."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import springtime_cloth as st

DT = 1 / 60


def test_frame_by_frame_is_the_whole_run(cloth):
    whole = st.simulate(cloth, pins=["corner-nw"], seconds=0.5, dt=DT, stride=1)[0].positions
    simulation = st.Simulation(cloth, DT)
    simulation.hold("corner-nw")
    for frame in range(30):
        # The same steps from the same start, rounded at other places: 1e-7 of a metre and a little
        # more with every step.
        np.testing.assert_allclose(simulation.positions, whole[frame], atol=1e-5)
        simulation.advance()


def test_held_particles_go_where_they_are_told(cloth):
    simulation = st.Simulation(cloth, DT)
    corner = cloth.particles("corner-ne")[0]
    handle = simulation.hold("corner-ne")
    start = np.array(simulation.center(handle))
    np.testing.assert_allclose(start, cloth.flat()[corner], atol=1e-6)
    for frame in range(1, 31):
        target = start + [0.01 * frame, 0.005 * frame, 0]
        simulation.move(handle, target)
        simulation.advance()
        np.testing.assert_allclose(simulation.positions[corner], target, atol=1e-6)
    simulation.release(handle)
    with pytest.raises(st.Error) as raised:
        simulation.move(handle, start)
    assert raised.value.field == "handle"


def test_a_patch_turns_like_a_solid(cloth):
    simulation = st.Simulation(cloth, DT)
    edge = cloth.particles("edge-north")
    handle = simulation.hold(edge)
    before = simulation.positions[edge] - np.array(simulation.center(handle))
    simulation.move(handle, simulation.center(handle), turn=(0, np.pi / 2, 0))
    simulation.advance()
    after = simulation.positions[edge] - np.array(simulation.center(handle))
    # A quarter about y takes x to -z.
    np.testing.assert_allclose(after, np.stack([before[:, 2], before[:, 1], -before[:, 0]], 1),
                               atol=1e-6)


def test_wrong_targets_are_named(cloth):
    simulation = st.Simulation(cloth, DT)
    handle = simulation.hold(3)
    for field, call in [("target", lambda: simulation.move(handle, (0, 0))),
                        ("target", lambda: simulation.move(handle, (0, np.nan, 0))),
                        ("turn", lambda: simulation.move(handle, (0, 0, 0), turn="left")),
                        ("dt", lambda: st.Simulation(cloth, -1.0)),
                        ("start", lambda: st.Simulation(cloth, DT, start=np.zeros((3, 3)))),
                        ("device", lambda: st.Simulation(cloth, DT, device=3))]:
        with pytest.raises(st.Error) as raised:
            call()
        assert raised.value.field == field


def test_a_blow_up_is_a_failure_and_the_state_stays(cloth):
    stiff = cloth.with_parameters(stiffness=1e7)
    simulation = st.Simulation(stiff, DT, substeps=1)
    simulation.hold("corner-nw")
    before = simulation.positions.copy()
    with pytest.raises(st.Failure, match="particle"):
        simulation.advance(600)
    np.testing.assert_array_equal(simulation.positions, before)


def test_a_start_goes_on_where_another_run_was(cloth):
    first = st.Simulation(cloth, DT)
    first.advance(20)
    second = st.Simulation(cloth, DT, start=first.state)
    first.advance(5)
    second.advance(5)
    np.testing.assert_array_equal(first.positions, second.positions)


def test_a_cloth_drapes_over_a_sphere():
    cloth = st.grid_cloth(10, 10, length=1.0, width=1.0, mass=0.3, stiffness=200.0, damping=0.2)
    sphere, = st.obstacles("sphere", cloth, size=0.5, top=(0, -0.05, 0))
    draped = st.drape(cloth, [sphere], seconds=8.0)
    clear = [sphere.distance(x) for x in draped.positions]
    assert min(clear) > -1e-3  # nothing is inside
    # The four particles in the middle are 0.079 m from the axis of a sphere with a radius of 0.25 m:
    # 0.013 m below its top. The rim hangs down beside it.
    assert -0.07 < draped.positions[:, 1].max() < -0.05 and draped.positions[:, 1].min() < -0.25


# ---- Threads

def test_other_threads_go_on_while_a_cloth_runs(cloth):
    """A call that kept the interpreter's lock would let no other thread count."""
    simulation = st.Simulation(cloth, DT)
    simulation.hold("corner-nw")
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        while counted[0] == 0:
            time.sleep(0.001)
        during = 0
        for _ in range(50):  # on a busy machine the other thread may sleep through a call
            before = counted[0]
            simulation.advance(1000)
            during = counted[0] - before
            if during > 10:
                break
        # With the lock kept, it changes hands at most before and after the call.
        assert during > 10
    finally:
        done.set()
        thread.join()


def test_two_threads_may_use_one_simulation(cloth):
    simulation = st.Simulation(cloth, DT)
    simulation.hold("corner-nw")
    alone = st.Simulation(cloth, DT)
    alone.hold("corner-nw")
    alone.advance(400)

    def run():
        for _ in range(200):
            simulation.advance()
            assert np.isfinite(simulation.positions).all()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(simulation.positions, alone.positions)


def test_threads_do_not_change_what_is_learned(motion):
    one, two = (st.learn(motion, method="linear", threads=n).cloth.to_json() for n in (1, 2))
    assert one == two


# ---- Progress and interruptions

LONG = {"method": "trajectory", "law": "published", "homogeneous_iterations": 4,
        "horizons": [(100000, 0.5)], "validate_every": 1}


def test_progress_is_told_and_may_stop_the_work(motion):
    told = []

    def listen(stage, done, total, unit, note):
        told.append((stage, done, total))
        return not (unit == "iterations" and done >= 3 and total > 1000)

    learned = st.learn(motion, progress=listen, **LONG)
    assert not learned.finished
    assert "so far" in repr(learned)
    assert learned.cloth.particle_count == 30
    assert told and all(0 <= done <= total for _, done, total in told)


def test_what_progress_raises_arrives(motion):
    def listen(*_):
        raise KeyError("stop here")

    with pytest.raises(KeyError, match="stop here"):
        st.learn(motion, progress=listen, **LONG)


def test_nothing_so_far_is_an_interrupt(cloth):
    with pytest.raises(KeyboardInterrupt):
        st.generate(cloth, rollouts=100000, pinned=0, progress=lambda *_: False)


INTERRUPTED = """
import signal
import springtime_cloth as st
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever a shell in the background left
cloth = st.grid_cloth(5, 6, length=1.0, width=0.8, mass=0.2, damping=0.05, stiffness=30.0)
motion = st.generate(cloth, rollouts=3, seconds=1.0, pinned=["corner-nw", "corner-ne"])
def listen(stage, done, total, unit, note):
    if unit == "iterations" and done >= 3 and total > 1000:
        print("learning", flush=True)
learned = st.learn(motion, method="trajectory", law="published", homogeneous_iterations=4,
                   horizons=[(100000, 0.5)], validate_every=1, progress=listen)
print("finished" if learned.finished else "so far", learned.cloth.particle_count, flush=True)
"""


def test_control_c_returns_the_best_so_far():
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE,
                               text=True, env=dict(os.environ))
    assert process.stdout.readline() == "learning\n"
    process.send_signal(signal.SIGINT)
    lines = process.stdout.read().splitlines()
    assert process.wait() == 0
    assert lines[-1] == "so far 30"


def test_a_bar_is_drawn_where_nobody_watches(motion, capfd):
    st.learn(motion, method="linear", progress=True)
    assert capfd.readouterr().err.strip()
