#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fit --dispersion: the fluid stands beside the laws and is judged on rows that served nothing.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

expect 0 fit "$host" --dispersion --validate --json -o host.json
json out 'all(p["groups"] is not None and p["share_spread_burst"] is not None for p in d["profile"]["paths"] if p["method"] == "st16")'
json out 'any(v["model"] == "fluid" and v["held_out"] and v["n"] > 0 and v["target"] == "host" for v in d["validation"])'
expect 0 fit "$host" --dispersion -q -o again.json --name host
cmp host.json again.json || fail "the same rows and seed give the same bytes"
expect 0 fit "$host" -q -o plain.json
json plain.json 'all(p["groups"] is None and "record_bytes" not in p and "turn_us" not in p for p in d["paths"])'
json host.json 'all(0 <= p["record_bytes"] <= 1050 and 0.2 < p["turn_us"] < 0.22 for p in d["paths"] if p["groups"] is not None and p["method"] == "st16")'
expect 0 fit --validate "$host" --profile host.json --json
json out 'any(v["model"] == "fluid" for v in d["validation"])'
expect 2 fit --validate "$host" --profile host.json --dispersion
finish
