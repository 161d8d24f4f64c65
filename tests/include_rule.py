"""Walks the #include lines and fails on an arrow that docs/architecture.md does not have."""

import pathlib
import re
import sys
import tempfile

# Folder -> folders it may include, itself aside.
ALLOWED = {
    "core": set(),
    "geometry": {"core"},
    "cloth": {"core", "geometry"},
    "physics": {"core"},
    "sim": {"core", "geometry", "cloth", "physics"},
}
ALLOWED["backends"] = ALLOWED["sim"] | {"sim"}
ALLOWED["crew"] = ALLOWED["sim"] | {"sim"}
ALLOWED["mpi"] = {"core", "crew"}
ALLOWED["motion"] = ALLOWED["crew"] | {"crew"}
ALLOWED["learn"] = ALLOWED["motion"] | {"motion"}
ALLOWED["draw"] = ALLOWED["learn"] | {"learn"}
ALLOWED["formats"] = ALLOWED["draw"] | {"draw"}
ALLOWED["capture"] = ALLOWED["formats"] | {"formats"}
ALLOWED["web"] = ALLOWED["capture"] | {"capture"}
# Public headers belong to the folder that implements them.
PUBLIC = {
    "error": "core", "vec3": "core", "geometry": "geometry", "cloth": "cloth",
    "obstacle": "sim", "simulation": "sim", "ranks": "crew",
    "motion": "motion", "generate": "motion",
    "evaluate": "learn", "identify": "learn", "learn": "learn",
    "report": "draw", "export": "formats", "files": "formats", "import": "capture",
    "springtime": "everything",
}
MOST_PUBLIC_HEADERS = 17
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
# Foreign headers -> folders that may include them. What is not listed here may be included everywhere.
FOREIGN = {
    re.compile(r"Eigen/"): {"motion", "learn"},
    re.compile(r"(nlohmann|toml\+\+)/"): {"formats", "apps", "experiments"},
    re.compile(r"(hdf5|H5\w+|png|zip)\.h$"): {"formats"},
    re.compile(r"CLI/"): {"apps"},
    re.compile(r"mpi\.h$"): {"mpi"},
    re.compile(r"pybind11/"): {"python"},
    re.compile(r"(torch|ATen|c10)/"): {"baselines"},
    re.compile(r"(cuda\w*|cooperative_groups)(\.h$|/)"): {"backends/cuda"},
}
FOREIGN_INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>")


def owner(include):
    """The folder a quoted include belongs to, and the backend inside it."""
    parts = include.split("/")
    if parts[0] == "springtime":
        return PUBLIC.get(parts[1].removesuffix(".h"), "unlisted public header"), None
    return parts[0], parts[1] if parts[0] == "backends" and len(parts) > 2 else None


def may_include_foreign(path, include):
    """path: of a file, from the root, as text."""
    parts = path.split("/")
    inside = parts[1:] if parts[0] == "src" else parts
    homes = {inside[0], "/".join(inside[:2])}
    return all(homes & folders for name, folders in FOREIGN.items() if name.match(include))


def violations(root):
    found = []
    headers = [path for path in root.glob("include/springtime/*.h")]
    if len(headers) > MOST_PUBLIC_HEADERS:
        found.append(f"include/springtime: {len(headers)} headers, more than {MOST_PUBLIC_HEADERS}")
    files = [*root.glob("src/**/*.h"), *root.glob("src/**/*.cpp"), *root.glob("src/**/*.cu"),
             *root.glob("include/springtime/*.h"), *root.glob("apps/**/*.cpp"),
             *root.glob("apps/**/*.h"), *root.glob("experiments/*"),
             *root.glob("baselines/*.cpp"), *root.glob("baselines/*.h"),
             *root.glob("python/src/*")]
    for path in files:
        inside = path.relative_to(root).parts
        for number, line in enumerate(path.read_text().splitlines(), 1):
            foreign = FOREIGN_INCLUDE.match(line)
            if foreign and not may_include_foreign("/".join(inside), foreign.group(1)):
                found.append(f"{path.relative_to(root)}:{number}: must not include {foreign.group(1)}")
            match = INCLUDE.match(line)
            if not match:
                continue
            include = match.group(1)
            target, backend = owner(include)
            if inside[0] == "baselines":  # it is built where the library is not
                good = "/" not in include
            elif inside[0] in ("apps", "experiments", "python"):
                good = "/" not in include or include.startswith("springtime/")
            elif inside[0] == "include":
                home = PUBLIC.get(path.stem, "unlisted public header")
                good = include.startswith("springtime/") and (
                    home == "everything" or target == home or target in ALLOWED.get(home, set()))
            else:
                home = inside[1]
                good = target == home or target in ALLOWED.get(home, set())
                if home == "backends" and backend and inside[2] != "registry.cpp":
                    good = good and backend == inside[2]
            if not good:
                found.append(f"{path.relative_to(root)}:{number}: must not include {include}")
    return found


