#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage audit: verdicts and exit codes, documents, sweeps, files, and mistakes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# With the machine's facts: the audit needs the SM count and the peak rate.
"$xstage" fit "$bursts" "$rows" --facts "$tree/data/h200x2.json" -q -o home/profiles/h200x2-nvlink.json >/dev/null
"$xstage" fit "$host" "$tree/data/h200-host-bystander.csv" --facts "$tree/data/h200-host.json" -q \
    -o home/profiles/h200-host.json >/dev/null
cp "$tree/profiles/paper-148sm.json" home/profiles/

# FLUX.1 with plain stores fails when bursts start together; the document says by how much and what to do.
expect 1 audit fa-a2a --heads 24 --head-dim 128 --seq 4608 --ranks 2 --profile h200x2-nvlink
out_has 'reshape: 132 producers x 32 KiB (st16)'
out_has 'what to change, best first:'
out_has 'cut the burst from 32 KiB to 18 KiB per producer: predicted issue 0.2'
out_has 'use bulk stores: issue 0.2'
expect 1 audit fa-a2a --heads 24 --head-dim 128 --seq 4608 --ranks 2 --json -q
json out 'd["schema"] == "xstage.audit/1" and d["kernel"] == "fa-a2a" and d["verdict"] == "reshape" and d["argv"][1] == "audit"'
json out 'd["m_upper_bound"] == 1280 and d["rate"]["holds"] is True and d["capacity"]["holds"] is False'
json out 'd["bystander"] == {"holds": None, "delay_us": None} and d["drifting"]["verdict"] == "piggyback"'
json out 'all({"what", "from", "to", "predicted_issue_us"} <= set(a) for a in d["actions"]) and len(d["actions"]) >= 3'
json out '10.7 < d["numbers"]["recovery_gap_us"] < 11.3 and d["numbers"]["burst_bytes"] == 132 * 32768'
json out 'd["profile"]["name"] == "h200x2-nvlink" and len(d["profile"]["id"]) == 16 and d["shape"]["seq"] == 4608'

# Bulk stores, and a stated spread, hold.
expect 0 audit fa-a2a --preset flux1 --method bulk --attention-tflops 645 -q
out_has 'piggyback: '
out_has 'At 645 TFLOP/s the gap is'
expect 0 audit fa-a2a --preset flux1 --phase shifted -q
out_has 'only because the design spreads its bursts'
expect 1 audit fa-a2a --preset flux1 --brief -q
[ "$(wc -l <out)" -eq 2 ] || fail "--brief prints $(wc -l <out) lines"

# The wave fails, interleaving is the first thing to do.
expect 1 audit moe --hidden 2048 --inter 768 --experts 128 --topk 8 --tokens 4096 --ranks 2 --lead 100 -q
out_has 'recommended schedule: interleaved'
out_has 'Linear-2 tiles starve in steady state'
expect 1 audit moe --preset qwen3-30b --json -q
json out 'd["recommended_schedule"] == "interleaved" and d["lead_knee_tiles"] > 0 and len(d["schedules"]) == 2'
json out 'd["actions"][0]["what"] == "schedule" and d["actions"][0]["to"] == "interleaved"'
expect 0 audit moe --preset qwen3-30b --schedule interleaved -q

# Several shapes: one row each, an array in JSON.
expect 1 audit fa-a2a --preset flux1,sd3-medium --ranks 2,4 --json=many.json -q
[ "$(wc -l <out)" -eq 5 ] || fail "a table of $(wc -l <out) lines, wanted 5"
json many.json 'len(d["audits"]) == 4 and [a["verdict"] for a in d["audits"]] == ["reshape", "reshape", "piggyback", "piggyback"]'
json many.json '[a["shape"]["ranks"] for a in d["audits"]] == [2, 4, 2, 4] and "verdict" not in d'
expect 1 audit moe --preset qwen3-30b --tokens 1K..4K:x2 --csv -q
[ "$(wc -l <out)" -eq 4 ] || fail "CSV of $(wc -l <out) lines, wanted 4"

# Traffic files, from anywhere.
expect 1 audit "$tree/examples/traffic/gemm-reduce-scatter.json" -q
expect 0 audit "$tree/examples/traffic/kv-offload.json" --profile h200-host --json -q -o kv.json
json kv.json 'd["kernel"] == "KV-cache offload to host" and d["bystander"]["holds"] is True and d["shape"] is None'
"$xstage" audit - --profile h200-host -q <"$tree/examples/traffic/kv-offload.json" >out 2>err || fail "no audit of standard input"

# Bystanders that wait are named, with the remedy.
printf '%s' '{"schema":"xstage.traffic/1","kernel":"k","target":"host","method":"st16","producers":132,"bytes_per_producer":16384,"gap_us":200}' >host.json
expect 0 audit host.json --profile h200-host -q
out_has 'Local loads wait up to 3'
out_has 'issue the tile in 8 slices of 2 KiB'

