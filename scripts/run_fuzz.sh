#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the fuzzers with clang and runs each for FUZZ_SECONDS (default 300). New inputs go to build-fuzz/corpus, a crash
# to build-fuzz/crash-*; seeds are read from tests/fuzz/corpus/NAME. Closes with "N passed, N failed".
set -u
cd "$(dirname "$0")/.." || exit 1

seconds=${FUZZ_SECONDS:-300}
build="build-fuzz"
jobs=${JOBS:-$(nproc)}
if ! command -v clang >/dev/null; then
    echo "fuzzing needs clang: run 'make setup'" >&2
    exit 3
fi
XST_BUILD_TARGET=fuzzers scripts/build.sh "$build" "$jobs" -DCMAKE_C_COMPILER=clang -DXST_FUZZ=ON -DXST_CUDA=OFF || exit 1

export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
passed=0
failed=0
fuzz_one() { # fuzz_one PROGRAM; prints libFuzzer's last lines, all of them on failure
    local name=${1##*/fuzz_} log=$build/${1##*/}.log
    local corpora=("$build/corpus/$name")
    mkdir -p "${corpora[0]}"
    [ ! -d "tests/fuzz/corpus/$name" ] || corpora+=("tests/fuzz/corpus/$name")
    [ ! -f "tests/fuzz/$name.dict" ] || corpora+=("-dict=tests/fuzz/$name.dict")
    if "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="$build/" "${corpora[@]}" >"$log" 2>&1; then
        echo "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in ${seconds} s, no finding"
    else
        tail -n 60 "$log" >&2
        echo "fuzz $name: FAILED (whole output: $log)" >&2
        return 1
    fi
}

running=()
finish() { # waits for the oldest
    if wait "${running[0]}"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    running=("${running[@]:1}")
}
for fuzzer in "$build"/fuzz/fuzz_*; do
    [ -x "$fuzzer" ] || continue
    fuzz_one "$fuzzer" &
    running+=($!)
    [ ${#running[@]} -lt "$jobs" ] || finish
done
while [ ${#running[@]} -gt 0 ]; do finish; done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
