#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles one .cu file into a fatbin and refuses silent slowness: register spills and serialized wgmma are errors.
# usage: scripts/nvcc_fatbin.sh NVCC SOURCE.cu OUTPUT.fatbin [ARCH CODES]      (OUTPUT absolute, or from where you stand)
#   e.g. scripts/nvcc_fatbin.sh nvcc cuda/moe/kernel.cu /tmp/kernel.fatbin compute_90a sm_90a
# Registers and shared memory of every kernel are left in OUTPUT.fatbin.log, the PTX in OUTPUT.ptx.
set -eu

if [ $# -ne 3 ] && [ $# -ne 5 ]; then
    echo "usage: $0 NVCC SOURCE.cu OUTPUT.fatbin [ARCH CODES]" >&2
    exit 2
fi
nvcc=$1
tree=$(cd "$(dirname "$0")/.." && pwd)
source=$(realpath "$2")
mkdir -p "$(dirname "$3")"
output=$(realpath "$3")
arch=${4:-compute_90a}
codes=${5:-sm_90a}
log=$output.log
ptx=${output%.fatbin}.ptx

run() {
    if ! "$@" >>"$log" 2>&1; then
        cat "$log" >&2
        exit 1
    fi
}

: >"$log"
# Debug names hold a number drawn at random unless a seed is given, so that a second build in the same folder gives the same
# bytes. (They also hold a hash of the folder.) Older toolkits do not know the option.
seed=
if "$nvcc" --help | grep -q frandom-seed; then seed=-frandom-seed=${source#"$tree"/}; fi
run "$nvcc" -std=c++17 -O3 -lineinfo ${seed:+"$seed"} -I"$tree/include" -I"$tree/src" -I"$tree/cuda" -arch="$arch" \
    -ptx -MD -MF "$output.d" -MT "$output" -o "$ptx" "$source"
# Line information holds file names: relative to the tree for ours, bare for the toolkit's.
sed -e '/\.file/s|"'"$tree"'/|"|' -e '/\.file/s|"/.*/|"|' "$ptx" >"$ptx.relative"
mv "$ptx.relative" "$ptx"
cd "$(dirname "$ptx")"
run "$nvcc" -lineinfo -Xptxas -v,-warn-spills -gencode="arch=$arch,code=[$codes]" -fatbin -o "$output" "$(basename "$ptx")"

# "-v" reports "N bytes spill stores" for every kernel; C7510 and C7517 are ptxas's words for serialized wgmma.
if grep -nE '[1-9][0-9]* bytes spill|C7510|C7517|wgmma.*serialized' "$log" >&2; then
    echo "$2: registers spill or wgmma is serialized (full compiler output: $log)" >&2
    rm -f "$output"
    exit 1
fi
grep -i 'warning' "$log" >&2 || true
