"""The tables, from what was measured."""

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
LAYOUTS = ("rows", "given", "bound", "aligned")  # of the caller's
NOTE = """\
Everyone runs in turn, in processes of their own, and reports the best of its runs of a round; a ratio is the median of
the ratios of speeds of the same round, above 1 where the first is faster, with its smallest and largest in brackets.
Ranks have one thread each. `limit` is one multiplication on all cores in one process: of DISTAL on one processor, whose
leaf is one call of the same BLAS on huge pages, or of the driver that calls it, whichever has the better median.
`rows` has all matrices in rows, and `given` is the same in an application that has them in memory that its tensors give
it; `bound` has them in memory of its own, where std::vector puts it, and `aligned` in such that begins at a huge page.
`dealt` has them in ScaLAPACK's layout, in the same blocks. `alone` is as much work on as many ranks with nothing to
move: what ranks lose that share cores."""
READING_NOTE = """\
`reading` is one process that reads as many bytes on all cores, in four ways in turn, each as often as the others run,
and does nothing with them but to add them up: what memory allows."""
MATVEC_NOTE = "The matrix in rows, as it is computed, or in columns, so that it has to move."
MEMORY_NOTE = """\
The job's bytes are those of all its processes together, pages that several share counted once; the largest rank's
resident bytes count them for each rank that touches them. The engine's own count is of the pieces and copies of all
ranks."""
TENSOR_TARGETS = {("ttv", 2): 5, ("innerprod", 2): 2.4, ("ttm", 2): 1.2, ("mttkrp", 2): 1.35, ("mttkrp", 4): 2}
NETWORK_NOTE = f"""\
GEMM in {cases.NETWORK_STEPS} steps, `network.distal`: C is {cases.NETWORK_TERMS} x {cases.NETWORK_COLUMNS}, and each node
has {cases.NETWORK_ROWS} rows of A. Rates make communication last about as long as computing, or three quarters of it.
Computing alone is the run in shared memory, on the same cores; communication alone is the same program with one row
of A a rank."""


def gemm_title(shape, ranks):
    return f"GEMM, {shape.name}, {ranks} {'rank' if ranks == 1 else 'ranks'}"


def tensor_title(kernel, ranks):
    return f"{kernel} {cases.TENSOR_EXTENT}, {ranks} ranks"


def matvec_title(ranks):
    return f"matvec 8192, {ranks} ranks"


def network_title(ranks, share):
    return f"network, {ranks} ranks, communication {share:g} of computing"


def spread(values):
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
        "# Ranks of MPI", "",
        f"- CPU: {cpu()}",
        f"- cores: {options.cores}, load at the start: {os.getloadavg()[0]:.2f}",
        f"- MPI: {first_line(['mpirun', '--version'])}",
        f"- BLAS: OpenBLAS; its kernels in peers: {os.environ.get('OPENBLAS_CORETYPE', 'its own choice')}",
        f"- huge pages of anonymous memory: {huge_pages('enabled')}, of shared memory: {huge_pages('shmem_enabled')}",
        f"- DISTAL at {first_line(['git', '-C', str(HERE), 'describe', '--always', '--dirty'])}",
        f"- made by: bench/mpi/run.py --peers DIR {' '.join(words)}",
        f"- peers that were not there: {', '.join(absent) or 'none'}",
        *([f"- note: {options.note}"] if options.note else []),
        f"- date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC", "", NOTE, "",
    ]


def huge_pages(which):
    path = Path("/sys/kernel/mm/transparent_hugepage") / which
    found = re.search(r"\[(\w+)\]", path.read_text(encoding="utf-8")) if path.exists() else None
    return found.group(1) if found else "none"


def of_one_process(results, title):
    """The times of one multiplication on all cores, by DISTAL and by BLAS, as far as they were measured."""
    return list(filter(None, (results.seconds(title, name) for name in ("limit", "BLAS"))))


def limit(results, title):
    """The times of the faster one, by their medians."""
    return min(of_one_process(results, title), key=median, default=[])


def luckier(results, title):
    """The faster one of each round, which on a noisy machine is ahead of both."""
    return [min(times) for times in zip(*of_one_process(results, title))]


def best(results, title):
    """The algorithm with the best median, and its times; the one that went on after the rounds of all, where one did."""
    names = [name for name in cases.ALGORITHMS if results.seconds(title, name)]
    rank = {name: (-len(results.seconds(title, name)), median(results.seconds(title, name))) for name in names}
    name = min(names, key=rank.get, default=None)
    return name, results.seconds(title, name) if name else []


