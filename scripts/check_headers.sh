#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every header stands alone. Public ones compile by themselves as C11 (gcc, clang), C++17 (g++, clang++) and under nvcc
# where that is installed, and all of them go together; private ones of src/ and cuda/ as C11.
set -u
cd "$(dirname "$0")/.." || exit 1

nvcc=${CUDACXX:-$(PATH="$PATH:/usr/local/cuda/bin" command -v nvcc || true)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check NAME COMMAND...: prints the compiler's words only when it objects.
check() {
    local name=$1
    shift
    if ! "$@" >"$work/words" 2>&1; then
        echo "$name does not compile alone: $*" >&2
        cat "$work/words" >&2
        failed=1
    fi
}

strict=(-Wall -Wextra -Werror -Iinclude -fsyntax-only)
for header in include/xstage/*.h; do
    [ -e "$header" ] || continue
    name=xstage/$(basename "$header")
    for suffix in c cc cu; do
        printf '#include <%s>\n' "$name" >"$work/alone.$suffix"
    done
    for compiler in gcc clang; do
        command -v "$compiler" >/dev/null && check "$name" "$compiler" -std=c11 -pedantic "${strict[@]}" "$work/alone.c"
    done
    for compiler in g++ clang++; do
        command -v "$compiler" >/dev/null && check "$name" "$compiler" -std=c++17 "${strict[@]}" "$work/alone.cc"
    done
    if [ -n "$nvcc" ]; then
        check "$name" "$nvcc" -std=c++17 -Iinclude -gencode=arch=compute_90a,code=sm_90a -fatbin -o "$work/alone.fatbin" "$work/alone.cu"
    fi
done

# All public headers in one program, forwards and backwards: no name is defined twice.
for order in sort 'sort -r'; do
    find include/xstage -name '*.h' | $order | sed 's|include/\(.*\)|#include <\1>|' | tee "$work/all.c" >"$work/all.cc"
    check "all public headers" gcc -std=c11 "${strict[@]}" "$work/all.c"
    if command -v g++ >/dev/null; then check "all public headers" g++ -std=c++17 "${strict[@]}" "$work/all.cc"; fi
done

while read -r header; do
    name=${header#*/}
    printf '#include "%s"\n' "$name" >"$work/alone.c"
    check "$header" gcc -std=c11 -D_GNU_SOURCE -DXST_VERSION='""' -Isrc -Icuda "${strict[@]}" "$work/alone.c"
done < <(find src cuda -name '*.h' | sort)
exit $failed
