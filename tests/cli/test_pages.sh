#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Man pages and completions come from the tables, name every command and option, and are accepted by their readers.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
build=$(dirname "$xstage")
docgen=$build/gen/xstage-docgen
[ -x "$docgen" ] || skip "no xstage-docgen in this build"
stored_profile

mkdir man
"$docgen" man man
"$docgen" bash completion.bash
"$docgen" zsh _xstage
for page in man/*.scd; do
    if command -v scdoc >/dev/null; then
        scdoc <"$page" >page.1 || fail "scdoc refuses $page"
    fi
done
"$xstage" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' | grep -v '^xstage$' >verbs
while read -r verb; do
    [ -e "man/xstage-$verb.1.scd" ] || fail "no page of $verb"
    "$xstage" "$verb" --help | sed -n 's/^  .*--\([a-z-]*\).*  .*/\1/p' | sort -u >options
    [ "$(wc -l <options)" -ge 10 ] || fail "few options of $verb"
    while read -r option; do
        grep -q -- "--$option" "man/xstage-$verb.1.scd" || fail "page of $verb lacks --$option"
        grep -q -- "--$option" completion.bash || fail "bash completion lacks --$option"
        grep -q -- "--$option" _xstage || fail "zsh completion lacks --$option"
    done <options
done <verbs

if command -v bash >/dev/null; then
    cat >complete.sh <<'END'
source ./completion.bash
t() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _xstage; echo "${COMPREPLY[*]}"; }
t xstage predi
t xstage predict --prod
t xstage predict --method b
t xstage predict --method = st1
t xstage list k
t xstage predict --profile h200x2-n
END
    PATH=$build:$PATH bash complete.sh >completed
    printf '%s\n' predict --producers bulk 'st16' kernels h200x2-nvlink >wanted
    cmp -s completed wanted || fail "bash completes: $(cat completed)"
fi
if command -v zsh >/dev/null; then
    zsh -n _xstage || fail "zsh refuses its completion"
fi
if "$docgen" man /no/such/folder 2>/dev/null; then
    fail "docgen into nowhere succeeds"
fi
finish