def judged(results, title, values):
    """Of ratios by round, those of rounds that had no part in the choice of the best algorithm, where there are any."""
    return values[results.rounds_of_all(title):] or values


def compared(results, title):
    """Whom the targets of a multiplication compare with the best algorithm, and that; nobody elsewhere."""
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
        return cases.grid(name, shape, ranks)
    if name in LAYOUTS:
        return f"g={ranks}"
    return {"alone": cases.alone(shape, ranks), "dealt": cases.dealt(ranks)}.get(name, "")


def gemm_table(results, title, shape, ranks):
    others = [peer for peer in PEERS if results.seconds(title, peer)]
    yield from [f"## {title}", ""]
    yield from table("", "params", "rounds", "GFLOP/s", "/ limit", *[f"/ {peer}" for peer in others])
    for name in (*cases.ALGORITHMS, *LAYOUTS, "dealt", "alone", "limit", "BLAS", *others):
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
    yield from [f"## {WEAK}", "", "2048 rows of A for each rank, C of 2048 x 2048, all in rows.", ""]
    yield from table("ranks", "ms", "speed to one rank's", "of the cores that there are for them")
    one = results.seconds(WEAK, "1")
    for ranks in (1, 2, 4):
        times = results.seconds(WEAK, str(ranks))
        gain = [ranks * value for value in ratios(times, one)]
        yield row(ranks, f"{1e3 * median(times):.1f}", spread(gain), f"{median(gain) / min(ranks, options.cores):.2f}")
    yield ""


def small_tables(results, titles, first, second):
    """Two competitors a title."""
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
    titles = [tensor_title(kernel, ranks) for ranks in cases.several(options.ranks) for kernel in cases.TENSOR_KERNELS]
    if any(title in results for title in titles):
        yield from ["## Higher-order kernels", ""]
        yield from small_tables(results, titles, "DISTAL", "CTF")
    read = [title for title in titles if results.seconds(title, "reading")]
    if read:
        yield from [READING_NOTE, ""]
        yield from small_tables(results, read, "DISTAL", "reading")
        yield from small_tables(results, read, "reading", "CTF")


def matvec_table(results, options):
    titles = [matvec_title(ranks) for ranks in cases.several(options.ranks)]
    if any(title in results for title in titles):
        yield from ["## Matrix-vector product", "", MATVEC_NOTE, ""]
        yield from small_tables(results, titles, "matched", "one process")
        yield from small_tables(results, titles, "mismatched", "matched")


def resident_bytes(one):
    """Of the largest rank."""
    return one.get("resident_bytes") or one.get("max_rss_mib", 0) * 2**20


def memory_table(results, _):
    if MEMORY not in results:
        return
    of_matrices = cases.square(8192).bytes()
    yield from [f"## {MEMORY}", "", f"To the {of_matrices / 2**20:.0f} MiB of the three matrices. {MEMORY_NOTE}", ""]
    yield from table("", "of the job", "4 x the largest rank's resident bytes", "4 x the engine's largest")
    for name, (one, *_) in results.by_title[MEMORY].items():
        engine = one.get("peak_bytes_per_processor")
        yield row(name, f"{one['job_bytes'] / of_matrices:.2f}", f"{4 * resident_bytes(one) / of_matrices:.2f}",
                  f"{4 * engine / of_matrices:.2f}" if engine else "")
    yield ""


def network_ratio(results, title):
    alone = [results.seconds(title, name) for name in ("compute alone", "communication alone")]
    return [run / max(both) for run, *both in zip(results.seconds(title, "run"), *alone)]


def network_table(results, options):
    cases_of = [(ranks, share) for ranks in options.ranks for share in cases.NETWORK_SHARES]
    shown = [(ranks, share) for ranks, share in cases_of if network_title(ranks, share) in results]
    if not shown:
        return
    yield from ["## Emulated network", "", NETWORK_NOTE, ""]
    yield from table("ranks", "rounds", "communication / computing", "rate of a link", "compute alone, ms",
                     "communication alone, ms", "run, ms", "run / the longer of both")
    for ranks, share in shown:
        title = network_title(ranks, share)
        times = [median(results.seconds(title, name)) for name in ("compute alone", "communication alone", "run")]
        rate = f"{results.by_title[title]['run'][0]['mbit']} Mbit/s"
        yield row(ranks, results.rounds(title), f"{share:g}", rate, *[f"{1e3 * t:.0f}" for t in times],
                  spread(network_ratio(results, title)))
    yield ""


