"""Makes the wheel of springtime_cloth: the build backend that pip calls (PEP 517).

It builds the target springtime_python with CMake and packs it. Debian's Python shares the build folder
of scripts/build, so that the library is compiled once; other interpreters have folders of their own.
"""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = "springtime_cloth"
SUMMARY = "Learns a mass-spring model of cloth from the motion of tracked points, and runs it"
EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same sources make the same bytes


class UnsupportedOperation(Exception):
    """What pip expects of a backend that makes wheels alone."""


def version():
    header = (ROOT / "include/springtime/error.h").read_text()
    return re.search(r'kVersion = "([0-9.]+)"', header).group(1)


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def metadata():
    return (f"Metadata-Version: 2.1\nName: springtime-cloth\nVersion: {version()}\n"
            f"Summary: {SUMMARY}\nLicense: Apache-2.0\nRequires-Python: >=3.9\n"
            f"Requires-Dist: numpy>=1.20\n")


def wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: springtime\nRoot-Is-Purelib: false\nTag: {tag()}\n"


def dist_info():
    return f"{NAME}-{version()}.dist-info"


def run(*command):
    print("+", *command, file=sys.stderr, flush=True)
    if subprocess.run(command, cwd=ROOT, stdout=sys.stderr).returncode != 0:
        sys.exit(f"springtime: '{' '.join(command)}' failed; scripts/setup python installs what "
                 "building needs")


def build():
    """Returns the folder of the package."""
    if shutil.which("cmake") is None:
        sys.exit("springtime: there is no cmake; scripts/setup python installs what building needs")
    debian = sys.base_prefix == "/usr"
    folder = ROOT / "build" / ("release" if debian else tag())
    executable = getattr(sys, "_base_executable", sys.executable)
    python = [] if debian else [f"-DPython_EXECUTABLE={executable}"]
    run("cmake", "--preset", "release", "-B", str(folder), "-DSPRINGTIME_PYTHON=ON", *python)
    run("cmake", "--build", str(folder), "--target", "springtime_python")
    package = folder / "python" / NAME
    if not list(package.glob("_core.*.so")):
        sys.exit("springtime: the module was not built; scripts/setup python installs pybind11")
    return package


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def files_of(package):
    """(name in the wheel, bytes) of everything but the record."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for path in sorted(package.iterdir()):
        if path.suffix in (".py", ".pyi", ".typed") or path.name == f"_core{suffix}":
            yield f"{NAME}/{path.name}", path.read_bytes()
    yield f"{dist_info()}/LICENSE", (ROOT / "LICENSE").read_bytes()
    yield f"{dist_info()}/METADATA", metadata().encode()
    yield f"{dist_info()}/WHEEL", wheel_file().encode()


def put(archive, name, data):
    entry = zipfile.ZipInfo(name, EARLIEST)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = build()
    name = f"{NAME}-{version()}-{tag()}.whl"
    record = f"{dist_info()}/RECORD"
    lines = ""
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as archive:
        for path, data in files_of(package):
            put(archive, path, data)
            lines += record_line(path, data)
        put(archive, record, f"{lines}{record},,\n".encode())
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / dist_info()
    folder.mkdir()
    (folder / "METADATA").write_text(metadata())
    (folder / "WHEEL").write_text(wheel_file())
    return folder.name


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("a clone of the repository is the source; install with pip install .")


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    os.makedirs(out, exist_ok=True)
    print(out / build_wheel(out))
