#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage compare on benchmark records: matching of cells, the noise, the verdict, mistakes.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

# record FILE ST16_US MAX_US GROUPS: two cells of one shape, one of another, one without a time.
record()
{
    cat >"$1" <<END
{"schema": "xstage.bench/1", "tool": "xstage", "version": "0.1.0", "argv": [], "time_utc": "2026-11-30T00:00:00Z",
 "kernel": "fa-a2a", "facts": {"driver": "1.2", "devices": [{"name": "made up"}]}, "rows": [
 {"preset": null, "target": "peer", "p": 2, "seq": 1024, "variant": "fa_only", "groups": $4, "median_us": 100.0, "min_us": 99.0,
  "max_us": 101.0, "tflops": 3.5, "n": 7},
 {"preset": null, "target": "peer", "p": 2, "seq": 1024, "variant": "fused_st16", "groups": $4, "median_us": $2, "min_us": $2,
  "max_us": $3, "n": 7},
 {"preset": "flux1", "target": "peer", "p": 2, "seq": 4608, "variant": "fused_st16", "groups": $4, "median_us": 200.0, "n": 7},
 {"preset": null, "target": "peer", "p": 2, "seq": 2048, "variant": "fa_only", "median_us": null}]}
END
}
record a.json 100.0 100.0 2
record b.json 102.9 102.9 3
record c.json 105.0 105.0 2
record d.json 105.0 140.0 2
record e.json 90.0 90.0 2

expect 0 compare a.json a.json
out_has 'no regression'
out_has 'made up, driver 1.2'
expect 0 compare a.json b.json --json
json out 'd["kind"] == "bench" and d["counts"] == {"same": 3, "better": 0, "worse": 0, "removed": 0, "added": 0}'
json out 'd["rows"][0]["cell"] == "fa_only peer p=2 seq=1024" and abs(d["rows"][1]["change_frac"] - 0.029) < 1e-12'
expect 1 compare a.json c.json
out_has 'regression'
out_has 'fused_st16 peer p=2 seq=1024'
expect 0 compare a.json c.json --noise-time-frac 0.06
expect 0 compare a.json c.json --noise 0.06
expect 1 compare a.json d.json # its slowest round is slower still: no excuse
expect 0 compare d.json a.json # but a spread that reaches down to the other value is
expect 0 compare a.json e.json --csv
out_has 'better'

# Cells of one record only; none in common.
python3 - <<'END'
import json
d = json.load(open("a.json"))
d["rows"] = d["rows"][:1]
json.dump(d, open("one.json", "w"))
d["rows"][0]["seq"] = 9
json.dump(d, open("other.json", "w"))
d["kernel"] = "moe"
json.dump(d, open("moe.json", "w"))
d["kernel"] = "fa-a2a"
d["rows"][0]["median_us"] = -1
json.dump(d, open("negative.json", "w"))
d["rows"][0] = {"median_us": 1.0}
json.dump(d, open("nameless.json", "w"))
d["schema"] = "xstage.bench/2"
json.dump(d, open("newer.json", "w"))
del d["rows"]
d["schema"] = "xstage.bench/1"
json.dump(d, open("rowless.json", "w"))
END
expect 0 compare a.json one.json --json
json out 'd["counts"]["removed"] == 2 and d["counts"]["same"] == 1'
expect 2 compare one.json other.json
err_has 'no cell in common'

# A record from before rows said their type and unit has the cells of a newer one; other types are other cells.
python3 - <<'END'
import json
d = json.load(open("a.json"))
for row in d["rows"]:
    row.update(dtype="bf16", unit=1)
json.dump(d, open("said.json", "w"))
d["rows"][0]["dtype"], d["rows"][1]["unit"] = "e4m3", 8
json.dump(d, open("changed.json", "w"))
END
expect 0 compare a.json said.json --json
json out 'd["counts"] == {"same": 3, "better": 0, "worse": 0, "removed": 0, "added": 0}'
expect 0 compare a.json changed.json --json
json out 'd["counts"] == {"same": 1, "better": 0, "worse": 0, "removed": 2, "added": 2}'

# Mistakes.
for pair in 'moe.json:one of moe' 'negative.json:median_us' 'nameless.json:names no variant' 'newer.json:xstage.bench/2' \
    'rowless.json:rows' 'h200x2-nvlink:h200x2-nvlink'; do
    code=0
    "$xstage" compare a.json "${pair%%:*}" >out 2>err </dev/null || code=$?
    [ "$code" -ge 2 ] || fail "compare a.json ${pair%%:*}: exit $code"
    err_has "${pair#*:}"
    one_sentence
done
# The records in the tree compare with themselves.
for record in "$tree"/bench/results/*.json; do
    expect 0 compare "$record" "$record" -q
done
finish
