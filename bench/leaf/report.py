"""The tables of results, as Markdown."""

import statistics

from measure import ratio, ratios

RATIOS = {"blas": "BLAS", "hand": "hand", "triad": "triad", "numpy": "numpy", "jax": "jax", "taco": "TACO"}
COLUMNS = ["kernel", "sizes", "grid", "DISTAL", "limit", "/ limit", *[f"/ {r}" for r in RATIOS.values()], "target",
           "spread", ""]


def line(cells):
    return "| " + " | ".join(cells) + " |"


def heading():
    return ["## Kernels", "", line(COLUMNS), line(["---"] * len(COLUMNS))]


def verdict(met):
    return "met" if met else "missed"


def sizes_text(sizes):
    """512^3 if all sizes are equal, else i=512 j=64."""
    if len(set(sizes.values())) == 1 and len(sizes) > 1:
        return f"{next(iter(sizes.values()))}^{len(sizes)}"
    return " ".join(f"{index}={n}" for index, n in sizes.items())


def kernel_row(kernel, sizes, grid, rates):
    """The row of DISTAL on a grid, from the speeds of all competitors in all rounds."""
    me = f"distal-{grid}"
    medians = {other: ratio(rates, me, other) for other in rates if not other.startswith("distal")}

    def figure(name):
        return f"{statistics.median(rates[name]) / 1e9:.4g} {kernel.unit}"

    def shown(other):
        return f"{medians[other]:.3g}" if other in medians else ""

    against, least = kernel.target
    met, spread = "not measured", ""
    if against in medians:
        met = verdict(medians[against] >= least)
        spread = "{:.3g} to {:.3g}".format(min(ratios(rates, me, against)), max(ratios(rates, me, against)))
    target = f"{least} of {RATIOS.get(against, against)}"
    limit = f"{figure(kernel.limit)} {kernel.limit}"
    return line([kernel.name, sizes_text(sizes), f"Grid({grid})", figure(me), limit, shown(kernel.limit),
                 *map(shown, RATIOS), target, spread, met])


def overhead_heading():
    columns = ["n", "DISTAL", "direct call", "overhead", "target", ""]
    return ["## Overhead of a small GEMM", "", line(columns), line(["---"] * len(columns))]


def overhead_row(overhead, rounds):
    """The median times over the rounds, and the median of their differences, in microseconds."""
    me, other = ([1e6 * timings[name].median for timings in rounds] for name in ("distal-1", "blas"))
    difference = statistics.median(a - b for a, b in zip(me, other))
    micros = [f"{x:.2f} us" for x in (statistics.median(me), statistics.median(other), difference)]
    return line([str(overhead.n), *micros, f"< {overhead.target:g} us", verdict(difference < overhead.target)])


def start_heading():
    return ["## Start-up", "", line(["statement", "case", "cost", "target", ""]), line(["---"] * 5)]


def start_rows(start, cold, warm, resized, new_files):
    """The rows of a statement, from lists of start-up seconds and the number of leaves that new sizes compiled."""

    def row(case, seconds, most):
        cost = statistics.median(seconds)
        met = verdict(cost < most)
        return line([f"`{start.statement}`", case, f"{1e3 * cost:.2f} ms", f"< {1e3 * most:g} ms", met])

    cost = f"{1e3 * statistics.median(resized):.2f} ms, {new_files} leaves compiled"
    sizes = line([f"`{start.statement}`", "new size", cost, "none compiled", verdict(new_files == 0)])
    return [row("nothing cached", cold, 1.0), row("leaf cached", warm, 0.005), sizes]
