"""Schedules: where and when the work of a statement happens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence, Union, cast

from . import _core
from ._core import Everywhere, Face, Grid, LeafKernelName, Level, Machine, OutputRace, Role
from ._errors import InputError, TypeMismatch
from ._expr import Expr, IndexVar
from ._kernel import Command
from ._numbers import IntLike, to_index, to_int
from ._where import caller

if TYPE_CHECKING:
    from ._tensor import Tensor

RoleLike = Union[int, str, Face, Everywhere, Role]
Loops = Union[IndexVar, Iterable[IndexVar]]


class BLAS:
    """The kernels of BLAS, for ``Schedule.substitute``."""

    GeMM = LeafKernelName("gemm")
    """Matrix times matrix."""
    GeMV = LeafKernelName("gemv")
    """Matrix times vector."""
    GeR = LeafKernelName("ger")
    """Adds an outer product to a matrix."""
    Dot = LeafKernelName("dot")
    """Inner product."""
    AXPY = LeafKernelName("axpy")
    """Adds a multiple of a vector to a vector."""
    SyRK = LeafKernelName("syrk")
    """Matrix times its own transpose."""
    BatchedGeMM = LeafKernelName("batched_gemm")
    """One matrix multiplication for each batch index."""


def to_role(role: RoleLike) -> Role:
    """A role as the library takes it; ``"*"`` is a copy everywhere."""
    if role == "*":
        return Role(Everywhere())
    if isinstance(role, Role):
        return role
    if isinstance(role, (int, Face, Everywhere)):
        return Role(role)
    raise TypeMismatch(f"{role!r} is no role", "a role is the number of a dimension, Face(coordinate) or '*'")


class Onto:
    """What loops are distributed onto, with roles: ``Onto(M, [1, 0, Face(2)])``.

    A machine of one level, a level of a machine, a grid, or a tensor (or a level of one) whose distribution the loops
    follow. With roles, the targets are mapped to the grid like the dimensions of a tensor.

    >>> import distal
    >>> M = distal.Machine(distal.Grid(2, 2))
    >>> transposed = distal.Onto(M, [1, 0])
    """

    def __init__(self, target: OntoLike, roles: Sequence[RoleLike] | None = None, *, level: int | None = None) -> None:
        from ._tensor import Tensor

        made: _core.Onto
        if isinstance(target, Onto):
            made = target._core
        elif isinstance(target, Tensor):
            made = _core.Onto(target._handle) if level is None else _core.Onto(target._handle, level)
        elif isinstance(target, (Machine, Level, Grid)):
            made = _core.Onto(target)
        else:
            raise TypeMismatch(f"{type(target).__name__}: loops are distributed onto a Machine, M[level], a Grid or "
                               "a Tensor")
        self._core: _core.Onto = made if roles is None else _core.Onto(made, [to_role(r) for r in roles])

    def cyclic(self, target: int, block: IntLike = 1) -> Onto:
        """Makes a target block-cyclic: blocks of ``block`` iterations go to the processors in turn."""
        self._core.cyclic(to_index(target, "the target"), to_int(block, "the block"))
        return self


OntoLike = Union[Machine, Level, Grid, "Tensor", Onto]


def _words(arguments: Sequence[object]) -> list[str]:
    """The names and numbers of a command's first arguments, in the order in which the library writes them."""
    out: list[str] = []
    for argument in arguments:
        if isinstance(argument, list):
            out += _words(argument)
        elif isinstance(argument, (_core.IndexVar, _core.TensorHandle)):
            out.append(argument.name)
        elif isinstance(argument, _core.Int):
            out += re.findall(r"\w+", str(argument))
        else:
            break  # what stands behind it is not needed to tell commands apart
    return out


def _loops(loops: Loops) -> list[IndexVar]:
    """A loop or several, as a list."""
    found = list(loops) if isinstance(loops, Iterable) else [loops]
    for loop in found:
        _loop(loop)
    return found


def _loop(loop: IndexVar) -> IndexVar:
    if not isinstance(loop, _core.IndexVar):
        raise TypeMismatch(f"{loop!r} is no loop", "loops are index variables: i, j = distal.indices('i j')")
    return loop


