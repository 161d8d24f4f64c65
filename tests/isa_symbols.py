"""Objects compiled for one instruction set must not define a symbol that another could use.

The linker keeps one copy of an inline function. If a copy with wide instructions carried a common
name, the program would crash on a narrow machine.
"""

import subprocess
import sys

for entry in sys.argv[1:]:
    name, paths = entry.split("=", 1)
    lines = []
    for path in paths.split(":"):
        symbols = subprocess.run(["nm", "-C", "--defined-only", path], check=True,
                                 capture_output=True, text=True).stdout.splitlines()
        shared = [line for line in symbols
                  if line.split()[1] in "WVuTDB" and f"springtime::{name}::" not in line]
        if shared:
            sys.exit(f"{path}: symbols without the instruction set in their name:\n"
                     + "\n".join(shared))
        lines += symbols
    if not any(f"springtime::{name}::kernel_set" in line for line in lines):
        sys.exit(f"{paths}: none defines springtime::{name}::kernel_set")
    print(f"{name}: every shared symbol carries its name")
