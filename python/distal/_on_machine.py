"""An einsum on the processors of a machine."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ._arrays import NDArray
from ._core import Distribution, Everywhere, Face, Format, Grid, Machine, ModeFormat, Role
from ._einsum_string import Subscripts, Term
from ._errors import InputError, TypeMismatch
from ._expr import Expr, IndexVar
from ._kernel import Kernel
from ._tensor import Tensor


def to_machine(machine: Machine | Grid) -> Machine:
    """The machine of one level that a caller gave."""
    if isinstance(machine, Grid):
        return Machine(machine)
    if not isinstance(machine, Machine):
        raise TypeMismatch(f"einsum: machine is {type(machine).__name__}; it must be a Grid or a Machine")
    if len(machine.levels) != 1:
        raise InputError(f"einsum: the machine has {len(machine.levels)} levels; einsum runs on machines of one level")
    return machine


def _cut_labels(s: Subscripts, dimensions: int) -> list[str]:
    """The label that each machine dimension cuts: the longest of the result first, then those that are summed."""
    by_length = sorted(s.extents, key=lambda x: -s.extents[x])
    return sorted(by_length, key=lambda x: x not in s.output)[:dimensions]


def _format(term: Term, cut: Sequence[str], dimensions: int, is_output: bool, machine: Machine) -> Format:
    """Each processor has what it computes of the result, and of an operand what it needs for that."""
    roles: list[Role] = []
    for d in range(dimensions):
        if d < len(cut) and cut[d] in term:
            roles.append(Role(term.index(cut[d])))
        else:
            roles.append(Role(Face(0)) if is_output else Role(Everywhere()))
    return Format([ModeFormat.Dense] * len(term), Distribution(machine, roles))


def kernel_on(machine: Machine, s: Subscripts, arrays: Sequence[NDArray], out: NDArray) -> Kernel:
    """The kernel that computes the product of the arrays into ``out``."""
    dimensions = len(machine.levels[0].extents)
    cut = _cut_labels(s, dimensions)
    names = {x: f"i{n}" for n, x in enumerate(s.extents)}
    variables = {x: IndexVar(names[x]) for x in s.extents}

    def tensor(name: str, term: Term, array: NDArray) -> Tensor:
        format = _format(term, cut, dimensions, array is out, machine)
        return Tensor(name, array.shape, format, data=array)

    result = tensor("result", s.output, out)
    operands = [tensor(f"operand{n}", term, a) for n, (term, a) in enumerate(zip(s.inputs, arrays))]
    right: Expr | None = None
    for operand, term in zip(operands, s.inputs):
        factor = operand[[variables[x] for x in term]]
        right = factor if right is None else right * factor
    assert right is not None
    result[[variables[x] for x in s.output]] = right
    if cut:
        # Machine dimensions that are left over, as there are too few labels, stay at 0.
        outer = {x: IndexVar(names[x] + "o") for x in cut}
        inner = {x: IndexVar(names[x] + "i") for x in cut}
        for x, parts in zip(cut, machine.levels[0].extents):
            result.schedule().divide(variables[x], outer[x], inner[x], parts)
        loops = dict.fromkeys(x for term in (s.output, *s.inputs) for x in term)
        result.schedule().reorder([*outer.values(), *(inner.get(x, variables[x]) for x in loops)])
        result.schedule().distribute(list(outer.values())).communicate([result, *operands], outer[cut[-1]])
    return result.compile()


def run_on(machine: Machine, s: Subscripts, arrays: Sequence[NDArray], out: NDArray) -> None:
    """Computes the product of the arrays into ``out``, on the processors of a machine."""
    if 0 in s.extents.values():
        out[...] = 0
        return
    # A dimension of extent 1 is no loop. What lies at odd addresses, or overlaps, cannot be bound.
    terms = tuple(tuple(x for x, n in zip(t, a.shape) if n != 1) for t, a in zip(s.inputs, arrays))
    operands = [np.require(a[(..., *(0 if n == 1 else slice(None) for n in a.shape))], requirements="A")
                for a in arrays]
    output = tuple(x for x in s.output if s.extents[x] != 1)
    kept = {x for term in (*terms, output) for x in term}
    product = Subscripts(terms, output, {x: n for x, n in s.extents.items() if x in kept})
    into = out[(..., *(0 if n == 1 else slice(None) for n in out.shape))]
    kernel_on(machine, product, operands, into).run()
