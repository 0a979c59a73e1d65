#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Every mistake is one sentence with the nearest valid word, and the right exit code; outputs are whole or absent.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
stored_profile

# The tool itself.
expect 0 --help
out_has 'usage: xstage COMMAND'
expect 0 --version
out_has 'xstage 0.'
expect 2
expect 2 predcit
err_has 'unknown command predcit; did you mean predict?'
expect 2 --verison
one_sentence
expect 2 help nothing
expect 0 help predict
out_has 'Examples:'

# Every command has help that ends with examples, and refuses what it does not know.
"$xstage" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | grep -v '^xstage$' >verbs
[ "$(wc -l <verbs)" -ge 5 ] || fail "few commands: $(cat verbs)"
while read -r verb; do
    expect 0 "$verb" --help
    out_has "usage: xstage $verb"
    out_has 'Options of every command:'
    out_has 'Examples:'
    expect 0 "$verb" --version
    out_has 'xstage 0.'
    expect 2 "$verb" --no-such-option-at-all
    err_has "xstage $verb: unknown option --no-such-option-at-all"
    one_sentence
    expect 2 "$verb" --forec
    err_has 'did you mean --force?'
    expect 2 "$verb" --force=yes
    err_has '--force takes no value'
    expect 2 "$verb" --profile
    err_has '--profile needs a value'
    expect 2 "$verb" --seed=-1
    one_sentence
    expect 2 "$verb" -Z
    err_has 'unknown option -Z'
done <verbs

expect 2 predict --gap 3
err_has 'xstage predict: unknown option --gap; did you mean --gap-us?'
expect 2 predict --prod 3
err_has 'did you mean --producers?'
expect 2 predict -K 1 -B 1K --method blk
err_has 'did you mean bulk?'
cp home/profiles/h200x2-nvlink.json home/profiles/some-other.json
expect 2 predict -K 1 -B 1K --profile h200x2-nvlnk
err_has 'did you mean h200x2-nvlink?'
err_has 'hint: stored profiles: '
err_has 'h200x2-nvlink, '
rm home/profiles/some-other.json
expect 2 predict -K 1 -B
err_has '--bytes needs a value'
expect 0 predict -K132 -B32K -q
expect 0 predict -qK 132 --bytes 32K
expect 0 fit -q -- "$host"
expect 3 fit -q -- -odd-name.csv
err_has '-odd-name.csv: cannot open'

# A full disk and a closed pipe.
if [ -e /dev/full ]; then
    for words in 'predict -K 132 -B 32K -q' 'predict -K 1..132 -B 1K..32K:x2 --csv -q' 'predict -K 132 -B 1K --json -q' \
        'list shapes' 'info' '--help' '--version' 'fit --help'; do
        code=0
        # shellcheck disable=SC2086
        "$xstage" $words >/dev/full 2>err || code=$?
        [ "$code" -eq 3 ] || fail "xstage $words on a full disk: exit $code"
        err_has 'standard output: cannot write'
        one_sentence
    done
    expect 3 predict -K 132 -B 32K --csv=/dev/full -q
    err_has '/dev/full: cannot'
    expect 3 predict -K 132 -B 32K -o /dev/full -q
    expect 3 fit "$host" -o /dev/full -q
fi
{ { "$xstage" predict -K 1..132 -B 1K -G 0..1000 --csv -q 2>err; echo $? >code; } | head -n 1 >/dev/null; } || true
[ "$(cat code)" -eq 3 ] || fail "closed pipe: exit $(cat code)"
one_sentence

# Files that are not what they should be.
mkdir folder
expect 3 predict -K 1 -B 1K --profile ./folder
err_has 'is a directory'
expect 3 predict -K 1 -B 1K --profile ./missing.json
err_has 'missing.json: cannot open'
: >empty.json
expect 2 predict -K 1 -B 1K --profile ./empty.json
one_sentence
head -c 3000 home/profiles/h200x2-nvlink.json >cut.json
expect 2 predict -K 1 -B 1K --profile ./cut.json
one_sentence
sed 's|xstage.profile/1|xstage.profile/9|' home/profiles/h200x2-nvlink.json >new.json
expect 2 predict -K 1 -B 1K --profile ./new.json
one_sentence
if [ "$(id -u)" -ne 0 ]; then
    cp "$host" secret.csv
    chmod 000 secret.csv
    expect 3 fit secret.csv
    err_has 'secret.csv: cannot open'
fi
expect 3 predict -K 132 -B 32K -o folder -q
err_has 'is a directory'
echo mine >taken.csv
expect 2 predict -K 132 -B 32K --csv=taken.csv -q
err_has 'taken.csv: exists already'
[ "$(cat taken.csv)" = mine ] || fail "an existing file was touched"
expect 0 predict -K 132 -B 32K --csv=taken.csv -q --force
grep -q '^producers,' taken.csv || fail "--force did not write"

expect 2 predict -K 132 -B 32K --csv=same --json=same -q
err_has 'name the same file'
absent same
# Standard output closed: the profile is whole, and nothing printed lands in it.
code=0
"$xstage" fit "$host" -q -o closed.json >&- 2>err || code=$?
[ "$code" -eq 3 ] || fail "closed standard output: exit $code"
one_sentence
json closed.json 'd["schema"] == "xstage.profile/1"'

# Rows from other systems: CRLF, a byte-order mark, standard input.
sed 's/$/\r/' "$host" >crlf.csv
{ printf '\357\273\277'; cat "$host"; } >bom.csv
for file in crlf bom; do
    expect 0 fit $file.csv --facts "$tree/data/h200-host.json" --name host -o $file.json -q
done
expect 0 fit "$host" --name host -o plain.json -q
cmp -s crlf.json plain.json || fail "CRLF changes the profile"
cmp -s bom.json plain.json || fail "a byte-order mark changes the profile"
"$xstage" fit - --facts "$tree/data/h200-host.json" --name host -o stdin.json -q <"$host" >/dev/null || fail "standard input"
cmp -s stdin.json plain.json || fail "standard input changes the profile"
sed '3s/isolated/isolate/' "$host" >typo.csv
expect 2 fit typo.csv
err_has 'typo.csv:3'
one_sentence
sed '4s/[0-9.]*$/nan/' "$host" >nan.csv
expect 2 fit nan.csv
err_has 'nan.csv:4'

# Time runs out.
code=0
"$xstage" predict -K 1..132 -B 1..3000 -G 0..100 --csv -q --timeout 0.05 >/dev/null 2>err || code=$?
[ "$code" -eq 3 ] || fail "--timeout: exit $code"
err_has 'timeout'

# No colour codes where nobody sees them.
expect 0 fit "$host" -q
if grep -q "$(printf '\033')" out; then
    fail "colour codes in a file"
fi
finish
