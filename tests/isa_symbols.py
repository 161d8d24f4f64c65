"""Objects compiled for one instruction set must not define a symbol that another could use.

The linker keeps one copy of an inline function. If a copy with wide instructions carried a common
name, the program would crash on a narrow machine.
"""

import subprocess
import sys

for entry in sys.argv[1:]:
    name, paths = entry.split("=", 1)
    lines = [line
             for path in paths.split(",")
             for line in subprocess.run(["nm", "-C", "--defined-only", path], check=True,
                                        capture_output=True, text=True).stdout.splitlines()]
    # Type information, which clang's sanitizers add, is data: it holds no instructions.
    shared = [line for line in lines
              if line.split()[1] in "WVuTDB" and f"springtime::{name}::" not in line
              and " V typeinfo " not in line]
    if not any(f"springtime::{name}::kernel_set" in line for line in lines):
        sys.exit(f"{paths}: does not define springtime::{name}::kernel_set")
    if shared:
        sys.exit(f"{paths}: symbols without the instruction set in their name:\n" + "\n".join(shared))
    print(f"{name}: every shared symbol carries its name")
