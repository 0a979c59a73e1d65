#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage compare --with: R held against the rates of nvbandwidth and nccl-tests. The documents are made up in their formats.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

cat >nvbandwidth.json <<'END'
{"nvbandwidth": {"CUDA Runtime Version": 13000, "testcases": [
 {"name": "device_to_device_memcpy_write_ce", "status": "Passed",
  "bandwidth_matrix": [["N/A", "396"], ["394", "N/A"]], "sum": 790.0},
 {"name": "device_to_host_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["55.6", "55.4"]], "sum": 111.0},
 {"name": "host_to_device_memcpy_ce", "status": "Passed", "bandwidth_matrix": [["55.6", "55.4"]], "sum": 111.0},
 {"name": "device_to_device_memcpy_read_ce", "status": "Waived"}]}}
END
expect 0 compare h200x2-nvlink --with nvbandwidth.json --json
json out 'd["kind"] == "rates" and len(d["rows"]) == 2 and d["rows"][0]["rate_bytes_per_us"] == 395e3'
json out 'abs(d["rows"][0]["drain_over_rate"] - d["rows"][0]["drain_bytes_per_us"] / 395e3) < 1e-6'
json out 'd["rows"][1]["target"] == "host" and d["rows"][1]["drain_bytes_per_us"] is None'
expect 0 compare h200x2-nvlink --with nvbandwidth.json
out_has '395.0 GB/s'

cat >nccl.json <<'END'
{"config": {}, "results": [{"size": 1024, "out_of_place": {"time": 1.0, "alg_bw": 1.0, "bus_bw": 1.0}},
 {"size": 1048576, "out_of_place": {"time": 1.0, "alg_bw": 200.0, "bus_bw": 350.0}}]}
END
expect 0 compare h200x2-nvlink --with nccl.json --csv
out_has '350000'

# Mistakes.
expect 2 compare h200x2-nvlink
err_has 'two profiles are needed'
one_sentence
expect 2 compare h200x2-nvlink h200x2-nvlink --with nccl.json
err_has '--with takes one profile'
expect 2 compare h200x2-nvlink --with home/profiles/h200x2-nvlink.json
err_has 'neither the JSON of nvbandwidth'
echo '{"nvbandwidth": {"testcases": []}}' >empty.json
expect 2 compare h200x2-nvlink --with empty.json
err_has 'no passed copy'
echo '{"nvbandwidth": {"testcases": [' >cut.json
expect 2 compare h200x2-nvlink --with cut.json
one_sentence
expect 3 compare h200x2-nvlink --with absent.json
one_sentence
finish
