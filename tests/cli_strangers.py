"""Input that is hostile, broken or without meaning, and small things of the command line; part of
cli_test.py."""

import fcntl
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

from cli_kinds import long_run

PROGRAM = sys.argv[1]
FORMATS = pathlib.Path(__file__).resolve().parent.parent / "docs/formats.md"
MARK = b"\xef\xbb\xbf"  # before UTF-8, as programs of Windows write it


class Strangers:
    def refused(self, *arguments, code=2):
        """What is said; whoever waits for a pipe waits for ever."""
        result = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, text=True,
                                capture_output=True, timeout=300)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stderr

    # ---- files -----------------------------------------------------------------------------

    def test_pipes_and_devices_are_refused_by_every_verb(self):
        self.generate("m.h5", "--rollouts", "2", "--seconds", "0.2")
        os.mkfifo(self.folder / "pipe")
        for name in ("pipe.csv", "pipe.toml", "pipe.obj", "pipe.png"):
            os.mkfifo(self.folder / name)
        for path, word in (("pipe", "is a pipe"), ("/dev/zero", "is a device")):
            for arguments in (["inspect", path], ["train", path], ["evaluate", path, "m.h5"],
                              ["evaluate", "m.cloth.json", path], ["simulate", path],
                              ["simulate", "m.cloth.json", "--start", f"{path}#0"],
                              ["export", path, "--to", "csv"], ["inspect", "m.h5", "--config", path],
                              ["import", path, "--mass", "1"]):
                self.assertIn(word, self.refused(*arguments), arguments)
        for arguments in (["import", "pipe.csv", "--mass", "1"],
                          ["simulate", "m.cloth.json", "--obstacle", "pipe.toml"],
                          ["simulate", "m.cloth.json", "--obstacle", "pipe.obj"],
                          ["simulate", "m.cloth.json", "--handles", "pipe.csv"],
                          ["generate", "--stiffness", "map pipe.csv"],
                          ["generate", "--stiffness", "map pipe.png 1-2"]):
            self.assertIn("is a pipe", self.refused(*arguments), arguments)

    def test_motion_files_lead_nowhere_else(self):
        import h5py
        self.generate("m.h5", "--rollouts", "2")
        self.generate("other.h5", "--rollouts", "1")
        os.mkfifo(self.folder / "pipe")
        for target in ("other.h5", "pipe"):
            shutil.copy(self.folder / "m.h5", self.folder / "l.h5")
            with h5py.File(self.folder / "l.h5", "r+") as file:
                del file["rollouts/000001/position"]
                file["rollouts/000001/position"] = h5py.ExternalLink(target, "/rest")
            for arguments in (["inspect", "l.h5"], ["train", "l.h5"], ["export", "l.h5", "--to", "csv"],
                              ["evaluate", "m.cloth.json", "l.h5"],
                              ["simulate", "m.cloth.json", "--start", "l.h5#0"]):
                self.assertIn("is an external link", self.refused(*arguments))
        secret = self.folder / "secret"
        secret.write_bytes(b"s" * 100000)
        with h5py.File(self.folder / "l.h5", "r+") as file:
            del file["rollouts/000001/position"]
            shape = file["rollouts/000000/position"].shape
            file["rollouts/000001"].create_dataset(
                "position", shape, "f4", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
        self.assertIn("keeps its values in another file", self.refused("inspect", "l.h5"))

    def test_permission_denied_says_so(self):
        self.generate("m.h5", "--rollouts", "1")
        as_nobody = {}
        if os.geteuid() == 0:  # who may read everything
            as_nobody = {"user": 65534, "group": 65534}
            os.chmod(self.folder, 0o755)
            if subprocess.run([PROGRAM, "--version"], capture_output=True, **as_nobody,
                              check=False).returncode != 0:
                self.skipTest("nobody may not run this program")
        for name in ("m.h5", "m.cloth.json"):
            os.chmod(self.folder / name, 0)
        for arguments in (["inspect", "m.h5"], ["inspect", "m.cloth.json"], ["train", "m.h5"],
                          ["export", "m.h5", "--to", "csv"]):
            result = subprocess.run([PROGRAM, *arguments], cwd=self.folder, text=True,
                                    capture_output=True, check=False, **as_nobody)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("cannot be read (Permission denied)", result.stderr)

    def test_absurd_headers_are_answered_at_once(self):
        import h5py
        properties = "".join(f"property float p{i}\n" for i in range(40000))
        (self.folder / "a.ply").write_text(
            f"ply\nformat ascii 1.0\nelement vertex 3\n{properties}end_header\n")
        self.assertIn("more than 1000 properties", self.refused("import", "a.ply", "--mass", "1"))
        for name, value, range_text in (("dt", 1e-300, "1e-09 to 100 s"),
                                        ("stride", 2**31 - 1, "1 to 1000000"),
                                        ("sheet_length", 1e300, "0.0001 to 10000 m")):
            self.generate("m.h5", "--rollouts", "1", "--overwrite")
            with h5py.File(self.folder / "m.h5", "r+") as file:
                file.attrs[name] = value
            for verb in ("inspect", "train"):
                self.assertIn(range_text, self.refused(verb, "m.h5"))

    def test_a_byte_order_mark_is_treated_alike_everywhere(self):
        def marked(name, text):
            (self.folder / name).write_bytes(MARK + text.encode())

        self.generate("m.h5", "--rollouts", "1")
        marked("c.json", (self.folder / "m.cloth.json").read_text())
        self.assertEqual(self.inspect("c.json")["particles"], 64)
        marked("a.toml", "rollouts = 2\n")
        self.generate("two.h5", "--config", "a.toml")
        self.assertEqual(self.inspect("two.h5")["rollouts"], 2)
        marked("floor.toml", '[[obstacle]]\nkind = "plane"\npoint = [0, -5, 0]\nnormal = [0, 1, 0]\n')
        marked("map.csv", "25,50\n25,50\n")
        self.generate("map.h5", "--rollouts", "1", "--stiffness", "map map.csv")
        self.run_it("export", "m.h5", "--to", "csv")
        marked("points.csv", (self.folder / "m.csv").read_text())
        self.run_it("import", "points.csv", "--grid", "8x8", "--length", "15.5", "--width", "15.5",
                    "--mass", "6.4", "--trust", "--out", "p.h5", "--quiet")
        self.assertEqual(self.inspect("p.h5")["landmarks"], 64)

    # ---- numbers ---------------------------------------------------------------------------

    def test_numbers_out_of_range_are_refused_with_the_range(self):
        whole = "0 to 18446744073709551615"
        for arguments, message in (
            (["--seed", "-1"], whole),
            (["--seed", "99999999999999999999999"], whole),
            (["--seed", "1.5"], whole),
            (["--rollouts", "99999999999"], "-2147483648 to 2147483647"),
            (["--dt", "1e-12"], "1e-09 to 100 s"),
            (["--stride", "2000000000"], "1 to 1000000"),
            (["--length", "1e300"], "0.0001 to 10000 m"),
            (["--width", "1e-9"], "0.0001 to 10000 m"),
            (["--mass", "1e30"], "1e-09 to 10000000 kg"),
            (["--mass", "nan"], "not finite"),
            (["--noise", "inf"], "not finite"),
            (["--noise", "500"], "a diagonal of 21.92 m"),
            (["--gravity", "0", "-1e9", "0"], "at most 10000 m/s^2"),
            (["--wind", "0", "nan", "0"], "not finite"),
            (["--drag", "1e12"], "0 to 10000 1/s"),
        ):
            said = self.refused("generate", "--rollouts", "1", *arguments)
            self.assertIn(arguments[0], said)
            self.assertIn(message, said)
        (self.folder / "a.toml").write_text("seed = -1\n")
        self.assertIn(whole, self.refused("generate", "--config", "a.toml"))
        self.generate("m.h5", "--rollouts", "2")
        self.assertIn("--prior", self.refused("train", "m.h5", "--prior", "nan"))
        self.assertEqual({p.suffix for p in self.folder.iterdir()}, {".h5", ".json", ".toml"})

    def test_inspect_names_what_is_odd_about_a_cloth(self):
        self.generate("m.h5", "--rollouts", "1")
        self.assertEqual(self.inspect("m.cloth.json")["doubts"], [])
        cloth = json.loads((self.folder / "m.cloth.json").read_text())
        springs = cloth["springs"]
        springs["ends"][1] = springs["ends"][0][::-1]
        springs["rest_length"][7] = 1e6
        cloth["particles"]["rest"][9] = cloth["particles"]["rest"][8]
        cloth["sheet"]["mass"] = 1
        cloth["grid"] = {"rows": 4, "cols": 16}
        (self.folder / "c.json").write_text(json.dumps(cloth))
        text = self.run_it("inspect", "c.json").stdout
        for doubt in ("springs 0 and 1 both join", "spring 7 has a rest length of 1e+06 m",
                      "particles 8 and 9 lie at one place", "6.4 kg together",
                      "of the grid 4 x 16"):
            self.assertIn(doubt, text)
        self.assertGreaterEqual(len(self.inspect("c.json")["doubts"]), 5)

    # ---- meaning ---------------------------------------------------------------------------

    def write_motion(self, name, position, held=(), mass=0.03, **attributes):
        """3 x 3 landmarks of a sheet of 0.3 m; positions are frames x 9 x 3."""
        import h5py
        import numpy as np
        with h5py.File(self.folder / name, "w") as file:
            file.attrs.update(format="springtime-motion", version=1, units="m, kg, s, N")
            file.attrs.update(sheet_length=0.3, sheet_width=0.3, mass=mass, dt=0.02, stride=1)
            file.attrs.update(gravity=[0.0, -9.81, 0.0], drag=1.0, wind=[0.0, 0.0, 0.0])
            file.attrs.update(attributes)
            file["rest"] = np.array([[u, v] for v in (0, .15, .3) for u in (0, .15, .3)])
            rollout = file.create_group("rollouts/000000")
            rollout["position"] = position.astype("f4")
            if len(held):
                rollout["handles"] = np.array(held, "i4")

    def test_what_says_nothing_is_not_learned_from(self):
        import numpy as np
        flat = np.array([[u, 0, v] for v in (0, .15, .3) for u in (0, .15, .3)])
        still = np.repeat(flat[None], 50, axis=0)
        self.write_motion("held.h5", still, held=range(9), captured=1)
        self.assertIn("all 9 landmarks are held in all rollouts", self.refused("train", "held.h5"))
        self.generate("m.h5", "--rollouts", "1")
        noise = np.random.default_rng(1).normal(size=still.shape)
        self.write_motion("noise.h5", still + 5 * noise, captured=1)
        self.assertIn("this is noise, or the positions are not in metres",
                      self.refused("train", "noise.h5"))
        self.assertFalse((self.folder / "run").exists())

    @long_run
    def test_odd_motion_is_called_what_it_is(self):
        import numpy as np
        flat = np.array([[u, 0, v] for v in (0, .15, .3) for u in (0, .15, .3)])
        time = 0.02 * np.arange(60)[:, None, None]
        swing = flat * [1, 0, 0] + [0, 1, 0] * (-flat[:, 2:] * np.cos(0.3 * np.cos(7 * time))) \
            + [0, 0, 1] * (flat[:, 2:] * np.sin(0.3 * np.cos(7 * time)))
        self.write_motion("m.h5", swing, held=range(3), mass=30)
        result = subprocess.run([PROGRAM, "train", "m.h5", "--quiet", "--method", "linear"],
                                cwd=self.folder, text=True, capture_output=True, check=False)
        # Warnings survive --quiet.
        self.assertIn("warning: 30 kg on 0.3 x 0.3 m is 333 kg/m^2", result.stderr)
        self.assertIn("looks like a capture, but the attribute captured is not 1", result.stderr)
        self.assertIn("set captured = 1 in the motion file", result.stderr)

    def test_a_recording_counts_once(self):
        self.generate("m.h5", "--rollouts", "1", "--seconds", "1")
        self.run_it("export", "m.h5", "--to", "csv")
        shutil.copy(self.folder / "m.csv", self.folder / "copy.csv")
        flags = ["--grid", "8x8", "--length", "15.5", "--width", "15.5", "--mass", "6.4", "--trust"]
        for names in (["m.csv", "m.csv"], ["m.csv", "copy.csv"]):
            self.assertIn("are the same recording", self.refused("import", *names, *flags))
        heavy = [*flags[:-3], "--mass", "1e6", "--trust"]
        said = self.run_it("import", "m.csv", *heavy, "--out", "h.h5", "--quiet").stderr
        self.assertIn("kg/m^2, and fabrics have 0.02 to 5", said)

    def test_a_constant_map_is_constant(self):
        self.generate("m.h5", "--rollouts", "1", "--stiffness", "50")
        cloth = json.loads((self.folder / "m.cloth.json").read_text())
        stiffness = cloth["springs"]["stiffness"]
        stiffness[:] = [50 + 1e-3 * (s % 7) for s in range(len(stiffness))]  # as if learned
        (self.folder / "c.json").write_text(json.dumps(cloth))
        self.run_it("export", "c.json", "--to", "npz", "--quiet")
        import numpy as np
        maps = np.load(self.folder / "c.npz")
        names = [name for name in maps.files if "stretch" in name and "damping" not in name]
        self.assertTrue(names)
        for name in names:
            if maps[name].ndim == 1 and maps[name].max() <= 1:
                self.assertEqual(set(maps[name].tolist()), {1.0}, name)

    def test_perfect_recovery_has_a_sentence(self):
        self.generate("m.h5", "--rollouts", "1")
        told = self.run_it("evaluate", "m.cloth.json", "m.h5", "--truth", "m.cloth.json").stdout
        for what in ("motion", "stiffness", "damping"):
            self.assertIn(f"{what}: equal to the last bit", told)
        self.assertNotRegex(told, r"(?m)^ +0\.?\d* +0$")
        seen = json.loads(self.run_it("evaluate", "m.cloth.json", "m.h5", "--truth", "m.cloth.json",
                                      "--json").stdout)
        self.assertEqual((seen["motion_rmse"]["mean"], seen["stiffness_rmse"]), (0, 0))

    # ---- formats by hand -------------------------------------------------------------------

    @long_run
    def test_the_example_of_the_formats_page_trains(self):
        example = re.search(r"```python\n(.*?)```", FORMATS.read_text(encoding="utf-8"), re.DOTALL)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        exec(compile(example.group(1), "docs/formats.md", "exec"), {})
        told = json.loads(self.run_it("train", "towel.h5", "--horizons", "0.5", "--iterations", "2",
                                      "--homogeneous-iterations", "20", "--quiet", "--json").stdout)
        self.assertLess(told["validation_rmse"], 0.5 * told["nothing_moves_rmse"])

    # ---- inspect ---------------------------------------------------------------------------

    def test_inspect_describes_the_cloth_that_was_learned(self):
        self.known_cloth("linear.json")
        run = self.folder / "run"
        run.mkdir()
        (run / "config.toml").write_text(f'motion = "{self.folder / "k.h5"}"\n')
        shutil.copy(self.folder / "linear.json", run / "linear.json")
        self.assertIn("not finished; linear.json is the best", self.run_it("inspect", "run").stderr)
        learned = json.loads((self.folder / "k.cloth.json").read_text())
        learned["springs"]["stiffness"] = [77] * len(learned["springs"]["stiffness"])
        (run / "cloth.json").write_text(json.dumps(learned))
        seen = self.inspect("run")
        self.assertEqual(seen["stiffness"]["mean"], 77)
        text = self.run_it("inspect", "run").stdout
        self.assertIn("cloth.json: cloth", text)
        self.assertIn("linear.json tells that of the linear answer", " ".join(text.split()))

    # ---- small things ----------------------------------------------------------------------

    def test_mistyped_names_are_guessed(self):
        for arguments, guess in ((["generate", "--rolouts", "3"], "did you mean --rollouts?"),
                                 (["generate", "--roll", "3"], "did you mean --rollouts?"),
                                 (["generate", "--rollout=3"], "did you mean --rollouts?"),
                                 (["--verison"], "did you mean --version?"),
                                 (["version"], "did you mean --version?"),
                                 (["trian", "m.h5"], "did you mean train?"),
                                 (["inspect", "m.h5", "--jsno"], "did you mean --json?")):
            self.assertIn(guess, self.refused(*arguments))
        said = self.refused("generate", "--frobnicate")
        self.assertIn("--frobnicate: generate has no such flag\n", said)

    def test_manual_page_and_completion_know_every_flag(self):
        page = self.run_it("--manual").stdout.replace("\\-", "-")
        completions = {shell: self.run_it("--completion", shell).stdout
                       for shell in ("bash", "zsh", "fish")}
        self.assertIn("there are bash, zsh and fish", self.refused("--completion", "tcsh"))
        for verb in ("generate", "import", "train", "evaluate", "simulate", "inspect", "export",
                     "demo"):
            flags = re.findall(r"^  (?:-h,)?--([a-z-]+)", self.run_it(verb, "--help-all").stdout,
                               re.MULTILINE)
            self.assertGreater(len(flags), 5)
            part = page[page.index(f".SS springtime {verb}"):].split(".SS", 2)[1]
            bash = re.search(rf'^ +{verb}\) flags="([^"]*)"', completions["bash"], re.MULTILINE)
            for flag in flags:
                self.assertIn(f".B --{flag}", part)
                self.assertIn(f"--{flag}", bash.group(1).split())
                self.assertIn(f"from {verb}' -l {flag} ", completions["fish"])
                self.assertIn(f"'*--{flag}[", completions["zsh"])
        self.assertIn('train:--method) words="auto linear trajectory gradient"',
                      completions["bash"])

    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = self.folder / "completion"
        script.write_text(self.run_it("--completion", "bash").stdout)
        line = " ".join(f"'{word}'" for word in words)
        result = subprocess.run(
            ["bash", "-c", f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
             "_springtime; echo ${COMPREPLY[@]}"], text=True, capture_output=True, check=True)
        return result.stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.complete("springtime", "tr"), ["train"])
        self.assertEqual(self.complete("springtime", "generate", "--roll"), ["--rollouts"])
        self.assertEqual(self.complete("springtime", "train", "--instruments", "no"), ["none", "noise"])

    def test_warnings_survive_quiet(self):
        self.generate("m.h5", "--rollouts", "1")
        said = self.run_it("simulate", "m.cloth.json", "--dt", "0.5", "--substeps", "1", "--stride", "1",
                           "--seconds", "0.5", "--gravity", "0", "0", "0", "--pin", "corner-nw",
                           "--quiet").stderr
        self.assertRegex(said, r"^warning: a step of 0.5 s")
        self.assertEqual(len(said.splitlines()), 1)

    def test_progress_fits_a_narrow_terminal(self):
        for columns in (20, 40, 120):
            master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            process = subprocess.Popen(
                [PROGRAM, "generate", "--grid", "8x8", "--rollouts", "40", "--out", f"{columns}.h5"],
                cwd=self.folder, stdout=subprocess.DEVNULL, stderr=slave)
            os.close(slave)
            text = b""
            while True:
                try:
                    block = os.read(master, 65536)
                except OSError:  # that is how a terminal ends
                    break
                if not block:
                    break
                text += block
            os.close(master)
            self.assertEqual(process.wait(), 0)
            lines = [line for line in re.split(r"[\r\n]+", text.decode()) if " of 40 " in line]
            self.assertTrue(lines)
            for line in lines:
                self.assertLess(len(line), columns)
            self.assertEqual(any("[" in line for line in lines), columns > 40)

    def test_one_is_singular(self):
        result = subprocess.run([PROGRAM, "generate", "--grid", "8x8", "--seconds", "0.4",
                                 "--rollouts", "1", "--out", "m.h5"], cwd=self.folder, text=True,
                                capture_output=True, check=True)
        self.assertIn("m.h5: 1 rollout of 11 frames", result.stderr)

    def test_length_means_one_thing(self):
        import h5py
        words = {verb: re.sub(r"\s+", " ", self.run_it(verb, "--help-all").stdout)
                 for verb in ("generate", "import", "demo")}
        for text in words.values():
            self.assertIn("Length of the sheet, from the first column to the last", text)
        size = ["--grid", "3x5", "--length", "4", "--width", "1", "--mass", "1"]
        self.run_it("generate", "--out", "m.h5", "--rollouts", "1", "--seconds", "0.2", "--anchor-size",
                    "1", "--quiet", *size)
        self.run_it("export", "m.h5", "--to", "csv")
        self.run_it("import", "m.csv", "--out", "i.h5", "--trust", "--quiet", *size)
        with h5py.File(self.folder / "m.h5") as made, h5py.File(self.folder / "i.h5") as read:
            for here, there in zip(made["rest"][:].ravel(), read["rest"][:].ravel()):
                self.assertAlmostEqual(here, there)

    def test_advice_names_a_flag_that_was_not_given(self):
        self.generate("m.h5", "--rollouts", "1")
        self.assertIn("lower --stride", self.refused("simulate", "m.cloth.json", "--seconds", "0.001"))
        said = self.refused("simulate", "m.cloth.json", "--seconds", "0.001", "--fps", "20")
        self.assertIn("raise it or --fps", said)
        self.assertNotIn("--stride", said)
