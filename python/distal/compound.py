"""Compound schedules: functions that are built only from the commands of ``Schedule``.

Apply them, or functions of your own, in the same way: ``A.schedule().apply(compound.tile, i, j, ...)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterable

from ._expr import IndexVar
from ._numbers import IntLike
from ._schedule import OntoLike, Schedule

if TYPE_CHECKING:
    from ._tensor import Tensor

__all__ = ["chunked", "stationary", "systolic", "tile"]


def tile(schedule: Schedule, i: IndexVar, j: IndexVar, io: IndexVar, jo: IndexVar, ii: IndexVar, ji: IndexVar,
         rows: IntLike, columns: IntLike) -> None:
    """Cuts two loops into tiles of rows x columns."""
    schedule.split(i, io, ii, rows).split(j, jo, ji, columns).reorder([io, jo, ii, ji])


def stationary(schedule: Schedule, tensor: Tensor, targets: Iterable[IndexVar], distributed: Iterable[IndexVar],
               local: Iterable[IndexVar], onto: OntoLike) -> None:
    """Distributes loops and keeps the tensor stationary: each processor acquires its part of it once."""
    outer = list(distributed)
    schedule.distribute(targets, outer, local, onto).communicate(tensor, outer[-1])


def chunked(schedule: Schedule, tensors: Iterable[Tensor], loop: IndexVar, outer: IndexVar, inside: IndexVar,
            chunk: IntLike, inner: Iterable[IndexVar]) -> None:
    """Splits a loop into chunks outside of the ``inner`` loops, and fetches the tensors once for each chunk."""
    schedule.split(loop, outer, inside, chunk).reorder([outer, *inner, inside]).communicate(tensors, outer)


def systolic(schedule: Schedule, tensors: Iterable[Tensor], loop: IndexVar, outer: IndexVar, inside: IndexVar,
             parts: IntLike, inner: Iterable[IndexVar], by: Iterable[IndexVar], rotated: IndexVar) -> None:
    """Divides a loop into parts outside of the ``inner`` loops, and rotates it by the loops ``by``.

    Each processor starts at a different part, so at every step it can fetch from a neighbour what the neighbour used at
    the step before.
    """
    schedule.divide(loop, outer, inside, parts).reorder([outer, *inner, inside])
    schedule.rotate(outer, by, rotated).communicate(tensors, rotated)
