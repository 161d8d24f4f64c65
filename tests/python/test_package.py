"""The package: its type stubs, its wheel, its examples and its pages."""

import ast
import inspect
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest
from conftest import SOURCE

import springtime_cloth as st
from springtime_cloth import _core

PACKAGE = SOURCE / "python/springtime_cloth"


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# ---- Type stubs

def test_types_agree_with_themselves(tmp_path):
    run("/usr/bin/mypy", "--strict", "--cache-dir", tmp_path, PACKAGE, cwd=SOURCE)


def test_stubs_name_what_the_module_has():
    run("/usr/bin/stubtest", "springtime_cloth._core", "--allowlist",
        SOURCE / "tests/python/not_in_stubs.txt", "--ignore-unused-allowlist", cwd=SOURCE / "python")


def stub_functions():
    """{name: [names of parameters]} of the functions and methods of the stub file."""
    found = {}

    def add(prefix, node):
        arguments = node.args
        if arguments.kwarg is None:
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
            found.setdefault(prefix + node.name, []).append(names)

    for node in ast.parse((PACKAGE / "_core.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            add("", node)
        for inner in getattr(node, "body", []):
            if isinstance(node, ast.ClassDef) and isinstance(inner, ast.FunctionDef):
                if not any(getattr(d, "id", "") == "property" for d in inner.decorator_list):
                    add(node.name + ".", inner)
    return found


def documented(function, keywords):
    """The parameters of a function of the module, as its docstring has them."""
    line = function.__doc__.splitlines()[0]
    inside = re.search(r"\((.*)\) ->", line).group(1)
    words = [re.match(r"\**\w*", part.strip()).group(0) for part in
             re.split(r",(?![^\[(]*[\])])", inside)]
    names = [word for word in words if word and not word.startswith("*")]
    return names + (keywords if "**kwargs" in words else [])


def keywords_of(name):
    table = _core._keywords()
    return table.get({"Motion.__init__": "Motion", "Simulation.__init__": "Simulation",
                      "trace": "Simulation"}.get(name, name), [])


def test_stubs_have_the_parameters_of_the_functions():
    checked = 0
    for name, all_names in stub_functions().items():
        owner, _, method = name.rpartition(".")
        function = getattr(getattr(_core, owner) if owner else _core, method)
        if len(all_names) > 1 or "(" not in (function.__doc__ or "").partition("\n")[0]:
            continue  # overloads
        own = documented(function, keywords_of(name))
        assert sorted(n for n in own if n != "arg0") == sorted(
            n for n in all_names[0] if n != "self" or "self" in own), name
        checked += 1
    assert checked > 40


def test_everything_public_explains_itself():
    for name in st.__all__:
        thing = getattr(st, name)
        if not isinstance(thing, str):
            assert inspect.getdoc(thing), name


# ---- The wheel

def packed(folder):
    """The name of the wheel, made of the module that is tested instead of one that is built anew."""
    sys.path.insert(0, str(SOURCE / "python"))
    import build_backend
    build_backend.build = lambda: pathlib.Path(st.__file__).parent
    return build_backend.build_wheel(folder)


def test_the_wheel_installs_into_a_fresh_environment(tmp_path):
    """Where nothing can be downloaded, NumPy is that of the system."""
    wheel = tmp_path / packed(tmp_path)
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("springtime_cloth/_core.") for name in names)
    assert "springtime_cloth/_core.pyi" in names and "springtime_cloth/py.typed" in names
    run(sys.executable, "-m", "venv", "--system-site-packages", tmp_path / "env")
    python = tmp_path / "env/bin/python"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    run(python, "-m", "pip", "install", "--no-index", wheel, env=clean, cwd=tmp_path)
    told = run(python, "-c", "import springtime_cloth as st\n"
               "cloth = st.grid_cloth(4, 4, length=1, width=1, mass=1, stiffness=9, damping=1)\n"
               "st.Simulation(cloth, 0.01).advance()\n"
               "print(st.__version__, st.__file__)", env=clean, cwd=tmp_path)
    version, path = told.split()
    assert version == st.__version__ and str(tmp_path / "env") in path


# ---- Examples and pages

@pytest.mark.parametrize("name", sorted(p.name for p in (SOURCE / "examples/python").glob("*.py")))
def test_examples_run(tmp_path, name):
    told = run(sys.executable, SOURCE / "examples/python" / name, "--quick", cwd=tmp_path)
    assert told.strip()


def python_blocks(page):
    text = page.read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_page_runs_from_top_to_bottom(tmp_path, monkeypatch):
    """Blocks that need a library which is not here are left to those who have it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(SOURCE / "examples")
    names = {}
    ran = 0
    for block in python_blocks(SOURCE / "docs/python.md"):
        needed = set(re.findall(r"^import (torch|jax)", block, re.MULTILINE))
        compile(block, "docs/python.md", "exec")
        if any(not there(library) for library in needed):
            continue
        exec(compile(block, "docs/python.md", "exec"), names)
        ran += 1
    assert ran >= 8


def there(library):
    import importlib.util
    return importlib.util.find_spec(library) is not None
