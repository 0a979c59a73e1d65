#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Benchmarks of the mixture of experts as far as they go without a GPU: mistakes are found first; where there is a GPU, small
# layers are timed and their documents read.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

expect 2 bench nothing
err_has '"nothing" is no kernel that can be timed; fa-a2a and moe are'
expect 2 bench moe
err_has '--hidden is needed'
expect 2 bench moe --preset qwen
err_has 'no mixture-of-experts shape is called "qwen"'
expect 2 bench moe --preset gpt-oss-120b --ranks 8
err_has 'hidden is 2880, not a multiple of 128'
expect 2 bench moe --preset qwen3-30b --seq 300
err_has '--seq does not go with moe; it belongs to fa-a2a'
expect 2 bench fa-a2a --tokens 300
err_has '--tokens does not go with fa-a2a; it belongs to moe'
expect 2 bench moe --preset qwen3-30b --remote-frac 0.5
err_has '--remote-frac goes with --target host'
expect 2 bench moe --preset qwen3-30b --target host --remote-frac 1.5
one_sentence
expect 2 bench moe --preset qwen3-30b --target peer --ranks 9
err_has 'ranks is 9, outside 2..8'
expect 2 bench moe --preset qwen3-30b --tile-rows 96
err_has '--tile-rows is 96, not 64, 128 or 256'
expect 2 bench moe --preset qwen3-30b --dtype fp4
one_sentence
expect 2 bench moe --preset qwen3-30b --slices 16
err_has 'slices is 16, not 1, 2, 4 or 8'
expect 2 bench moe --preset qwen3-30b --tile-rows 256 --ctas 1
err_has '--ctas is 1, odd; two compute a tile of 256 rows'
expect 2 bench moe --preset qwen3-30b --unit 1025
err_has 'outside 0..1024'
expect 2 bench moe --preset qwen3-30b --lead 1..1000:x1.1
err_has 'more than 48 ways'
expect 2 bench moe --preset qwen3-30b --profile nowhere
err_has 'nowhere: neither a file nor a stored profile'
expect 2 bench moe --preset qwen3-30b --tokens 1K,2K --trace t.json
err_has '--trace takes one layer and order: one value of --tokens'
expect 2 bench moe --preset qwen3-30b --lead 64,128 --trace t.json
err_has 'one value of --lead'
expect 2 bench moe --preset qwen3-30b --ring 0,64 --trace t.json
err_has 'one value of --ring'
expect 2 bench moe --preset qwen3-30b --dedup both --trace t.json
err_has '--dedup on or off, not both'
expect 2 bench moe --preset qwen3-30b,deepseek-v3 --trace t.json
err_has '--trace takes one layer, not several'
expect 2 bench moe --preset qwen3-30b --tile-rows 64 --trace t.json
err_has '--trace goes with --tile-rows 128, not 64'
expect 0 bench --help
out_has '--remote-frac'

# layer ARGUMENTS...: document in out; not on machines without a device
layer()
{
    code=0
    "$xstage" bench moe --hidden 256 --inter 192 --experts 8 --topk 2 --tokens 200 --rounds 1 --calls 1 --json "$@" >out 2>err || code=$?
    case $code in
    0) return 0 ;;
    77) return 1 ;;
    *) fail "exit $code: $(cat err)" ;;
    esac
    return 1
}
if layer --ranks 2; then
    json out 'd["schema"] == "xstage.bench/1" and d["kernel"] == "moe" and all(r["checked"] for r in d["rows"])'
    json out '{r["variant"] for r in d["rows"]} == {"moe_unfused", "moe_wave", "moe_interleaved"}'
    json out 'sum(r["planned"] for r in d["rows"]) == 1 and all(r["residual_us"] is None for r in d["rows"])'
fi
if layer --ranks 2 --dtype e4m3 --inter 256; then
    json out 'all(r["dtype"] == "e4m3" and r["checked"] for r in d["rows"])'
fi
if layer --ranks 2 --target host --remote-frac 0,0.5 --store at_once --lead 10,20; then
    json out '{r["remote_frac"] for r in d["rows"]} == {0, 0.5} and all(r["planned"] is False for r in d["rows"])'
    json out '[r["residual_us"] is not None for r in d["rows"]] == [r["variant"].startswith("moe_") and r["variant"] != "moe_unfused" for r in d["rows"]]'
fi
for type in bf16 e4m3; do
    if layer --ranks 2 --inter 256 --dtype $type --target host --remote-frac 0.5 --lead 20 --unit 1 --force --trace run.json; then
        json out 'all((r["stall_us"] is not None) == r["variant"].startswith(("moe_wave", "moe_inter")) for r in d["rows"])'
        expect 0 audit moe --trace run.json -q --json=audit.json
        json audit.json 'd["holds"] is True and len({c["variant"] for c in d["checks"]}) == 4'
    fi
done

finish
