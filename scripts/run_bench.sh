#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every benchmark: the programs of build/bench and the scripts bench/*.sh. Exit status 77 means "not possible here".
# usage: scripts/run_bench.sh [BUILD-FOLDER]
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}

failed=0
found=0
for bench in "$build"/bench/* bench/*.sh; do
    if [ ! -f "$bench" ] || [ ! -x "$bench" ]; then continue; fi
    found=1
    printf '== %s\n' "$bench"
    rc=0
    XSTAGE_BIN=$build/xstage XSTAGE_LIB=$build/libxstage.so "$bench" || rc=$?
    case $rc in
    0) ;;
    77) echo "not possible on this machine" ;;
    *)
        echo "$bench failed with exit status $rc" >&2
        failed=1
        ;;
    esac
done
[ $found -eq 1 ] || echo "no benchmark is built"
exit $failed
