#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A mixture-of-experts layer between two GPUs: layers with a quarter of their experts, so that experts and rows of a rank are those of
# eight ranks; widths at which Linear 2 alone asks for more than the links drain, with leads; skewed routing; the same layers as an
# unfused sequence of NCCL and PyTorch's grouped GEMMs. About a minute and a half.
# usage: bench/moe_pair.sh BUILD OUT      (BUILD: a finished build; OUT: a folder for the documents)
set -u
out=${2:?usage: bench/moe_pair.sh BUILD OUT}
build=$1
mkdir -p "$out"
here=$(dirname "$0")

# layer NAME ARGUMENTS...
layer()
{
    name=$1
    shift
    timeout 40 "$build/xstage" bench moe --target peer --ranks 2 -q --rounds 5 --json="$out/pair-$name.json" "$@" || echo "$name failed"
}
layer qwen3-30b --preset qwen3-30b --experts 32 --tokens 1K,4K,8K
layer flash --preset deepseek-v4-flash --experts 64 --tokens 1K,4K,8K
layer width-512 --hidden 4096 --inter 512 --experts 32 --topk 8 --tokens 4096 --store at_once --lead 16,64,128,256,512
layer qwen3-235b --preset qwen3-235b --experts 32 --tokens 1K,4K,8K --store at_once
layer leads --preset qwen3-30b --experts 32 --tokens 4K --store at_once --schedule interleaved --lead 32,64,96,128,192,256,512
layer flash-e4m3 --dtype e4m3 --preset deepseek-v4-flash --experts 64 --tokens 1K,8K --store at_once
layer dedup --preset qwen3-30b --experts 32 --tokens 64,1K,8K --store at_once --schedule wave --dedup both
layer ring --preset qwen3-30b --experts 32 --tokens 8K --store at_once --ring 0,64 --dedup off
layer hot-rank --preset qwen3-30b --experts 32 --tokens 4K --routing hot-rank --skew 1.5 --store at_once
if python3 -c "import torch" 2>/dev/null; then
    timeout 60 torchrun --nproc-per-node 2 "$here/moe_pair_torch.py" --json "$out/pair-torch.json" || echo "torch failed"
fi
