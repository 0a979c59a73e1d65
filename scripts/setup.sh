#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, and nothing when nothing is.
#   scripts/setup.sh build    what `make` and `make demo` need
#   scripts/setup.sh test     that, and what `make test lint san fuzz` need (the default)
# Debian 12 or a relative of it: as root, else through sudo. Elsewhere it says what to install.
set -euo pipefail

level=${1:-test}
case $level in
build | test) ;;
*)
    echo "usage: $0 [build|test]" >&2
    exit 2
    ;;
esac

has_command() { command -v "$1" >/dev/null 2>&1; }
has_module() { has_command pkg-config && pkg-config --exists "$1"; }
has_python() { [ -x /usr/bin/python3 ] && /usr/bin/python3 -c "import $1" >/dev/null 2>&1; }
has_libc() { has_command gcc && echo '#include <stdio.h>' | gcc -E - >/dev/null 2>&1; }
has_header() { has_command gcc && echo "#include <$1>" | gcc -E - >/dev/null 2>&1; }
has_fuzzer() { has_command clang && compgen -G "$(clang -print-resource-dir)/lib/*/libclang_rt.fuzzer*" >/dev/null; }

# One line a package: group, Debian package, the test that says it is there.
packages() {
    cat <<'LIST'
compiler and build tools|gcc|has_command gcc
compiler and build tools|libc6-dev|has_libc
compiler and build tools|make|has_command make
compiler and build tools|cmake|has_command cmake
compiler and build tools|pkg-config|has_command pkg-config
libraries|libjansson-dev|has_module jansson
libraries|libsmartcols-dev|has_module smartcols
libraries|libxxhash-dev|has_module libxxhash
libraries|librandom123-dev|has_header Random123/philox.h
man pages|scdoc|has_command scdoc
LIST
    [ "$level" = test ] || return 0
    cat <<'LIST'
tests|g++|has_command g++
tests|libcmocka-dev|has_module cmocka
tests|python3|has_command python3
tests|python3-pytest|has_python pytest
tests|python3-hypothesis|has_python hypothesis
tests|openmpi-bin|has_command mpirun
tests|python3-numpy|has_python numpy
tests|python3-pip|has_python pip
tests|python3-setuptools|has_python setuptools
tests|python3-wheel|has_python wheel
lint and fuzzing|clang|has_command clang
lint and fuzzing|libclang-rt-dev|has_fuzzer
lint and fuzzing|clang-format|has_command clang-format
lint and fuzzing|clang-tidy|has_command clang-tidy
lint and fuzzing|shellcheck|has_command shellcheck
LIST
}

# Missing packages by group, in the order of the list.
missing=()
groups=()
declare -A of_group=()
while IFS='|' read -r group package present; do
    $present && continue
    missing+=("$package")
    [ -n "${of_group[$group]:-}" ] || groups+=("$group")
    of_group[$group]+=" $package"
done < <(packages)

[ ${#missing[@]} -gt 0 ] || exit 0
for group in "${groups[@]}"; do
    echo "setup: $group missing:${of_group[$group]}"
done

as_root=()
if ! has_command apt-get; then
    echo "setup: this is no Debian; install the equivalents of: ${missing[*]}" >&2
    exit 3
elif [ "$(id -u)" -ne 0 ]; then
    if ! has_command sudo; then
        echo "setup: not root and no sudo; as root run: apt-get install ${missing[*]}" >&2
        exit 3
    fi
    as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null; then
        cat "$log" >&2
        echo "setup: apt-get $1 failed" >&2
        exit 3
    fi
}
echo "setup: installing ${#missing[@]} packages from Debian"
apt update
apt install -y --no-install-recommends "${missing[@]}"

while IFS='|' read -r group package present; do
    if ! $present; then
        echo "setup: $package was installed and still does not work ($present)" >&2
        exit 3
    fi
done < <(packages)
