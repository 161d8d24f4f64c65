#!/usr/bin/env bash
# Installs the built library into a scratch folder and builds and runs examples/hello.cpp against it.
set -euo pipefail
build=$1 source=$2 flags=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/installed" >/dev/null
cp -r "$source/examples" "$scratch/hello"
cmake -S "$scratch/hello" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/installed" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" >/dev/null
cmake --build "$scratch/build" >/dev/null
output=$("$scratch/build/hello")
echo "$output"
[[ $output =~ ^"lowest point after 1.0 s: -"[0-9.]+" m"$ ]]
# Nothing but the public headers may be installed.
diff <(cd "$source/include" && find . -type f | sort) \
    <(cd "$scratch/installed/include" && find . -type f | sort)
"$scratch/installed/bin/springtime" --version
