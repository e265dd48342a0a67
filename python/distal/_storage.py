"""Where the elements of a tensor lie."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import NDArray
from ._errors import InputError
from ._numbers import Epoch


class Block(NamedTuple):
    """A piece in memory of its own: one of several rectangles, or a further replica of an output."""

    array: NDArray
    index: Any
    """The index of the piece in the whole array, as NumPy takes it."""
    is_replica: bool


def _spans(piece: _core.PieceLayout, dimension: int) -> list[tuple[int, int]]:
    """The intervals of the coordinates that a piece has of a dimension, in their order in memory."""
    return sorted({(r.lo[dimension], r.hi[dimension]) for r in piece.rectangles})


def index_of(piece: _core.PieceLayout) -> Any:
    """The index of a piece in the whole array, as NumPy takes it."""
    if len(piece.rectangles) == 1:
        r = piece.rectangles[0]
        return (..., *(slice(lo, hi) for lo, hi in zip(r.lo, r.hi)))  # with the ... a scalar is a view too
    spans = [_spans(piece, d) for d in range(len(piece.extents))]
    return np.ix_(*(np.concatenate([np.arange(lo, hi) for lo, hi in s]) for s in spans))


def _repeats(array: NDArray) -> bool:
    """Whether several elements of an array share one address, as ``numpy.broadcast_to`` makes them."""
    return any(step == 0 and n > 1 for step, n in zip(array.strides, array.shape))


def _dense(piece: _core.PieceLayout, dtype: np.dtype[Any]) -> NDArray:
    """Cleared memory for a piece, in the storage order of its format."""
    outermost_first = sorted(range(len(piece.extents)), key=lambda d: -piece.strides[d])
    made: NDArray = np.zeros([piece.extents[d] for d in outermost_first], dtype)
    return made.transpose(np.argsort(outermost_first)) if made.ndim else made


class Storage:
    """The array with the elements of a tensor, and the tensor's pieces.

    A piece is a part of the array if possible. Pieces of several rectangles (of a cyclic distribution), further
    replicas of an output, and operands with repeated elements have memory of their own instead. ``scatter`` and
    ``gather`` copy between that memory and the array.
    """

    def __init__(self, handle: _core.TensorHandle, dtype: np.dtype[Any], whole: NDArray | None, is_written: bool,
                 by_processor: dict[int, NDArray], before: Storage | None) -> None:
        self.params = Epoch.params
        self.whole = whole
        self.is_written = is_written
        self.apart: list[Block] = []
        self.arrays: dict[int, NDArray] = {}
        """The pieces, by processor."""
        self._bind(handle, dtype, by_processor, {} if before is None else before.arrays)

    def _bind(self, handle: _core.TensorHandle, dtype: np.dtype[Any], by_processor: dict[int, NDArray],
              before: dict[int, NDArray]) -> None:
        if not handle.has_format:
            self.params = -1  # the pieces are not known yet, so the next run looks again
            return
        placed: set[tuple[int, ...]] = set()
        layout = handle.layout()
        for processor in set(before) - {piece.processor for piece in layout}:
            handle.unbind(processor)
        for piece in layout:
            key = tuple(piece.rectangles[0].lo)
            is_replica = key in placed
            placed.add(key)
            if piece.processor in by_processor:
                array = by_processor[piece.processor]
            else:
                array = self._place(piece, dtype, is_replica)
            if list(array.shape) != piece.extents:
                raise InputError(f"tensor {handle.name}: the piece of processor {piece.processor} has the shape "
                                 f"{tuple(piece.extents)}, and the array has {array.shape}")
            handle.bind(piece.processor, array)
            self.arrays[piece.processor] = array
            if by_processor:
                self.apart.append(Block(array, index_of(piece), is_replica))

    def _place(self, piece: _core.PieceLayout, dtype: np.dtype[Any], is_replica: bool) -> NDArray:
        """Memory for a piece."""
        if self.whole is not None and len(piece.rectangles) == 1 and not (is_replica and self.is_written):
            part: NDArray = self.whole[index_of(piece)]
            if self.is_written or not _repeats(part):
                return part
        array = _dense(piece, dtype)
        if self.whole is not None:
            self.apart.append(Block(array, index_of(piece), is_replica))
        return array

    def scatter(self) -> None:
        """Copies the array into the pieces that lie elsewhere."""
        if self.whole is not None:
            for block in self.apart:
                block.array[...] = self.whole[block.index]

    def gather(self) -> None:
        """Copies the pieces that lie elsewhere into the array."""
        if self.whole is not None:
            for block in self.apart:
                if not block.is_replica:
                    self.whole[block.index] = block.array

    def collected(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray:
        """A new array with the elements of pieces that the caller bound one by one."""
        out: NDArray = np.zeros(shape, dtype)
        for block in self.apart:
            if not block.is_replica:
                out[block.index] = block.array
        return out
