#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A mixture-of-experts layer between two GPUs: the device tests, then layers with a quarter of their experts, so that experts and
# rows of a rank are those of eight ranks.
# usage: bench/moe_pair.sh BUILD OUT      (BUILD: a finished build; OUT: a folder for the documents)
set -eu
build=$1
out=$2
mkdir -p "$out"
"$build/tests/device.moe_stream"

# layer NAME EXPERTS ARGUMENTS...
layer()
{
    name=$1
    experts=$2
    shift 2
    "$build/xstage" bench moe --preset "$name" --experts "$experts" --target peer --ranks 2 -q --json="$out/pair-$name.json" "$@"
}
layer deepseek-v4-flash 64 --tokens 1K,8K
layer deepseek-v3 64 --tokens 1K,8K --store at_once
layer qwen3-235b 32 --tokens 1K,8K
layer qwen3-30b 32 --tokens 512,1K,4K,8K
"$build/xstage" bench moe --preset qwen3-30b --experts 32 --target peer --ranks 2 -q --tokens 4K --routing zipf --skew 0.5 \
    --json="$out/pair-qwen3-30b-zipf.json"
"$build/xstage" bench moe --preset qwen3-30b --experts 32 --target peer --ranks 2 -q --tokens 4K --routing hot-rank --skew 1.5 \
    --json="$out/pair-qwen3-30b-hot-rank.json"