def self_check():
    """The rule must catch what it is for."""
    bad = {
        "src/core/a.cpp": '#include "cloth/x.h"',
        "src/physics/a.h": '#include "springtime/cloth.h"',
        "src/sim/a.cpp": '#include "backends/simd/simd.h"',
        "src/backends/reference/a.cpp": '#include "backends/simd/simd.h"',
        "src/motion/a.cpp": '#include "springtime/files.h"',
        "include/springtime/simulation.h": '#include "sim/stepper.h"',
        "include/springtime/learn.h": "#include <Eigen/Core>",
        "src/sim/b.cpp": "#include <Eigen/SparseCore>",
        "src/cloth/c.cpp": "#include <nlohmann/json.hpp>",
        "src/geometry/c.cpp": "#include <toml++/toml.h>",
        "src/backends/simd/c.cpp": "#include <hdf5.h>",
        "src/draw/c.cpp": "#include <png.h>",
        "src/learn/c.cpp": "#include <zip.h>",
        "include/springtime/files.h": "#include <nlohmann/json_fwd.hpp>",
        "src/formats/c.cpp": "#include <CLI/CLI.hpp>",
        "apps/springtime/a.cpp": '#include "sim/stepper.h"',
        "python/src/a.cpp": '#include "learn/gradient.h"',
        "baselines/a.cpp": '#include "springtime/motion.h"',
        "src/learn/f.cpp": "#include <torch/types.h>",
        "src/formats/e.h": "#include <pybind11/numpy.h>",
        "src/sim/e.cpp": "#include <cuda_runtime.h>",
        "src/crew/a.cpp": "#include <mpi.h>",
        "src/sim/f.cpp": '#include "crew/crew.h"',
        "src/backends/cuda/a.cu": '#include "backends/simd/simd.h"',
        "include/springtime/cloth.h": "#include <cuda_runtime.h>",
    }
    good = {
        "src/backends/registry.cpp": '#include "backends/simd/simd.h"',
        "src/backends/cuda/b.cu": "#include <cuda_runtime.h>",
        "src/backends/cuda/b.h": '#include "backends/cuda/launch.h"',
        "src/formats/b.cpp": '#include "springtime/motion.h"',
        "src/learn/b.cpp": "#include <Eigen/Core>",
        "src/formats/d.cpp": "#include <nlohmann/json.hpp>",
        "src/formats/e.cpp": "#include <hdf5.h>",
        "src/sim/d.cpp": "#include <fmt/format.h>",
        "apps/springtime/b.cpp": '#include "options.h"',
        "python/src/b.cpp": "#include <pybind11/numpy.h>",
        "baselines/b.cpp": "#include <torch/types.h>",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, line in {**bad, **good}.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(line + "\n")
        caught = {line.split(":")[0] for line in violations(root)}
        if caught != set(bad):
            sys.exit(f"the rule itself is broken: {sorted(caught ^ set(bad))}")


if __name__ == "__main__":
    self_check()
    problems = violations(pathlib.Path(sys.argv[1]))
    print("\n".join(problems) or "all includes point downward")
    sys.exit(bool(problems))
