#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage compare: nothing moved, something got worse, something got better, different machines.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile
profile=home/profiles/h200x2-nvlink.json

# edit FILE STATEMENT: a copy of the profile with one change, under the id that the complaint about the old one names.
edit()
{
    python3 - "$profile" "$1" "$2" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
path = [p for p in d["paths"] if (p["target"], p["direction"], p["method"], p["threads"], p["piece_bytes"]) == ("peer", "one", "st16", 256, 0)][0]
def scale(measure, factor):
    for key in ("value", "low", "high"):
        measure[key] *= factor
exec(sys.argv[3])
json.dump(d, open(sys.argv[2], "w"))
END
    expect 2 compare "$1" "$1"
    err_has 'edited by hand'
    old=$(sed -n 's/.*id is "\([0-9a-f]*\)".*/\1/p' err)
    new=$(sed -n 's/.*hashes to "\([0-9a-f]*\)".*/\1/p' err)
    sed -i "s/$old/$new/" "$1"
}

expect 0 compare h200x2-nvlink $profile
out_has 'no regression'
expect 0 compare h200x2-nvlink h200x2-nvlink --json
json out 'd["schema"] == "xstage.compare/1" and d["regression"] is False and d["same_machine"] is True'
json out 'd["counts"]["worse"] == d["counts"]["better"] == d["counts"]["removed"] == d["counts"]["added"] == 0 < d["counts"]["same"]'

edit slow.json 'scale(path["drain_bytes_per_us"], 0.9)'
expect 1 compare h200x2-nvlink slow.json
out_has 'worse'
out_has 'regression'
expect 1 compare h200x2-nvlink slow.json --json
json out 'd["regression"] is True and [(r["path"], r["parameter"]) for r in d["rows"] if r["verdict"] == "worse"] == [("peer/st16", "drain_bytes_per_us")]'
json out 'abs([r for r in d["rows"] if r["verdict"] == "worse"][0]["change_frac"] + 0.1) < 1e-6'
expect 0 compare slow.json h200x2-nvlink
out_has 'better'
expect 0 compare h200x2-nvlink slow.json --noise 0.2
expect 1 compare h200x2-nvlink slow.json --noise 0.2 --noise-drain-frac 0.01

edit floor.json 'path["issue_floor"][-1]["us"] *= 1.5'
expect 1 compare h200x2-nvlink floor.json --csv
grep -q 'peer/st16.*issue_floor.*worse' out || fail "a longer floor is worse: $(cat out)"
edit small.json 'c = path["capacity"][-1]
for key in ("bytes", "low", "high"): c[key] *= 0.5'
expect 1 compare h200x2-nvlink small.json
edit gone.json 'path["fence_us"] = None; path["intervals"].pop("fence_us")'
expect 0 compare h200x2-nvlink gone.json --json
json out 'd["counts"]["removed"] == 1'

"$xstage" fit "$host" -q -o home/profiles/host.json >/dev/null
expect 2 compare h200x2-nvlink host
out_has 'different machines'
err_has 'have no parameter in common'
expect 2 compare h200x2-nvlink host --json
json out 'd["regression"] is None and d["same_machine"] is False'

expect 2 compare h200x2-nvlink
one_sentence
expect 2 compare h200x2-nvlink host host
one_sentence
expect 2 compare h200x2-nvlink hst
err_has 'did you mean host?'
expect 2 compare h200x2-nvlink host --noise -1
one_sentence
finish
