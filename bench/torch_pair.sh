#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage.torch between two GPUs: the tests that need them (results, 10,000 calls with delays, graphs, a killed and a silent rank), the
# example block and layer, and Ulysses attention fused and by torch alone. Everything is bounded in time.
# usage: bench/torch_pair.sh LIBXSTAGE.so OUT     (the package is taken from python/; OUT: a folder for logs and documents)
# shellcheck disable=SC2086 # $pair is several words
set -eu
cd "$(dirname "$0")/.."
out=${2:?usage: bench/torch_pair.sh LIBXSTAGE.so OUT}
XSTAGE_LIB=$(realpath "$1")
mkdir -p "$out"
PYTHONPATH=$PWD/python
XSTAGE_SOURCE=$PWD
XSTAGE_DATA_DIR=$PWD
NCCL_NVLS_ENABLE=0 # NVLink multicast stays off
PYTHONDONTWRITEBYTECODE=1
export XSTAGE_LIB PYTHONPATH XSTAGE_SOURCE XSTAGE_DATA_DIR NCCL_NVLS_ENABLE PYTHONDONTWRITEBYTECODE
failed=0

# step NAME SECONDS COMMAND...: output in OUT/NAME.log, its end here
step() {
    name=$1 limit=$2 code=0
    shift 2
    timeout "$limit" "$@" >"$out/$name.log" 2>&1 || code=$?
    echo "== $name: exit $code"
    tail -n 12 "$out/$name.log"
    [ "$code" -eq 0 ] || failed=$((failed + 1))
}

pair="python3 -m torch.distributed.run --nproc-per-node 2"
tests=tests/python/test_pkg_torch_gpu.py
XSTAGE_CALLS=10000 step tests 200 python3 -m pytest -q -p no:cacheprovider $tests
step block 60 $pair examples/dit_block.py --image 4097 --text 512 --heads 24
step block-torch 60 $pair examples/dit_block.py --image 4097 --text 512 --heads 24 --backend torch
step moe 60 $pair examples/moe_layer.py
step overhead 40 python3 bench/torch_overhead.py --json "$out/torch-overhead.json"
step ulysses 90 $pair bench/torch_pair.py --graph --json "$out/torch-pair.json"
echo "$failed steps failed"
[ "$failed" -eq 0 ]
