#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Several processes on the GPUs of one host, in about a minute: workspaces through IPC handles (also with hidden and shared
# devices, and with a rank killed), calibrations in turn under torchrun and plain variables, what is left on the devices.
# usage: bench/device_ranks.sh OUT [BUILD]      OUT: a fresh folder; BUILD: a built tree (default: build, made when missing)
set -u
out=${1:?usage: bench/device_ranks.sh OUT [BUILD]}
build=${2:-build}
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=bench/device_steps.sh
. bench/device_steps.sh
devices=$(nvidia-smi -L | wc -l)

memory() { nvidia-smi --query-gpu=index,memory.used --format=csv,noheader; }

# result NAME FUNCTION...: as step, for what bounds itself
result()
{
    name=$1
    shift
    answer=0
    "$@" >"$out/$name.log" 2>&1 || answer=$?
    echo "$name: exit $answer"
    [ "$answer" -eq 0 ] || failed=$((failed + 1))
}

# as_rank R COMMAND...: one of two processes
as_rank()
{
    r=$1
    shift
    RANK=$r WORLD_SIZE=2 LOCAL_RANK=$r MASTER_PORT=$$ "$@" --timeout 40
}

both()
{
    as_rank 1 "$@" &
    code=0
    as_rank 0 "$@" || code=$?
    wait $! || code=$?
    return "$code"
}

memory | tee "$out/memory-before.txt"
step workspace 120 "$build/tests/device.workspace"
memory | tee "$out/memory-after.txt"
cmp "$out/memory-before.txt" "$out/memory-after.txt" || failed=$((failed + 1))

if [ "$devices" -ge 2 ]; then
    step ring 90 torchrun --nproc-per-node 2 --no-python "$xstage" calibrate --each-rank -o "$out/ring" -q
else
    step first 60 torchrun --nproc-per-node 2 --no-python "$xstage" calibrate -o "$out/first" -q
fi

# A rank that is killed while rank 0 measures: the job ends with the reason, the device is free for the next one.
killed()
{
    RANK=1 WORLD_SIZE=2 MASTER_PORT=$$ "$xstage" "$@" --timeout 40 &
    victim=$!
    (sleep 1 && kill -9 "$victim") &
    code=0
    RANK=0 WORLD_SIZE=2 MASTER_PORT=$$ "$xstage" "$@" --timeout 40 || code=$?
    wait
    [ "$code" -eq 3 ]
}
result killed killed measure --machine cuda --target host -K 132 -B 32K -G 0..40:0.5 --reps 30 -q
grep 'died' "$out/killed.log"
result again both "$xstage" measure --machine cuda --target host -K 132 -B 32K -G 0,10 -q
memory | tee "$out/memory-end.txt"
cmp "$out/memory-before.txt" "$out/memory-end.txt" || failed=$((failed + 1))
finish
