#!/usr/bin/env python3
"""Prints settings of cosma.distal that move the fewest bytes, for `--set`.

    distal run algorithms/cosma.distal --set $(algorithms/cosma_settings.py 4096 4096 4096 60 --memory 40000000)

`distal optimize` finds the grid, and the sequential steps that fit into the memory, for a matrix multiplication that
says nothing but its sizes and the number of processors. This script gives its answer the names of the params of
cosma.distal: gx, gy and gz cut i, j and k over the processors; steps cuts the sum of each processor; seqi and seqj cut
i and j where the memory asks for it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = """param ni = 1, nj = 1, nk = 1
machine M = {processors} processors
type {type}
tensor A(ni, nj) on M
tensor B(ni, nk) on M
tensor C(nk, nj) on M
A(i, j) = B(i, k) * C(k, j)
"""
GRID = {"i": "gx", "j": "gy", "k": "gz"}
STEPS = {"i": "seqi", "j": "seqj", "k": "steps"}


def found(options):
    """What `distal optimize` finds for the one statement."""
    sizes = f"ni={options.ni},nj={options.nj},nk={options.nk}"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "product.distal"
        program.write_text(PROGRAM.format(processors=options.processors, type=options.type), encoding="utf-8")
        words = [options.distal, "optimize", program, "--set", sizes, "--for", options.goal, "--json"]
        if options.memory:
            words += ["--memory", str(options.memory)]
        done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)  # it said why
    return json.loads(done.stdout)["statements"][0]


def settings(options, statement):
    """The params of cosma.distal by name."""
    values = {"ni": options.ni, "nj": options.nj, "nk": options.nk}
    values |= dict.fromkeys([*GRID.values(), *STEPS.values()], 1)
    for level in statement["grid"]:
        if level["index"]:
            values[GRID[level["index"]]] *= level["processors"]
    for loop in statement["loops"]:
        values[STEPS[loop["index"]]] = loop["steps"]
    return values


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in (("ni", "the rows of A"), ("nj", "the columns of A"), ("nk", "the terms of each sum"),
                       ("processors", "how many there are; a few of them may be left idle")):
        parser.add_argument(name, type=int, help=what)
    parser.add_argument("--memory", type=int, help="the most bytes that a processor may need")
    parser.add_argument("--type", default="double", help="the element type")
    parser.add_argument("--goal", default="bytes", choices=("bytes", "time"), help="what to find the best for")
    parser.add_argument("--distal", default=os.environ.get("DISTAL_BINARY", "distal"), help="the command to ask")
    return parser.parse_args(words)


def main():
    options = parse(sys.argv[1:])
    print(",".join(f"{name}={value}" for name, value in settings(options, found(options)).items()))


if __name__ == "__main__":
    main()
