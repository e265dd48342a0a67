"""What bench.py compares emitted programs with: torch, in a process that makes a repetition for each line of input.

usage: torch_peer.py float|double EINSUM|fused SHAPE...    a shape is as 1024x64
"""

import json
import sys
import time

import torch


def work_of(einsum, operands):
    if einsum == "fused":
        return lambda: torch.addcmul(operands[2], operands[0], operands[1])
    return lambda: torch.einsum(einsum, *operands)


def main():
    kind = {"float": torch.float32, "double": torch.float64}[sys.argv[1]]
    torch.backends.cuda.matmul.allow_tf32 = False
    operands = [torch.rand([int(n) for n in shape.split("x")], dtype=kind, device="cuda") for shape in sys.argv[3:]]
    work = work_of(sys.argv[2], operands)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in sys.stdin:
        torch.cuda.synchronize()
        start = time.perf_counter()
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "leaf_seconds": begin.elapsed_time(end) / 1000}), flush=True)


if __name__ == "__main__":
    main()
