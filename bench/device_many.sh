#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Four or eight GPUs of one host: every pair of neighbours and the first with each other one, bursts to all peers in turn, attention +
# exchange and mixture-of-experts layers with a GPU a rank. What the simulator said before is in docs/predictions.md.
# usage: bench/device_many.sh OUT GPUS [BUILD]      OUT: a fresh folder; GPUS: 3 to 8; BUILD: a built tree (default: build)
# Reads clocks and throttle reasons, changes none. Every step is bounded; a step that fails is named and the rest goes on.
set -u
gpus=${2:?usage: bench/device_many.sh OUT GPUS [BUILD]}
out=$1
build=${3:-build}
case $gpus in
[3-8]) ;;
*)
    echo "device_many.sh: GPUS is $gpus, outside 3..8" >&2
    exit 2
    ;;
esac
cd "$(dirname "$0")/.." || exit 1
all=0
i=1
while [ "$i" -lt "$gpus" ]; do
    all=$all,$i
    i=$((i + 1))
done
machine=cuda:$all
# shellcheck source=bench/device_steps.sh
. bench/device_steps.sh

step info 20 "$xstage" info
step tests-attention 120 "$build/tests/device.fa_a2a"
step tests-moe 120 "$build/tests/device.moe"
i=1
while [ "$i" -lt "$gpus" ]; do
    step "calibrate-0-$i" 60 "$xstage" calibrate --machine "cuda:0,$i" --name "pair-0-$i" -o "$out/calibrate-0-$i"
    [ "$i" -eq 1 ] || step "compare-0-$i" 20 "$xstage" compare "$out/calibrate-0-1/profile.json" "$out/calibrate-0-$i/profile.json"
    i=$((i + 1))
done

# Who can send how much to whom: every ordered pair, every device over all others, 1 to GPUS - 1 senders to one receiver, all to all.
several()
{
    name=$1
    shift
    sweep "$name" "$@" --target peer -K 132 -B 16K,32K --precision 0.01
}
for method in st16 bulk; do
    several "pairs-$method" --method "$method" --pairs
    several "each-over-all-$method" --method "$method" --pairs --all-peers
    several "senders-$method" --method "$method" -G 0,5,12 --senders "1..$((gpus - 1))" --all-to-all
done
step report 20 "$xstage" report "$out"/senders-st16.csv "$out"/each-over-all-st16.csv --profile "$out/calibrate-0-1/profile.json" \
    -o "$out/senders.html" --svg "$out/figures"

# R and Q of one sender over all its peers in turn, beside one peer alone.
for method in st16 bulk; do
    sweep "all-peers-$method" -K 8,32,66,132 -B 8K,16K,32K,64K -G 0,1,2,4,8,16 --target peer --method "$method" --all-peers
    sweep "one-peer-$method" -K 8,32,66,132 -B 8K,16K,32K,64K -G 0,1,2,4,8,16 --target peer --method "$method"
done

presets=flux1,flux1-2048,flux2-dev,sd3-medium,sd3.5-large,qwen-image,z-image,wan2.1-1.3b,wan2.1-14b,cogvideox-5b,mochi
step attention 400 "$xstage" bench fa-a2a --target peer --ranks "$gpus" --json="$out/attention.json" --preset $presets
step attention-lengths 200 "$xstage" bench fa-a2a --target peer --ranks "$gpus" --heads 24 --seq 1K..64K:x2 --json="$out/lengths.json"
for layer in qwen3-30b qwen3-235b deepseek-v4-flash deepseek-v4-pro deepseek-v3 kimi-k2 glm-5.3-flash mixtral-8x7b; do
    [ "$layer" = mixtral-8x7b ] && [ $((8 % gpus)) -ne 0 ] && continue
    step "moe-$layer" 200 "$xstage" bench moe --target peer --ranks "$gpus" --preset $layer --tokens 1K,8K --json="$out/moe-$layer.json"
done
step moe-e4m3 200 "$xstage" bench moe --target peer --ranks "$gpus" --preset deepseek-v4-flash --tokens 1K,8K --dtype e4m3 \
    --json="$out/moe-e4m3.json"
step moe-leads 200 "$xstage" bench moe --target peer --ranks "$gpus" --preset qwen3-30b --tokens 8K --store at_once \
    --schedule interleaved --lead 64,128,256,512,1024 --json="$out/moe-leads.json"

# When the tensor cores work and what they wait for: one traced call of each variant, and what audit says to it.
step trace-attention 60 "$xstage" bench fa-a2a --target peer --ranks "$gpus" --preset flux1 --rounds 1 --trace "$out/trace-attention.json"
step audit-attention 30 "$xstage" audit fa-a2a --trace "$out/trace-attention.json" --profile "$out/calibrate-0-1/profile.json"
step trace-moe 60 "$xstage" bench moe --target peer --ranks "$gpus" --preset qwen3-30b --tokens 8K --store at_once --rounds 1 \
    --trace "$out/trace-moe.json"
step audit-moe 30 "$xstage" audit moe --trace "$out/trace-moe.json" --profile "$out/calibrate-0-1/profile.json"
finish
