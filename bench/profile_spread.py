#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far repeated calibrations of one machine are apart: median, lowest, highest and half spread of R, F, d, Q and T0.

usage: bench/profile_spread.py PROFILE.json...      one table per path; CSV on standard output
"""
import json
import statistics
import sys


def numbers(path):
    """(quantity, value) of one path of a profile."""
    for key in ("drain_bytes_per_us", "fence_us", "loop_us", "free_capacity_bytes"):
        measure = path.get(key)
        value = measure.get("value") if isinstance(measure, dict) else measure
        if value is not None:
            yield key, value
    for point in path.get("capacity") or []:
        yield f"capacity_bytes@{point['producers']}", point["bytes"]
    for point in path.get("release_capacity") or []:
        yield f"release_capacity_bytes@{point['producers']}", point["bytes"]
    for point in path.get("issue_floor") or []:
        if point["bytes_per_producer"] in (16384, 32768):
            yield f"issue_floor_us@{point['producers']}x{point['bytes_per_producer']}", point["us"]


def main():
    values = {}
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            profile = json.load(file)
        for path in profile["paths"]:
            for quantity, value in numbers(path):
                values.setdefault((path["target"], path["method"], quantity), []).append(value)
    print("target,method,quantity,n,median,low,high,half_spread_frac")
    for (target, method, quantity), found in sorted(values.items()):
        middle = statistics.median(found)
        half = (max(found) - min(found)) / 2 / middle if middle else 0
        print(f"{target},{method},{quantity},{len(found)},{middle:.6g},{min(found):.6g},{max(found):.6g},{half:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
