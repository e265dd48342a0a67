"""Makes the tables of a report from measured times."""

import datetime
import os
import re
import sys
from pathlib import Path

import cases
from measure import median, ratios

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "leaf"))
from machine import cpu, first_line  # noqa: E402

WEAK = "weak scaling"
MEMORY = "memory, square 8192, 4 ranks"
PEERS = ("ScaLAPACK", "COSMA", "CTF")
LAYOUTS = ("rows", "given", "bound", "aligned")  # row layouts of a caller's matrices
NOTE = """\
Each competitor is a process or job of its own. They run one after another, and each reports its best time of a round.
A ratio compares speeds of one round: above 1 the first is faster. Ratios are medians over the rounds, with the smallest
and the largest value in brackets. Every rank has one thread.

- `limit` is one GEMM on all cores in one process: DISTAL on one processor, one BLAS call on huge pages. `BLAS` is a
  direct call of BLAS. `/ limit` compares with whichever has the better median.
- `rows` has all matrices by rows. `given` is the same as an application with matrices in memory of its tensors; `bound`
  has them where std::vector allocates them, and `aligned` in its own memory at a multiple of a huge page.
- `cyclic` has ScaLAPACK's layout and blocks.
- `alone` is the same work for each rank without communication: the loss of ranks that share cores."""
READING_NOTE = """\
`reading` is one process that only reads as many bytes on all cores: the memory bandwidth. It tries four variants in
turn, each as often as the other competitors run."""
MATVEC_NOTE = "`matched` has the matrix by rows, as it is computed; `mismatched` has it by columns, so all of it moves."
MEMORY_NOTE = """\
- job: all processes together; a page that ranks share counts once.
- ranks: 4 times the resident bytes of the largest rank; a shared page counts for each rank.
- engine: 4 times the engine's `peak_bytes_per_processor`."""
TENSOR_TARGETS = {("ttv", 2): 5, ("innerprod", 2): 2.4, ("ttm", 2): 1.2, ("mttkrp", 2): 1.35, ("mttkrp", 4): 2}
NETWORK_NOTE = f"""\
GEMM in {cases.NETWORK_STEPS} steps, `network.distal`: C is {cases.NETWORK_TERMS} x {cases.NETWORK_COLUMNS},
and each node has {cases.NETWORK_ROWS} rows of A. At the rate of the links, communication takes about as long as
computing, or three quarters of it. Computing alone is the run in shared memory on the same cores. Communication alone
is the same program with one row of A per rank."""


def gemm_title(shape, ranks):
    return f"GEMM, {shape.name}, {ranks} {'rank' if ranks == 1 else 'ranks'}"


def tensor_title(kernel, ranks):
    return f"{kernel} {cases.TENSOR_EXTENT}, {ranks} ranks"


def matvec_title(ranks):
    return f"matvec 8192, {ranks} ranks"


def network_title(ranks, share):
    return f"network, {ranks} ranks, communication {share:g} of computing"


def spread(values):
    """The text "MEDIAN (SMALLEST to LARGEST)"."""
    return f"{median(values):.3f} ({min(values):.2f} to {max(values):.2f})" if values else "not measured"


def table(*columns):
    yield "| " + " | ".join(columns) + " |"
    yield "| " + " | ".join("---" for _ in columns) + " |"


