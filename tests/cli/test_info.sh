#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage info and list; where profiles are looked for.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

expect 0 info
out_has 'build'
out_has 'h200x2-nvlink'
expect 0 info --json
json out 'd["schema"] == "xstage.info/1" and d["cores"] >= 1 and "h200x2-nvlink" in d["profiles"]'
json out 'd["gpu"]["available"] in (True, False) and (d["gpu"]["available"] or d["gpu"]["reason"])'
expect 2 info --csv
one_sentence

expect 0 list profiles
out_has 'h200x2-nvlink'
expect 0 list profiles --csv
head -n 1 out | grep -q '^name,' || fail "CSV header: $(head -n 1 out)"
expect 0 list profiles --json
json out '[p for p in d["profiles"] if p["name"] == "h200x2-nvlink"][0]["drain_bytes_per_us"] > 3e5'
expect 0 list kernels
out_has 'fa-a2a'
out_has 'moe'
expect 0 list shapes --json
json out '[s["heads"] for s in d["attention"] if s["seq"] == 4608 and s["heads"] == 24] and len(d["moe"]) > 3'
expect 2 list profile
err_has 'did you mean profiles?'
expect 2 list

# -o takes what is printed; what exists is kept.
expect 0 list kernels -o kernels.txt
[ ! -s out ] || fail "-o still prints: $(cat out)"
grep -q 'fa-a2a' kernels.txt || fail "-o has no table: $(cat kernels.txt)"
expect 2 list kernels -o kernels.txt
one_sentence
expect 0 list kernels --csv -o kernels.csv
head -n 1 kernels.csv | grep -q '^name,' || fail "-o with --csv: $(cat kernels.csv)"
expect 0 info --json -o info.json
json info.json 'd["schema"] == "xstage.info/1"'
expect 2 list nothing -o none.txt
absent none.txt

# A profile that cannot be read is listed with its problem, and does not stop the others.
echo '{' >home/profiles/broken.json
expect 0 list profiles
out_has 'unreadable'
out_has '2 x NVIDIA H200'
rm home/profiles/broken.json

# Order of the folders: XSTAGE_DATA_DIR before XDG_DATA_HOME; without either, neither.
mkdir -p xdg/xstage/profiles
"$xstage" fit "$host" -q -o xdg/xstage/profiles/h200x2-nvlink.json >/dev/null
cp xdg/xstage/profiles/h200x2-nvlink.json xdg/xstage/profiles/second.json
XDG_DATA_HOME=$scratch/xdg
expect 0 predict -K 132 -B 16K -q
out_has 'peer/st16'
expect 0 predict -K 132 -B 16K -q --profile second
out_has 'host/st16'
unset XSTAGE_DATA_DIR
expect 0 predict -K 132 -B 16K -q
out_has 'host/st16'
# A file in the folder one stands in wins over a stored name.
cp home/profiles/h200x2-nvlink.json second
expect 0 predict -K 132 -B 16K -q --profile second
out_has 'peer/st16'
finish
