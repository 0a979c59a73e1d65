#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs on the host: xstage.torch.attention, the operator alone, and the C call it ends in; and
the same of FusedMoE, whose call is two launches.

usage: bench/torch_overhead.py [--json FILE] [--calls 200] [--rounds 15]
Times are host times of one enqueued call, medians over rounds, variants in rotated order; the shape is so small that
the device keeps up. Needs PyTorch, a Hopper GPU and the package (PYTHONPATH=python, XSTAGE_LIB=build/libxstage.so).
"""

import argparse
import json
import statistics
import sys
import time

import torch

import xstage
from xstage.torch import FusedMoE, UlyssesAttention, attention
from xstage.torch._attention import kernels_of, prepare_alone, stream_of
from xstage.torch._layer import layer_of


def moe_variants(dtype, name):
    """A layer's module beside the two C calls it ends in."""
    matrices = [torch.randn(4, 128, 128, device="cuda").mul(0.1).bfloat16() for _ in range(3)]
    module = FusedMoE(*matrices, dtype=dtype, topk=2, tokens_most=16)
    x, weights = torch.randn(16, 128, device="cuda", dtype=torch.bfloat16), torch.rand(16, 2, device="cuda")
    ids = torch.randint(0, 4, (16, 2), device="cuda")
    out = module(x, ids, weights)
    module.check()
    layer = layer_of(module.layer)
    call_ref, tokens_ref, diag_ref = layer.references
    order, stream = layer.orders[module.order], stream_of(x.device.index)

    def c_calls():
        layer.call.y = out.data_ptr()  # the module's calls had others
        layer.bring(layer.kernels, call_ref, tokens_ref, stream, diag_ref)
        layer.launches[True](layer.kernels, call_ref, order, stream, diag_ref)

    return {f"{name}_c_calls": c_calls, f"{name}_module": lambda: module(x, ids, weights)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    q, k, v = (torch.randn(1, 64, 2, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    views = [x.transpose(1, 2) for x in (q, k, v)]
    out, index = torch.empty_like(q), q.device.index
    kernels = kernels_of(index)
    prepared = prepare_alone(kernels, q, k, v, -1, 0.125)
    prepared.out[0] = out.data_ptr()
    call_ref, choice_ref, diag_ref = prepared.references
    module, stream = UlyssesAttention(), stream_of(index)
    variants = {
        "c_call": lambda: kernels.launch(kernels.handle, call_ref, choice_ref, stream, diag_ref),
        "operator": lambda: torch.ops.xstage.attention(q, k, v, -1, 0.125),
        "function": lambda: attention(q, k, v),
        "module": lambda: module(q, k, v),
        "torch_sdpa": lambda: torch.nn.functional.scaled_dot_product_attention(*views),
        **moe_variants(torch.bfloat16, "moe"),
        **moe_variants(torch.float8_e4m3fn, "moe_e4m3"),
    }
    times = {name: [] for name in variants}
    names = list(variants)
    with torch.inference_mode():
        for round_number in range(args.rounds + 2):
            for name in names[round_number % len(names) :] + names[: round_number % len(names)]:
                run = variants[name]
                torch.cuda.synchronize()
                start = time.perf_counter()
                for _ in range(args.calls):
                    run()
                took = (time.perf_counter() - start) * 1e6 / args.calls
                if round_number >= 2:
                    times[name].append(took)
    rows, base = [], 0.0
    for name, values in times.items():
        median = statistics.median(values)
        base = median if name.endswith(("c_call", "c_calls")) else base  # each C call stands before what calls it
        rows.append(
            {
                "variant": name,
                "median_us": round(median, 2),
                "min_us": round(min(values), 2),
                "max_us": round(max(values), 2),
                "n": len(values),
                "over_c_call_us": round(median - base, 2),
            }
        )
        print(f"{name:16s} {median:7.2f} us on the host, {median - base:+7.2f} over the C call")
    if args.json:
        facts = {
            "device": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "python": sys.version.split()[0],
            "version": xstage.version(),
        }
        document = {
            "schema": "xstage.bench/1",
            "tool": "torch_overhead.py",
            "argv": sys.argv[1:],
            "kernel": "python-call",
            "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "facts": facts,
            "rows": rows,
        }
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
