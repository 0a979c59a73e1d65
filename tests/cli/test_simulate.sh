#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage simulate: kernels, documents, traces, what cannot progress, and mistakes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$xstage" fit "$bursts" "$rows" --facts "$tree/data/h200x2.json" -q -o home/profiles/h200x2-nvlink.json >/dev/null
"$xstage" fit "$host" --facts "$tree/data/h200-host.json" -q -o home/profiles/h200-host.json >/dev/null

# Attention: the document, one row per rank, a trace and a picture.
expect 0 simulate fa-a2a --preset flux1 --ranks 4 -q
out_has 'fa-a2a flux1 on 4 ranks of h200x2-nvlink'
out_has 'exposed communication'
expect 0 simulate fa-a2a --preset flux1 --ranks 4 --json -q --trace t.json --svg t.svg
json out 'd["schema"] == "xstage.simulate/1" and d["kernel"] == "fa-a2a" and len(d["ranks"]) == 4'
json out 'd["makespan_us"] > d["sender_us"] >= d["free_us"] > 0 and abs(d["exposed_us"] - d["makespan_us"] + d["free_us"]) < 1e-6'
json out 'all(set(r["roles"]) == {"math", "store", "pull"} for r in d["ranks"]) and {"busy_us", "stall_us", "wait_us"} == set(d["roles"]["math"])'
json out 'd["sent_bytes"] == d["received_bytes"] == 4 * 6 * (4608 - 1152) * 256 and d["tiles"] == 4 * 6 * 36'
json out 'len(d["backlog"]) > 100 and all(p["backlog_bytes"] >= 0 for p in d["backlog"])'
json t.json 'sum(e["ph"] == "X" and e["name"] == "attention" for e in d["traceEvents"]) == 2 * 6 * 36'
json t.json '{"backlog", "egress"} <= {e["name"] for e in d["traceEvents"] if e["ph"] == "C"}'
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("t.svg")' || fail "t.svg is not XML"
# Attention ends with a fence and a flag; warpgroups out of step make it longer, and belong to it alone.
expect 0 simulate fa-a2a --heads 24 --head-dim 128 --seq 8K --tflops 640 --profile "$tree/profiles/h200x2-calibrated.json" --bystanders --dispersion --json -q
json out 'abs(d["publish_us"] - 1.5 * 1.9409) < 1e-3 and d["makespan_us"] >= d["sender_us"] + d["publish_us"] - 1e-9'
mv out plain
expect 0 simulate fa-a2a --heads 24 --head-dim 128 --seq 8K --tflops 640 --profile "$tree/profiles/h200x2-calibrated.json" --bystanders --dispersion --as-traced --json -q
json out 'd["exposed_us"] > 1.2 * json.load(open("plain"))["exposed_us"]'
expect 2 simulate fa-a2a --heads 24 --head-dim 128 --seq 8K --profile "$tree/profiles/h200x2-calibrated.json" --as-traced --method bulk --slices 4 -q
err_has 'give them a role of their own'
expect 2 simulate moe --preset qwen3-30b --as-traced -q
expect 0 simulate fa-a2a --preset flux1 --ranks 4 --csv -q
[ "$(wc -l <out)" -eq 5 ] || fail "CSV of $(wc -l <out) lines, wanted 5"

# Same seed, same bytes; the rival view sees more; drifting bursts stall less.
expect 0 simulate fa-a2a --preset flux1 --jitter 0.05 --seed 3 --csv -q
cp out first.csv
expect 0 simulate fa-a2a --preset flux1 --jitter 0.05 --seed 3 --csv -q
cmp -s out first.csv || fail "the same seed gave another answer"
expect 0 simulate fa-a2a --preset flux1 --coupling completion --json=rival.json -q
expect 0 simulate fa-a2a --preset flux1 --json=stage.json -q
python3 -c 'import json
a, b = json.load(open("rival.json")), json.load(open("stage.json"))
assert a["exposed_us"] > 1.5 * b["exposed_us"]' || fail "completion coupling does not cost more"

# Mixture of experts: both schedules, routing, counts from a file.
expect 0 simulate moe --preset qwen3-30b --tokens 512 --ranks 4 --json -q
json out 'd["schedule"] == "wave" and d["lead_tiles"] is None and d["pulled_bytes"] > 0 and d["routing"] == "uniform"'
expect 0 simulate moe --preset qwen3-30b --tokens 2K --ranks 2 --schedule interleaved --no-pull --json -q
json out 'd["lead_tiles"] > 0 and d["waited_tiles"]["steady"] < 20 and d["pulled_bytes"] == 0'
expect 0 simulate moe --preset qwen3-30b --tokens 512 --ranks 4 --routing hot-rank --skew 3 --json -q
json out 'd["ranks"][0]["tiles"] > 2 * d["ranks"][1]["tiles"]'
echo '[300, 0, 100, 624]' >counts.json
expect 0 simulate moe --hidden 512 --inter 256 --experts 4 --topk 1 --tokens 512 --ranks 2 --counts counts.json --json -q
json out 'd["routing"] == "given" and d["sent_bytes"] == 1024 * 512 * 2 / 2'
expect 0 simulate moe --preset deepseek-v3 --tokens 16 --ranks 512 --no-free-run --csv -q
[ "$(wc -l <out)" -eq 513 ] || fail "CSV of $(wc -l <out) lines, wanted 513"

