#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What two GPUs of one host say about the peer path, in about two minutes: calibrations of peer and host path, agreement with the
# recorded pair, aligned and free sweeps on both sides of Q/R, bystanders on the sender, both directions.
# usage: bench/device_pair.sh OUT [BUILD]      OUT: a fresh folder; BUILD: a built tree (default: build, made when missing)
# Reads clocks and throttle reasons, changes none. Every step is bounded; a step that fails is named and the rest goes on.
set -u
out=${1:?usage: bench/device_pair.sh OUT [BUILD]}
build=${2:-build}
cd "$(dirname "$0")/.." || exit 1
machine=cuda:0,1
# shellcheck source=bench/device_steps.sh
. bench/device_steps.sh

step info 20 "$xstage" info
for run in 0 1 2; do
    step "calibrate-$run" 60 "$xstage" calibrate --machine cuda:0,1 --name h200x2-nvlink -o "$out/calibrate-$run"
done
step spread 20 python3 bench/profile_spread.py "$out"/calibrate-?/profile.json
step compare 20 "$xstage" compare profiles/h200x2-nvlink.json "$out/calibrate-0/profile.json"

sweep local -K 132 -B 32K -G 0,0.5,1,2,4,8,16 --target local --reps 9
# (11): bursts started on a clock, gaps on both sides of Q/R (6.7 us at 132 producers); the same free to drift.
sweep aligned -K 132 -B 16K,24K,32K,48K -G 0..24:1.5 --target peer --mode aligned --reps 5
sweep free -K 132 -B 16K,24K,32K,48K -G 0..24:1.5 --target peer --reps 5
sweep aligned-64 -K 64 -B 16K,32K,48K,64K -G 0..12:1 --target peer --mode aligned --reps 5

# Bystanders on the sending GPU: who waits behind a burst to the peer, and how long.
for method in st16 bulk; do
    for op in load loadL2 loadL1 bulkload4K bulkload64K atomic store+fence; do
        sweep "bystander-$method-$op" --probe bystander -K 8,32,132 -B 0,16K,32K,64K --delay-us 0,1,2,5,10 --target peer \
            --method $method --op $op --reps 5
    done
done
for span in 65536 4194304; do
    sweep "loop-$span-burst" --probe loop -K 0,16,66,116,132 -B 16K,32K,64K --slices 1 --target peer --load-span-bytes $span \
        --span-us 40
    sweep "loop-$span-slices" --probe loop -K 116,132 -B 32K --slices 4,16 --slice-every-us 0.8 --target peer \
        --load-span-bytes $span --span-us 40
done

for method in st16 bulk; do
    sweep "both-$method" -K 32,132 -B 16K,32K -G 0,5,12 --target peer --direction both --method $method
done
finish
