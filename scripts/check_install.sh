#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs a build folder into a temporary DESTDIR, then uses the result as a stranger would: builds a C program through
# pkg-config (shared and static) and through CMake's find_package, runs both and the installed tool.
# usage: scripts/check_install.sh BUILD-FOLDER
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

fail() {
    echo "$*" >&2
    exit 1
}

DESTDIR=$work/root cmake --install "$build" >"$work/install.log" 2>&1 || { cat "$work/install.log" >&2; fail "cmake --install failed"; }
prefix=$work/root$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/CMakeCache.txt")
libdir=$prefix/$(sed -n 's/^CMAKE_INSTALL_LIBDIR:PATH=//p' "$build/CMakeCache.txt")
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")

cat >"$work/user.c" <<'END'
#include <stdio.h>
#include <string.h>
#include <xstage/status.h>
int main(int argc, char **argv)
{
    printf("%s\n", xst_version());
    return argc == 2 && strcmp(argv[1], xst_version()) == 0 ? 0 : 1;
}
END

export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion xstage)" = "$version" ] || fail "xstage.pc has another version than $version"
# shellcheck disable=SC2046
cc -o "$work/user-pc" "$work/user.c" $(pkg-config --cflags --libs xstage) -Wl,-rpath,"$libdir"
"$work/user-pc" "$version" >/dev/null || fail "the program built through pkg-config does not run"
# shellcheck disable=SC2046
cc -o "$work/user-static" "$work/user.c" $(pkg-config --cflags xstage) "$libdir/libxstage.a" \
    $(pkg-config --static --libs xstage | sed 's/-lxstage//')
"$work/user-static" "$version" >/dev/null || fail "the program linked with libxstage.a does not run"

mkdir "$work/user"
cat >"$work/user/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(xstage ${version%.*} REQUIRED)
add_executable(user ../user.c)
target_link_libraries(user PRIVATE xstage::xstage)
add_executable(user-static ../user.c)
target_link_libraries(user-static PRIVATE xstage::xstage-static)
END
if ! { cmake -S "$work/user" -B "$work/user/build" -DCMAKE_PREFIX_PATH="$prefix" && cmake --build "$work/user/build"; } \
    >"$work/user.log" 2>&1; then
    cat "$work/user.log" >&2
    fail "find_package(xstage) does not build"
fi
"$work/user/build/user" "$version" >/dev/null || fail "the program built through find_package does not run"
"$work/user/build/user-static" "$version" >/dev/null || fail "the static program built through find_package does not run"

# The tool, from its new place, with the source tree out of reach.
cd "$work"
"$prefix/bin/xstage" --version >"$work/version" || fail "the installed tool does not run"
grep -q "$version" "$work/version" || fail "the installed tool says $(cat "$work/version"), not $version"
for path in share/xstage/data share/xstage/profiles include/xstage/status.h; do
    [ -e "$prefix/$path" ] || fail "$path is not installed"
done
for file in "$prefix/bin/xstage" "$libdir"/libxstage.so.*.*.* "$libdir/libxstage.a" "$libdir/pkgconfig/xstage.pc"; do
    if grep -aqF -e "$source/src" -e "$source/cli" -e "$source/cuda" -e "$source/include" -e "$source/data" \
        -e "$source/profiles" -e "$build/" "$file"; then
        fail "$(basename "$file") holds a path of the machine that built it"
    fi
done
echo "installed, used through pkg-config and CMake, moved: good"