def verdict(values, target, least=True):
    if not values:
        return row_end("not measured", target, least, "")
    value = median(values)
    met = value >= target if least else value <= target
    return row_end(spread(values), target, least, "met" if met else "missed")


def row_end(value, target, least, met):
    return [f"{'>=' if least else '<='} {target}", value, met]


def gemm_targets(results, n, ranks):
    title = gemm_title(cases.square(n), ranks)
    name, times = best(results, title)
    where = f"n = {n}, {ranks} ranks"
    to_limit = 0.95 if n <= 2048 else 0.97
    for what, one_process in (("limit", limit), ("the faster one process of each round", luckier)):
        values = judged(results, title, ratios(times, one_process(results, title)))
        yield row(f"best GEMM ({name}) / {what}, {where}", *verdict(values, to_limit))
    # COSMA is near the limit where matrices are large.
    wanted = {"COSMA": {2048: 1.08, 4096: 1.03}.get(n), "ScaLAPACK": 1.25, "CTF": 1.15}
    for peer, target in wanted.items():
        if target and results.seconds(title, peer):
            values = judged(results, title, ratios(times, results.seconds(title, peer)))
            yield row(f"best GEMM ({name}) / {peer}, {where}", *verdict(values, target))
    dealt = ratios(results.seconds(title, "dealt"), results.seconds(title, "ScaLAPACK"))
    if dealt:
        yield row(f"in ScaLAPACK's layout / ScaLAPACK, {where}", "", spread(dealt), "")
    cosma = results.seconds(title, "COSMA")
    for each in cases.ALGORITHMS if cosma else ():
        yield row(f"{each} / COSMA, {where}", *verdict(ratios(results.seconds(title, each), cosma), 0.97))


def layout_targets(results, options):
    for shape in gemm_shapes(options):
        for ranks in cases.several(options.ranks):
            title = gemm_title(shape, ranks)
            if title not in results or shape.name.startswith("flat"):
                continue
            _, times = best(results, title)
            for name in [each for each in LAYOUTS if results.seconds(title, each)]:
                values = judged(results, title, ratios(results.seconds(title, name), times))
                yield row(f"{name} / best layout, {shape.name}, {ranks} ranks", *verdict(values, 0.97))


def tensor_targets(results, _):
    for (kernel, ranks), target in TENSOR_TARGETS.items():
        title = tensor_title(kernel, ranks)
        if results.seconds(title, "CTF"):
            values = ratios(results.seconds(title, "DISTAL"), results.seconds(title, "CTF"))
            allowed = ratios(results.seconds(title, "reading"), results.seconds(title, "CTF"))
            yield row(f"{kernel} / CTF, {ranks} ranks", *verdict(values, target))
            if allowed:
                yield row(f"what memory allows for {kernel} / CTF, {ranks} ranks", "", spread(allowed), "")


def targets(results, options):
    yield from ["## Targets", ""]
    yield from table("", "target", "median (spread)", "")
    for n in options.sizes:
        for ranks in cases.several(options.ranks):
            if gemm_title(cases.square(n), ranks) in results:
                yield from gemm_targets(results, n, ranks)
    yield from layout_targets(results, options)
    yield from tensor_targets(results, options)
    for ranks in cases.several(options.ranks):
        for share in cases.NETWORK_SHARES:
            title = network_title(ranks, share)
            if title not in results:
                continue
            yield row(f"{title}: run / the longer of both", *verdict(network_ratio(results, title), 1.1, False))
    if MEMORY in results:
        of_matrices = cases.square(8192).bytes()
        for name in cases.ALGORITHMS:
            measured = results.by_title[MEMORY][name]
            where = f"memory of {name} / matrices, n = 8192, 4 ranks"
            yield row(where, *verdict([one["job_bytes"] / of_matrices for one in measured], 1.5, False))
            by_rank = [4 * resident_bytes(one) / of_matrices for one in measured]
            yield row(f"{where}, shared pages counted for each", *verdict(by_rank, 1.5, False))
    yield ""


def lines(results, options, absent):
    yield from head(options, absent)
    for part in (targets, gemm_tables, weak_table, tensor_table, matvec_table, memory_table, network_table):
        yield from part(results, options)
