"""An einsum on the processors of a machine."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Sequence

import numpy as np

from ._arrays import NDArray
from ._contraction import Product, pick_loops
from ._core import Format, Grid, Machine, Processor, Processors
from ._einsum_string import Subscripts, Term
from ._errors import InputError
from ._expr import Expr, IndexVar
from ._tensor import Tensor

_KEPT = 64  # products, each with a kernel or several; these keep buffers for what they copy


class _MachineValue(NamedTuple):
    """A machine, for the values that its params have now."""

    processors: int | None
    """Their number, if the machine is made of Processors."""
    kind: Processor
    """Of these processors."""
    levels: tuple[tuple[tuple[int, ...], Processor], ...]
    """Each grid's extents and kind of processors; empty: the grid is to be found."""

    @classmethod
    def of(cls, machine: Machine) -> _MachineValue:
        """The value of a machine. Two machines with the same value differ at most in their names."""
        levels = [(tuple(extent.value for extent in grid.extents), grid.processor) for grid in machine.levels]
        count = machine.processors
        return cls(None if count is None else count.value, levels[0][1] if levels else Processor.CPU,
                   tuple(levels) if machine.has_grid else ())

    def machine(self) -> Machine:
        """A machine with this value."""
        grids = [Grid(*extents).of(kind) for extents, kind in self.levels]
        if self.processors is None:
            return Machine(grids)
        made = Machine(Processors(self.processors).of(self.kind))
        return made.as_(grids) if grids else made


class _MachineCall:
    """The kernel of a renamed product on a machine, whose tensors get other arrays at each call: one call at a time."""

    def __init__(self, machine: Machine, product: Product) -> None:
        extents = dict(product.extents)
        variables = {label: IndexVar(label) for label in extents}
        anywhere = Format(machine)

        def tensor(name: str, term: Term) -> Tensor:
            return Tensor(name, [extents[x] for x in term], anywhere, dtype=product.dtype)

        output = tensor("result", product.output)
        inputs = [tensor(f"operand{n}", term) for n, term in enumerate(product.inputs)]
        right: Expr | None = None
        for operand, term in zip(inputs, product.inputs):
            factor = operand[[variables[x] for x in term]]
            right = factor if right is None else right * factor
        assert right is not None
        output[[variables[x] for x in product.output]] = right
        self._tensors = [output, *inputs]
        self._kernel = output.compile()

    def run(self, out: NDArray, arrays: Sequence[NDArray]) -> None:
        """Computes the product into ``out``. Keeps none of the arrays."""
        try:
            for tensor, array in zip(self._tensors, (out, *arrays)):
                tensor.bind(array)
            self._kernel.run()
        finally:
            self._kernel._let_go()


class _MachineCalls:
    """The kernels of a renamed product on a machine: as many as there were calls at the same time."""

    def __init__(self, machine: _MachineValue, product: Product) -> None:
        self._machine = machine
        self._product = product
        self._idle: list[_MachineCall] = []

    def take(self) -> _MachineCall:
        """Takes an idle kernel, or makes one."""
        try:
            return self._idle.pop()
        except IndexError:
            return _MachineCall(self._machine.machine(), self._product)

    def put_back(self, call: _MachineCall) -> None:
        """Another call may take it from now on."""
        self._idle.append(call)


@lru_cache(maxsize=_KEPT)
def _calls_of(machine: _MachineValue, product: Product) -> _MachineCalls:
    return _MachineCalls(machine, product)


def _diagonal(term: Term, array: NDArray) -> tuple[Term, NDArray]:
    """A view in which every label occurs once."""
    labels = tuple(dict.fromkeys(term))
    if len(labels) == len(term):
        return term, array
    extents = [array.shape[term.index(x)] for x in labels]
    steps = [sum(step for y, step in zip(term, array.strides) if y == x) for x in labels]
    return labels, np.lib.stride_tricks.as_strided(array, extents, steps, writeable=False)


def run_on(machine: Machine, s: Subscripts, arrays: Sequence[NDArray], out: NDArray) -> None:
    """Computes the product of the arrays into ``out``, on the processors of a machine.

    Schedule and formats are found once for each machine, product and type, and kept with the kernel.
    """
    if 0 in s.extents.values():
        out[...] = 0
        return
    # A dimension of extent 1 is no loop.
    terms, operands = [], []
    for term, array in zip(s.inputs, arrays):
        taken = np.require(array[pick_loops(array.shape)], requirements="A")
        labels, view = _diagonal(tuple(x for x, n in zip(term, array.shape) if n != 1), taken)
        terms.append(labels)
        operands.append(view)
    output = tuple(x for x in s.output if s.extents[x] != 1)
    kept = {x for term in (*terms, output) for x in term}
    extents = tuple((x, n) for x, n in s.extents.items() if x in kept)
    into = out[pick_loops(out.shape)]
    product = Product(tuple(terms), output, extents, out.dtype.char)
    calls = _calls_of(_MachineValue.of(machine), product.renamed())
    call = calls.take()
    try:
        call.run(into, operands)
    except InputError:  # elements of an array overlap
        copied = np.empty(into.shape, into.dtype)
        call.run(copied, [np.array(a, order="C") for a in operands])
        into[...] = copied
    finally:
        calls.put_back(call)
