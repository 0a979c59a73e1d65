#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks who includes whom. The tables below are the architecture: data walks one way, siblings never meet.

    base <- record <- {fit, model, sim, timeline, audit, planner, report, compare, machine, gpu} <- cli

A folder uses another folder's private headers only where PRIVATE says so; everything else goes through <xstage/...>.
usage: scripts/check_includes.py [TREE]      exit 1 and one line a violation when a rule is broken
"""
import pathlib
import re
import sys

# Folder of src/ -> the folders whose private headers it may include (its own is always allowed).
PRIVATE = {
    "base": [],
    "record": ["base"],
    "fit": ["base", "record"],
    "model": ["base", "record"],
    "sim": ["base", "record"],
    "timeline": ["base", "record"],
    "audit": ["base", "record"],
    "planner": ["base", "record"],
    "report": ["base", "record"],
    "compare": ["base", "record"],
    "group": ["base"],
    "gpu": ["base", "record", "device"],  # device: structs that kernels fill and the host reads
    "machine": ["base", "record", "gpu", "probes"],  # the one place where measuring meets driver and probes
}

# Public headers by rank: the nouns are for everybody above base, each verb for those named.
NOUNS = ["status", "text_file", "sample", "profile", "traffic", "timing", "plan", "trace", "shapes"]
ANY = ["*"]
PUBLIC = {
    "base": ["status"],
    "record": NOUNS,
    "model": NOUNS + ["model"],
    "fit": NOUNS + ["fit", "model"],  # validation compares the laws with the rows
    "sim": ["!model", "!fit", "!audit", "!planner"],  # a simulator that borrows the model's formulas proves nothing
    "timeline": ["!model", "!fit", "!audit", "!planner"],
    "group": ["status", "group"],
    "gpu": ["!model", "!fit", "!sim", "!audit", "!planner"],
    "machine": ["!model", "!fit", "!audit", "!planner"],
    "audit": ANY,
    "planner": ANY,
    "report": ANY,
    "compare": ANY,
}

# Named exceptions, (including file, included header): reason.
ALLOW = {
    ("src/machine/machine_sim.c", "xstage/model.h"): "reads T0 and Q off a profile's tables; the times are the simulator's",
    ("src/record/words.c", "xstage/fit.h"): "all X-macro word lists become text in one file, those of fit.h too",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".c", ".h", ".cu", ".cuh"}


def includes_of(path):
    """Yields (line number, '<' or '"', header)."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def public_allowed(folder, header):
    rules = PUBLIC.get(folder, ANY)
    if rules == ANY:
        return True
    if rules[0].startswith("!"):
        return "!" + header not in rules
    return header in rules


def src_problem(folder, quote, header):
    """Why a file of src/FOLDER may not include this header, or None."""
    public = re.fullmatch(r"xstage/(\w+)\.h", header)
    if public:
        if quote != "<":
            return f'public headers are written <{header}>'
        if not public_allowed(folder, public.group(1)):
            return f"src/{folder} must not include <{header}>"
        return None
    if quote == "<":
        return None  # a system header
    if "/" not in header:
        return f'private headers are written "{folder}/{header}", relative to src/'
    owner = header.split("/")[0]
    if owner != folder and owner not in PRIVATE.get(folder, []):
        return f'src/{folder} must not include the private header "{header}"; use <xstage/...>'
    return None


def cuda_problem(folder, quote, header):
    """Kernel folders know the nouns, the driver layer, cuda/device and themselves, never another kernel."""
    public = re.fullmatch(r"xstage/(\w+)\.h", header)
    if public:
        return None if quote == "<" else f"public headers are written <{header}>"
    if quote == "<":
        return None
    if "/" not in header:
        return f'private headers are written "{folder}/{header}", relative to cuda/ or src/'
    owner = header.split("/")[0]
    if owner not in {folder, "device", "base", "record", "gpu"}:
        return f'cuda/{folder} must not include "{header}"'
    if folder == "device" and owner != "device":
        return f'cuda/device stands alone and must not include "{header}"'
    return None


def outside_problem(path, quote, header, tree):
    """cli/, examples/ and bench/ see what a user sees: public headers, and headers of their own folder."""
    if header.startswith("xstage/"):
        return None if quote == "<" else f"public headers are written <{header}>"
    if quote == "<":
        return None
    if (path.parent / header).exists() or (tree / path.relative_to(tree).parts[0] / header).exists():
        return None
    return f'only <xstage/...> and headers of its own folder may be included, not "{header}"'


def public_problem(quote, header):
    """Public headers include public headers and the C standard library, nothing else."""
    if quote == '"':
        return f"write <{header}>"
    if header.startswith("xstage/") or re.fullmatch(r"(std\w+|string|math|float|limits|inttypes|time|complex)\.h", header):
        return None
    return f"<{header}> is neither public nor standard C"


def problems(tree):
    files = [p for top in ("src", "cli", "cuda", "include", "examples", "bench") for p in sorted((tree / top).rglob("*"))
             if p.suffix in SUFFIXES]
    for path in files:
        parts = path.relative_to(tree).parts
        name = path.relative_to(tree).as_posix()
        if parts[0] == "src" and len(parts) > 2 and parts[1] not in PRIVATE:
            yield f"{name}: folder src/{parts[1]} has no row in scripts/check_includes.py"
            continue
        for number, quote, header in includes_of(path):
            if (name, header) in ALLOW:
                continue
            if parts[0] == "src":
                problem = src_problem(parts[1], quote, header)
            elif parts[0] == "cuda":
                problem = cuda_problem(parts[1], quote, header)
            elif parts[0] == "include":
                problem = public_problem(quote, header)
            else:
                problem = outside_problem(path, quote, header, tree)
            if problem:
                yield f"{name}:{number}: {problem}"


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    found = list(problems(tree))
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
