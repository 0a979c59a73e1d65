#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# xstage report: what it needs, what it writes, and how it complains.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

stored_profile

expect 0 report "$bursts" "$rows" -o page.html --svg figures --json=report.json
[ -s page.html ] || fail "no page"
[ "$(find figures -type f | wc -l)" -eq 6 ] || fail "not six figures: $(ls figures)"
json report.json 'd["schema"] == "xstage.report/1" and d["figures"] == 6 and len(d["profiles"]) == 1'

expect 2 report "$bursts" "$rows" -o page.html
one_sentence
err_has "page.html"

# A stored profile alone, twice, and to standard output.
expect 0 report --profile h200x2-nvlink -o -
out_has "<!doctype html>"
expect 0 report -p h200x2-nvlink -p h200x2-nvlink --title 'a <b> & "c"' -o two.html
grep -qF '<h1>a &lt;b&gt; &amp; &quot;c&quot;</h1>' two.html || fail "the title is not escaped"
grep -qF 'id="section-2"' two.html || fail "no second section"

# A synthetic or foreign audit on the page.
printf '{"schema": "xstage.audit/1", "kernel": "mine", "verdict": "piggyback"}' >audit.json
expect 0 report --audit audit.json --audit audit.json -o audit.html
[ "$(grep -c 'verdict good' audit.html)" -eq 2 ] || fail "not two audits"

expect 2 report -o none.html
one_sentence
err_has "nothing to report"
absent none.html
expect 2 report "$bursts"
err_has "-o PAGE or --svg DIR is needed"
expect 2 report --audit "$bursts" -o bad.html
one_sentence
err_has "h200x2-bursts.csv"
absent bad.html
printf '{"schema": "xstage.audit/9"}' >new.json
expect 2 report --audit new.json -o bad.html
err_has "xstage.audit/9"
absent bad.html
expect 3 report --audit missing.json -o bad.html
one_sentence
absent bad.html
expect 3 report --profile h200x2-nvlink -f -o /dev/full
one_sentence

finish
