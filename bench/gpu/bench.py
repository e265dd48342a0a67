#!/usr/bin/env python3
"""Compares emitted programs on a GPU with torch, where it is installed, with cuBLAS, and with what the hardware allows.

All are processes that wait for a line before each repetition, so that pairs alternate in one run. The first repetition
moves the data in, and is shown apart. tools/gpu starts this on the machine with the GPU; it ends with `N passed, N
failed`, by the goals in the table below.
"""

import argparse
import datetime
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

TORCH = Path(__file__).with_name("torch_peer.py")
FLAGS = "-ll:gpu 1 -ll:cpu 4 -ll:csize 2000 -ll:zsize 256 -ll:networks none -level gpu=6,threads=5".split()
CUBE = 1024
HOST_GOAL = 20e-6  # from the entry of a leaf's task to its last launch

# A kernel: the program and its params, the megabytes of GPU memory, torch's einsum and the shapes of its operands, the
# call of cuBLAS, the bytes and operations that no program can avoid, and the goals: by whom, whole and leaf alone.
KERNELS = [
    ("GEMM 16384, double", "gemm", "n={n}", 20000, "ik,kj->ij", ["nn", "nn"], "dgemm {n} {n} {n}",
     ("cublas", 0.93, 0.98)),
    ("GEMM 16384, float", "gemm_float", "n={n}", 10000, "ik,kj->ij", ["nn", "nn"], "sgemm {n} {n} {n}",
     ("cublas", 0.93, 0.98)),
    ("TTV 1024³", "ttv", "ni={c},nj={c},nk={c},gx=1,gy=1", 12000, "ijk,k->ij", ["ccc", "c"], "dgemv {cc} {c}",
     ("limit", 0.85, 0.93)),
    ("matrix-vector 32768²", "matvec", "ni={m},nj={m},gx=1,gy=1", 12000, "ij,j->i", ["mm", "m"], "dgemv {m} {m}",
     ("limit", 0.85, 0.93)),
    ("a*b+c 16384²", "fused", "n={n}", 12000, "", ["nn", "nn", "nn"], "", ("limit", 0.85, 0.93)),
    ("inner product 1024³", "innerprod", "ni={c},nj={c},nk={c},gx=1,gy=1", 20000, "ijk,ijk->", ["ccc", "ccc"],
     "ddot {ccc}", ("torch", 1.15, 1.3)),
    ("TTM 1024³×64", "ttm", "ni={c},nj={c},nk={c},nl=64,gx=1", 14000, "ijk,kl->ijl", ["ccc", "cl"], "dgemm {cc} 64 {c}",
     ("torch", 0.92, 0.97)),
    ("4-index contraction 64⁶", "contraction4", "ni={s},nj={s},nk={s},nl={s},nm={s},nn={s},gx=1,gy=1", 6000,
     "ikmn,mnjl->ijkl", ["ssss", "ssss"], "dgemm {ss} {ss} {ss}", ("torch", 0.92, 0.97)),
    ("MTTKRP 1024³, rank 64", "mttkrp", "ni={c},nj={c},nk={c},nl=64,gx=1,gy=1,gz=1", 14000, "ijk,jl,kl->il",
     ["ccc", "cl", "cl"], "", ("torch", 1.0, 1.25)),
]  # fmt: skip


