#!/usr/bin/env bash
# Installs the built library into a scratch folder and builds and runs the examples against it.
set -euo pipefail
build=$1 source=$2 flags=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/installed" >/dev/null
cp -r "$source/examples" "$scratch/examples"
cmake -S "$scratch/examples" -B "$scratch/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/installed" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" >/dev/null
cmake --build "$scratch/build" >/dev/null
output=$("$scratch/build/hello")
echo "$output"
[[ $output =~ ^"lowest point after 1.0 s: -"[0-9.]+" m"$ ]]
# The figure walks 4.5 m along -z, from shoulders half a sheet (0.5 m) before the origin.
output=$("$scratch/build/game_loop" "$scratch/examples/cape.json")
echo "$output"
[[ $output =~ ^"after 300 frames of "[0-9]+" steps: left shoulder at z = -5.000 m, hem at y = -"[0-9.]+" m"$ ]]
# Nothing but the public headers may be installed.
diff <(cd "$source/include" && find . -type f | sort) \
    <(cd "$scratch/installed/include" && find . -type f | sort)
"$scratch/installed/bin/springtime" --version