def row(*cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def head(options, absent):
    words = ["--rounds", str(options.rounds), "--close", str(options.close), "--reps", str(options.reps)]
    words += ["--network"] if options.network else []
    words += ["--only", f"'{options.only}'"] if options.only else []
    words += ["--who", f"'{options.who}'"] if options.who else []
    yield from [
        "# Results: MPI ranks", "",
        f"- CPU: {cpu()}",
        f"- cores: {options.cores}, load at the start: {os.getloadavg()[0]:.2f}",
        f"- MPI: {first_line(['mpirun', '--version'])}",
        f"- BLAS: OpenBLAS; its kernels in peers: {os.environ.get('OPENBLAS_CORETYPE', 'its own choice')}",
        f"- huge pages of anonymous memory: {huge_pages('enabled')}, of shared memory: {huge_pages('shmem_enabled')}",
        f"- commit: {first_line(['git', '-C', str(HERE), 'describe', '--always', '--dirty'])}",
        f"- command: bench/mpi/run.py --peers DIR {' '.join(words)}",
        f"- peers without a driver: {', '.join(absent) or 'none'}",
        *([f"- note: {options.note}"] if options.note else []),
        f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC", "", NOTE, "",
    ]


def huge_pages(which):
    path = Path("/sys/kernel/mm/transparent_hugepage") / which
    found = re.search(r"\[(\w+)\]", path.read_text(encoding="utf-8")) if path.exists() else None
    return found.group(1) if found else "none"


def one_process_times(results, title):
    """The times of `limit` and of `BLAS`, without those that were not measured."""
    return list(filter(None, (results.seconds(title, name) for name in ("limit", "BLAS"))))


def limit(results, title):
    """The times of `limit` or of `BLAS`, whichever has the better median."""
    return min(one_process_times(results, title), key=median, default=[])


def faster_of_each_round(results, title):
    """The better time of `limit` and `BLAS` in each round. On a noisy machine it is ahead of both medians."""
    return [min(times) for times in zip(*one_process_times(results, title))]


def best(results, title):
    """The name and the times of the best algorithm: the one that ran in the further rounds, else the best median."""
    names = [name for name in cases.ALGORITHMS if results.seconds(title, name)]
    rank = {name: (-len(results.seconds(title, name)), median(results.seconds(title, name))) for name in names}
    name = min(names, key=rank.get, default=None)
    return name, results.seconds(title, name) if name else []


def unbiased(results, title, values):
    """The ratios of the further rounds, which did not choose the best algorithm; all ratios if there are none."""
    return values[results.common_rounds(title):] or values


def further_competitors(results, title):
    """The competitors of the further rounds: the best algorithm and those that targets compare with it. Empty for
    titles other than GEMM."""
    name, _ = best(results, title)
    return [name, *LAYOUTS, "alone", "COSMA", "limit", "BLAS"] if name else []


def gemm_shapes(options):
    return [cases.square(n) for n in options.sizes] + cases.long_shapes(options.sizes)


def gemm_tables(results, options):
    for shape in gemm_shapes(options):
        for ranks in options.ranks:
            title = gemm_title(shape, ranks)
            if title in results:
                yield from gemm_table(results, title, shape, ranks)


def params_of(name, shape, ranks):
    if name in cases.ALGORITHMS:
        return cases.grid_settings(name, shape, ranks)
    if name in LAYOUTS:
        return f"g={ranks}"
    return {"alone": cases.alone_settings(shape, ranks), "cyclic": cases.cyclic_settings(ranks)}.get(name, "")


def gemm_table(results, title, shape, ranks):
    others = [peer for peer in PEERS if results.seconds(title, peer)]
    yield from [f"## {title}", ""]
    yield from table("", "params", "rounds", "GFLOP/s", "/ limit", *[f"/ {peer}" for peer in others])
    for name in (*cases.ALGORITHMS, *LAYOUTS, "cyclic", "alone", "limit", "BLAS", *others):
        times = results.seconds(title, name)
        if not times:
            continue
        params = params_of(name, shape, ranks)
        yield row(name, f"`{params}`" if params else "", len(times), f"{shape.flops() / median(times) / 1e9:.1f}",
                  spread(ratios(times, limit(results, title))),
                  *[spread(ratios(times, results.seconds(title, peer))) for peer in others])
    yield ""


def weak_table(results, options):
    if WEAK not in results:
        return
    yield from [f"## {WEAK.capitalize()}", "",
                "2048 rows of A for each rank, C of 2048 x 2048, all matrices by rows.", ""]
    yield from table("ranks", "ms", "speed / speed of one rank", "per core in use")
    one = results.seconds(WEAK, "1")
    for ranks in (1, 2, 4):
        times = results.seconds(WEAK, str(ranks))
        gain = [ranks * value for value in ratios(times, one)]
        yield row(ranks, f"{1e3 * median(times):.1f}", spread(gain), f"{median(gain) / min(ranks, options.cores):.2f}")
    yield ""


def pair_table(results, titles, first, second):
    """One row per title: the times of two competitors and the ratio of their speeds."""
    shown = [title for title in titles if title in results]
    if not shown:
        return
    yield from table("", "rounds", f"{first}, ms", f"{second}, ms", f"speed of {first} / {second}")
    for title in shown:
        a, b = results.seconds(title, first), results.seconds(title, second)
        shown_times = [f"{1e3 * median(t):.1f}" if t else "" for t in (a, b)]
        yield row(title, results.rounds(title), *shown_times, spread(ratios(a, b)))
    yield ""


def tensor_table(results, options):
    many = cases.above_one(options.ranks)
    titles = [tensor_title(kernel, ranks) for ranks in many for kernel in cases.TENSOR_KERNELS]
    if any(title in results for title in titles):
        yield from ["## Tensor kernels", ""]
        yield from pair_table(results, titles, "DISTAL", "CTF")
    read = [title for title in titles if results.seconds(title, "reading")]
    if read:
        yield from [READING_NOTE, ""]
        yield from pair_table(results, read, "DISTAL", "reading")
        yield from pair_table(results, read, "reading", "CTF")


def matvec_table(results, options):
    titles = [matvec_title(ranks) for ranks in cases.above_one(options.ranks)]
    if any(title in results for title in titles):
        yield from ["## Matrix-vector product", "", MATVEC_NOTE, ""]
        yield from pair_table(results, titles, "matched", "one process")
        yield from pair_table(results, titles, "mismatched", "matched")


def resident_bytes(one):
    """The resident bytes of the largest rank, from the result of a run."""
    return one.get("resident_bytes") or one.get("max_rss_mib", 0) * 2**20


def memory_table(results, _):
    if MEMORY not in results:
        return
    matrix_bytes = cases.square(8192).bytes()
    yield from [f"## {MEMORY.capitalize()}", "",
                f"Bytes / the {matrix_bytes / 2**20:.0f} MiB of the three matrices.", "", MEMORY_NOTE, ""]
    yield from table("", "job", "ranks", "engine")
    for name, (one, *_) in results.by_title[MEMORY].items():
        engine = one.get("peak_bytes_per_processor")
        yield row(name, f"{one['job_bytes'] / matrix_bytes:.2f}", f"{4 * resident_bytes(one) / matrix_bytes:.2f}",
                  f"{4 * engine / matrix_bytes:.2f}" if engine else "")
    yield ""


def network_ratio(results, title):
    """The time of a run / the longer time of computing alone and communication alone, in each round."""
    alone = [results.seconds(title, name) for name in ("compute alone", "communication alone")]
    return [run / max(both) for run, *both in zip(results.seconds(title, "run"), *alone)]


def network_table(results, options):
    cases_of = [(ranks, share) for ranks in options.ranks for share in cases.NETWORK_SHARES]
    shown = [(ranks, share) for ranks, share in cases_of if network_title(ranks, share) in results]
    if not shown:
        return
    yield from ["## Emulated network", "", NETWORK_NOTE, ""]
    yield from table("ranks", "rounds", "communication / computing", "rate of a link", "computing alone, ms",
                     "communication alone, ms", "run, ms", "run / the longer of both")
    for ranks, share in shown:
        title = network_title(ranks, share)
        times = [median(results.seconds(title, name)) for name in ("compute alone", "communication alone", "run")]
        rate = f"{results.by_title[title]['run'][0]['mbit']} Mbit/s"
        yield row(ranks, results.rounds(title), f"{share:g}", rate, *[f"{1e3 * t:.0f}" for t in times],
                  spread(network_ratio(results, title)))
    yield ""


def verdict(values, target, at_least=True):
    """The cells of a target: the target, the measured ratios, and whether their median meets it."""
    wanted = f"{'>=' if at_least else '<='} {target}"
    if not values:
        return [wanted, "not measured", ""]
    met = median(values) >= target if at_least else median(values) <= target
    return [wanted, spread(values), "met" if met else "missed"]


def gemm_targets(results, n, ranks):
    title = gemm_title(cases.square(n), ranks)
    name, times = best(results, title)
    where = f"n = {n}, {ranks} ranks"
    to_limit = 0.95 if n <= 2048 else 0.97
    for what, one_process in (("limit", limit), ("faster process of each round", faster_of_each_round)):
        values = unbiased(results, title, ratios(times, one_process(results, title)))
        yield row(f"best GEMM ({name}) / {what}, {where}", *verdict(values, to_limit))
    # No target for large matrices, where COSMA is near the limit.
    wanted = {"COSMA": {2048: 1.08, 4096: 1.03}.get(n), "ScaLAPACK": 1.25, "CTF": 1.15}
    for peer, target in wanted.items():
        if target and results.seconds(title, peer):
            values = unbiased(results, title, ratios(times, results.seconds(title, peer)))
            yield row(f"best GEMM ({name}) / {peer}, {where}", *verdict(values, target))
    cyclic = ratios(results.seconds(title, "cyclic"), results.seconds(title, "ScaLAPACK"))
    if cyclic:
        yield row(f"cyclic / ScaLAPACK, {where}", "", spread(cyclic), "")
    cosma = results.seconds(title, "COSMA")
    for each in cases.ALGORITHMS if cosma else ():
        yield row(f"{each} / COSMA, {where}", *verdict(ratios(results.seconds(title, each), cosma), 0.97))


def layout_targets(results, options):
    for shape in gemm_shapes(options):
        for ranks in cases.above_one(options.ranks):
            title = gemm_title(shape, ranks)
            if title not in results or shape.name.startswith("flat"):
                continue
            _, times = best(results, title)
            for name in [each for each in LAYOUTS if results.seconds(title, each)]:
                values = unbiased(results, title, ratios(results.seconds(title, name), times))
                yield row(f"{name} / best algorithm, {shape.name}, {ranks} ranks", *verdict(values, 0.97))


def tensor_targets(results, _):
    for (kernel, ranks), target in TENSOR_TARGETS.items():
        title = tensor_title(kernel, ranks)
        if results.seconds(title, "CTF"):
            values = ratios(results.seconds(title, "DISTAL"), results.seconds(title, "CTF"))
            reading = ratios(results.seconds(title, "reading"), results.seconds(title, "CTF"))
            yield row(f"{kernel} / CTF, {ranks} ranks", *verdict(values, target))
            if reading:
                yield row(f"reading / CTF, {kernel}, {ranks} ranks", "", spread(reading), "")


def targets(results, options):
    yield from ["## Targets", ""]
    yield from table("", "target", "median (spread)", "")
    for n in options.sizes:
        for ranks in cases.above_one(options.ranks):
            if gemm_title(cases.square(n), ranks) in results:
                yield from gemm_targets(results, n, ranks)
    yield from layout_targets(results, options)
    yield from tensor_targets(results, options)
    for ranks in cases.above_one(options.ranks):
        for share in cases.NETWORK_SHARES:
            title = network_title(ranks, share)
            if title not in results:
                continue
            yield row(f"{title}: run / the longer of both", *verdict(network_ratio(results, title), 1.1, False))
    if MEMORY in results:
        matrix_bytes = cases.square(8192).bytes()
        for name in cases.ALGORITHMS:
            measured = results.by_title[MEMORY][name]
            by_job = [one["job_bytes"] / matrix_bytes for one in measured]
            by_ranks = [4 * resident_bytes(one) / matrix_bytes for one in measured]
            for count, values in (("job", by_job), ("ranks", by_ranks)):
                where = f"memory of {name} by {count} / matrices, n = 8192, 4 ranks"
                yield row(where, *verdict(values, 1.5, False))
    yield ""


def lines(results, options, absent):
    yield from head(options, absent)
    for part in (targets, gemm_tables, weak_table, tensor_table, matvec_table, memory_table, network_table):
        yield from part(results, options)
