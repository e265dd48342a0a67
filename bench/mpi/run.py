#!/usr/bin/env python3
"""Measures DISTAL on MPI ranks beside its peers and the limit of the machine. See README.md."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import cases
import report
from measure import MPIRUN, MPIRUN_ON_CORES, Competitor, Results, run_once, run_rounds, run_with_memory, say

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PEERS = {"ScaLAPACK": "scalapack_gemm", "COSMA": "cosma_gemm", "CTF": "ctf_kernels", "BLAS": "blas_kernels"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="the build folder")
    parser.add_argument("--peers", type=Path, help="the folder of the peers' drivers")
    parser.add_argument("--sizes", default="2048,4096,8192", help="the sizes of square matrices")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--close", type=int, default=0, metavar="ROUNDS", help="further rounds of each GEMM for the "
                        "competitors that a target compares: the best algorithm, rows, given, bound, aligned, alone, "
                        "COSMA, limit and BLAS")
    parser.add_argument("--reps", type=int, default=3, help="timed runs of a program in a round; the best time counts")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the comparisons whose title matches")
    parser.add_argument("--who", default="", metavar="REGEX", help="only the competitors whose name matches, such as "
                        "'summa|rows|limit'")
    parser.add_argument("--network", action="store_true", help="measure on an emulated network, too; needs root")
    parser.add_argument("--keep", type=Path, metavar="FILE",
                        help="keep measurements in FILE, and do not repeat those that are in it")
    parser.add_argument("--note", help="a note for the readers of the report")
    parser.add_argument("--output", type=Path, help="a file for the report")
    options = parser.parse_args()
    options.sizes = [int(word) for word in options.sizes.split(",")]
    options.ranks = [int(word) for word in options.ranks.split(",")]
    options.cores = len(os.sched_getaffinity(0))
    return options


def runs_with_warm_up(options):
    """DISTAL's --reps: one run more than the peers' REPS, whose drivers run once before they time."""
    return options.reps + 1


def distal(options, program, settings, ranks, env=None):
    command = [options.build / "distal", "run", program, "--set", settings, "--engine", "mpi", "--ranks", ranks,
               "--threads", 1, "--reps", runs_with_warm_up(options), "--json"]
    return Competitor(command, env or {})


def algorithm(name):
    return ROOT / "algorithms" / f"{name}.distal"


def one_process(options, program, settings):
    """DISTAL on all cores as one processor."""
    command = [options.build / "distal", "run", program, "--set", settings, "--threads", options.cores,
               "--reps", runs_with_warm_up(options), "--json"]
    return Competitor(command)


def driver(options, peer):
    path = options.peers / PEERS[peer] if options.peers else None
    return path if path and path.exists() else None


def peer_competitor(options, name, ranks, *words, **env):
    threads = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "REPS": str(options.reps)}
    return Competitor([*MPIRUN, ranks, driver(options, name), *words], {**threads, **env})


def gemm_peers(options, n, ranks):
    rows, columns = cases.grid_2d(ranks)
    found = {}
    if driver(options, "ScaLAPACK"):
        found["ScaLAPACK"] = peer_competitor(options, "ScaLAPACK", ranks, n, rows, columns, cases.SCALAPACK_BLOCK)
    if driver(options, "COSMA"):
        found["COSMA"] = peer_competitor(options, "COSMA", ranks, n, COSMA_OVERLAP_COMM_AND_COMP="OFF")
    if driver(options, "CTF"):
        found["CTF"] = peer_competitor(options, "CTF", ranks, "gemm", n)
    return found


def one_process_gemm(options, shape):
    """The limit: one GEMM on all cores, in one process."""
    settings = f"{shape.settings()},gx=1,gy=1,chunk={shape.k}"
    return one_process(options, algorithm("summa"), settings)


def direct_blas(options, n):
    threads = str(options.cores)
    env = {"OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "REPS": str(options.reps)}
    return Competitor([driver(options, "BLAS"), "gemm", n], env)


def distal_gemm(options, name, shape, ranks, env=None):
    settings = f"{shape.settings()},{cases.grid_settings(name, shape, ranks)}"
    return distal(options, algorithm(name), settings, ranks, env)


def distal_gemms(options, shape, ranks):
    return {name: distal_gemm(options, name, shape, ranks) for name in cases.ALGORITHMS}


def application(options, shape, ranks, *memory):
    """bound.cpp: rows.distal as an application. `memory` says where its matrices lie."""
    words = [options.build / "bench" / "bench_mpi_bound", shape.m, shape.n, shape.k, options.reps, *memory]
    return Competitor([*MPIRUN, ranks, *words])


def gemm(options, shape, ranks):
    """The competitors of a GEMM. The peers, `cyclic` and BLAS take part in square shapes only."""
    out = {"limit": one_process_gemm(options, shape), **distal_gemms(options, shape, ranks)}
    out["rows"] = distal(options, HERE / "rows.distal", f"{shape.settings()},g={ranks}", ranks)
    out["given"] = application(options, shape, ranks, "given")
    out["bound"] = application(options, shape, ranks)
    out["aligned"] = application(options, shape, ranks, 2 << 20)
    out["alone"] = distal(options, HERE / "alone.distal", cases.alone_settings(shape, ranks), ranks)
    if shape.m == shape.n == shape.k:
        settings = f"{shape.settings()},{cases.cyclic_settings(ranks)}"
        out["cyclic"] = distal(options, algorithm("scalapack"), settings, ranks)
        out.update(gemm_peers(options, shape.m, ranks))
        if driver(options, "BLAS"):
            out["BLAS"] = direct_blas(options, shape.m)
    return out


def weak_scaling(options):
    """The same work for each rank, for each number of ranks."""
    shapes = {ranks: cases.Shape("weak", 2048 * ranks, 2048, 2048) for ranks in (1, 2, 4)}
    return {f"{ranks}": distal(options, HERE / "rows.distal", f"{shape.settings()},g={ranks}", ranks)
            for ranks, shape in shapes.items()}


def tensor(options, kernel, ranks):
    n = cases.TENSOR_EXTENT
    settings = f"ni={n},nj={n},nk={n},{cases.tensor_settings(kernel, ranks)}"
    program = HERE / "ttm.distal" if kernel == "ttm" else algorithm(kernel)
    out = {"DISTAL": distal(options, program, settings, ranks)}
    if driver(options, "CTF"):
        out["CTF"] = peer_competitor(options, "CTF", ranks, kernel, n, cases.TENSOR_RANK)
    if kernel in cases.TENSORS_READ:
        read = 8 * n**3 * cases.TENSORS_READ[kernel]
        out["reading"] = Competitor([options.build / "bench" / "bench_mpi_read", read, options.reps])
    return out


def matvec(options, ranks):
    size = "ni=8192,nj=8192"
    return {
        "one process": one_process(options, algorithm("matvec"), f"{size},gx=1,gy=1"),
        "matched": distal(options, algorithm("matvec"), f"{size},gx={ranks},gy=1", ranks),
        "mismatched": distal(options, HERE / "mismatched.distal", f"{size},g={ranks}", ranks),
    }


def memory(options):
    shape = cases.square(8192)
    own = {f"{name}, own memory": distal_gemm(options, name, shape, 4, {"DISTAL_MPI_SHARED": "0"})
           for name in ("summa", "cannon")}
    return {**distal_gemms(options, shape, 4), **own, **gemm_peers(options, 8192, 4)}


def network_program(options, start, settings):
    return Competitor([*start, options.build / "distal-mpi", "run", HERE / "network.distal", "--set", settings,
                       "--engine", "mpi", "--threads", 1, "--reps", options.reps, "--json"])


def on_network(options, settings, ranks):
    """One rank per node of the emulated network."""
    return network_program(options, [HERE / "network.sh", "run", ranks], settings)


def on_one_node(options, settings, ranks):
    """All ranks on one node, each on the core that its node of the network would have."""
    return network_program(options, [*MPIRUN_ON_CORES, ranks], settings)


def link_rate(compute, ranks, share):
    """The rate of a link in Mbit/s at which a rank receives its elements of C in `share` of its computing time."""
    bits = 8 * 8 * cases.NETWORK_TERMS * cases.NETWORK_COLUMNS
    return int(bits * (ranks - 1) / ranks / (share * run_once(compute)["seconds_min"]) / 1e6)


def measure_network(options, results, title, ranks, share):
    """Measures at the link rate at which communication takes `share` of the computing time."""
    if results.rounds(title) >= options.rounds:
        return
    rows, terms = cases.NETWORK_ROWS * ranks, cases.NETWORK_TERMS
    settings = f"nj={cases.NETWORK_COLUMNS},nk={terms},g={ranks},chunk={terms // cases.NETWORK_STEPS}"
    compute = on_one_node(options, f"ni={rows},{settings}", ranks)
    rate = link_rate(compute, ranks, share)
    subprocess.run([HERE / "network.sh", "up", str(ranks), f"{rate}mbit"], check=True)
    competitors = {
        "compute alone": compute,
        "communication alone": on_network(options, f"ni={ranks},{settings}", ranks),
        "run": on_network(options, f"ni={rows},{settings}", ranks),
    }
    try:
        run_rounds(results, title, competitors, options.rounds, lambda c: {**run_once(c), "mbit": rate})
    finally:
        subprocess.run([HERE / "network.sh", "down"], check=True)


def comparisons(options):
    """The title and the competitors of each comparison."""
    for n in options.sizes:
        for ranks in options.ranks:
            yield report.gemm_title(cases.square(n), ranks), gemm(options, cases.square(n), ranks)
    for shape in cases.long_shapes(options.sizes):
        for ranks in options.ranks:
            yield report.gemm_title(shape, ranks), gemm(options, shape, ranks)
    yield report.WEAK, weak_scaling(options)
    for ranks in cases.above_one(options.ranks):
        for kernel in cases.TENSOR_KERNELS:
            yield report.tensor_title(kernel, ranks), tensor(options, kernel, ranks)
    for ranks in cases.above_one(options.ranks):
        yield report.matvec_title(ranks), matvec(options, ranks)


def measure(options, results):
    for title, all_competitors in comparisons(options):
        competitors = {name: each for name, each in all_competitors.items() if re.search(options.who, name)}
        if re.search(options.only, title):
            run_rounds(results, title, competitors, options.rounds)
            names = report.further_competitors(results, title)
            further = {name: competitors[name] for name in names if name in competitors}
            run_rounds(results, title, further, options.rounds + (options.close if further else 0))
    if re.search(options.only, report.MEMORY):
        run_rounds(results, report.MEMORY, memory(options), 1, run_with_memory)
    for ranks in cases.above_one(options.ranks) if options.network else []:
        for share in cases.NETWORK_SHARES:
            title = report.network_title(ranks, share)
            if re.search(options.only, title):
                measure_network(options, results, title, ranks, share)


def main():
    options = arguments()
    for peer in PEERS:
        if not driver(options, peer):
            say(f"run.py: no driver of {peer}; see --peers")
    results = Results(options.keep)
    try:
        measure(options, results)
    except (RuntimeError, subprocess.SubprocessError) as error:
        say(f"run.py: {error}")
        return 1
    absent = [peer for peer in PEERS if not driver(options, peer)]
    text = "\n".join(report.lines(results, options, absent)) + "\n"
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
