"""The module and the command line do the same work: their arrays are the same to the last bit."""

import base64
import json

import h5py
import numpy as np
import pytest
from conftest import SOURCE, springtime

import springtime_cloth as st

GENERATE = {"rollouts": 2, "seconds": 1.0, "seed": 5}
FLAGS = ["--rollouts", 2, "--seconds", 1, "--seed", 5]


def stored(path, rollout, name):
    with h5py.File(path) as file:
        return file[f"rollouts/{rollout:06}/{name}"][:]


def same_bits(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.tobytes() == b.tobytes()


def arrays_of_page(path):
    """The numbers that a page holds, without the header, where names of files stand."""
    text = path.read_text(encoding="utf-8")
    marker = 'id="springtime-data">'
    begin = text.index(marker) + len(marker)
    data = base64.b64decode(text[begin:text.index("<", begin)])
    assert data[:8] == b"SPRTWEB1"
    return data[12 + int.from_bytes(data[8:12], "little"):]


def test_generated_motion(tmp_path):
    springtime("generate", "--grid", "6x7", "--length", 2, "--width", 1.5, "--mass", 0.4,
               "--stiffness", "25; columns 0.1-0.4 = 50", "--damping", 0.1, *FLAGS,
               "--out", "motion.h5", folder=tmp_path)
    cloth = st.grid_cloth(6, 7, length=2, width=1.5, mass=0.4, damping=0.1,
                          stiffness="25; columns 0.1-0.4 = 50")
    assert st.Cloth.load(tmp_path / "motion.cloth.json").to_json() == cloth.to_json()
    motion = st.generate(cloth, **GENERATE)
    loaded = st.Motion.load(tmp_path / "motion.h5")
    assert motion.dt == loaded.dt and motion.stride == loaded.stride
    assert loaded.source_cloth.to_json() == cloth.to_json()
    for rollout in range(2):
        for name in ("position", "velocity", "acceleration"):
            ours = getattr(motion[rollout], {"position": "positions", "velocity": "velocities",
                                             "acceleration": "accelerations"}[name])
            same_bits(np.asarray(ours), stored(tmp_path / "motion.h5", rollout, name))
        assert motion[rollout].held == loaded[rollout].held


def test_what_a_camera_sees(tmp_path):
    springtime("generate", "--grid", "8x8", *FLAGS, "--fps", 60, "--noise", 1e-3,
               "--gaps", 0.1, "--out", "seen.h5", folder=tmp_path)
    cloth = st.Cloth.load(tmp_path / "seen.cloth.json")
    motion = st.generate(cloth, **GENERATE, fps=60, noise=1e-3, gaps=0.1)
    assert motion[0].velocities is None
    assert np.isnan(motion[0].positions).any()
    same_bits(motion[1].positions, stored(tmp_path / "seen.h5", 1, "position"))


def test_simulated_motion(tmp_path, cloth):
    cloth.save(tmp_path / "cloth.json")
    springtime("simulate", "cloth.json", "--pin", "corner-nw", "--pin", "center", "--seconds", 1,
               "--wind", 1, 0, 0.5, "--out", "run.h5", folder=tmp_path)
    motion = st.simulate(cloth, pins=["corner-nw", "center"], seconds=1, wind=(1, 0, 0.5))
    same_bits(motion[0].positions, stored(tmp_path / "run.h5", 0, "position"))


def test_a_run_that_follows_a_motion(tmp_path, cloth, motion):
    cloth.save(tmp_path / "cloth.json")
    motion.save(tmp_path / "motion.h5")
    springtime("simulate", "cloth.json", "--start", "motion.h5#2", "--seconds", 0.5, "--out",
               "run.h5", folder=tmp_path)
    run = st.simulate(cloth, start=motion, rollout=2, seconds=0.5)
    same_bits(run[0].positions, stored(tmp_path / "run.h5", 0, "position"))


def test_learned_cloth(tmp_path, motion):
    motion.save(tmp_path / "motion.h5")
    springtime("train", "motion.h5", "--method", "linear", "--out", "run", folder=tmp_path)
    learned = st.learn(st.Motion.load(tmp_path / "motion.h5"), method="linear")
    assert learned.finished
    assert learned.cloth.to_json() == st.Cloth.load(tmp_path / "run/cloth.json").to_json()
    assert learned.errors.stiffness.shape == learned.cloth.stiffness.shape


def test_evaluation(tmp_path, cloth, motion):
    other = cloth.with_parameters(stiffness=40.0)
    other.save(tmp_path / "other.json")
    cloth.save(tmp_path / "truth.json")
    motion.save(tmp_path / "motion.h5")
    told = json.loads(springtime("evaluate", "other.json", "motion.h5", "--truth", "truth.json",
                                 "--json", folder=tmp_path))
    found = st.evaluate(other, motion, truth=cloth)
    ours = json.loads(found.report().to_json())
    for beside in ("cloth", "motion"):  # the names of the files
        del told[beside]
    assert ours.pop("remarks") == [] and told.pop("remarks")  # about files beside the cloth
    assert ours == told


def test_imported_arrays_are_those_of_the_file(tmp_path):
    data = SOURCE / "examples/own-data/swing.csv"
    options = {"grid": (7, 7), "length": 0.3, "width": 0.3, "mass": 0.03, "drag": 2.0, "up": "z",
               "driven": ["corner-nw", "corner-ne"], "until": 1.0}
    kept = st.import_motion(data, out=tmp_path / "swing.h5", **options)
    fresh = st.import_motion(data, **options)
    springtime("import", data, "--until", 1, "--out", "cli.h5", folder=tmp_path)
    same_bits(fresh.motion[0].positions, stored(tmp_path / "cli.h5", 0, "position"))
    same_bits(kept.motion[0].positions, stored(tmp_path / "cli.h5", 0, "position"))
    assert fresh.motion[0].held == [0, 6]


def test_exported_files_are_the_same(tmp_path, motion):
    motion.save(tmp_path / "motion.h5")
    springtime("export", "motion.h5", "--to", "csv", "--rollout", 0, "--out", "cli.csv", folder=tmp_path)
    written = st.export(motion, tmp_path / "ours.csv")
    assert written.files == [str(tmp_path / "ours.csv")]
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "cli.csv").read_bytes()


def test_reports_are_the_same(tmp_path, cloth, motion):
    cloth.with_parameters(stiffness=40.0).save(tmp_path / "other.json")
    motion.save(tmp_path / "motion.h5")
    springtime("report", "other.json", "--motion", "motion.h5", "--out", "cli.html", folder=tmp_path)
    ours = tmp_path / "ours.html"
    st.report(tmp_path / "other.json", ours, motion=tmp_path / "motion.h5")
    assert arrays_of_page(ours) == arrays_of_page(tmp_path / "cli.html")
    with pytest.raises((st.Error, st.Failure)):  # nothing is replaced unless told to
        st.report(tmp_path / "other.json", ours)
    st.report(tmp_path / "other.json", ours, overwrite=True)  # without the motion
    assert len(arrays_of_page(ours)) < len(arrays_of_page(tmp_path / "cli.html"))


def test_one_version():
    assert springtime("--version", folder=".").strip().endswith(st.__version__)
