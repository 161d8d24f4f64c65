#!/usr/bin/env bash
# Installs the built library into a scratch folder and builds and runs programs against it: the examples
# on a machine that has nothing but what sim and learn need, then one program per way to ask for the
# library. What the programs link is read from the binaries.
#   install_test.sh BUILD SOURCE COMPILER FLAGS
set -euo pipefail
build=$1 source=$2 compiler=$3 flags=${4:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build" --prefix "$scratch/installed" >/dev/null

# configure_and_build FOLDER [FLAG...]
configure_and_build() {
    cmake --no-warn-unused-cli -S "$1" -B "$1/build" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/installed" \
        -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS="$flags" \
        "${@:2}" >/dev/null || return 1
    cmake --build "$1/build" >"$1/log" || { cat "$1/log"; return 1; }
}

# Only the C and C++ libraries, fmt and, where the build asked for them, sanitizers.
expect_only_fmt() {
    local more
    more=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libstdc\+\+|libm|libgcc_s|libc|libpthread|librt|libdl|libresolv|libfmt|ld-linux.*|lib(a|ub|t)san)\.so' || true)
    more+=$(nm -C "$1" | grep -oE '\b(Eigen::|H5[A-Z]|png_|zip_|nlohmann::|toml::).*' | head -3 || true)
    if [ -n "$more" ]; then
        echo "$1 must not need $more" >&2
        exit 1
    fi
}

# No package that sim and learn do not need may be asked for.
absent=()
for package in HDF5 PNG Eigen3 tomlplusplus nlohmann_json; do
    absent+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done
cp -r "$source/examples" "$scratch/examples"
configure_and_build "$scratch/examples"
output=$("$scratch/examples/build/hello")
echo "$output"
[[ $output =~ ^"lowest point after 1.0 s: -"[0-9.]+" m"$ ]]
expect_only_fmt "$scratch/examples/build/hello"
# Points without noise give the springs themselves: seen 1105 times better.
learned=$("$scratch/examples/build/learn" 2>/dev/null)
echo "$learned"
[[ $learned =~ ^"motion RMSE on unseen motion: 0.00"[0-9]+" m, "([0-9]+)" times better" ]]
[ "${BASH_REMATCH[1]}" -ge 100 ]
# The figure walks 4.5 m along -z, from shoulders half a sheet (0.5 m) before the origin.
walk=$("$scratch/examples/build/game_loop" "$scratch/examples/cape.json")
echo "$walk"
[[ $walk =~ ^"after 300 frames of "[0-9]+" steps: left shoulder at z = -5.000 m, hem at y = -"[0-9.]+" m"$ ]]

# consumer NAME COMPONENTS TARGET: a program in $scratch/NAME/build/program.
consumer() {
    mkdir "$scratch/$1"
    cp "$source/examples/hello.cpp" "$scratch/$1"
    cat >"$scratch/$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(springtime REQUIRED $2)
add_executable(program hello.cpp)
target_link_libraries(program PRIVATE $3)
END
}
# All of sim, used or not.
consumer whole_sim "COMPONENTS sim" '$<LINK_LIBRARY:WHOLE_ARCHIVE,springtime::sim>'
configure_and_build "$scratch/whole_sim" "${absent[@]}"
expect_only_fmt "$scratch/whole_sim/build/program"
# All of learn needs no more at run time; Eigen's code is inside.
consumer whole_learn "COMPONENTS learn" '$<LINK_LIBRARY:WHOLE_ARCHIVE,springtime::learn>'
configure_and_build "$scratch/whole_learn" "${absent[@]}"
# All of io, and the name that stands for everything.
consumer whole_io "COMPONENTS io" '$<LINK_LIBRARY:WHOLE_ARCHIVE,springtime::io>'
configure_and_build "$scratch/whole_io"
consumer everything "" springtime::springtime
configure_and_build "$scratch/everything"
for name in whole_sim whole_learn whole_io everything; do
    [ "$("$scratch/$name/build/program")" = "$output" ]
done
# A component that does not exist is refused by name.
consumer unknown "COMPONENTS knitting" springtime::sim
if configure_and_build "$scratch/unknown" 2>"$scratch/message"; then exit 1; fi
grep -q knitting "$scratch/message"

# Nothing but the public headers may be installed.
diff <(cd "$source/include" && find . -type f | sort) \
    <(cd "$scratch/installed/include" && find . -type f | sort)
"$scratch/installed/bin/springtime" --version

# The manual page and the completion come along, and know the flags.
grep -q -- '\\-\\-rollouts' "$scratch/installed/share/man/man1/springtime.1"
grep -q -- '--rollouts' "$scratch/installed/share/bash-completion/completions/springtime"
grep -q -- '--rollouts' "$scratch/installed/share/zsh/site-functions/_springtime"
grep -q -- '-l rollouts' "$scratch/installed/share/fish/vendor_completions.d/springtime.fish"
