#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Formats C and CUDA sources in place; with --check it only says which ones are not formatted. The style is that of
# clang-format 14: other versions lay some lines out differently, so the check is left out where 14 is not installed.
set -u
cd "$(dirname "$0")/.." || exit 1

tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
    echo "clang-format 14 is not installed; formatting is neither checked nor changed" >&2
    [ "${1:-}" = --check ] && exit 0
    exit 3
fi
mapfile -t files < <(find include src cli cuda tests examples bench -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort)
[ ${#files[@]} -gt 0 ] || exit 0
if [ "${1:-}" = --check ]; then
    "$tool" --dry-run -Werror --ferror-limit=1 "${files[@]}"
else
    "$tool" -i "${files[@]}"
fi
