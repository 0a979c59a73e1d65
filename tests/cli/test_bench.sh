#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Benchmarks from the command line as far as they go without a GPU: mistakes are found first; where there is a GPU, one small
# shape is timed and its document read.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 2 bench
expect 2 bench nothing
err_has '"nothing" is no kernel that can be timed; fa-a2a and moe are'
expect 2 bench fa-a2a --heads 24 --ranks 5
err_has 'heads is 24, not a multiple of ranks (5)'
expect 2 bench fa-a2a --preset flux
err_has 'did you mean "flux1"'
expect 2 bench fa-a2a --slices 3
err_has 'slices is 3, not 1, 2, 4, 8 or 16'
expect 2 bench fa-a2a --head-dim 96
err_has 'head_dim is 96; kernels exist for 64 and 128'
expect 2 bench fa-a2a --groups 1
err_has 'groups is 1'
expect 2 bench fa-a2a --pairs sometimes
err_has 'auto'
expect 2 bench fa-a2a --pairs always --head-dim 64
err_has 'pairs with head_dim 64; they exist for 128'
expect 2 bench fa-a2a --profile none-such
err_has 'none-such'
for option in --dedup=on --ring=4; do
    expect 2 bench fa-a2a $option
    err_has 'does not go with fa-a2a; it belongs to moe'
done
expect 2 bench moe --pairs always
err_has '--pairs does not go with moe; it belongs to fa-a2a'
expect 2 bench fa-a2a --seq 1K,2K --trace t.json
err_has '--trace takes one shape, not several'
expect 2 bench fa-a2a --seq 1K --trace t.json --trace-variants serial
err_has '"serial" is none of a2a_only, fused_st16, fused_bulk, fused_paced'
: >taken.json
expect 2 bench fa-a2a --seq 1K --trace taken.json
err_has 'taken.json'
expect 0 bench --help
out_has '--target'

code=0
"$xstage" bench fa-a2a --seq 1500 --heads 4 --groups 2 --target local --rounds 1 --calls 1 --trace run.json -q >out 2>err || code=$?
case $code in
0)
    expect 0 audit fa-a2a --trace run.json -q
    ;;
77) absent run.json ;;
*) fail "exit $code: $(cat err)" ;;
esac

code=0
"$xstage" bench fa-a2a --seq 300 --heads 4 --target local --rounds 1 --calls 1 --json >out 2>err || code=$?
case $code in
0) json out 'd["schema"] == "xstage.bench/1" and len(d["rows"]) == 6 and all(r["checked"] for r in d["rows"])' ;;
77) one_sentence ;;
*) fail "exit $code: $(cat err)" ;;
esac

finish
