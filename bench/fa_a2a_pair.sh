#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Attention + all-to-all between two GPUs: the device tests, then every variant at 2 ranks, with and without pairs, traces and their audits, then cuDNN
# beside attention alone and cuDNN with NCCL beside the fused kernel.
# usage: bench/fa_a2a_pair.sh BUILD OUT      (BUILD: a finished build; OUT: a folder for the documents)
set -eu
out=${2:?usage: bench/fa_a2a_pair.sh BUILD OUT}
build=$1
mkdir -p "$out"
"$build/tests/device.fa_a2a"
"$build/xstage" bench fa-a2a --target peer --ranks 2 --heads 24 --seq 1K,2K,4K,8K,16K,32K --json="$out/pair-24x128.json"
"$build/xstage" bench fa-a2a --target peer --ranks 2 --heads 40 --seq 4K,8K,16K --json="$out/pair-40x128.json"
"$build/xstage" bench fa-a2a --target peer --ranks 2 --heads 24 --head-dim 64 --seq 8K,32K --json="$out/pair-24x64.json"
"$build/xstage" bench fa-a2a --target peer --ranks 2 --preset flux1,sd3.5-large,qwen-image,wan2.1-14b,cogvideox-5b --json="$out/pair-presets.json"
for pairs in never always; do
    "$build/xstage" bench fa-a2a --target peer --ranks 2 --heads 24 --seq 4K,8K --pairs $pairs --json="$out/pairs-$pairs.json"
done
for seq in 2K 4K 8K; do
    "$build/xstage" bench fa-a2a --target peer --ranks 2 --heads 24 --seq $seq --rounds 3 --json="$out/traced-$seq.json" --trace "$out/trace-$seq.json"
    "$build/xstage" audit fa-a2a --trace "$out/trace-$seq.json" --profile h200x2-calibrated --json="$out/audit-$seq.json"
done
if python3 -c "import torch" 2>/dev/null; then
    python3 "$(dirname "$0")/fa_a2a_cudnn.py" "$build/libxstage.so" --json "$out/cudnn.json"
    NCCL_NVLS_ENABLE=0 python3 -m torch.distributed.run --nproc-per-node 2 "$(dirname "$0")/fa_a2a_nccl.py" --json "$out/nccl.json"
fi
