#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark that needs nothing but this machine: the programs of build/bench, then bench/run_*.sh. The other
# scripts of bench/ take arguments (a device, a peer library) and are named at the end. 77 means "not possible here".
# usage: scripts/run_bench.sh [BUILD-FOLDER]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
export XSTAGE_BIN="$build/xstage" XSTAGE_LIB="$build/libxstage.so"

failed=0
for bench in "$build"/bench/* bench/run_*.sh; do
    if [ ! -f "$bench" ] || [ ! -x "$bench" ]; then continue; fi
    printf '== %s\n' "$bench"
    rc=0
    "$bench" || rc=$?
    case $rc in
    0) ;;
    77) echo "not possible on this machine" ;;
    *)
        echo "$bench failed with exit status $rc" >&2
        failed=1
        ;;
    esac
done
for script in bench/*.sh bench/*.py; do
    [ -x "$script" ] || continue # sourced by the others
    case $script in
    bench/run_* | 'bench/*'*) ;;
    *) echo "by hand: $script" ;;
    esac
done
exit $failed
