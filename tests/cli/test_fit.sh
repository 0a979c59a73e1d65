#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage fit: the profile, the account of the rows, validation, and what is refused.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Facts are found beside the samples; the same rows give the same bytes.
expect 0 fit "$bursts" "$rows" -o one.json
out_has 'R         37'
out_has 'HELD_OUT'
err_has 'machine facts from'
expect 0 fit "$bursts" "$rows" -o sub.json --name one --json=fit.json
expect 0 fit "$bursts" "$rows" -o one2.json --name one -q
[ ! -s err ] || fail "-q still prints: $(cat err)"
cmp -s one2.json one.json || fail "two fits differ"
cmp -s sub.json one.json || fail "--json changes the profile"
json one.json 'd["schema"] == "xstage.profile/1" and d["machine"]["device"] == "NVIDIA H200"'
json one.json '368e3 < [p for p in d["paths"] if p["target"] == "peer" and p["method"] == "st16"][0]["drain_bytes_per_us"]["value"] < 376e3'
json one.json '"time_utc" not in d and "argv" not in d'
json fit.json 'd["schema"] == "xstage.fit/1" and d["tool"] == "xstage" and d["argv"][1] == "fit" and d["validation"] is None'
json fit.json 'd["fit"]["rows"] == d["fit"]["rows_used"] + d["fit"]["rows_excluded"]'
json fit.json 'sum(d["fit"]["excluded_by_reason"].values()) == d["fit"]["rows_excluded"]'
json fit.json 'd["profile"]["id"] == json.load(open("one.json"))["id"]'

# Facts by hand, and none at all.
cp "$bursts" lonely.csv
expect 0 fit lonely.csv
err_has 'no machine facts'
err_has 'nothing written'
expect 0 fit lonely.csv --facts "$tree/data/h200x2.json" -q
out_has '2 x NVIDIA H200'
# A profile beside the samples is no facts file, so a second fit equals the first.
expect 0 fit lonely.csv -o lonely.json
mv lonely.json first.json
cp first.json lonely.json
expect 0 fit lonely.csv -o lonely2.json --name lonely
cmp -s first.json lonely2.json || fail "a profile beside the samples was taken for facts"

# Every row not used is listed with its reason.
expect 0 fit "$host" --excluded -q
out_has 'Rows that served no parameter'
out_has 'h200-host-bursts.csv:'
expect 0 fit "$host" --excluded --json -q
json out 'len(d["fit"]["excluded"]) == d["fit"]["rows_excluded"] and all(e["reason"] and e["line"] > 1 for e in d["fit"]["excluded"])'

# Validation: with the fit, and of a stored profile.
expect 0 fit --validate "$bursts" "$rows" --json -q
json out 'all(k in d["validation"][0] for k in "target direction method threads quantity model rows held_out n median_abs_rel_err p90_abs_rel_err max_abs_rel_err bias".split())'
json out 'any(v["quantity"] == "period" and v["model"] == "completion_coupled" for v in d["validation"])'
json out '[v for v in d["validation"] if (v["target"], v["direction"], v["method"], v["threads"], v["piece_bytes"], v["quantity"], v["model"], v["rows"], v["held_out"]) == ("peer", "one", "st16", 256, 0, "period", "law", "free", False)][0]["median_abs_rel_err"] < 0.02'
expect 0 fit --validate "$bursts" --profile one.json
out_has 'Validation'
expect 0 fit --validate "$bursts" --profile one.json --csv -q
head -n 1 out | grep -q '^target,direction,method,threads,' || fail "CSV header: $(head -n 1 out)"

# Refusals: nothing is half done.
expect 2 fit "$bursts" -o one.json
err_has 'one.json: exists already'
one_sentence
expect 0 fit "$bursts" "$rows" -o one.json --force
expect 2 fit
one_sentence
expect 2 fit "$bursts" --profile one.json
one_sentence
expect 2 fit "$bursts" --csv
one_sentence
expect 3 fit missing.csv -o new.json
err_has 'missing.csv: cannot open'
absent new.json
expect 3 fit "$scratch" -o new.json
err_has 'is a directory'
absent new.json
expect 3 fit "$bursts" -q -o no/such/folder/new.json
one_sentence
printf 'mode,target\n' >bad.csv
expect 2 fit bad.csv -o new.json
one_sentence
absent new.json
: >empty.csv
expect 2 fit empty.csv -o new.json
one_sentence
absent new.json
finish
