#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles one .cu file into a fatbin and refuses silent slowness: register spills and serialized wgmma are errors.
# usage, from the top of the tree: scripts/nvcc_fatbin.sh NVCC SOURCE.cu OUTPUT.fatbin [-gencode=...]
# Register and shared-memory use of every kernel is left beside the output, in OUTPUT.fatbin.log.
set -eu

if [ $# -lt 3 ]; then
    echo "usage: $0 NVCC SOURCE.cu OUTPUT.fatbin [nvcc options]" >&2
    exit 2
fi
nvcc=$1
source=$2
output=$3
shift 3
[ $# -gt 0 ] || set -- -gencode=arch=compute_90a,code=sm_90a

mkdir -p "$(dirname "$output")"
log=$output.log
if ! "$nvcc" -std=c++17 -O3 -lineinfo -Iinclude -Isrc -Icuda -Xptxas -v,-warn-spills "$@" \
    -MD -MF "$output.d" -MT "$output" -fatbin -o "$output" "$source" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi

# "-v" reports "N bytes spill stores" for every kernel; C7510 and C7517 are ptxas's words for serialized wgmma.
if grep -nE '[1-9][0-9]* bytes spill|C7510|C7517|wgmma.*serialized' "$log" >&2; then
    echo "$source: registers spill or wgmma is serialized (full compiler output: $log)" >&2
    rm -f "$output"
    exit 1
fi
grep -iE 'warning' "$log" >&2 || true
