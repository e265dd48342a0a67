"""An einsum on the processors of a machine."""

from __future__ import annotations

from typing import Sequence

import numpy as np

from ._arrays import NDArray
from ._core import Format, Machine
from ._einsum_string import Subscripts, Term
from ._expr import Expr, IndexVar
from ._kernel import Kernel
from ._tensor import Tensor


def kernel_on(machine: Machine, s: Subscripts, arrays: Sequence[NDArray], out: NDArray) -> Kernel:
    """The kernel that computes the product of the arrays into ``out``. Its schedule and all formats are found."""
    variables = {x: IndexVar(f"i{n}") for n, x in enumerate(s.extents)}
    anywhere = Format(machine)
    result = Tensor("result", out.shape, anywhere, data=out)
    operands = [Tensor(f"operand{n}", a.shape, anywhere, data=a) for n, a in enumerate(arrays)]
    right: Expr | None = None
    for operand, term in zip(operands, s.inputs):
        factor = operand[[variables[x] for x in term]]
        right = factor if right is None else right * factor
    assert right is not None
    result[[variables[x] for x in s.output]] = right
    return result.compile()


def _diagonal(term: Term, array: NDArray) -> tuple[Term, NDArray]:
    """A view in which every label occurs once."""
    labels = tuple(dict.fromkeys(term))
    if len(labels) == len(term):
        return term, array
    extents = [array.shape[term.index(x)] for x in labels]
    steps = [sum(step for y, step in zip(term, array.strides) if y == x) for x in labels]
    return labels, np.lib.stride_tricks.as_strided(array, extents, steps, writeable=False)


def run_on(machine: Machine, s: Subscripts, arrays: Sequence[NDArray], out: NDArray) -> None:
    """Computes the product of the arrays into ``out``, on the processors of a machine."""
    if 0 in s.extents.values():
        out[...] = 0
        return
    # A dimension of extent 1 is no loop. What lies at odd addresses, or overlaps, cannot be bound.
    terms, operands = [], []
    for term, array in zip(s.inputs, arrays):
        taken = np.require(array[(..., *(0 if n == 1 else slice(None) for n in array.shape))], requirements="A")
        labels, view = _diagonal(tuple(x for x, n in zip(term, array.shape) if n != 1), taken)
        terms.append(labels)
        operands.append(view)
    output = tuple(x for x in s.output if s.extents[x] != 1)
    kept = {x for term in (*terms, output) for x in term}
    product = Subscripts(tuple(terms), output, {x: n for x, n in s.extents.items() if x in kept})
    into = out[(..., *(0 if n == 1 else slice(None) for n in out.shape))]
    kernel_on(machine, product, operands, into).run()
