#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Everything that one GPU can say about the host path, in about three minutes: device tests, ten calibrations and their spread,
# agreement with the recorded profile, the local control, aligned sweeps, what changes Q and R, bystanders, sanitizer.
# usage: bench/device_calibrate.sh OUT [BUILD]      OUT: a fresh folder; BUILD: a built tree (default: build, made when missing)
# Reads clocks and throttle reasons, changes none. Every step is bounded; a step that fails is named and the rest goes on.
set -u
out=${1:?usage: bench/device_calibrate.sh OUT [BUILD]}
build=${2:-build}
cd "$(dirname "$0")/.." || exit 1
machine=cuda
# shellcheck source=bench/device_steps.sh
. bench/device_steps.sh

step info 20 "$xstage" info
for test in "$build"/tests/device.*; do
    step "$(basename "$test")" 120 "$test"
done

# Ten calibrations in a row: what they agree on decides what a comparison may call a difference.
for run in 0 1 2 3 4 5 6 7 8 9; do
    step "calibrate-$run" 60 "$xstage" calibrate --machine cuda --name h200-host -o "$out/calibrate-$run"
done
step spread 20 python3 bench/profile_spread.py "$out"/calibrate-?/profile.json
step compare 20 "$xstage" compare profiles/h200-host.json "$out/calibrate-0/profile.json"
step validate 20 "$xstage" fit --validate "$out"/calibrate-0/samples.csv "$out"/calibrate-0/samples-bystander.csv

# The local control: nearly flat where the host path changes tenfold.
sweep local -K 132 -B 32K -G 0,0.5,1,2,4,8,16,32 --target local --reps 9
# (11): bursts started on a clock, gaps on both sides of V/R - T0 and of Q/R.
sweep aligned -K 132 -B 16K,24K,32K,48K -G 0..130:10 --target host --mode aligned --reps 5
sweep aligned-64 -K 64 -B 16K,32K,48K,64K -G 0..130:10 --target host --mode aligned --reps 5
sweep free -K 132 -B 16K,24K,32K,48K -G 0..130:10 --target host --reps 5
# Shares of single producers.
for k in 132 64; do
    sweep "shares-$k" -K $k -B 16K -G 0 --target host --bursts 96 --per-producer
done

# What changes R and Q: threads, width, piece, copy size.
for threads in 32 64 128 512 1024; do
    sweep "threads-$threads-zero" -K 132 -B 16K --target host --threads $threads
    sweep "threads-$threads-isolated" -K 132 -B 32K,48K,64K --target host --threads $threads --mode isolated --reps 9
done
for method in st4 st16 bulk; do
    sweep "method-$method-zero" -K 132 -B 16K --target host --method $method
    sweep "method-$method-isolated" -K 132 -B 16K,32K,48K,64K --target host --method $method --mode isolated --reps 9
    for piece in 64 128 256 1024 4096; do
        sweep "piece-$piece-$method-zero" -K 132 -B 16K --target host --method $method --piece-bytes $piece --pitch-bytes $((piece * 24))
        sweep "piece-$piece-$method-isolated" -K 132 -B 32K,48K,64K --target host --method $method --piece-bytes $piece \
            --pitch-bytes $((piece * 24)) --mode isolated --reps 9
    done
done
for copy in 128 512 1024 2048 4096 8192; do
    sweep "copy-$copy-zero" -K 132 -B 16K --target host --method bulk --piece-bytes $copy --pitch-bytes $copy
    sweep "copy-$copy-isolated" -K 132 -B 32K,48K,64K --target host --method bulk --piece-bytes $copy --pitch-bytes $copy \
        --mode isolated --reps 9
done

# Bystanders: loads served by L2 or by device memory, one burst or slices.
for span in 65536 4194304; do
    sweep "loop-$span-burst" --probe loop -K 0,16,66,116,132 -B 16K,32K --slices 1 --target host --load-span-bytes $span --span-us 100
    sweep "loop-$span-slices" --probe loop -K 116,132 -B 16K --slices 4,16 --slice-every-us 2.95 --target host \
        --load-span-bytes $span --span-us 100
done

# Memory errors and races, on small sizes.
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck; do
        for probe in burst bystander loop; do
            step "sanitizer-$tool-$probe" 60 compute-sanitizer --tool $tool --error-exitcode 9 "$xstage" measure --machine cuda -q \
                --probe $probe -K 8 -B 4K --target host --method bulk --bursts 4 --reps 1 --csv
        done
    done
fi
finish