# What the profile cannot tell is null with a reason; --extrapolate answers and marks it.
expect 0 audit fa-a2a --heads 24 --head-dim 128 --seq 4608 --profile paper-148sm --peak-tflops 2000 -q
expect 2 audit fa-a2a --heads 24 --head-dim 64 --seq 4608 --profile paper-148sm --peak-tflops 2000 --json
json out 'd["verdict"] is None and d["rate"]["holds"] is None and "no issue floor" in d["reason"]'
err_has '--extrapolate'
expect 0 audit fa-a2a --heads 24 --head-dim 64 --seq 4608 --profile paper-148sm --peak-tflops 2000 --json -x
json out 'd["verdict"] == "piggyback" and d["extrapolated"] is True'
expect 2 audit fa-a2a --heads 24 --head-dim 128 --seq 4608 --profile paper-148sm -q
err_has 'give --peak-tflops'

# Mistakes.
expect 2 audit
expect 2 audit fa-a2 -q
err_has 'did you mean fa-a2a?'
expect 2 audit fa-a2a -q
err_has '--heads is needed'
expect 2 audit fa-a2a --preset flux -q
err_has 'did you mean "flux1"?'
expect 2 audit fa-a2a --preset flux1 --hidden 3 -q
err_has '--hidden does not go with fa-a2a; it belongs to moe'
expect 2 audit host.json --ranks 3 -q
err_has '--ranks does not go with a traffic file'
expect 2 audit fa-a2a --preset flux1 --ranks 1 -q
err_has 'nothing leaves the device'
one_sentence
expect 2 audit fa-a2a --preset flux1 --profile h200-host -q
err_has 'has no path peer/st16'
expect 2 audit fa-a2a moe -q
err_has 'one argument too many'
sed 's/gap_us/gap_usec/' host.json >bad.json
expect 2 audit bad.json --profile h200-host -q -o bad-out.json
err_has 'bad.json: key "gap_usec" is not known; did you mean "gap_us"?'
one_sentence
absent bad-out.json
expect 3 audit missing.json -q
expect 3 audit ./home -q
err_has 'is a directory'
: >kept.json
expect 2 audit fa-a2a --preset flux1 -q -o kept.json
[ ! -s kept.json ] || fail "an existing file was overwritten"
expect 1 audit fa-a2a --preset flux1 -q -o kept.json --force
json kept.json 'd["schema"] == "xstage.audit/1"'

# the other ranks' outputs in mapped host memory, on a profile of that path
expect 1 audit fa-a2a --preset flux1 --target host --profile h200-host -q --json=host-target.json
json host-target.json 'd["traffic"]["target"] == "host" and d["m_upper_bound"] > 4096'
expect 2 audit host.json --target host -q
err_has '--target does not go with a traffic file'

# a recorded run against what the kernel promises
trace=$tree/data/h200x2-fa-a2a-trace.json
expect 0 audit fa-a2a --trace "$trace" -q
out_has 'every promise of the traffic description is kept'
expect 0 audit fa-a2a --trace "$trace" -q --json=run.json
json run.json 'd["schema"] == "xstage.audit_trace/1" and d["holds"] is True and d["facts"]["seq"] == 2048'
json run.json 'len({c["observed"] for c in d["checks"] if c["what"] == "remote_bytes"}) == 1'
json run.json 'all(c["observed"] > 0 for c in d["checks"] if c["what"] == "bytes_before_last_tile")'
sed '0,/"bytes":16384/s//"bytes":16128/' "$trace" >less.json
expect 1 audit fa-a2a --trace less.json -q
out_has 'did not do what its traffic description promises'
moe_trace=$tree/data/h200-moe-trace.json
expect 0 audit moe --trace "$moe_trace" --profile h200-host -q --json=moe.json
json moe.json 'd["kernel"] == "moe" and d["holds"] is True and len({c["variant"] for c in d["checks"]}) == 4'
json moe.json 'all(c["holds"] for c in d["checks"] if c["kind"] != "prediction")'
json moe.json '{c["observed"] for c in d["checks"] if c["what"] == "remote_bytes"} == {524288}'
sed '0,/"bytes":[0-9]*/s//"bytes":512/' "$moe_trace" >less.json
expect 1 audit moe --trace less.json -q
expect 2 audit moe --trace "$moe_trace" --lead 3 -q
err_has '--lead does not go with --trace: the trace says what ran'
expect 2 audit fa-a2a --trace "$moe_trace" -q
err_has 'it is of kernel moe, not of fa-a2a'
expect 2 audit fa-a2a --trace "$trace" --heads 24 -q
err_has '--heads does not go with --trace: the trace says what ran'
expect 2 audit moe --trace "$trace" -q
err_has 'it is of kernel fa-a2a, not of moe'
expect 2 audit mine.json --trace "$trace" -q
err_has '--trace does not go with a traffic file'
expect 2 audit fa-a2a --trace kept.json -q
err_has 'xstage.trace'
one_sentence
finish
