"""The compared programs: what is found, and every hand-written schedule of algorithms/ on every grid."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kernel:
    """A statement, its tensors with their sizes, and the hand-written programs for it."""

    title: str
    statement: str
    tensors: dict
    sizes: dict
    hand_written: tuple  # (program of algorithms/, function from sizes and processors to its lists of settings)
    quick: dict = field(default_factory=dict)  # sizes of a run that shows only that everything works

    def of_sizes(self, is_quick):
        return {**self.sizes, **self.quick} if is_quick else self.sizes

    def free_text(self, processors):
        """The program that leaves out grid, formats and schedule. One processor is no machine."""
        where = " on M" if processors > 1 else ""
        params = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        lines = [f"param {params}"]
        if processors > 1:
            lines.append(f"machine M = {processors} processors")
        lines += [f"tensor {name}({', '.join(sizes)}){where}" if sizes else f"tensor {name}{where}"
                  for name, sizes in self.tensors.items()]
        return "\n".join([*lines, self.statement]) + "\n"


def factorisations(processors, dimensions):
    """All grids of a number of processors."""
    if dimensions == 1:
        return [(processors,)]
    return [(first, *rest) for first in range(1, processors + 1) if processors % first == 0
            for rest in factorisations(processors // first, dimensions - 1)]


def on_grids(*names):
    """The settings that name one grid dimension each."""
    def settings(_, processors):
        return [dict(zip(names, grid)) for grid in factorisations(processors, len(names))]
    return settings


def summa(sizes, processors):
    return [{**grid, "chunk": -(-sizes["nk"] // max(grid.values()))}
            for grid in on_grids("gx", "gy")(sizes, processors)]


def solomonik(_, processors):
    return [{"g": g, "c": processors // (g * g)} for g in range(1, processors + 1) if processors % (g * g) == 0]


def cosma(sizes, processors):
    """With one step, and with steps of about 1024 terms."""
    return [{**grid, "steps": steps} for grid in on_grids("gx", "gy", "gz")(sizes, processors)
            for steps in sorted({1, max(1, sizes["nk"] // 1024)})]


CUBE = {"ni": 384, "nj": 384, "nk": 384}
SMALL_CUBE = {"ni": 12, "nj": 10, "nk": 14}

KERNELS = (
    Kernel("GEMM", "A(i, j) = B(i, k) * C(k, j)", {"A": ("ni", "nj"), "B": ("ni", "nk"), "C": ("nk", "nj")},
           {"ni": 2048, "nj": 2048, "nk": 2048},
           (("summa", summa), ("cannon", on_grids("gx", "gy")), ("pumma", on_grids("gx", "gy")),
            ("johnson", on_grids("gx", "gy", "gz")), ("solomonik", solomonik), ("cosma", cosma)),
           {"ni": 24, "nj": 20, "nk": 28}),
    Kernel("TTV", "A(i, j) = B(i, j, k) * c(k)", {"A": ("ni", "nj"), "B": ("ni", "nj", "nk"), "c": ("nk",)},
           CUBE, (("ttv", on_grids("gx", "gy")),), SMALL_CUBE),
    Kernel("TTM", "A(i, j, l) = B(i, j, k) * C(k, l)",
           {"A": ("ni", "nj", "nl"), "B": ("ni", "nj", "nk"), "C": ("nk", "nl")},
           {**CUBE, "nl": 64}, (("ttm", on_grids("gx")),), {**SMALL_CUBE, "nl": 4}),
    Kernel("MTTKRP", "A(i, l) = B(i, j, k) * C(j, l) * D(k, l)",
           {"A": ("ni", "nl"), "B": ("ni", "nj", "nk"), "C": ("nj", "nl"), "D": ("nk", "nl")},
           {**CUBE, "nl": 64}, (("mttkrp", on_grids("gx", "gy", "gz")),), {**SMALL_CUBE, "nl": 4}),
    Kernel("matrix times vector", "a(i) = B(i, j) * c(j)", {"a": ("ni",), "B": ("ni", "nj"), "c": ("nj",)},
           {"ni": 8192, "nj": 8192}, (("matvec", on_grids("gx", "gy")),), {"ni": 24, "nj": 20}),
    Kernel("inner product", "a = B(i, j, k) * C(i, j, k)",
           {"a": (), "B": ("ni", "nj", "nk"), "C": ("ni", "nj", "nk")}, CUBE,
           (("innerprod", on_grids("gx", "gy")),), SMALL_CUBE),
    Kernel("4-index contraction", "A(i, j, k, l) = B(i, k, m, n) * C(m, n, j, l)",
           {"A": ("ni", "nj", "nk", "nl"), "B": ("ni", "nk", "nm", "nn"), "C": ("nm", "nn", "nj", "nl")},
           dict.fromkeys(("ni", "nj", "nk", "nl", "nm", "nn"), 48), (("contraction4", on_grids("gx", "gy")),),
           dict.fromkeys(("ni", "nj", "nk", "nl", "nm", "nn"), 4)),
)

# From atomic to molecular orbitals, as quantum chemists write it: five factors in one statement.
ORBITALS = Kernel(
    "AO to MO", "M(a, b, c, d) = P(i, a) * Q(j, b) * R(k, c) * S(l, d) * V(i, j, k, l)",
    {"M": ("n",) * 4, "P": ("n", "n"), "Q": ("n", "n"), "R": ("n", "n"), "S": ("n", "n"), "V": ("n",) * 4},
    {"n": 20}, (), {"n": 4})
ORBITALS_OF_NUMPY = "ia,jb,kc,ld,ijkl->abcd"
