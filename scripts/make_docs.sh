#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the generator and turns its man pages into roff.
# usage: scripts/make_docs.sh XSTAGE-DOCGEN BUILD-FOLDER
set -eu
docgen=$1
build=$2
source=$(cd "$(dirname "$0")/.." && pwd)

rm -rf "$build/man" "$build/completions"
mkdir -p "$build/man" "$build/completions"
"$docgen" man "$build/man"
"$docgen" bash "$build/completions/xstage"
"$docgen" zsh "$build/completions/_xstage"

# The pages carry the date of the last commit, so that a second build gives the same bytes.
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct 2>/dev/null || stat -c %Y "$source/CHANGELOG.md")
fi
export SOURCE_DATE_EPOCH
if command -v scdoc >/dev/null; then
    for page in "$build"/man/*.scd; do
        name=$(basename "$page" .scd)
        scdoc <"$page" >"$build/man/${name%.1}.1"
    done
else
    echo "scdoc is missing, so the man pages stay in source form: run 'make setup'"
fi
touch "$build/man/made"
