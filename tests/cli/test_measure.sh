#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measuring a synthetic machine from the command line: rows, files, mistakes, interruption; calibrate end to end.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

sim=sim:producers=32,drain=100GB/s,per-producer=20KiB,floor=50GB/s,fence=2us,free=100KiB

# A table, CSV that reads back, JSON.
expect 0 measure --machine "$sim" -K 1,32 -B 16K -G 0,5 --target peer
out_has 'synthetic'
out_has 'issue_mean_us'
expect 0 measure --machine "$sim" -K 8,32 -B 16K,32K --mode isolated --csv
cp out isolated.csv
[ "$(wc -l <isolated.csv)" -eq 5 ] || fail "4 rows were wanted: $(cat isolated.csv)"
expect 0 fit isolated.csv
expect 0 measure --machine "$sim" -K 32 -B 16K --json
json out 'd["schema"] == "xstage.measure/1" and len(d["rows"]) == 1 and d["facts"]["origin"] == "synthetic"'
expect 0 measure --machine "$sim" --probe bystander -K 32 -B 0,16K --delay-us 0,1 --csv
out_has 'op_us_mean'

# The same seed gives the same rows; a stored profile is a machine.
noisy=$sim,noise=0.1,spread=0.3
expect 0 measure --machine "$noisy" -K 32 -B 32K --csv
cp out first
expect 0 measure --machine "$noisy" -K 32 -B 32K --csv
cmp -s out first || fail "the same seed gave other rows"
expect 0 measure --machine sim:h200x2-nvlink -K 132 -B 32K --csv
out_has 'periodic,peer,st16'

# Files: rows and facts, never overwritten in silence.
expect 0 measure --machine "$sim" -K 32 -B 16K -G 0,5 -o rows.csv --per-producer -q
[ "$(wc -l <rows.csv)" -eq 3 ] || fail "rows.csv: $(cat rows.csv)"
[ "$(wc -l <rows-per-producer.csv)" -eq 65 ] || fail "rows-per-producer.csv has $(wc -l <rows-per-producer.csv) lines"
json rows.json 'd["origin"] == "synthetic" and d["readings"]["cells"] == 2'
expect 2 measure --machine "$sim" -K 32 -B 16K -o rows.csv
err_has 'exists already'
one_sentence
expect 0 measure --machine "$sim" -K 32 -B 16K -o rows.csv --force -q

# Several devices: a row for each sender, columns that say who sends where; a fit leaves them out and says so.
many=$sim,devices=4
expect 0 measure --machine "$many" -K 32 -B 32K --senders 1..3 --all-to-all --all-peers -o many.csv -q
[ "$(wc -l <many.csv)" -eq 12 ] || fail "many.csv: $(cat many.csv)"
head -n 1 many.csv | grep -q 'total_us,flow,senders,sender,receiver$' || fail "many.csv: $(head -n 1 many.csv)"
json many.json 'd["readings"]["cells"] == 5 and d["note"] and "of 4 devices" in d["note"]'
expect 0 measure --machine "$many" -K 32 -B 16K --pairs --csv
[ "$(wc -l <out)" -eq 13 ] || fail "12 pairs were wanted: $(cat out)"
expect 0 measure --machine sim:h200x2-nvlink,devices=3 -K 132 -B 32K --pairs --all-peers --csv
[ "$(grep -c ',spread,1,[012],-1$' out)" -eq 3 ] || fail "three senders were wanted: $(cat out)"
expect 2 measure --machine sim:h200x2-nvlink,drain=3 -K 132 -B 32K
err_has "the stored machine's own"
expect 2 measure --machine sim:,devices=4 -K 132 -B 32K
err_has "a profile's name or KEY=VALUE"
expect 2 measure --machine "$many" -K 32 -B 32K --senders 4
err_has 'at most 3 send to one'
one_sentence
expect 2 fit many.csv
err_has 'make no path'
expect 2 report many.csv -o none.html
err_has '--profile names a fitted machine'
expect 0 measure --machine "$many" -K 1,16,24,32 -B 8K,16K,32K -o plain.csv -q
expect 0 fit plain.csv many.csv --excluded
out_has 'FLOW: several senders or receivers'
expect 0 report plain.csv many.csv -o many.html --svg many-svg -q
[ -s many-svg/peer-senders.svg ] || fail "no figure of R against senders"

# Mistakes.
expect 2 measure --machine "$sim" -K 32
err_has '--bytes is needed'
expect 2 measure --machine "$sim" -K 33 -B 16K
err_has 'producers is 33'
one_sentence
expect 2 measure --machine "$sim" -K 32 -B 100
err_has 'not a multiple of 16'
expect 2 measure --machine simm:x -K 1 -B 1K
err_has 'did you mean "sim"?'
expect 2 measure --machine sim:drian=1 -K 1 -B 1K
err_has 'the nearest is "drain"'
expect 77 measure --machine "$sim" -K 32 -B 16K --target local
one_sentence
expect 2 measure --machine "$sim" -K 32 -B 16K --per-producer
err_has 'add -o'

# --timeout keeps the complete rows and says so.
expect 3 measure --machine "$sim" -K 1..32 -B 1K..64K:x2 -G 0..50:1 --reps 50 --timeout 0.3 -o late.csv
err_has 'their rows are complete'
[ "$(wc -l <late.csv)" -ge 2 ] || fail "late.csv: $(wc -l <late.csv) lines"
absent late.csv.part

# Without a GPU the device answers 77 and the reason; with one this is the device tests' business.
code=0
"$xstage" measure --machine cuda -K 1 -B 1K >out 2>err || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 77 ] || fail "measure --machine cuda: exit $code: $(cat err)"

# Measure, fit, validate in one step.
expect 0 calibrate --machine "$sim" -o made -q
out_has '(synthetic'
for file in profile.json report.html samples.csv; do
    [ -s "made/$file" ] || fail "calibrate left no $file"
done
expect 0 calibrate --machine "$many" -o made4
err_has 'of device 0 to device 1, of 4 devices'
json made/profile.json 'abs(d["paths"][0]["drain_bytes_per_us"]["value"] / 100e3 - 1) < 0.02'
expect 2 calibrate --machine "$sim" -o made
err_has 'exists already'

finish
