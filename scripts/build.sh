#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Configures a build folder and builds it, or only what XST_BUILD_TARGET names.
# usage: scripts/build.sh FOLDER [JOBS [CMAKE OPTIONS...]]      (FOLDER relative to the top of the tree, or absolute)
set -eu
cd "$(dirname "$0")/.."

build=${1:-build}
jobs=${2:-$(nproc)}
[ $# -lt 1 ] || shift
[ $# -lt 1 ] || shift

if ! command -v cmake >/dev/null; then
    echo "cmake is missing: run 'make setup'" >&2
    exit 1
fi
# Run from make, its job server is not ours to hand on.
unset MAKEFLAGS MFLAGS MAKELEVEL
log=$build/configure.log
mkdir -p "$build"
if ! cmake -S . -B "$build" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep -E '^-- xstage:|[Ww]arning' "$log" || true
cmake --build "$build" --parallel "$jobs" ${XST_BUILD_TARGET:+--target "$XST_BUILD_TARGET"}
