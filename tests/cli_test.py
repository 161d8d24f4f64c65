"""The command line as a person uses it: results, messages, exit codes, interruption."""

import filecmp
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
from cli_export import Exporting
from cli_fabric import Fabric
from cli_files import Writing
from cli_kinds import long_run
from cli_learning import Learning
from cli_own_data import OwnData
from cli_report import Reporting
from cli_solver import Solver
from cli_strangers import Strangers
from cli_view import Viewing

PROGRAM = sys.argv[1]
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples/obstacles"
SMALL = ["--grid", "8x8", "--mass", "6.4", "--seconds", "0.4", "--stride", "20"]

# A closed mesh: a cube of 1 m.
BLOCK = """v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


class CommandLine(Exporting, Fabric, Learning, OwnData, Reporting, Solver, Strangers, Viewing, Writing,
                  unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    @staticmethod
    def program():
        return PROGRAM

    def run_it(self, *arguments, code=0):
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                                capture_output=True)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.check_advice([str(argument) for argument in arguments], result.stderr)
        return result

    def check_advice(self, arguments, told):
        """No advice is to give a flag that was given, unless it was given another value than that advised."""
        given = {argument.split("=")[0] for argument in arguments if argument.startswith("--")}
        for flag, value in re.findall(r"(?:give|add|try|replace it with) (--[a-z][a-z-]*)( [a-z0-9]+)?", told):
            if flag in given and value.strip() in ("", *arguments):
                self.fail(f"{arguments} are told to give {flag}: {told}")

    def generate(self, out, *more, code=0):
        return self.run_it("generate", "--out", out, "--quiet", *SMALL, *more, code=code)

    def inspect(self, path):
        return json.loads(self.run_it("inspect", path, "--json").stdout)

    # ---- help and errors -------------------------------------------------------------------

    def test_help_names_verbs_flags_and_defaults(self):
        text = self.run_it("--help").stdout
        for verb in ("generate", "simulate", "inspect", "export", "evaluate", "demo"):
            self.assertIn(verb, text)
            page = self.run_it(verb, "--help-all").stdout
            for flag in ("--config", "--seed", "--threads", "--device", "--quiet", "--json"):
                self.assertIn(flag, page)
        page = self.run_it("generate", "--help-all").stdout
        for flag, default in (("--rollouts", "16"), ("--stride", "40"), ("--grid", "32x32"),
                              ("--seconds", "8"), ("--gravity", "0 -9.81 0"), ("--dt", "0.001")):
            self.assertRegex(page, rf"{flag} [^\n]*{re.escape(default)}")

    def test_help_is_short_and_help_all_has_the_rest(self):
        for verb in ("generate", "import", "train", "evaluate", "simulate", "inspect", "export",
                     "demo"):
            short, whole = (set(re.findall(r"^  (?:-h,)?(--[a-z-]+)", self.run_it(verb, flag).stdout,
                                           re.MULTILINE)) for flag in ("--help", "--help-all"))
            self.assertLess(short, whole)
            self.assertLessEqual(len(short - {"--help", "--help-all", "--quiet", "--json"}), 14, verb)

    def test_bad_input_is_exit_code_2_with_a_message(self):
        for arguments, message in (
            ([], "A subcommand is required"),
            (["fly"], "'fly': no such verb; there are generate, import, train, evaluate, simulate"),
            (["generate", "--rolouts", "3"], "--rolouts"),
            (["generate", "--grid", "32"], "--grid '32': give ROWSxCOLS, for example 32x32"),
            (["generate", "--source", "felt"], "--source 'felt': unknown"),
            (["generate", "--device", "abacus"], "device 'abacus': unknown"),
            (["generate", "--device", "cuda"], "--device: device 'cuda'"),
            (["generate", "--substeps", "0"], "--substeps '0': give a number"),
            (["generate", "--stiffness", "plaid 3 = 4"], "plaid"),
            (["generate", "--families", "diagonal,wool"], "wool"),
            (["generate", "--seconds", "0.01"], "--seconds: generate: 0.01 s is shorter than one frame of 0.04 s"),
            (["simulate", "none.json"], "none.json"),
            (["inspect", "none.h5"], "none.h5"),
            (["evaluate", "none.json"], "motion is required"),
            (["evaluate", "none.json", "none.h5"], "none.json: no such file"),
        ):
            result = self.run_it(*arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_inspect_says_what_ails_a_file(self):
        (self.folder / "notes.txt").write_text("hello\n")
        self.assertIn("notes.txt", self.run_it("inspect", "notes.txt", code=2).stderr)
        self.generate("m.h5", "--rollouts", "1")
        data = (self.folder / "m.h5").read_bytes()
        (self.folder / "half.h5").write_bytes(data[: len(data) // 2])
        self.assertIn("cut short", self.run_it("inspect", "half.h5", code=2).stderr)

    # ---- generate --------------------------------------------------------------------------

    def test_inspect_counts_what_generate_was_asked_for(self):
        result = json.loads(self.generate("m.h5", "--rollouts", "3", "--seed", "7", "--json").stdout)
        self.assertEqual((result["rollouts"], result["finished"]), (3, True))
        seen = self.inspect("m.h5")
        # 8 x 8: 2*8*7 structural, 2*7*7 diagonal, 2*8*6 bending; 0.4 s / (20 * 1 ms) + the start
        expected = {"kind": "motion", "version": 1, "rollouts": 3, "landmarks": 64,
                    "springs": 112 + 98 + 96, "frames": 21, "dt": 0.001, "stride": 20, "seed": 7}
        self.assertEqual({key: seen[key] for key in expected}, expected)
        cloth = self.inspect("m.cloth.json")
        self.assertEqual((cloth["kind"], cloth["particles"], cloth["springs"]), ("cloth", 64, 306))
        self.assertEqual(cloth["stiffness"]["min"], 25)
        self.assertEqual(cloth["stiffness"]["max"], 100)

    def test_threads_and_seed(self):
        self.generate("one.h5", "--rollouts", "20", "--threads", "1")
        self.generate("two.h5", "--rollouts", "20", "--threads", "2")
        self.generate("other.h5", "--rollouts", "20", "--seed", "2")
        self.assertTrue(filecmp.cmp(self.folder / "one.h5", self.folder / "two.h5", shallow=False))
        self.assertFalse(filecmp.cmp(self.folder / "one.h5", self.folder / "other.h5",
                                     shallow=False))

    def test_an_existing_file_is_never_overwritten_unasked(self):
        self.generate("m.h5", "--rollouts", "1")
        before = (self.folder / "m.h5").read_bytes()
        result = self.generate("m.h5", "--rollouts", "2", code=2)
        self.assertIn("m.h5: exists already; finish it with --resume, replace it with --overwrite",
                      result.stderr)
        self.assertEqual((self.folder / "m.h5").read_bytes(), before)
        self.generate("m.h5", "--rollouts", "2", "--overwrite")
        self.assertEqual(self.inspect("m.h5")["rollouts"], 2)

    def test_resume_equals_uninterrupted(self):
        self.generate("whole.h5", "--rollouts", "40")
        self.generate("part.h5", "--rollouts", "17")
        self.generate("part.h5", "--rollouts", "40", "--resume")
        self.assertTrue(filecmp.cmp(self.folder / "whole.h5", self.folder / "part.h5",
                                    shallow=False))
        self.assertEqual(list(self.folder.glob("*.part")), [])

    def test_resume_takes_the_stored_settings_and_refuses_others(self):
        self.generate("m.h5", "--rollouts", "2", "--seed", "5")
        self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", "3", "--quiet")
        self.generate("whole.h5", "--rollouts", "3", "--seed", "5")
        self.assertTrue(filecmp.cmp(self.folder / "whole.h5", self.folder / "m.h5", shallow=False))
        result = self.run_it("generate", "--out", "m.h5", "--resume", "--seed", "6", code=2)
        self.assertIn("cannot resume with 'seed = 6', it was made with 'seed = 5'", result.stderr)
        self.assertEqual(self.inspect("m.h5")["rollouts"], 3)

    def interrupt(self, how, out):
        """Starts a run that takes long, and stops it once rollouts have been written."""
        arguments = ["generate", "--out", out, "--rollouts", "4000", *SMALL, "--seconds", "4"]
        process = subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, text=True,
                                   stderr=subprocess.PIPE)
        part = self.folder / (out + ".part")
        while (process.poll() is None and not (part.exists() and part.stat().st_size > 3_000_000)):
            time.sleep(0.01)
        process.send_signal(how)
        stderr = process.communicate()[1]
        return process.returncode, stderr

    def test_interrupt_leaves_a_valid_file_and_resume_finishes_it(self):
        code, stderr = self.interrupt(signal.SIGINT, "m.h5")
        self.assertEqual(code, 1, stderr)
        done = int(re.search(r"interrupted; (\d+) of 4000 rollouts are in m.h5", stderr).group(1))
        seen = self.inspect("m.h5")
        self.assertEqual((seen["rollouts"], seen["rollouts_planned"]), (done, 4000))
        self.assertGreater(done, 0)
        self.assertLess(done, 4000)
        total = str(done + 5)
        self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", total, "--quiet")
        self.run_it("generate", "--out", "whole.h5", *SMALL, "--seconds", "4", "--rollouts", total,
                    "--quiet")
        self.assertTrue(filecmp.cmp(self.folder / "m.h5", self.folder / "whole.h5", shallow=False))

    def test_a_killed_run_is_resumed_from_what_was_flushed_or_anew(self):
        code, _ = self.interrupt(signal.SIGKILL, "m.h5")
        self.assertEqual(code, -signal.SIGKILL)
        self.assertFalse((self.folder / "m.h5").exists())
        # What was flushed before the kill is kept when the file is readable, and only then.
        part = subprocess.run([PROGRAM, "inspect", "m.h5.part", "--json"], cwd=self.folder,
                              capture_output=True)
        kept = json.loads(part.stdout)["rollouts"] if part.returncode == 0 else 0
        self.assertIn(part.returncode, (0, 2))
        settings = [*SMALL, "--seconds", "4", "--rollouts", str(kept + 20)]
        again = self.run_it("generate", "--out", "m.h5", "--resume", *settings)
        self.assertEqual(f"{kept} rollouts were there already" in again.stderr, kept > 0)
        self.run_it("generate", "--out", "whole.h5", *settings, "--quiet")
        self.assertTrue(filecmp.cmp(self.folder / "m.h5", self.folder / "whole.h5", shallow=False))

    def test_config_file_and_flags(self):
        (self.folder / "run.toml").write_text(
            'grid = "6x7"\nrollouts = 2\nmass = 4.2\ngravity = [0.5, -3.0, 0]\n'
            'families = ["structural", "bending"]\n\n[generate]\nseconds = 0.2\n\n'
            '[simulate]\nseconds = 99\n')
        self.run_it("generate", "--config", "run.toml", "--out", "m.h5", "--rollouts", "3",
                    "--quiet")
        seen = self.inspect("m.h5")
        self.assertEqual((seen["rollouts"], seen["landmarks"], seen["frames"]), (3, 42, 6))
        self.assertEqual(seen["gravity"], [0.5, -3.0, 0])
        self.assertEqual(set(seen["source_cloth"]["families"]), {"structural", "bending"})
        (self.folder / "bad.toml").write_text("grid = \"6x7\"\nrolouts = 2\n")
        result = self.run_it("generate", "--config", "bad.toml", code=2)
        self.assertIn("bad.toml:2: key 'rolouts': 'generate' has no such setting", result.stderr)
        (self.folder / "broken.toml").write_text("grid = \n")
        result = self.run_it("generate", "--config", "broken.toml", code=2)
        self.assertIn("broken.toml:1:", result.stderr)

    # ---- finite elements -------------------------------------------------------------------

    FEM = ["--source", "fem", "--mesh", "6x7", "--length", "3", "--width", "2.5", "--mass", "1",
           "--seconds", "0.2", "--stride", "20", "--anchor-radius", "0.5", "--quiet"]

    def fem(self, out, *more, code=0):
        return self.run_it("generate", "--out", out, *self.FEM, *more, code=code)

    def same_files(self, one, other):
        return filecmp.cmp(self.folder / one, self.folder / other, shallow=False)

    def test_fem_is_made_inspected_evaluated_and_run(self):
        self.fem("m.h5", "--rollouts", "2", "--shear-stiffness", "200; columns 0-0.5 = x2",
                 "--damping-kind", "strain", "--cut", "alternating")
        seen = self.inspect("m.h5")
        self.assertEqual((seen["landmarks"], seen["springs"], seen["frames"]), (42, 0, 11))
        cloth = self.inspect("m.cloth.json")
        self.assertEqual((cloth["kind"], cloth["version"], cloth["grid"]), ("cloth", 2, [6, 7]))
        # 5 x 6 cells; edges 6 * 6 + 5 * 7 straight and 30 diagonal, of which 22 lie outside
        self.assertEqual((cloth["triangles"]["count"], cloth["hinges"]["count"]), (60, 79))
        shear = cloth["triangles"]["shear_stiffness"]
        self.assertEqual((shear["min"], shear["max"]), (200, 400))
        self.assertEqual(cloth["triangles"]["area_stiffness"]["max"], 300)
        self.assertEqual(cloth["triangles"]["damping_kind"], "strain")
        text = self.run_it("inspect", "m.cloth.json").stdout
        for word in ("triangles", "hinges", "shear stiffness", "strain"):
            self.assertIn(word, text)
        # The same cloth, start and steps: the same bits.
        result = self.evaluate("m.cloth.json", "m.h5")
        self.assertEqual(result["motion_rmse"]["mean"], 0)
        self.assertGreater(result["baselines"]["static"]["mean"], 0)
        result = self.evaluate("m.cloth.json", "m.h5", "--truth", "m.cloth.json")
        self.assertAlmostEqual(result["map_correlation"], 1)
        # The flat sheet is its rest shape: without pins and drag it falls freely.
        self.run_it("simulate", "m.cloth.json", "--drag", "0", "--seconds", "0.5", "--stride",
                    "100", "--substeps", "1", "--out", "r.h5", "--quiet")
        import h5py
        with h5py.File(self.folder / "r.h5") as file:
            height = file["rollouts/000000/position"][-1, :, 1]
        for extreme in (height.min(), height.max()):
            self.assertAlmostEqual(extreme, -9.81e-6 * 500 * 501 / 2, places=4)
        self.run_it("simulate", "m.cloth.json", "--pin", "edge-north", "--seconds", "0.1", "--out",
                    "pinned.h5", "--quiet")

    def test_fem_teaches_springs(self):
        self.fem("m.h5", "--rollouts", "3", "--seconds", "0.4")
        self.run_it("train", "m.h5", "--out", "run", *self.TRAIN, "--stiffness-iterations", "2",
                    "--damping-iterations", "1")
        learned = self.inspect("run/cloth.json")
        self.assertEqual((learned["version"], learned["triangles"]), (1, None))
        self.assertEqual(learned["springs"], 306)

    def test_fem_resumes_to_the_same_bytes(self):
        for name, more in (("plain", []), ("preset", ["--preset", "reference"])):
            self.fem(f"{name}.h5", *more, "--rollouts", "5", "--seed", "3")
            self.fem(f"{name}-part.h5", *more, "--rollouts", "2", "--seed", "3")
            self.run_it("generate", "--out", f"{name}-part.h5", "--resume", "--rollouts", "5",
                        "--quiet")
            self.assertTrue(self.same_files(f"{name}.h5", f"{name}-part.h5"))
        other = ["--preset", "reference", "--mesh", "5x5", "--seconds", "0.08", "--density", "0.2",
                 "--anchor-size", "2", "--quiet"]
        self.run_it("generate", "--out", "m.h5", *other, "--rollouts", "1")
        self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", "2", "--quiet")
        self.run_it("generate", "--out", "whole.h5", *other, "--rollouts", "2")
        self.assertTrue(self.same_files("m.h5", "whole.h5"))

    def test_preset_lies_beneath_what_is_given(self):
        small = ["--mesh", "5x6", "--rollouts", "1", "--stride", "20", "--quiet"]
        self.run_it("generate", "--preset", "reference", *small, "--seconds", "0.1", "--out", "a.h5")
        seen = self.inspect("a.h5")
        cloth = seen["source_cloth"]
        self.assertEqual(seen["sheet"], {"length": 15.5, "width": 15.5, "mass": 30})
        self.assertAlmostEqual(seen["drag"], 0.1 * 961 / 30, places=12)
        self.assertEqual((seen["landmarks"], seen["frames"], seen["dt"]), (30, 6, 0.001))
        for name in ("shear_stiffness", "area_stiffness"):
            self.assertEqual((cloth["triangles"][name]["min"], cloth["triangles"][name]["max"]),
                             (300, 1200))
        self.assertEqual(cloth["triangles"]["damping"]["max"], 0.3)
        # tau = 1 ms is the damping of every hinge over its stiffness
        self.assertAlmostEqual(cloth["hinges"]["damping"]["max"],
                               1e-3 * cloth["hinges"]["stiffness"]["max"])
        (self.folder / "run.toml").write_text(
            'preset = "reference"\nseconds = 0.2\ndensity = 0.5\ndrag = 2.0\n')
        self.run_it("generate", "--config", "run.toml", *small, "--drag", "1.5", "--out", "b.h5")
        seen = self.inspect("b.h5")
        self.assertEqual((seen["frames"], seen["drag"]), (11, 1.5))
        self.assertAlmostEqual(seen["sheet"]["mass"], 0.5 * 15.5 * 15.5, places=9)

    def test_density_of_springs(self):
        self.run_it("generate", "--grid", "8x8", "--length", "3", "--width", "2", "--density", "0.2",
                    "--rollouts", "1", "--seconds", "0.08", "--damping", "0.1", "--out", "m.h5",
                    "--quiet")
        self.assertAlmostEqual(self.inspect("m.cloth.json")["sheet"]["mass"], 1.2, places=12)

    OBJ = "v 0 0 0\nv 2 0 0\nv 2 0 1\nv 0 0 1\nv 1 0 0.5\nf 1 4 5\nf 4 3 5\nf 3 2 5\nf 2 1 5\n"

    def test_fem_of_an_obj_file(self):
        (self.folder / "sheet.obj").write_text(self.OBJ)
        run = ["generate", "--source", "fem", "--mesh", "sheet.obj", "--anchor-radius", "0.1",
               "--seconds", "0.08", "--quiet"]
        self.run_it(*run, "--density", "0.25", "--rollouts", "1", "--out", "m.h5")
        cloth = self.inspect("m.cloth.json")
        self.assertEqual(cloth["sheet"], {"length": 2, "width": 1, "mass": 0.5})
        self.assertEqual((cloth["grid"], cloth["particles"]), (None, 5))
        self.assertEqual((cloth["triangles"]["count"], cloth["hinges"]["count"]), (4, 4))
        self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", "2", "--quiet")
        self.run_it(*run, "--density", "0.25", "--rollouts", "2", "--out", "whole.h5")
        self.assertTrue(self.same_files("m.h5", "whole.h5"))
        self.run_it(*run, "--mass", "3", "--length", "4", "--rollouts", "1", "--out", "long.h5")
        cloth = self.inspect("long.cloth.json")
        self.assertEqual(cloth["sheet"], {"length": 4, "width": 1, "mass": 3})
        # Another file under the same name is another cloth.
        (self.folder / "sheet.obj").write_text(self.OBJ.replace("v 1 0 0.5", "v 1.1 0 0.5"))
        result = self.run_it("generate", "--out", "m.h5", "--resume", "--rollouts", "3", code=2)
        self.assertIn("m.h5: was made of another cloth: a mesh or a map has changed", result.stderr)
        result = self.run_it(*run, "--rollouts", "1", "--out", "x.h5", code=2)
        self.assertIn("sheet.obj: how heavy the sheet is, is not known; give --mass or --density",
                      result.stderr)
        result = self.run_it(*run, "--mass", "1", "--cut", "diagonal", "--out", "x.h5", code=2)
        self.assertIn("--cut: sheet.obj brings its own triangles", result.stderr)

    def test_fem_bad_input(self):
        for arguments, message in (
            (["--source", "fem", "--stiffness", "3"],
             "--stiffness: is for --source springs, but this is fem; leave one of them out"),
            (["--source", "fem", "--grid", "3x3"], "--grid: is for --source springs"),
            (["--shear-stiffness", "3"],
             "--shear-stiffness: is for --source fem, but this is springs"),
            (["--mesh", "3x3"], "--mesh: is for --source fem"),
            (["--source", "fem", "--mesh", "31"], "--mesh '31': give ROWSxCOLS, for example 32x32, "
                                                  "or the name of an OBJ file"),
            (["--source", "fem", "--mesh", "none.obj"], "none.obj: no such file"),
            (["--source", "fem", "--cut", "cross"], "cross"),
            (["--source", "fem", "--bending", "soft"], "soft"),
            (["--source", "fem", "--bending-time", "-1"], "bending time -1 s"),
            (["--density", "1", "--mass", "2"], "--density and --mass: both say"),
            (["--density", "-1"], "--density -1: it must be positive"),
            (["--anchor-radius", "1", "--anchor-size", "2"], "anchors are discs or squares"),
            (["--anchor-radius", "12"], "do not fit on a sheet of 15.5 m x 15.5 m"),
            (["--preset", "felt"], "--preset 'felt': unknown; there is: reference"),
            (["--preset", "reference", "--source", "springs"],
             "--preset reference: is a sheet of finite elements; leave out --source springs"),
            (["--preset", "reference", "--families", "bending"], "--families: is for --source"),
        ):
            result = self.run_it("generate", *arguments, code=2)
            self.assertIn(message, result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    # ---- simulate --------------------------------------------------------------------------

    def test_simulate_from_a_stored_start_repeats_the_rollout(self):
        self.generate("m.h5", "--rollouts", "3")
        self.run_it("simulate", "m.cloth.json", "--start", "m.h5#2", "--seconds", "0.4", "--stride",
                    "20", "--out", "again.h5", "--quiet")
        import h5py  # the reader of another program
        import numpy
        with h5py.File(self.folder / "m.h5") as made, h5py.File(self.folder / "again.h5") as again:
            first, second = made["rollouts/000002"], again["rollouts/000000"]
            numpy.testing.assert_array_equal(first["handles"], second["handles"])
            # Another order of summation: 400 steps of float rounding on metres, seen 5e-6.
            numpy.testing.assert_allclose(first["position"], second["position"], atol=1e-4)
        result = self.run_it("simulate", "m.cloth.json", "--start", "m.h5#3", "--out", "x.h5",
                             code=2)
        self.assertIn("m.h5: has rollouts 0 to 2, not 3", result.stderr)

    def test_simulate_with_pins_handles_wind_and_gravity(self):
        self.generate("m.h5", "--rollouts", "1")
        import h5py
        (self.folder / "path.csv").write_text(
            "time,handle,x,y,z\n0,corner-nw,0,0,0\n0.2,corner-nw,0,1,0\n")
        self.run_it("simulate", "m.cloth.json", "--pin", "corner-ne", "--handles", "path.csv",
                    "--gravity", "0", "-1", "0", "--wind", "3", "0", "0", "--drag", "2",
                    "--seconds", "0.4", "--stride", "100", "--out", "r.h5", "--quiet")
        with h5py.File(self.folder / "r.h5") as file:
            position = file["rollouts/000000/position"][:]
            self.assertEqual(list(file.attrs["wind"]), [3, 0, 0])
        height = position[:, 0, 1] - position[0, 0, 1]
        for seen, expected in zip(height, (0, 0.5, 1, 1, 1)):  # linear, then constant
            self.assertAlmostEqual(seen, expected, places=5)
        self.assertEqual(abs(position[:, 7] - position[0, 7]).max(), 0)  # the pin

    def test_simulate_from_flat_is_free_fall_without_pins(self):
        self.generate("m.h5", "--rollouts", "1")
        self.run_it("simulate", "m.cloth.json", "--drag", "0", "--seconds", "0.5", "--stride", "100",
                    "--out", "r.h5", "--quiet")
        import h5py
        with h5py.File(self.folder / "r.h5") as file:
            lowest = file["rollouts/000000/position"][-1, :, 1].min()
        self.assertAlmostEqual(lowest, -9.81e-6 * 500 * 501 / 2, places=4)

    # ---- obstacles -------------------------------------------------------------------------

    def test_drapes_until_rest_on_all_that_can_be_named(self):
        (self.folder / "block.obj").write_text(BLOCK)
        (self.folder / "two.toml").write_text(
            "[[obstacle]]\nkind = 'sphere'\nradius = 0.3\nposition = [0, -0.4, 0]\n"
            "[[obstacle]]\nkind = 'plane'\nposition = [0, -1, 0]\nfriction = 0.8\n")
        sheet = ["--length", "2", "--width", "2", "--anchors", "0", "--rollouts", "1"]
        self.run_it("generate", "--source", "fem", "--mesh", "9x9", "--out", "f.h5", "--quiet",
                    "--mass", "0.5", "--anchor-radius", "0.1", *sheet, "--seconds", "0.1")
        self.run_it("generate", "--grid", "10x10", "--mass", "0.5", "--stiffness", "20",
                    "--damping", "0.05", "--out", "s.h5", "--quiet", *sheet, "--seconds", "0.1")
        for cloth, obstacles in (("f.cloth.json", ("floor", "table", "block.obj")),
                                 ("s.cloth.json", ("sphere", "animal", "two.toml"))):
            for obstacle in obstacles:
                result = json.loads(self.run_it(
                    "simulate", cloth, "--obstacle", obstacle, "--obstacle", "two.toml",
                    "--until-rest", "--seconds", "60", "--drag", "4", "--json", "--quiet",
                    "--overwrite", "--out", "r.h5").stdout)
                self.assertTrue(result["settled"], (cloth, obstacle, result))
                self.assertLess(result["seconds"], 60)
                # Whatever touches is 2/500 m away, the thickness, but for notches.
                self.assertLess(result["deepest_point"], 0, (cloth, obstacle))
                self.assertGreater(result["deepest_point"], -0.02)
        self.assertTrue(self.inspect("r.h5")["contact"])
        for verb in (["train", "r.h5", "--out", "run"], ["evaluate", "s.cloth.json", "r.h5"]):
            self.assertIn("without contact", self.run_it(*verb, code=2).stderr)

    def test_rest_is_told_in_words(self):
        self.generate("m.h5", "--rollouts", "1", "--anchors", "0")
        told = self.run_it("simulate", "m.cloth.json", "--obstacle", "floor", "--until-rest",
                           "--seconds", "20", "--self-distance", "auto", "--picture", "p.png")
        self.assertEqual((self.folder / "p.png").read_bytes()[1:4], b"PNG")
        self.assertRegex(told.stdout, r"settled +yes")
        self.assertIn("below the level sheet", told.stderr)
        told = self.run_it("simulate", "m.cloth.json", "--until-rest", "--seconds", "1", "--out",
                           "falls.h5")
        self.assertRegex(told.stdout, r"settled +no")

    def test_a_moving_obstacle_carries_the_cloth(self):
        (self.folder / "lift.toml").write_text(
            "[[obstacle]]\nkind = 'plane'\nfriction = 1\n"
            "path = [[0, 0, -0.05, 0], [1, 0, -0.05, 0], [3, 1.5, 0.75, 0]]\n")
        self.generate("m.h5", "--rollouts", "1", "--anchors", "0")
        result = json.loads(self.run_it("simulate", "m.cloth.json", "--obstacle", "lift.toml",
                                        "--seconds", "4", "--json").stdout)
        self.assertAlmostEqual(result["lowest_point"], 0.75 + 15.5 / 500, places=4)

    def test_obstacles_that_are_none(self):
        self.generate("m.h5", "--rollouts", "1")
        (self.folder / "open.obj").write_text(BLOCK.rsplit("f ", 1)[0])
        (self.folder / "pole.obj").write_text(re.sub(r"v (.) 1 ", r"v \1 400 ", BLOCK))
        (self.folder / "inside.toml").write_text("[[obstacle]]\nkind = 'sphere'\nradius = 30\n")
        for more, message in (
            (["--obstacle", "ghost"], "ghost"),
            (["--obstacle", "none.obj"], "none.obj"),
            (["--obstacle", "open.obj"], "open"),
            (["--obstacle", "floor", "--thickness", "-1"], "--thickness -1: a distance in metres, not negative"),
            (["--self-distance", "far"], "--self-distance 'far': give a distance"),
            (["--until-rest", "--rest-speed", "0"], "--rest-speed 0: it must be positive"),
            (["--rest-speed", "1"], "--rest-speed: says when --until-rest stops"),
            (["--friction", "1"], "give an --obstacle too"),
            (["--obstacle", "inside.toml"], "64 particles of the cloth start inside it"),
            (["--obstacle", "pole.obj"], "too thin for a distance grid"),
            (["--stride", "2000000000", "--substeps", "2"], "--stride 2000000000"),
            (["--picture", "m.cloth.json", "--overwrite"], "is read as well"),
            (["--picture", "m.h5"], "m.h5: exists already"),
            (["--picture", "r.h5", "--out", "r.h5"], "give two names"),
            (["--picture", "nowhere/p.png"], "there is no directory"),
        ):
            self.assertIn(message, self.run_it("simulate", "m.cloth.json", *more, code=2).stderr)
        self.assertIn("m.cloth.json", self.run_it("inspect", "m.cloth.json").stdout)

    def test_rest_waits_for_all_paths(self):
        (self.folder / "late.toml").write_text(
            "[[obstacle]]\nkind = 'plane'\nposition = [0, -0.1, 0]\nfriction = 0.9\n"
            "[[obstacle]]\nkind = 'sphere'\nradius = 0.5\n"
            "path = [[4, 0, 9, 0], [6, 0, 2, 0]]\n")
        self.generate("m.h5", "--rollouts", "1", "--anchors", "0")
        result = json.loads(self.run_it("simulate", "m.cloth.json", "--obstacle", "late.toml",
                                        "--until-rest", "--seconds", "20", "--json").stdout)
        self.assertTrue(result["settled"])
        self.assertGreaterEqual(result["seconds"], 6.5)  # the last key, and half a second
        self.assertLess(result["seconds"], 7)

    def test_the_example_obstacles(self):
        self.generate("m.h5", "--rollouts", "1", "--anchors", "0", "--stiffness", "200")
        for name, more in (("table", []), ("animal", []), ("moving-sphere", ["--pin", "edge-west",
                                                                            "--pin", "edge-east"])):
            result = json.loads(self.run_it(
                "simulate", "m.cloth.json", "--obstacle", EXAMPLES / f"{name}.toml", *more,
                "--until-rest", "--seconds", "60", "--drag", "3", "--json", "--quiet",
                "--overwrite").stdout)
            self.assertTrue(result["settled"], name)
            self.assertLess(result["deepest_point"], 0, name)

    def test_a_blow_up_is_reported_and_warned_of(self):
        self.run_it("generate", "--out", "m.h5", "--grid", "8x8", "--mass", "0.01", "--rollouts",
                    "1", "--seconds", "0.1", "--quiet")
        result = self.run_it("simulate", "m.cloth.json", "--pin", "corner-nw", "--out", "r.h5",
                             "--substeps", "1", code=1)
        self.assertIn("warning: a step of 0.001 s is close to or above the largest stable step",
                      result.stderr)
        self.assertRegex(result.stderr, r"blew up: particle \d+ was the first .* in step \d+")
        self.assertIn("sub-steps", result.stderr)
        import h5py
        import numpy
        with h5py.File(self.folder / "r.h5") as file:
            self.assertTrue(numpy.isfinite(file["rollouts/000000/position"][:]).all())
        result = self.run_it("simulate", "m.cloth.json", "--pin", "corner-nw", "--out", "fine.h5",
                             "--seconds", "0.2")  # as many sub-steps as are safe
        self.assertRegex(result.stderr, r"a time step of 0.001 s is too long for this cloth: it "
                                        r"takes \d+ sub-steps each")

    # ---- evaluate --------------------------------------------------------------------------

    def evaluate(self, *arguments):
        return json.loads(self.run_it("evaluate", *arguments, "--json", "--quiet").stdout)

    def test_evaluate_a_cloth_on_its_own_rollouts(self):
        self.generate("m.h5", "--rollouts", "3")
        result = self.evaluate("m.cloth.json", "m.h5", "--truth", "m.cloth.json", "--out", "r.json")
        self.assertEqual(json.loads((self.folder / "r.json").read_text()), result)
        for name in ("r.error.png", "r.frames.png"):
            self.assertEqual((self.folder / name).read_bytes()[1:4], b"PNG")
        self.assertEqual(list(self.folder.glob("*.part")), [])
        # The same cloth, start and steps: the same bits. 0.4 s / (20 * 1 ms) + the start, thrice.
        motion = result["motion_rmse"]
        self.assertEqual((motion["mean"], motion["std"], motion["per_rollout"]), (0, 0, [0, 0, 0]))
        self.assertEqual((motion["over_time"], motion["frame_interval"]), ([0] * 21, 0.02))
        self.assertEqual((result["rollouts"], result["frames"]), (3, 63))
        self.assertEqual((result["stiffness_rmse"], result["damping_rmse"]), (0, 0))
        families = {"structural", "diagonal", "antidiagonal", "bending"}
        self.assertEqual(set(result["stiffness_rmse_by_family"]), families)
        self.assertEqual(set(result["damping_rmse_by_family"]), families)
        baselines = result["baselines"]
        self.assertGreater(baselines["static"]["mean"], 0)
        self.assertEqual(baselines["handles"], baselines["static"])  # anchors stand still
        self.assertIsNone(baselines["homogeneous"])
        self.assertEqual(result["warnings"], [])

    def test_evaluate_static_baseline_as_another_program_computes_it(self):
        import h5py
        import numpy
        self.generate("m.h5", "--rollouts", "2")
        errors = []
        with h5py.File(self.folder / "m.h5") as file:
            for rollout in file["rollouts"].values():
                moved = rollout["position"][:].astype(float)
                moved -= moved[0].copy()
                moved = moved[:, numpy.abs(moved).max(axis=(0, 2)) > 0]  # pins are no landmarks to predict
                errors.append(numpy.sqrt((moved ** 2).sum(axis=2).mean(axis=1)))
        static = self.evaluate("m.cloth.json", "m.h5")["baselines"]["static"]
        self.assertAlmostEqual(static["mean"], numpy.mean(errors), places=12)
        self.assertAlmostEqual(static["std"], numpy.std(errors), places=12)

    def test_evaluate_finds_the_homogeneous_network(self):
        self.generate("m.h5", "--rollouts", "2")
        text = self.run_it("evaluate", "m.cloth.json", "m.h5")
        self.assertIn("name one with --homogeneous", text.stderr)
        self.generate("even.h5", "--rollouts", "1", "--stiffness", "40")
        (self.folder / "run").mkdir()
        for name, to in (("m.cloth.json", "cloth.json"), ("even.cloth.json", "homogeneous.json")):
            (self.folder / "run" / to).write_bytes((self.folder / name).read_bytes())
        own = self.evaluate("even.cloth.json", "m.h5")["motion_rmse"]
        for arguments in (["run/cloth.json", "m.h5"],
                          ["m.cloth.json", "m.h5", "--homogeneous", "even.cloth.json"]):
            found = self.evaluate(*arguments)["baselines"]["homogeneous"]
            self.assertEqual(found, {"mean": own["mean"], "std": own["std"]})
        self.assertGreater(own["mean"], 0)
        text = self.run_it("evaluate", "even.cloth.json", "m.h5", "--homogeneous", "m.cloth.json",
                           "--truth", "m.cloth.json")
        self.assertIn("warning: this cloth is no better than the homogeneous network", text.stderr)
        for line in ("motion RMSE", "nothing moves", "moves with handles", "homogeneous network",
                     "over time", "per rollout", "stiffness RMSE", "bending"):
            self.assertIn(line, text.stdout)

    def test_evaluate_warns_of_a_cloth_that_is_worse_than_nothing(self):
        # A taut sheet, held all around, hardly sags; without stiffness it falls.
        sheet = ["--length", "1", "--width", "1", "--rollouts", "1"]
        self.generate("taut.h5", *sheet, "--stiffness", "2000")
        self.generate("slack.h5", *sheet, "--stiffness", "0", "--damping", "0")
        edges = [part for side in ("north", "south", "east", "west")
                 for part in ("--pin", "edge-" + side)]
        self.run_it("simulate", "taut.cloth.json", *edges, "--seconds", "0.4", "--out", "m.h5",
                    "--quiet")
        result = self.run_it("evaluate", "slack.cloth.json", "m.h5")
        self.assertIn("warning: this cloth is no better than a motion in which nothing moves",
                      result.stderr)
        result = self.evaluate("slack.cloth.json", "m.h5")
        self.assertEqual(len(result["warnings"]), 2)
        self.assertGreater(result["motion_rmse"]["mean"], result["baselines"]["static"]["mean"])

    def test_evaluate_moves_the_shape_with_its_handles(self):
        self.generate("m.h5", "--rollouts", "1")
        (self.folder / "path.csv").write_text(
            "time,handle,x,y,z\n0,edge-north,0,0,0\n0.4,edge-north,0,6,0\n")
        self.run_it("simulate", "m.cloth.json", "--handles", "path.csv", "--gravity", "0", "0", "0",
                    "--seconds", "0.4", "--out", "r.h5", "--quiet")
        import h5py
        with h5py.File(self.folder / "r.h5") as file:
            position = file["rollouts/000000/position"][:].astype(float)
        # All of the north edge, row 0, rises together. It is given, so it is not compared.
        moved = position - position[0] - (position[:, :1] - position[0, :1])
        moved = moved[:, abs(moved).max(axis=(0, 2)) > 1e-4]
        expected = (moved ** 2).sum(axis=2).mean(axis=1) ** 0.5
        baselines = self.evaluate("m.cloth.json", "r.h5")["baselines"]
        self.assertAlmostEqual(baselines["handles"]["mean"], expected.mean(), places=6)
        self.assertNotAlmostEqual(baselines["static"]["mean"], expected.mean(), places=2)

    def test_evaluate_refuses_what_does_not_fit(self):
        self.generate("m.h5", "--rollouts", "1")
        self.generate("other.h5", "--rollouts", "1", "--families", "structural", "--length", "12")
        before = (self.folder / "m.cloth.json").read_bytes()
        for arguments, message in (
            (["other.cloth.json", "m.h5"], "a sheet of 12 m x 15.5 m, but the motion is that of "
                                           "one of 15.5 m x 15.5 m"),
            (["m.cloth.json", "m.h5", "--truth", "other.cloth.json"],
             "other.cloth.json: the cloth has 306 springs, but the truth has 112"),
            (["m.cloth.json", "m.h5", "--homogeneous", "none.json"], "none.json: no such file"),
            (["m.cloth.json", "m.h5", "--out", "m.cloth.json"], "is read as well"),
            (["m.cloth.json", "m.h5", "--out", "none/r.json"], "there is no directory none"),
        ):
            result = self.run_it("evaluate", *arguments, code=2)
            self.assertIn(message, result.stderr)
            self.assertEqual(result.stdout, "")
        self.assertEqual((self.folder / "m.cloth.json").read_bytes(), before)

    def test_evaluate_names_the_rollout_that_blows_up(self):
        self.generate("m.h5", "--rollouts", "2")
        self.generate("stiff.h5", "--rollouts", "1", "--stiffness", "1e6", "--seconds", "0.04")
        result = self.run_it("evaluate", "stiff.cloth.json", "m.h5", "--out", "r.json", code=1)
        self.assertRegex(result.stderr, r"stiff.cloth.json: rollout \d: the surrogate blew up")
        self.assertFalse((self.folder / "r.json").exists())
        result = self.evaluate("stiff.cloth.json", "m.h5", "--substeps", "auto")
        self.assertLess(result["motion_rmse"]["mean"], result["baselines"]["static"]["mean"])

    # ---- reproduce and demo ----------------------------------------------------------------

    def test_reproduce_says_how_to_get_its_program(self):
        import shutil
        alone = self.folder / "springtime"
        shutil.copy(PROGRAM, alone)
        result = subprocess.run([alone, "reproduce", "locking"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("scripts/build", result.stderr)

    @long_run
    def test_reproduce_locking_and_drape(self):
        self.run_it("reproduce", "locking", "--scale", "smoke", "--out", "l", "--quiet")
        result = json.loads((self.folder / "l/result.json").read_text())
        for case in ("fold-aligned-with-bending", "fold-misaligned-with-bending",
                     "fold-aligned-without-bending", "fold-misaligned-without-bending"):
            fine, coarse, surrogate, *_ = result[case]["sheets"]
            self.assertNotIn("to_first", fine)
            self.assertAlmostEqual(result[case]["surrogate_over_coarse"],
                                   surrogate["to_first"]["surface"]["rms"]
                                   / coarse["to_first"]["surface"]["rms"])
            # The nearest point of a surface is never farther than the same point of the sheet,
            # and the mesh whose particles are compared lies within its own surface.
            self.assertLessEqual(coarse["to_first"]["surface"]["rms"], coarse["to_first"]["rmse"])
        held = result["fold-misaligned-with-bending"]["sheets"][1]["corner_sag"]
        self.assertEqual((held["corner-ne"], held["corner-sw"]), (0, 0))
        self.assertGreater(held["corner-nw"], 0.1)
        self.assertIn("Fold across the diagonals", (self.folder / "l/result.md").read_text())

        (self.folder / "block.obj").write_text(BLOCK)
        told = self.run_it("reproduce", "drape", "--scale", "smoke", "--out", "l", code=2).stderr
        self.assertIn("is filled with other settings (reproduction.toml has them); replace it with --overwrite", told)
        told = self.run_it("reproduce", "locking", "--obstacle", "block.obj", code=2).stderr
        self.assertIn("is for reproduce drape", told)
        told = self.run_it("reproduce", "drape", "--out", "d", "--obstacle", "animal", code=2).stderr
        self.assertIn("another one has the same name", told)
        self.run_it("reproduce", "drape", "--scale", "smoke", "--out", "d", "--quiet",
                    "--obstacle", "block.obj")
        drapes = json.loads((self.folder / "d/result.json").read_text())["drapes"]
        self.assertEqual([d["obstacle"] for d in drapes], ["table", "sphere", "animal", "block.obj"])
        for drape in drapes:
            level, tilted = drape["falls"]
            for i, sheet in enumerate(drape["to_source"], 1):
                distances = [fall[i]["to_first"]["surface"]["rms"] for fall in (level, tilted)]
                self.assertAlmostEqual(sheet["mean"], sum(distances) / 2)
                # Of two values, half their difference.
                self.assertAlmostEqual(sheet["standard_error"], abs(distances[0] - distances[1]) / 2)
        self.assertTrue((self.folder / "d/smoke/on-block/learned.png").exists())

    def test_demo_learns_a_cloth_and_draws_it(self):
        told = json.loads(self.run_it("demo", "--grid", "8x8", "--mass", "6.4", "--rollouts", "6",
                                      "--seconds", "4", "--test-rollouts", "2", "--quiet",
                                      "--json").stdout)
        self.assertEqual((told["particles"], told["springs"]), (64, 306))
        errors = told["errors"]
        # The stiffness is 25 to 100 N/m, which one value for each family cannot be near.
        self.assertGreater(errors["homogeneous"]["stiffness_rmse"], 10)
        self.assertLess(errors["learned"]["stiffness_rmse"], 1)
        self.assertLess(errors["learned"]["motion_rmse"], 0.1 * errors["homogeneous"]["motion_rmse"])
        self.assertLess(errors["homogeneous"]["motion_rmse"], errors["static"]["motion_rmse"])
        for name in ("stiffness_picture", "frames_picture", "error_picture"):
            self.assertEqual((self.folder / told[name]).read_bytes()[1:4], b"PNG")
        judged = self.evaluate(told["cloth"], told["test"], "--truth", told["source"],
                               "--substeps", "auto")
        self.assertAlmostEqual(judged["stiffness_rmse"], errors["learned"]["stiffness_rmse"])
        self.assertFalse(self.inspect(told["motion"])["velocities"])


if __name__ == "__main__":
    # PROGRAM [KIND PART OF]: all tests, or of those of a kind, short or long, every OF-th from PART on, or
    # those whose names are given.
    names = unittest.TestLoader().getTestCaseNames(CommandLine)
    chosen = sys.argv[2:]
    if chosen and chosen[0] in ("short", "long"):
        names = [name for name in names
                 if hasattr(getattr(CommandLine, name), "long_run") == (chosen[0] == "long")]
        names = names[int(chosen[1])::int(chosen[2])] or sys.exit("no test is left for this part")
    elif chosen:
        names = chosen
    unittest.main(argv=sys.argv[:1] + ["CommandLine." + name for name in names])
