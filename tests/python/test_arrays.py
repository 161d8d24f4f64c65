"""Arrays that come in and go out: values, views, owners, and errors that name the argument."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import springtime_cloth as st

SHEET = {"length": 0.4, "width": 0.2, "mass": 0.03}
GRID = {"fps": 60, "grid": (3, 4), **SHEET}


def some_positions(frames=6, landmarks=12, dtype=np.float32):
    return np.random.default_rng(1).normal(size=(frames, landmarks, 3)).astype(dtype)


# ---- In

def test_positions_come_back_bit_for_bit():
    positions = some_positions()
    positions[2, 5] = np.nan
    motion = st.Motion(positions, pinned=[0, 3], **GRID)
    np.testing.assert_array_equal(motion[0].positions, positions)
    assert motion[0].held == [0, 3]
    assert motion.fps == pytest.approx(60, rel=1e-15)


def test_other_types_and_orders_mean_the_same_numbers():
    positions = some_positions()
    for same in (positions.astype(np.float64), np.asfortranarray(positions),
                 np.repeat(positions, 2, axis=0)[::2], positions.tolist()[0:0] or positions):
        np.testing.assert_array_equal(st.Motion(same, **GRID)[0].positions, positions)


def test_a_list_is_several_recordings():
    first, second = some_positions(4), some_positions(7)
    motion = st.Motion([first, second], **GRID)
    assert len(motion) == 2 and motion.frame_counts == [4, 7]
    np.testing.assert_array_equal(motion[1].positions, second)
    np.testing.assert_array_equal(motion[-1].positions, second)


def test_a_point_that_is_half_seen_is_missing():
    positions = some_positions()
    positions[1, 2, 0] = np.nan
    assert np.isnan(st.Motion(positions, **GRID)[0].positions[1, 2]).all()


def test_driven_points_follow_their_paths():
    positions = some_positions(dtype=np.float64)
    rollout = st.Motion(positions, driven=[0, 7], **GRID)[0]
    assert rollout.held == [0, 7]
    np.testing.assert_array_equal(rollout.paths, positions[:, [0, 7]].astype(np.float32))
    np.testing.assert_allclose(rollout.path_times, np.arange(6) / 60, rtol=1e-15)


@pytest.mark.parametrize("field, given", [
    ("positions", {"positions": some_positions().astype(complex)}),
    ("positions", {"positions": np.array([["a"]])}),
    ("positions", {"positions": some_positions()[0]}),
    ("positions", {"positions": some_positions().transpose(1, 0, 2)}),
    ("positions", {"positions": []}),
    ("pinned", {"pinned": [12]}),
    ("pinned", {"pinned": [0.5]}),
    ("pinned", {"pinned": [2 ** 32]}),
    ("driven", {"driven": [-1]}),
    ("gravity", {"gravity": (0, -9.81)}),
    ("gravity", {"gravity": (0, np.nan, 0)}),
    ("drag", {"drag": "much"}),
    ("drag", {"drag": -1.0}),
    ("frames_per_second", {"fps": 0.0}),
    ("rest", {"grid": None}),
    ("rest", {"rest": np.zeros((12, 3)), "grid": None}),
    ("rest", {"rest": np.full((12, 2), np.inf), "grid": None}),
])
def test_wrong_arguments_of_a_motion_are_named(field, given):
    arguments = {"positions": some_positions(), **GRID, **given}
    with pytest.raises(st.Error) as raised:
        st.Motion(**arguments)
    assert raised.value.field == field


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="pined"):
        st.Motion(some_positions(), pined=[0], **GRID)


@pytest.mark.parametrize("field, change", [
    ("stiffness", {"stiffness": np.ones(3)}),
    ("stiffness", {"stiffness": "soft"}),
    ("stiffness", {"stiffness": np.nan}),
    ("weight", {"weight": 1.0}),
])
def test_wrong_parameters_are_named(cloth, field, change):
    with pytest.raises(st.Error) as raised:
        cloth.with_parameters(**change)
    assert raised.value.field in (field, "")
    assert field in str(raised.value)


def test_errors_are_value_errors_and_failures_are_not():
    assert issubclass(st.Error, ValueError) and issubclass(st.Failure, RuntimeError)
    assert not issubclass(st.Failure, ValueError)


# ---- Out

def test_arrays_of_a_cloth_are_views_that_cannot_be_written_to(cloth):
    assert np.shares_memory(cloth.stiffness, cloth.stiffness)
    assert np.shares_memory(cloth.stiffness, cloth.parameters["stiffness"])
    assert cloth.springs.shape == (len(cloth.stiffness), 2)
    for array in (cloth.stiffness, cloth.rest, cloth.mass, cloth.springs):
        with pytest.raises(ValueError):
            array[0] = 0


def test_a_view_keeps_its_cloth_alive(cloth):
    expected = cloth.stiffness.copy()
    other = pickle.loads(pickle.dumps(cloth))
    view = other.stiffness
    del other
    gc.collect()
    clutter = [st.grid_cloth(5, 6, length=1, width=1, mass=1, stiffness=1, damping=1)
               for _ in range(20)]
    np.testing.assert_array_equal(view, expected)
    del clutter


def test_a_view_of_a_rollout_keeps_it_alive():
    positions = some_positions()
    view = st.Motion(positions, **GRID)[0].positions
    gc.collect()
    [some_positions() for _ in range(20)]
    np.testing.assert_array_equal(view, positions)


def test_parts_of_a_motion_keep_it_alive():
    positions = some_positions(60)
    clips = st.Motion(positions, **GRID).select([0]).cut(2).clips(0.2)
    part = st.Motion(positions, **GRID).cut(2)[1]
    gc.collect()
    clutter = [st.Motion(some_positions(60), **GRID) for _ in range(5)]
    np.testing.assert_array_equal(part.positions, positions[30:])
    np.testing.assert_array_equal(clips.starts, [[0, 0], [0, 12], [1, 0], [1, 12]])
    cloth = st.grid_cloth(3, 4, stiffness=1.0, damping=0.1, **SHEET)
    assert st.rollout_gradient(cloth, clips)[0] > 0
    del clutter


def test_the_learned_cloth_is_shared_with_what_learned_it(motion):
    learned = st.learn(motion, method="linear")
    assert np.shares_memory(learned.cloth.stiffness, learned.cloth.stiffness)
    assert np.shares_memory(learned.errors.stiffness, learned.cloth.errors.stiffness)
    errors = learned.errors
    expected = errors.stiffness.copy()
    del learned
    gc.collect()
    np.testing.assert_array_equal(errors.stiffness, expected)


def test_positions_of_a_simulation_are_one_piece_of_memory(cloth):
    simulation = st.Simulation(cloth, 1 / 60)
    first = simulation.positions
    start = first.copy()
    simulation.advance()
    second = simulation.positions
    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(first, second)
    assert (second[:, 1] < start[:, 1]).all()  # it falls
    with pytest.raises(ValueError):
        second[0] = 0


def test_a_view_of_a_simulation_keeps_it_alive(cloth):
    simulation = st.Simulation(cloth, 1 / 60)
    view = simulation.positions
    expected = view.copy()
    del simulation
    gc.collect()
    [st.Simulation(cloth, 1 / 60) for _ in range(10)]
    np.testing.assert_array_equal(view, expected)


def test_views_do_not_leak(cloth):
    simulation = st.Simulation(cloth, 1 / 60)
    view = simulation.positions
    gone = weakref.ref(view)
    del view
    gc.collect()
    assert gone() is None


# ---- Cloths as a whole

def test_pickled_and_copied_cloths_are_the_same(motion):
    learned = st.learn(motion, method="linear").cloth  # with standard errors
    for same in (pickle.loads(pickle.dumps(learned)), copy.deepcopy(learned),
                 st.Cloth.from_json(learned.to_json())):
        assert same.to_json() == learned.to_json()
        np.testing.assert_array_equal(same.stiffness, learned.stiffness)
        np.testing.assert_array_equal(same.errors.stiffness, learned.errors.stiffness)


def test_parameters_go_by_name(cloth):
    full = cloth.with_law("full")
    assert list(full.parameters) == ["stiffness", "damping", "range_stiffness_0",
                                     "isotropic_damping", "bending_stiffness", "bending_damping"]
    assert full.parameters.bending_stiffness.shape == full.bending_stiffness.shape
    changed = full.with_parameters(stiffness=2 * full.stiffness, damping=1)
    np.testing.assert_array_equal(changed.stiffness, 2 * full.stiffness)
    assert (changed.damping == 1).all()
    with pytest.raises(AttributeError):
        cloth.bending_stiffness
    with pytest.raises(AttributeError):
        cloth.parameters.hinge_stiffness


def test_a_field_may_be_a_number_a_text_or_a_map():
    sheet = {"length": 1.0, "width": 1.0, "mass": 1.0, "damping": 0.0}
    by_text = st.grid_cloth(5, 5, stiffness="10; columns 0-0.5 = 30", **sheet)
    # Values lie in the middle of the cells of a map, at 1/4 and 3/4 of the sheet.
    by_map = st.grid_cloth(5, 5, stiffness=np.array([[10.0, 30.0]]), **sheet)
    assert set(by_text.stiffness) == {10.0, 30.0}
    middle = by_map.rest[by_map.springs].mean(axis=1)[:, 0]
    np.testing.assert_allclose(by_map.stiffness,
                               10 + 20 * np.clip((middle - 0.25) / 0.5, 0, 1), rtol=1e-12)


def test_finite_elements():
    cloth = st.mesh_cloth((4, 5), length=0.4, width=0.3, mass=0.02, shear_stiffness=30.0,
                          area_stiffness=50.0, bending=1e-4)
    assert len(cloth.triangles) == 2 * 3 * 4
    assert (cloth.shear_stiffness == 30).all() and (cloth.area_stiffness == 50).all()
    assert len(cloth.hinge_stiffness) == len(cloth.hinge_damping) > 0
    points = np.stack([cloth.rest[:, 0], np.zeros(20), cloth.rest[:, 1]], axis=1)
    same = st.mesh_cloth((points[:, [0, 2]], cloth.triangles), mass=0.02, shear_stiffness=30.0)
    np.testing.assert_allclose(same.rest, cloth.rest, atol=1e-12)


def test_files_are_not_replaced_unless_asked(tmp_path, cloth, motion):
    for thing, name in ((cloth, "cloth.json"), (motion, "motion.h5")):
        thing.save(tmp_path / name)
        with pytest.raises(st.Error):
            thing.save(tmp_path / name)
        thing.save(tmp_path / name, overwrite=True)
    with pytest.raises(st.Error, match="none.h5"):
        st.Motion.load(tmp_path / "none.h5")


# ---- What people see

def test_results_print_as_text_and_tables(cloth, motion):
    report = cloth.report()
    assert report["sheet"]["length"] == 1.0 and report["sheet"].unit("length") == "m"
    assert "length" in str(report) and "<table>" in report._repr_html_()
    assert report.to_python()["sheet"]["mass"] == pytest.approx(0.2)
    with pytest.raises(KeyError):
        report["nothing"]
    for thing in (cloth, st.learn(motion, method="linear"), st.evaluate(cloth, motion)):
        page = thing._repr_html_()
        assert page.startswith("<table>") and "data:image/png;base64," in page
    assert cloth.draw().ndim == 3 and cloth.draw().dtype == np.uint8
