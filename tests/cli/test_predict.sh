#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage predict: table, CSV, JSON, sweeps, and honest nulls.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

expect 0 predict --producers 132 --bytes 32K --gap-us 0,4,8,12
out_has 'peer/st16 on h200x2-nvlink: R = 37'
out_has 'recovery_gap_us'
err_has 'profile h200x2-nvlink'
expect 0 predict -K 132 -B 32K -G 0,4,8,12 -q
[ ! -s err ] || fail "-q still prints: $(cat err)"

# One document whose rows have the keys other tools rely on.
expect 0 predict -K 132 -B 32K -G 0,4,8,12 --json -q
json out 'd["schema"] == "xstage.predict/1" and d["tool"] == "xstage" and d["time_utc"].endswith("Z") and len(d["rows"]) == 4'
json out 'set("producers bytes_per_producer gap_us burst_bytes issue_floor_us issue_us issue_aligned_us overhead_us period_us recovery_gap_us isolated_issue_us backlog_bytes capacity_bytes margin_rate_bytes margin_capacity_bytes completion_coupled_period_us".split()) <= set(d["rows"][0])'
json out 'd["rows"][0]["producers"] == 132 and d["rows"][0]["bytes_per_producer"] == 32768 and d["rows"][3]["gap_us"] == 12'
json out '10.7 < d["rows"][0]["recovery_gap_us"] < 11.3'
json out 'd["rows"][3]["period_us"] == max(d["rows"][3]["drain_us"], d["rows"][3]["issue_floor_us"] + 12) or abs(d["rows"][3]["period_us"] - 12 - d["rows"][3]["issue_floor_us"]) < 1e-6'
json out 'd["rows"][0]["margin_rate_bytes"] < 0 < d["rows"][3]["margin_rate_bytes"]'

# CSV has the same names and numbers.
expect 0 predict -K 132 -B 32K -G 0,4,8,12 --csv -q --json=doc.json
python3 - <<'END' || fail "CSV and JSON differ"
import csv, json
rows = list(csv.DictReader(open("out")))
document = json.load(open("doc.json"))["rows"]
assert len(rows) == len(document) == 4
for a, b in zip(rows, document):
    assert list(a) == list(b)
    for key, value in b.items():
        if value is None:
            assert a[key] == ""
        elif not isinstance(value, (bool, str)):
            assert float(a[key]) == value, key
END
expect 0 predict -K 132 -B 32K -o rows.csv -q
[ ! -s out ] || fail "-o still prints rows"
grep -q '^producers,bytes_per_producer,gap_us,' rows.csv || fail "-o is no CSV"
expect 0 predict -K 132 -B 32K -o rows.json --json -q
json rows.json 'len(d["rows"]) == 1'

# Sweeps: order, ends, steps, factors.
expect 0 predict -K 16,32,48..64:16 -B 1K..4K:x2 -G 0..1:0.5 --csv -q
[ "$(wc -l <out)" -eq 37 ] || fail "4 x 3 x 3 points make $(wc -l <out) lines"
[ "$(sed -n 2p out | cut -d, -f1-3)" = 16,1024,0 ] || fail "first row: $(sed -n 2p out)"
[ "$(sed -n 37p out | cut -d, -f1-3)" = 64,4096,1 ] || fail "last row: $(sed -n 37p out)"
[ "$(sed -n 3p out | cut -d, -f3)" = 0.5 ] || fail "gap runs fastest: $(sed -n 3p out)"

# Outside the valid range: null with the reason, an answer only when asked for, and then marked.
expect 0 predict -K 200 -B 32K -q
out_has '--extrapolate may answer'
expect 0 predict -K 200 -B 32K --json -q
json out 'd["rows"][0]["issue_us"] is None and d["rows"][0]["reason"] and d["rows"][0]["drain_us"] > 0'
expect 0 predict -K 200 -B 32K --json -q --extrapolate
json out 'd["rows"][0]["issue_us"] > 0 and d["rows"][0]["extrapolated"] is True and d["rows"][0]["reason"] is None'

# Bulk stores show their release; other paths by option; loop time joins the gap.
expect 0 predict -K 132 -B 32K --method bulk -q
out_has 'release_us'
expect 0 predict -K 132 -B 16K --direction both -q
out_has 'peer-bidir/st16'
expect 0 predict -K 132 -B 16K -G 20 --loop-us 0.5 --json -q
json out 'd["rows"][0]["gap_us"] == 20 and abs(d["rows"][0]["period_us"] - 20.5 - d["rows"][0]["issue_floor_us"]) < 1e-6'
expect 2 predict -K 132 -B 16K --target host -q
err_has 'has no path host/st16'
err_has 'hint: it has peer/st16'

# Wrong use.
for words in '-K 132' '-B 1K' '-K 0 -B 1K' '-K 1 -B 1K -G -1' '-K 1 -B 1K..' '-K 1 -B ,' '-K 1 -B 1Q' '-K 9..1 -B 1K' \
    '-K 1 -B 1K..4K:x1' '-K 1..3:0 -B 1K' '-K 1.5 -B 1K' '-K 1 -B nan' '-K 1 -B 1e400' '-K 1..100000 -B 1..100000' \
    '-K 1 -B 1 -G 0..1:0.000000001' '-K 1 -B 1K --method st8' '-K 1 -B 1K --threads 0' '-K 1 -B 1K extra'; do
    # shellcheck disable=SC2086
    expect 2 predict $words -q
    one_sentence
done
expect 2 predict -K 132 -B 1Q -q
err_has "--bytes: '1Q' is not an integer"
expect 2 predict -K 0..2 -B 1K -q
err_has 'is outside 1..'
expect 2 predict -K 132 -B 1..20000
err_has 'too many for a table'
expect 2 predict -K 132 -B 32K --json --csv -q
err_has 'both want standard output'
finish
