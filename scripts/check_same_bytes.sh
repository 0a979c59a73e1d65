#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The same rows give the same profile, byte for byte, whatever compiler built the tool (the id hashes the content).
# usage: scripts/check_same_bytes.sh BUILD-FOLDER OTHER-BUILD-FOLDER
set -u
cd "$(dirname "$0")/.." || exit 1

one=$1 other=$2
[ -x "$one/xstage" ] && [ -x "$other/xstage" ] || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sets=(data/h200x2-bursts.csv data/h200x2-rows.csv)
hosts=(data/h200-host-bursts.csv data/h200-host-aligned.csv data/h200-host-bystander.csv)
failed=0
same() { # same NAME FILES...: fits and predicts with both
    local name=$1 build side=0
    shift
    for build in "$one" "$other"; do
        side=$((side + 1))
        "$build/xstage" fit "$@" --name "$name" -q -o "$work/$name.$side.json" >/dev/null || return 1
    done
    cmp "$work/$name.1.json" "$work/$name.2.json" && echo "$name: $one and $other write the same bytes"
}
same h200x2 "${sets[@]}" || failed=1
same h200-host "${hosts[@]}" || failed=1
exit $failed