class Peer:
    """A process that makes a repetition for each line of input."""

    def __init__(self, name, command, log):
        self.name = name
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=log, encoding="utf-8")

    def repeat(self, line="repeat"):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        for text in self.process.stdout:
            if text.startswith("{"):
                return json.loads(text)
        raise RuntimeError(f"{self.name} ended with status {self.process.wait()}")

    def finish(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        if self.process.wait() != 0:
            raise RuntimeError(f"{self.name} ended with status {self.process.returncode}")
        return rest


def sizes_of(scale):
    cube, side, rows, small = (max(8, int(x / scale)) for x in (CUBE, 16384, 32768, 64))
    return {"c": cube, "cc": cube**2, "ccc": cube**3, "n": side, "m": rows, "s": small, "ss": small**2}


def volume(shape, sizes):
    return math.prod(64 if letter == "l" else sizes[letter] for letter in shape)


def work_of(kernel, sizes):
    """The bytes of the operands and the result, each once, and the operations."""
    _, program, _, _, einsum, shapes, _, _ = kernel
    element = 4 if program == "gemm_float" else 8
    if not einsum:
        return element * 4 * sizes["n"] ** 2, 2 * sizes["n"] ** 2
    operands, result = einsum.split("->")
    extents = {}
    for letters, shape in zip(operands.split(","), shapes):
        extents.update({letter: volume(s, sizes) for letter, s in zip(letters, shape)})
    output = math.prod(extents[letter] for letter in result)
    points = math.prod(extents.values())
    # The other factors of a sum may be multiplied in smaller tensors: a point costs one multiplication and one
    # addition.
    return element * (sum(volume(s, sizes) for s in shapes) + output), 2 * points


class Bench:
    def __init__(self, options):
        self.options = options
        self.sizes = sizes_of(options.scale)
        self.log = (options.out / "bench.log").open("w", encoding="utf-8")
        self.copy_speed = self.flops = None
        self.rows, self.errors = [], []
        self.times = {}

    def peers_of(self, kernel):
        _, program, params, megabytes, einsum, shapes, cublas, _ = kernel
        reps = self.options.pairs + 1 + self.options.leaves
        out = [Peer("emitted", [self.options.folder / "programs", *FLAGS, "-ll:fsize", megabytes, "--program", program,
                                "--set", params.format(**self.sizes), "--reps", reps, "--paced"], self.log)]
        if self.options.torch:
            kind = "float" if program == "gemm_float" else "double"
            extents = ["x".join(str(volume(s, self.sizes)) for s in shape) for shape in shapes]
            out.append(Peer("torch", [self.options.torch, TORCH, kind, einsum or "fused", *extents], self.log))
        if cublas:
            out.append(Peer("cublas", [self.options.folder / "peers", *cublas.format(**self.sizes).split()], self.log))
        return out

    def measure(self, peers, pairs, leaves):
        """The seconds of each peer: the first repetition, the pairs, and the leaves alone."""
        out = {p.name: {"first": p.repeat()["seconds"], "whole": [], "leaf": [], "host": [], "tasks": 0} for p in peers}
        for _ in range(pairs):
            for p in peers:
                out[p.name]["whole"].append(p.repeat()["seconds"])
        for _ in range(leaves):
            for p in peers:
                got = p.repeat("leaves")
                out[p.name]["leaf"].append(got["leaf_seconds"])
                out[p.name]["host"].append(got.get("most_host_seconds", 0))
                out[p.name]["tasks"] = got.get("leaves", 0)
        return out

    def limits(self):
        copied = 8 * self.sizes["ccc"]
        copy = Peer("copy", [self.options.folder / "peers", "copy", copied], self.log)
        self.copy_speed = 2 * copied / statistics.median(self.measure([copy], 10, 0)["copy"]["whole"])
        copy.finish()

    def limit(self, kernel, seconds):
        """The seconds that memory allows, and for a matrix product those of cuBLAS's best."""
        moved, flops = work_of(kernel, self.sizes)
        if kernel[7][0] == "cublas":
            best = min(seconds["cublas"]["whole"])
            if kernel[1] == "gemm":
                self.flops = flops / best
            return best
        return max(moved / self.copy_speed, flops / self.flops if self.flops else 0)

    def run(self, kernel):
        peers = self.peers_of(kernel)
        seconds = self.measure(peers, self.options.pairs, self.options.leaves)
        rest = [p.finish() for p in peers][0]
        self.times[kernel[1]] = seconds
        (self.options.out / "times.json").write_text(json.dumps(self.times), encoding="utf-8")
        if "check  correct" not in rest:
            raise RuntimeError(f"the check says {rest.strip()}")
        self.rows.append((kernel, seconds, self.limit(kernel, seconds)))

    def run_all(self, only):
        self.limits()
        for kernel in KERNELS:
            if only and kernel[1] not in only:
                continue
            try:
                self.run(kernel)
                print(self.row(*self.rows[-1]), flush=True)
            except (RuntimeError, OSError) as error:
                self.errors.append(kernel[0])
                print(f"{kernel[0]}: FAIL  {error}", flush=True)

    # ---- the page ----

    def goals(self, kernel, seconds, limit):
        """(what, have, want) of a kernel. A goal whose peer is not here is left out."""
        by, whole, leaf = kernel[7]
        if by != "limit" and by not in seconds:
            return []
        ours = seconds["emitted"]

        def best(kind):
            return limit if by == "limit" else statistics.median(seconds[by][kind])

        out = [("whole", best("whole") / statistics.median(ours["whole"]), whole)]
        if ours["leaf"]:
            out.append(("leaf", best("leaf") / statistics.median(ours["leaf"]), leaf))
        return out

    def row(self, kernel, seconds, limit):
        def shown(name, kind):
            values = seconds.get(name, {}).get(kind)
            return f"{1000 * statistics.median(values):.3f}" if values else ""

        ours = seconds["emitted"]
        cells = [kernel[0], shown("emitted", "whole"), shown("torch", "whole"), shown("cublas", "whole"),
                 f"{1000 * limit:.3f}", shown("emitted", "leaf"), shown("torch", "leaf"), shown("cublas", "leaf"),
                 f"{1000 * ours['first']:.1f}", self.host_text(ours)]
        for what, have, want in self.goals(kernel, seconds, limit):
            cells.append(f"{have:.3f} of {kernel[7][0]}, goal {want}: {'met' if have >= want else '**missed**'}")
        return "| " + " | ".join(cells) + " |"

    @staticmethod
    def host_is_short(ours):
        return statistics.median(ours["host"]) <= HOST_GOAL

    def host_text(self, ours):
        if not ours["host"]:
            return ""
        return f"{1e6 * statistics.median(ours['host']):.0f}, {'met' if self.host_is_short(ours) else '**missed**'}"

    def passed(self):
        met = [have >= want for row in self.rows for _, have, want in self.goals(*row)]
        met += [self.host_is_short(seconds["emitted"]) for _, seconds, _ in self.rows if seconds["emitted"]["host"]]
        return sum(met), len(met) - sum(met) + len(self.errors)

    def page(self):
        head = ["kernel", "emitted", "torch", "cuBLAS", "limit", "leaf", "torch's", "cuBLAS's", "first", "host, µs",
                "whole", "leaf"]
        return "\n".join([
            "## Speed", "",
            f"Milliseconds, medians of {self.options.pairs} repetitions that alternate with the peers'.",
            "`emitted` is the whole repetition of an emitted program, `leaf` its leaves alone by events of the GPU,",
            "`first` its first repetition.",
            "`limit` is the bytes of operands and result, each once, at the speed of a copy",
            f"({self.copy_speed / 1e12:.2f} TB/s), or the operations at the speed of cuBLAS's largest product.",
            "`host` is the time from the entry of a leaf's task to its last launch, of the slowest leaf of a",
            f"repetition; the goal is {1e6 * HOST_GOAL:.0f} µs.", "",
            "| " + " | ".join(head) + " |", "| " + " | ".join(["---"] * len(head)) + " |",
            *(self.row(*r) for r in self.rows), ""])  # fmt: skip


def machine_text(torch):
    def output(*command):
        try:
            return subprocess.run(command, capture_output=True, encoding="utf-8", check=False).stdout.strip()
        except OSError:
            return ""

    gpu = output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()
    versions = output(torch, "-c", "import torch; print('torch', torch.__version__)") if torch else "no torch"
    return f"{gpu[0] if gpu else 'unknown GPU'}; {versions}"


def python_with_torch():
    done = subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True,
                          check=False)
    return sys.executable if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where tools/gpu unpacked the programs")
    parser.add_argument("--out", type=Path, required=True, help="for the page and the log")
    parser.add_argument("--only", nargs="*", help="programs to measure")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--leaves", type=int, default=5, help="repetitions in which the leaves are timed")
    parser.add_argument("--scale", type=float, default=1, help="divides the sizes, for a trial")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    options.torch = python_with_torch()
    bench = Bench(options)
    bench.run_all(options.only)
    text = "\n".join([
        "# Results: emitted Legion programs on a GPU", "",
        f"- machine: {machine_text(options.torch)}",
        "- command: `tools/gpu prepare`, then `tools/gpu run bench` on the machine with the GPU",
        f"- commit: {os.environ.get('GPU_COMMIT', 'not recorded')}",
        f"- date: {datetime.date.today()}", "", bench.page()])  # fmt: skip
    (options.out / "RESULTS.md").write_text(text, encoding="utf-8")
    print(text)
    passed, failed = bench.passed()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
