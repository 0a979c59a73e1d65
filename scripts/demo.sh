#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The walk from recorded rows to audited designs, on any machine: calibrate on the recorded pair of H200s, audit two attention
# layers and one mixture-of-experts layer on the profile that came out, and put everything on one page.
#   scripts/demo.sh [FOLDER]     default: out/demo, made afresh
set -euo pipefail
cd "$(dirname "$0")/.."

out=${1:-out/demo}
xstage=build/xstage
# A design that fails its audit is an answer (exit code 1), not an error.
audit() {
    "$xstage" audit "$@" --profile "$out/profile.json" -q || [ $? -eq 1 ]
}

case $out in
out/*) rm -rf "$out" ;;
esac
mkdir -p "$(dirname "$out")"

echo "== Calibrate: rows in, profile out"
"$xstage" calibrate --machine recorded -o "$out" -q
echo
echo "== Audit: does the design hold on this machine (2 ranks)?"
audit fa-a2a --preset flux1 --ranks 2 --json="$out/audit-flux1.json" --brief
audit fa-a2a --preset wan2.1-14b --ranks 2 --json="$out/audit-wan2.1-14b.json" --brief
audit moe --preset qwen3-30b --ranks 2 --json="$out/audit-qwen3-30b.json" --brief
echo
"$xstage" report data/h200x2-bursts.csv data/h200x2-rows.csv --profile "$out/profile.json" \
    --audit "$out/audit-flux1.json" --audit "$out/audit-wan2.1-14b.json" --audit "$out/audit-qwen3-30b.json" \
    -o "$out/report.html" --force -q
echo "Page: $PWD/$out/report.html"