# What cannot progress is an answer: no, and why.
expect 1 simulate moe --preset qwen3-30b --tokens 1K --schedule interleaved --lead 300 --ring 3 -q
err_has 'Linear-1 tile 0 of block 3 waits for Linear-2 tiles to leave pool slot 0'
one_sentence
expect 1 simulate moe --preset qwen3-30b --tokens 1K --schedule interleaved --lead 3 --producers 2 -q
err_has 'Linear-2 tile 0 of block 0 waits for Linear-1 tiles'
expect 3 simulate fa-a2a --preset flux1 --event-limit 50 -q
err_has 'the limit is 50'

# Described kernels.
expect 0 simulate "$tree/examples/traffic/gemm-reduce-scatter.json" --ranks 4 -q
out_has 'gemm + reduce-scatter epilogue'
expect 0 simulate "$tree/examples/traffic/kv-offload.json" --ranks 1 --profile h200-host --json -q -o kv.json
json kv.json 'd["kernel"] == "KV-cache offload to host" and d["shape"] is None and d["exposed_us"] < 0.02 * d["makespan_us"]'

# Mistakes.
expect 2 simulate
expect 2 simulate mo -q
err_has 'did you mean moe?'
expect 2 simulate fa-a2a -q
err_has '--heads is needed'
expect 2 simulate fa-a2a --preset flux1 --lead 3 -q
err_has '--lead does not go with fa-a2a; it belongs to moe'
expect 2 simulate moe --preset qwen3-30b --lead 3 -q
err_has '--lead and --group go with --schedule interleaved'
expect 2 simulate moe --preset qwen3-30b --ranks 300 -q
err_has 'neither at most experts (128) nor a multiple'
expect 2 simulate fa-a2a --preset flux1 --tile-rows 4096 -q
err_has 'no issue floor'
expect 0 simulate fa-a2a --preset flux1 --tile-rows 4096 -q -x
expect 2 simulate moe --preset qwen3-30b --dispersion -q
err_has 'does not know the groups of path peer/st16'
expect 2 simulate moe --preset qwen3-30b --bystanders -q
err_has 'Q_free'
expect 2 simulate fa-a2a --preset flux1 --tiles-only -q
err_has '--tiles-only does not go with fa-a2a'
expect 2 simulate moe --preset qwen3-30b --nic-gb-per-s 100 -q
err_has '--nic-gb-per-s goes with --domain'
expect 2 simulate moe --preset qwen3-30b --ranks 8 --domain 3 -q
err_has 'domain_ranks is 3'

# Around the tiles, and beyond one domain.
set -- --preset qwen3-30b --tokens 512 --ranks 8
expect 0 simulate moe "$@" --json=whole.json -q
expect 0 simulate moe "$@" --tiles-only --json=tiles.json -q
expect 0 simulate moe "$@" --domain 4 --nic-gb-per-s 50 --json=far.json -q
out_has 'domains of 4 ranks, 50 GB/s each way between them, 5.000 us of latency'
expect 0 simulate moe "$@" --domain 8 --json=near.json -q
python3 -c 'import json
whole, tiles, far, near = (json.load(open(name + ".json")) for name in ("whole", "tiles", "far", "near"))
assert abs(whole["makespan_us"] - whole["barrier_us"] - whole["combine_us"]) < 1e-6 and tiles["combine_us"] is None
assert whole["makespan_us"] > tiles["makespan_us"] + whole["combine_us"]
assert far["scale_out"] == {"domain_ranks": 4, "nic_gb_per_s": 50, "latency_us": 5} and near["scale_out"] is None
crossing = (far["sent_bytes"] + far["pulled_bytes"]) * 4 / 7 / 2
assert far["makespan_us"] > crossing / 50e3 and near["makespan_us"] == whole["makespan_us"]' || fail "what surrounds the tiles does not add up"
code=0
"$xstage" simulate moe "$@" --domain 4 --network simgrid --json=simgrid.json -q >out 2>err || code=$?
case $code in
0) python3 -c 'import json
assert abs(json.load(open("simgrid.json"))["scale_out"]["nic_gb_per_s"] / 400 - 1) < 0.02' || fail "SimGrid's one switch is not the builtin" ;;
77) err_has 'SimGrid is not installed' ;;
*) fail "exit $code: $(cat err)" ;;
esac
: >kept.svg
expect 2 simulate fa-a2a --preset flux1 -q --svg kept.svg
[ ! -s kept.svg ] || fail "an existing file was overwritten"
finish
