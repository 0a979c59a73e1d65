#!/bin/sh
# shellcheck disable=SC2034 # names are used by the cases
# SPDX-License-Identifier: Apache-2.0
#
# Helpers of the CLI cases; sourced, so no test of its own. Each case runs in its own scratch folder with its own stored
# profile `h200x2-nvlink`, fitted from the recorded rows, so that nothing outside decides the outcome.
set -eu
tree=${XSTAGE_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
xstage=${XSTAGE_BIN:-$tree/build/xstage}
scratch=$(mktemp -d)
skipped=0

# A tool's own 77 that ends a script under set -e is a failure, not a skipped test.
leave()
{
    code=$?
    rm -rf "$scratch"
    [ "$code" -ne 77 ] || [ "$skipped" -eq 1 ] || code=1
    exit "$code"
}
trap leave EXIT
trap 'exit 130' INT TERM
cd "$scratch"
mkdir -p home/profiles
XSTAGE_DATA_DIR=$scratch/home
XDG_DATA_HOME=$scratch/none
export XSTAGE_DATA_DIR XDG_DATA_HOME
unset NO_COLOR SOURCE_DATE_EPOCH || true
failures=0
bursts=$tree/data/h200x2-bursts.csv
rows=$tree/data/h200x2-rows.csv
host=$tree/data/h200-host-bursts.csv

fail()
{
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

# expect CODE ARGUMENTS...: runs the tool; output in out and err.
expect()
{
    wanted=$1
    shift
    code=0
    "$xstage" "$@" >out 2>err </dev/null || code=$?
    if [ "$code" -ne "$wanted" ]; then
        fail "xstage $*: exit $code, wanted $wanted; stderr: $(head -c 400 err)"
    fi
}

# out_has TEXT, err_has TEXT: a fixed string in what the last command printed.
out_has()
{
    grep -qF -- "$1" out || fail "standard output lacks '$1': $(head -c 400 out)"
}

err_has()
{
    grep -qF -- "$1" err || fail "standard error lacks '$1': $(head -c 400 err)"
}

# A complaint is one sentence that starts with the command's name, perhaps with a hint under it.
one_sentence()
{
    [ "$(grep -c '^xstage' err)" -eq 1 ] || fail "not one sentence on standard error: $(head -c 400 err)"
    if grep -v '^xstage\|^hint: ' err >/dev/null; then
        fail "more than a sentence and a hint: $(head -c 400 err)"
    fi
}

# json FILE EXPRESSION: a Python expression over the document `d` that must be true.
json()
{
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else 1)' "$1" "$2" || fail "JSON $1: not true: $2"
}

absent()
{
    [ ! -e "$1" ] || fail "$1 exists and should not"
    for left in ./*.part ./.*.part; do
        [ ! -e "$left" ] || fail "a temporary file was left behind: $left"
    done
}

stored_profile()
{
    "$xstage" fit "$bursts" "$rows" -q -o home/profiles/h200x2-nvlink.json >/dev/null
}

# skip REASON: not possible here
skip()
{
    echo "$1"
    skipped=1
    exit 77
}

finish()
{
    [ "$failures" -eq 0 ] || exit 1
    echo "ok"
}
