#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage plan: choices, documents, saved plans, routing, sweeps, and mistakes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# With the machine's facts: the planner needs the SM count, the peak rate and the L2 size.
"$xstage" fit "$bursts" "$rows" --facts "$tree/data/h200x2.json" -q -o home/profiles/h200x2-nvlink.json >/dev/null
"$xstage" fit "$host" "$tree/data/h200-host-bystander.csv" --facts "$tree/data/h200-host.json" -q \
    -o home/profiles/h200-host.json >/dev/null
cp "$tree/profiles/paper-148sm.json" home/profiles/

# FLUX.1 on the pair: bulk stores or slices, never whole tiles by plain stores.
expect 0 plan fa-a2a --preset flux1 --ranks 2 -q
out_has '128-row tiles, bulk stores of 32 KiB'
out_has 'runner-up: '
out_has 'best with another value of each setting, and why it lost:'
out_has 'rate bound holds from '
expect 0 plan fa-a2a --preset flux1 --ranks 2 --json -q
json out 'd["schema"] == "xstage.plan/1" and d["kernel"] == "fa-a2a" and d["name"] == "flux1" and d["argv"][1] == "plan"'
json out 'd["chosen"] == d["considered"][d["chosen_index"]] and len(d["considered"]) == 90'
json out 'd["chosen"]["predicted_us"] == min(c["predicted_us"] for c in d["considered"] if c["predicted_us"] is not None)'
json out 'all(c["reason"] for c in d["considered"]) and d["chosen"]["bystander_us"] is None'
json out 'd["chosen"]["method"] == "bulk" or d["chosen"]["slices"] > 1'
json out 'd["answers"]["m_upper_bound"] % 128 == 0 and d["question"]["seq"] == 4608 and d["runner_up_index"] != d["chosen_index"]'

# Wave quantisation.
expect 0 plan fa-a2a --heads 24 --head-dim 128 --seq 8192 --ranks 8 --csv -q
[ "$(wc -l <out)" -eq 91 ] || fail "CSV of $(wc -l <out) lines, wanted 91"
expect 0 plan fa-a2a --heads 24 --head-dim 128 --seq 8192 --ranks 8 --json -q
json out 'd["chosen"]["tile_rows"] == 192 and abs(d["chosen"]["efficiency"] - 0.97) < 0.005'
expect 0 plan fa-a2a --heads 24 --head-dim 128 --seq 8192 --ranks 8 --tile-rows 128 --method st16 --json -q
json out 'd["chosen"]["tile_rows"] == 128 and d["chosen"]["method"] == "st16" and d["chosen"]["waves"] == 2'

# Layers: from a count file, a JSON array, made-up routing.
expect 0 plan moe --preset mixtral-8x7b --json -q
json out 'd["chosen"]["schedule"] == "wave" and d["answers"]["rank"] == 0'
expect 0 plan moe --preset qwen3-30b --ranks 8 -q
out_has 'interleaved, lead of '
out_has 'D_knee '
out_has '(15) says 151'
awk 'BEGIN { for (e = 0; e < 128; e++) print (e == 77) ? 8192 : 1024 " # expert " e }' >counts.txt
expect 0 plan moe --preset qwen3-30b --ranks 8 --counts counts.txt --json -q
json out 'd["answers"]["rank"] == 4 and d["answers"]["rows"] == 15 * 1024 + 8192'
python3 -c 'print([1024] * 128)' >counts.json
expect 0 plan moe --preset qwen3-30b --ranks 8 --counts counts.json --rank 3 --json -q
json out 'd["answers"]["rank"] == 3 and d["answers"]["rows"] == 16384'
"$xstage" plan moe --preset qwen3-30b --ranks 8 --counts - -q <counts.json >out 2>err || fail "no counts from standard input"
for routing in uniform zipf hot-expert hot-rank; do
    expect 0 plan moe --preset qwen3-235b --ranks 8 --routing "$routing" --skew 1.5 --json -q
    json out 'd["chosen"]["predicted_us"] > 0'
done