def _tensors(tensors: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """A tensor or several, as a list."""
    from ._tensor import Tensor

    found = list(tensors) if isinstance(tensors, Iterable) and not isinstance(tensors, Tensor) else [tensors]
    for tensor in found:
        if not isinstance(tensor, Tensor):
            raise TypeMismatch(f"communicate: {tensor!r} is no Tensor")
    return found


class Schedule:
    """The schedule of a statement, built command by command; docs/language.md defines each command.

    Every command returns the schedule, so commands can be chained. They are checked when the kernel is compiled; an
    error then shows the line of the command.

    >>> import distal
    >>> i, io, ii = distal.indices("i io ii")
    >>> a, b = distal.Tensor("a", (8,)), distal.Tensor("b", (8,))
    >>> a[i] = 2 * b[i]
    >>> s = a.schedule().split(i, io, ii, 4).vectorize(ii)
    >>> print(a.compile().text)  # doctest: +ELLIPSIS
    tensor a(8)
    ...
      vectorize(ii)
    <BLANKLINE>
    """

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def _add(self, name: str, *arguments: object) -> Schedule:
        statement = self._tensor._statement
        if statement is None:
            name_of = self._tensor.name
            raise InputError(f"tensor {name_of} has no statement to schedule",
                             f"define it first, for example {name_of}[i, j] = B[i, k] * C[k, j]")
        try:
            getattr(self._tensor._handle.schedule(), name)(*arguments)
        except TypeError:
            raise TypeMismatch(f"{name}: these arguments do not fit: {arguments}") from None
        statement.commands.append(Command(caller(), [name, *_words(arguments)]))
        return self

    def split(self, target: IndexVar, outer: IndexVar, inner: IndexVar, size: IntLike) -> Schedule:
        """Cuts a loop into chunks of ``size`` iterations: ``outer`` runs over the chunks, ``inner`` within one."""
        return self._add("split", _loop(target), _loop(outer), _loop(inner), to_int(size, "split: the size"))

    def divide(self, target: IndexVar, outer: IndexVar, inner: IndexVar, parts: IntLike) -> Schedule:
        """Cuts a loop into ``parts`` equal parts: ``outer`` runs over the parts, ``inner`` within one."""
        return self._add("divide", _loop(target), _loop(outer), _loop(inner), to_int(parts, "divide: the parts"))

    def collapse(self, outer: IndexVar, inner: IndexVar, fused: IndexVar) -> Schedule:
        """Fuses two directly nested loops into one."""
        return self._add("collapse", _loop(outer), _loop(inner), _loop(fused))

    def reorder(self, order: Loops, *more: IndexVar) -> Schedule:
        """Permutes the named loops among the positions that they occupy: a list, or one argument for each loop."""
        return self._add("reorder", _loops(order) + _loops(more))

    def rotate(self, target: IndexVar, by: Loops, result: IndexVar) -> Schedule:
        """Gives each iteration of the loops ``by`` another starting point in the loop ``target``."""
        return self._add("rotate", _loop(target), _loops(by), _loop(result))

    def distribute(self, targets: Loops, distributed: Loops | OntoLike | None = None, local: Loops | None = None,
                   onto: OntoLike | None = None) -> Schedule:
        """Runs the iterations of loops on different processors.

        ``distribute(loops)`` and ``distribute(loops, onto)`` distribute loops as they are. ``distribute(targets,
        distributed, local, onto)`` divides the targets by the extents of the grid first, and moves the outer loops to
        the top.
        """
        first = _loops(targets)
        if local is not None and distributed is not None and onto is not None:
            return self._add("distribute", first, _loops(cast(Loops, distributed)), _loops(local), Onto(onto)._core)
        if local is not None or (distributed is not None and onto is not None):
            raise InputError("distribute: some of its arguments are missing",
                             "write distribute(loops), distribute(loops, onto) or "
                             "distribute(targets, distributed, local, onto)")
        target = distributed if onto is None else onto
        if target is None:
            return self._add("distribute", first)
        return self._add("distribute", first, Onto(cast(OntoLike, target))._core)

    def communicate(self, tensors: Tensor | Iterable[Tensor], at: IndexVar) -> Schedule:
        """Fetches the part of each tensor that an iteration of the loop ``at`` needs, at the start of it."""
        return self._add("communicate", [t._handle for t in _tensors(tensors)], _loop(at))

    def substitute(self, loops: Loops, kernel: LeafKernelName | str) -> Schedule:
        """Replaces these innermost loops by a kernel, such as ``BLAS.GeMM``."""
        name = LeafKernelName(kernel) if isinstance(kernel, str) else kernel
        return self._add("substitute", _loops(loops), name)

    def parallelize(self, loop: IndexVar, race: OutputRace = OutputRace.NONE) -> Schedule:
        """Divides the iterations of a leaf loop among threads. If they add to the same element, ``race`` says how."""
        return self._add("parallelize", _loop(loop), race)

    def unroll(self, loop: IndexVar, factor: IntLike) -> Schedule:
        """Unrolls a leaf loop by ``factor``."""
        return self._add("unroll", _loop(loop), to_int(factor, "unroll: the factor"))

    def vectorize(self, loop: IndexVar) -> Schedule:
        """Vectorizes a leaf loop."""
        return self._add("vectorize", _loop(loop))

    def precompute(self, part: Expr, loops: Loops, copies: Loops, workspace: str | Tensor) -> Schedule:
        """Computes a part of the right side into a workspace first.

        The workspace is private to each processor (a name), or a tensor with a format of its own. The producer repeats
        ``loops`` under the names ``copies``.
        """
        from ._tensor import Tensor

        if not isinstance(part, Expr):
            raise TypeMismatch(f"precompute: {part!r} is no part of a statement",
                               "write for instance B[i, k] * C[k, j]")
        if isinstance(workspace, Tensor):
            self._tensor._needs(workspace)
            return self._add("precompute", part._handle, _loops(loops), _loops(copies), workspace._handle)
        return self._add("precompute", part._handle, _loops(loops), _loops(copies), workspace)

    def apply(self, compound: Callable[..., Any], *arguments: Any) -> Schedule:
        """Applies a compound schedule: a function that takes the schedule and these arguments."""
        if not callable(compound):
            raise TypeMismatch(f"apply: {compound!r} is no function",
                               "write for instance apply(distal.compound.tile, i, j, ...)")
        compound(self, *arguments)
        return self
