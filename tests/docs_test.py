"""Runs every command block of README.md, CONTRIBUTING.md and docs/ as it is written.

usage: docs_test.py PROGRAM SOURCE [DOCUMENT ...]

The ```sh blocks of a document are one shell script, from top to bottom, in a folder of its own that
holds what a clone holds: examples/ and scripts/. Programs that install or build (scripts, cmake, pip,
venv) are replaced by ones that do nothing; Python finds the module where it was built. SPRINGTIME_DOCS_SCALE says how much of the work is done: 1 runs the
commands as written; 0.01, the default, lowers rollouts, seconds and iterations on their way to the
program. Nothing else is changed.
"""

import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SCALE = float(os.environ.get("SPRINGTIME_DOCS_SCALE", "0.01"))

# Languages of fenced blocks. Only sh is run here; tests/cli_ranks.py runs the bash block of scale.md,
# tests/formats_h5py.py the python block of
# formats.md, and tests/python those of python.md.
LANGUAGES = {"sh", "bash", "console", "text", "toml", "json", "python", "cpp", "cmake"}

# Per verb: flag, the value when it is not given (None: leave it out), and the least value.
WORK = {
    "generate": [("--rollouts", "16", 4), ("--seconds", "8", 1), ("--grid", "32x32", 10),
                 ("--mesh", None, 10)],
    "demo": [("--seconds", "6", 1), ("--grid", "16x16", 8)],
    "import": [("--until", "8", 2)],
    "train": [("--grid", None, 10), ("--rounds", None, 1), ("--stiffness-iterations", None, 1),
              ("--damping-iterations", None, 1)],
    "simulate": [("--seconds", "8", 1)],
    "reproduce": [("--scale", "full", "smoke")],
}


def lowered(value, least):
    """The scaled value, never above what is written and never below the least that makes sense."""
    if isinstance(least, str):
        return least
    if not re.fullmatch(r"[0-9.]+(x[0-9]+)?", value):
        return value  # the name of a file
    if "x" in value:
        return "x".join(lowered(side, least) for side in value.split("x"))
    number = max(float(value) * SCALE, min(float(value), least))
    return str(math.ceil(number)) if value.isdigit() else f"{number:g}"


def shorter_training(arguments):
    """Flags that make a training short, whichever its method."""
    if "gradient" in arguments:
        flags = {"--rounds": ["1"], "--stiffness-iterations": ["1"], "--damping-iterations": ["1"]}
    elif "linear" in arguments:
        flags = {}
    else:
        flags = {"--homogeneous-iterations": ["3"]}
        if "--horizons" not in arguments:
            flags |= {"--horizons": ["0.2"], "--iterations": ["3"]}
    return [word for flag, values in flags.items() if flag not in arguments for word in [flag, *values]]


def scaled(arguments):
    """The arguments of the program with less work in them."""
    if SCALE >= 1 or not arguments or {"--help", "--help-all"} & set(arguments):
        return arguments
    verb, arguments = arguments[0], list(arguments)
    given = set(arguments)
    if verb == "train" and "--resume" in given:
        return arguments  # the run folder holds its settings
    if verb == "train":
        arguments += shorter_training(arguments)
    for flag, default, least in WORK.get(verb, []):
        if flag in given:
            value = arguments.index(flag) + 1
            arguments[value] = lowered(arguments[value], least)
        elif flag == "--grid" and given & {"--design-for", "--mesh"}:
            continue
        elif flag == "--grid" and given & {"--preset", "--source"}:
            arguments += ["--mesh", lowered("31x31", least)]
        elif default is not None:
            arguments += [flag, lowered(default, least)]
    return arguments


def fenced_blocks(text):
    """(language, number of the line after the fence, lines) of every fenced block."""
    blocks, language, start, lines = [], None, 0, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(\w*)\s*$", line)
        if language is None and fence:
            language, start, lines = fence.group(1), number + 1, []
        elif fence:
            blocks.append((language, start, lines))
            language = None
        elif language is not None:
            lines.append(line)
    return blocks


def script_of(text):
    """The sh blocks with every other line blank: line numbers are those of the document."""
    lines = [""] * len(text.splitlines())
    for language, start, block in fenced_blocks(text):
        if language == "sh":
            lines[start - 1:start - 1 + len(block)] = block
    return lines


def anchors_of(text):
    """The anchors of the headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def write_executable(path, text):
    path.write_text(text)
    path.chmod(0o755)


PYTHON = """#!/bin/bash
if [ "$1 $2" = "-m venv" ]; then
    mkdir -p "${{@: -1}}/bin"
    touch "${{@: -1}}/bin/activate"
else
    PYTHONPATH={module} exec /usr/bin/python3 "$@"