# The timeline beside the prediction: near it, and the choice stays.
expect 0 plan fa-a2a --preset flux1 --simulate 3 --json -q
json out 'sum(c["simulated_us"] is not None for c in d["considered"]) == 3'
json out 'all(abs(c["simulated_us"] / c["predicted_us"] - 1) < 0.05 for c in d["considered"] if c["simulated_us"] is not None)'
expect 0 plan moe --preset qwen3-30b --simulate 2 -q
out_has 'stepped through time'

# Any kernel, and the memory it takes.
expect 0 plan "$tree/examples/traffic/gemm-reduce-scatter.json" --sweep -q
out_has 'what nobody beats in all three'
expect 0 plan "$tree/examples/traffic/gemm-reduce-scatter.json" --splits 1,2 --staging-slots 1,2 --issuers 132 --json -q
json out 'len(d["considered"]) == 8 and any(c["pareto"] for c in d["considered"])'
json out 'len({round(c["splits"] * c["producers"] * c["bytes_per_producer"]) for c in d["considered"]}) == 1'
expect 0 plan "$tree/examples/traffic/kv-offload.json" --profile h200-host -q

# Saved, read back, shown again; an edited one is refused.
expect 0 plan fa-a2a --preset flux1 -q -o saved.json
cp out first
expect 0 plan saved.json -q
cmp -s first out || fail "a saved plan is shown differently"
expect 0 plan saved.json --json=again.json -q
json again.json 'd["considered"] == json.load(open("saved.json"))["considered"]'
expect 2 plan fa-a2a --preset flux1 -q -o saved.json
sed 's/"chosen_index": [0-9]*/"chosen_index": 0/' saved.json >edited.json
expect 2 plan edited.json -q
err_has 'candidate 0 is chosen, but candidate'
one_sentence

# What the profile cannot tell is said; nothing is chosen in silence.
expect 2 plan fa-a2a --heads 24 --head-dim 64 --seq 4608 --profile paper-148sm --peak-tflops 2000 --json
json out 'd["chosen"] is None and all(c["predicted_us"] is None for c in d["considered"])'
err_has 'no candidate can be predicted: the profile has no'
err_has '--extrapolate'
expect 2 plan moe --preset qwen3-30b --profile paper-148sm --peak-tflops 2000 -q
err_has '--l2-bytes'
expect 2 plan fa-a2a --preset flux1 --profile h200-host -q
err_has 'has no path to a peer'

# Mistakes.
expect 2 plan
expect 2 plan fa-a2 -q
err_has 'did you mean fa-a2a?'
expect 2 plan fa-a2a -q
err_has '--heads is needed'
expect 2 plan moe --preset qwen3-30b --heads 3 -q
err_has '--heads does not go with moe; it belongs to fa-a2a'
expect 2 plan saved.json --ranks 3 -q
err_has '--ranks does not go with a traffic file; it belongs to fa-a2a and moe'
expect 2 plan fa-a2a --preset flux1 --math-rate 1,2 -q
err_has 'one for each of 3 tile sizes'
expect 2 plan moe --preset qwen3-30b --ranks 8 --counts counts.txt --routing zipf -q
err_has 'say the same thing twice'
expect 2 plan moe --preset qwen3-30b --ranks 8 --rank 8 -q
err_has '--rank is 8, outside 0..7'
printf '1 2 x3\n' >bad.txt
expect 2 plan moe --preset mixtral-8x7b --counts bad.txt -q
err_has "bad.txt:1: 'x3' is not a number of rows"
one_sentence
printf '1\n2\n3\n' >short.txt
expect 2 plan moe --preset mixtral-8x7b --counts short.txt -q
err_has 'short.txt: 3 counts, one for each of 8 experts is needed'
printf '1 2 3 4 5 6 7 8\n9\n' >long.txt
expect 2 plan moe --preset mixtral-8x7b --counts long.txt -q
err_has 'long.txt:2: more than 8 counts'
printf '9000 0 0 0 0 0 0 0\n' >many.txt
expect 2 plan moe --preset mixtral-8x7b --counts many.txt -q
err_has 'expert 0 has 9000 rows, outside 0..8192'
expect 3 plan moe --preset mixtral-8x7b --counts missing.txt -q
expect 3 plan missing.json -q
expect 2 plan "$tree/examples/traffic/gemm-reduce-scatter.json" --issuers 999 -q
err_has 'producers is 999'
finish
