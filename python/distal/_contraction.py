"""One product of tensors as a kernel that takes other arrays at each call."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _core
from ._arrays import KINDS, NDArray
from ._einsum_string import Term
from ._errors import Error

_KEPT = 512  # kernels
REFUSED = (Error, TypeError, ValueError, RuntimeError)
"""What a call raises for arrays that cannot be bound: their elements overlap, or lie at odd addresses."""


class Product(NamedTuple):
    """A product of operands, summed over the labels that the output lacks. All extents are at least 2."""

    inputs: tuple[Term, ...]
    output: Term
    extents: tuple[tuple[str, int], ...]
    dtype: str

    def renamed(self) -> Product:
        """The product with its labels renamed, so that products that differ only in labels are equal."""
        names: dict[str, str] = {}
        for term in (self.output, *self.inputs):
            for label in term:
                names.setdefault(label, f"i{len(names)}")
        extents = dict(self.extents)
        return Product(tuple(tuple(names[x] for x in t) for t in self.inputs), tuple(names[x] for x in self.output),
                       tuple((names[x], extents[x]) for x in names), self.dtype)


@lru_cache(maxsize=_KEPT)
def _call_of(product: Product) -> _core.Call:
    """The kernel of a renamed product, compiled once in a process."""
    extents = dict(product.extents)
    variables = {label: _core.IndexVar(label) for label in extents}
    kind = KINDS[np.dtype(product.dtype)]

    def tensor(name: str, term: Term) -> _core.TensorHandle:
        return _core.TensorHandle(kind, name, [_core.Int(extents[x]) for x in term], _core.Format())

    output = tensor("result", product.output)
    inputs = [tensor(f"operand{n}", term) for n, term in enumerate(product.inputs)]
    right: _core.Expr | None = None
    for handle, term in zip(inputs, product.inputs):
        factor = handle.access([variables[x] for x in term])
        right = factor if right is None else right.multiply(factor)
    assert right is not None
    output.access([variables[x] for x in product.output]).assign(right)
    output.schedule()  # an empty schedule: einsum has chosen the order of contraction already
    return _core.Call(_core.Kernel([output]), [output, *inputs])


def pick_loops(shape: tuple[int, ...]) -> Any:
    """The index that drops the dimensions of extent 1 from an array of this shape, and keeps it a view."""
    return (..., *(0 if n == 1 else slice(None) for n in shape))


class Contraction:
    """A kernel for a product of arrays of any extents. Extents of 1 are broadcast."""

    def __init__(self, inputs: tuple[Term, ...], output: Term, extents: dict[str, int],
                 shapes: tuple[tuple[int, ...], ...], dtype: str) -> None:
        # A dimension of extent 1 is no loop: it is dropped from the operand, and from the result.
        self._picks = tuple(pick_loops(shape) for shape in shapes)
        terms = tuple(tuple(x for x, n in zip(term, shape) if n != 1) for term, shape in zip(inputs, shapes))
        self._is_trivial = all(n != 1 for shape in shapes for n in shape)
        labels = dict.fromkeys(x for term in (*terms, output) for x in term if extents[x] != 1)
        self.product = Product(terms, tuple(x for x in output if extents[x] != 1),
                               tuple((x, extents[x]) for x in labels), dtype)
        self.shape = tuple(extents[x] for x in output)
        self._out_pick = pick_loops(self.shape)
        self._drops_of_result = 1 in self.shape
        self._call = _call_of(self.product.renamed())
        takes_as_they_are = self._is_trivial and not self._drops_of_result
        self.call: Callable[..., None] | None = self._call.run if takes_as_they_are else None
        """Computes the product of arrays as they are, if none has a dimension of extent 1; may raise REFUSED."""

    def run(self, out: NDArray, arrays: list[NDArray]) -> None:
        """Computes the product into ``out``; everything has the type of the kernel."""
        if not self._is_trivial:
            arrays = [a[pick] for a, pick in zip(arrays, self._picks)]
        if self._drops_of_result:
            out = out[self._out_pick]
        try:
            self._call.run(out, *arrays)
        except REFUSED:
            copied = np.empty(out.shape, out.dtype)
            self._call.run(copied, *(np.array(a, order="C") for a in arrays))
            out[...] = copied
