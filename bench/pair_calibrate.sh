#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What two GPUs with a store path say: calibration of peer and host path, repeatability, aligned sweeps, both directions, and
# bystanders of the peer path, in about two minutes.
# usage: bench/pair_calibrate.sh OUT [BUILD] [MACHINE]      default: build, cuda:0,1
# Reads clocks and throttle reasons, changes none. Every step is bounded; a step that fails is named and the rest goes on.
set -u
out=$1
build=${2:-build}
machine=${3:-cuda:0,1}
cd "$(dirname "$0")/.." || exit 1
[ -x "$build/xstage" ] || sh scripts/build.sh "$build" || exit 1
xstage=$build/xstage
mkdir -p "$out" || exit 1
failed=0

step()
{
    name=$1
    limit=$2
    shift 2
    code=0
    timeout "$limit" "$@" >"$out/$name.log" 2>&1 || code=$?
    echo "$name: exit $code"
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || failed=$((failed + 1))
}

sweep()
{
    name=$1
    shift
    step "$name" 60 "$xstage" measure --machine "$machine" --target peer -q -o "$out/$name.csv" "$@"
}

step info 20 "$xstage" info
for test in "$build"/tests/device.*; do
    step "$(basename "$test")" 120 "$test"
done
for run in 0 1 2 3 4; do
    step "calibrate-$run" 60 "$xstage" calibrate --machine "$machine" --name h200x2 -o "$out/calibrate-$run"
done
step spread 20 python3 bench/profile_spread.py "$out"/calibrate-?/profile.json
step validate 20 "$xstage" fit --validate "$out"/calibrate-0/samples.csv "$out"/calibrate-0/samples-bystander.csv

# Bystanders first of all: does a local load wait behind an NVLink backlog?
for method in st16 bulk; do
    for op in load loadL2 loadL1 bulkload4K bulkload64K atomic store+fence; do
        sweep "bystander-$method-$op" --probe bystander -K 132 -B 0,4K,8K,16K,32K --delay-us 0,1,2,4,8 --op "$op" --method $method --reps 9
    done
    sweep "loop-$method" --probe loop -K 0,16,66,116,132 -B 16K,32K --slices 1 --span-us 20 --method $method --reps 9
    sweep "loop-$method-slices" --probe loop -K 116,132 -B 16K,32K --slices 4,16 --slice-every-us 0.5 --span-us 20 --method $method --reps 9
done

# (11) by the clock, and the same gaps free-running; V/R is 5.8, 8.7, 11.6 and 17.4 us at 372 GB/s.
for mode in aligned periodic; do
    for method in st16 bulk; do
        sweep "$mode-$method" -K 132 -B 16K,24K,32K,48K -G 0..24:1 --mode $mode --method $method --bursts 64
        sweep "$mode-$method-64" -K 64 -B 16K,24K,32K,48K -G 0..14:1 --mode $mode --method $method --bursts 64
    done
done

# Both directions at once, row pieces, 4-byte stores.
for method in st16 bulk; do
    sweep "both-$method-zero" -K 16,32,64,132 -B 8K,16K,32K --direction both --method $method --bursts 96
    sweep "both-$method-isolated" -K 64,132 -B 16K,24K,32K,48K --direction both --method $method --mode isolated --reps 9
    for piece in 64 128 256 512; do
        sweep "piece-$piece-$method" -K 132 -B 16K,32K --method $method --piece-bytes $piece --pitch-bytes $((piece * 24)) --bursts 96
    done
done
sweep st4-zero -K 132 -B 16K,32K --method st4 --bursts 96
sweep shares-132 -K 132 -B 16K,32K --bursts 96 --per-producer
echo "$failed steps failed"
[ "$failed" -eq 0 ]
