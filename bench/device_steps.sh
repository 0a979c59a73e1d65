# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
#
# Sourced by the device scripts, from the top of the tree with $out and $build set: bounded steps that are named when they fail.
# shellcheck disable=SC2154 # out, build and machine are the caller's
[ -x "$build/xstage" ] || sh scripts/build.sh "$build" || exit 1
xstage=$build/xstage
mkdir -p "$out" || exit 1
failed=0

# step NAME SECONDS COMMAND...: output in OUT/NAME.log
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

# sweep NAME ARGUMENTS...: rows of $machine in OUT/NAME.csv
sweep()
{
    name=$1
    shift
    step "$name" 60 "$xstage" measure --machine "$machine" -q -o "$out/$name.csv" "$@"
}

# finish: how many steps failed, as the script's answer
finish()
{
    echo "$failed steps failed"
    [ "$failed" -eq 0 ]
}
