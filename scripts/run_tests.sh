#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds and runs the tests, and closes with one line of totals: "N passed, N failed, N skipped".
# usage: scripts/run_tests.sh [plain] [san]        (default: both; san: address and undefined-behaviour sanitizers)
# A build that fails counts as one failed test. CTEST_ARGS is handed to ctest, e.g. CTEST_ARGS='-R model'.
set -u
cd "$(dirname "$0")/.." || exit 1

jobs=${JOBS:-$(nproc)}
passed=0 failed=0 skipped=0

# attribute NAME FILE: the number NAME="N" of the <testsuite> element.
attribute() { sed -n "s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

run() { # run FOLDER [CMAKE OPTIONS...]
    local build=$1 junit tests bad skip args
    junit=$PWD/$build/tests.xml
    if ! scripts/build.sh "$build" "$jobs" "${@:2}"; then
        echo "$build does not build" >&2
        failed=$((failed + 1))
        return
    fi
    rm -f "$junit"
    read -ra args <<<"${CTEST_ARGS:-}"
    (cd "$build" && ctest --no-tests=error --output-on-failure -j "$jobs" --output-junit "$junit" ${args[@]+"${args[@]}"})
    local rc=$?
    if [ ! -s "$junit" ]; then
        echo "$build: ctest left no result (exit status $rc)" >&2
        failed=$((failed + 1))
        return
    fi
    # The <testsuite> element spreads over lines; one number each.
    tests=$(attribute tests "$junit")
    bad=$(attribute failures "$junit")
    skip=$(attribute skipped "$junit")
    if [ "$tests" -eq 0 ] || { [ "$rc" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        bad=$((bad + 1))
        tests=$((tests + 1))
    fi
    passed=$((passed + tests - bad - skip))
    failed=$((failed + bad))
    skipped=$((skipped + skip))
}

[ $# -gt 0 ] || set -- plain san
for kind in "$@"; do
    case $kind in
    plain) run build ;;
    san) run build-san -DXST_SANITIZE=ON -DXST_CUDA=OFF -DCMAKE_BUILD_TYPE=RelWithDebInfo ;;
    *)
        echo "usage: $0 [plain] [san]" >&2
        exit 2
        ;;
    esac
done

[ "$failed" -eq 0 ] || { [ -f build/Testing/Temporary/LastTestsFailed.log ] && cat build*/Testing/Temporary/LastTestsFailed.log >&2; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