fi
"""


def program_folder(program):
    return pathlib.Path(program).resolve().parent


def make_clone(folder, program, source):
    """What a reader's clone has: examples, and scripts that do nothing but run the demo."""
    shutil.copytree(source / "examples", folder / "examples")
    (folder / "bin").mkdir()
    write_executable(folder / "bin/springtime", f"#!/bin/sh\nexec {sys.executable} "
                     f"{pathlib.Path(__file__).resolve()} --scaled {program} \"$@\"\n")
    write_executable(folder / "bin/cmake", "#!/bin/sh\nexit 0\n")
    write_executable(folder / "bin/pip", "#!/bin/sh\nexit 0\n")
    module = program_folder(program).parent / "python"
    write_executable(folder / "bin/python3", PYTHON.format(module=module))
    (folder / "scripts").mkdir()
    for name in sorted(path.name for path in (source / "scripts").iterdir()):
        body = "exit 0\n"
        if name == "demo":
            body = 'exec springtime demo --out demo "$@"\n'
        elif name == "bench":
            body = f'grep -q "$1" {source}/scripts/bench || test -f {source}/bench/$1.cpp\n'
        write_executable(folder / "scripts" / name, "#!/bin/sh\n" + body)


class Documents(unittest.TestCase):
    def each(self):
        for path in DOCUMENTS:
            yield path, str(path.relative_to(SOURCE)), path.read_text(encoding="utf-8")

    def test_commands_run_as_written(self):
        for path, name, text in self.each():
            script = script_of(text)
            if not any(script):
                continue
            with self.subTest(name), tempfile.TemporaryDirectory() as scratch:
                self.run_script(pathlib.Path(scratch), name, script)

    def run_script(self, folder, name, script):
        make_clone(folder, PROGRAM, SOURCE)
        trap = f"set -eEuo pipefail; trap 'echo \"{name}:$LINENO: $BASH_COMMAND\" >&2' ERR; "
        script[0] = trap + script[0]
        (folder / "bin/document").write_text("\n".join(script) + "\n")
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "bin/document"], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, "\n" + "\n".join(done.stdout.splitlines()[-30:]))

    def test_every_block_says_what_it_is(self):
        for _, name, text in self.each():
            for language, start, lines in fenced_blocks(text):
                self.assertIn(language, LANGUAGES, f"{name}:{start - 1}")
                if language == "sh":
                    continue
                for number, line in enumerate(lines, start):  # commands are run, not shown
                    self.assertNotRegex(line, r"^(springtime [a-z]|scripts/)", f"{name}:{number}")

    def test_links_lead_somewhere(self):
        for path, name, text in self.each():
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"\w+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = (path.parent / file).resolve() if file else path
                self.assertTrue(there.exists(), f"{name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors_of(there.read_text(encoding="utf-8")),
                                  f"{name}: {target}")

    def test_code_is_that_of_the_examples(self):
        def plain(lines):
            return "\n".join(line.strip() for line in lines if line.strip())

        examples = [plain(path.read_text().splitlines()) for path in
                    [*SOURCE.glob("examples/*.cpp"), *SOURCE.glob("examples/CMakeLists.txt")]]
        for _, name, text in self.each():
            for language, start, lines in fenced_blocks(text):
                if language in ("cpp", "cmake"):
                    self.assertTrue(any(plain(lines) in example for example in examples),
                                    f"{name}:{start}: is in no file of examples/")

    def test_flags_exist(self):
        page = self.help_of("--help")
        known = {"--help", "--help-all", "--version", *re.findall(r"--[a-z][a-z-]*", page)}
        verbs = re.findall(r"^  ([a-z]+) ", self.help_of("--help"), flags=re.M)
        for verb in verbs:
            pages = self.help_of(verb, "--help") + self.help_of(verb, "--help-all")
            known |= set(re.findall(r"--[a-z][a-z-]*", pages))
        for _, name, text in self.each():
            for code in re.findall(r"`((?:--|springtime |scripts/demo)[^`]*)`", text):
                for flag in re.findall(r"(?<!\S)--[a-z][a-z-]*", code):
                    self.assertIn(flag, known, f"{name}: {code}")

    def help_of(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], text=True, capture_output=True).stdout


if __name__ == "__main__":
    if sys.argv[1] == "--scaled":
        os.execv(sys.argv[2], ["springtime", *scaled(sys.argv[3:])])
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    SOURCE = pathlib.Path(sys.argv[2]).resolve()
    DOCUMENTS = ([SOURCE / name for name in sys.argv[3:]] or
                 [SOURCE / "README.md", SOURCE / "CONTRIBUTING.md", *sorted(SOURCE.glob("docs/*.md"))])
    unittest.main(argv=sys.argv[:1], verbosity=2)
