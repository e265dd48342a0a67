"""Tensors: named arrays with a format."""

from __future__ import annotations

from types import EllipsisType
from typing import Any, Iterable, NamedTuple, NoReturn, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ArrayLike, NDArray, as_numpy, kind_of
from ._core import Cost, FindOptions, Format, Grid, Machine, Processors, Rectangle, RunOptions, RunReport
from ._errors import InputError, ResourceError, TypeMismatch
from ._expr import Access, Accumulation, ExprLike, Index, IndexVar, Operand, to_expr
from ._files import PathLike, to_path
from ._kernel import Kernel, Statement, to_run_options
from ._numbers import Epoch, IntLike, Param, counted, to_index, to_int
from ._ranks import load_on_ranks, save_on_ranks
from ._schedule import Schedule
from ._storage import Storage, index_of
from ._where import caller

FormatLike = Union[str, Format, _core.Distribution, None]
MachineLike = Union[Machine, Grid, Processors]
Indices = Union[IndexVar, Index, Sequence[Union[IndexVar, Index]], EllipsisType]


class PieceInfo(NamedTuple):
    """The piece of a tensor that one processor owns."""

    processor: int
    """Numbered in row-major order of the machine."""
    rectangles: list[Rectangle]
    """The rectangles of the tensor that the piece consists of: several if the distribution is cyclic."""
    data: NDArray
    """Its elements; the rectangles are packed into one block."""

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of the block."""
        return self.data.shape

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the block, in elements."""
        return tuple(s // self.data.itemsize for s in self.data.strides)


def to_machine(machine: MachineLike, whose: str) -> Machine:
    """The machine that a caller gave."""
    if isinstance(machine, (Grid, Processors)):
        return Machine(machine)
    if not isinstance(machine, Machine):
        raise TypeMismatch(f"{whose}: machine is {type(machine).__name__}; it must be a Machine, a Grid or Processors")
    return machine


def to_format(format: FormatLike, machine: MachineLike | None, dimensions: int, whose: str,
              params: Iterable[Param] = ()) -> Format:
    """The format for what a caller gave."""
    if machine is not None:
        machine = to_machine(machine, whose)
    if format is None:
        return Format() if machine is None else Format(machine)
    if isinstance(format, str):
        return Format.parse(format, dimensions, machine, list(params))
    if isinstance(format, _core.Distribution):
        return Format([_core.ModeFormat.Dense] * dimensions, format)
    if isinstance(format, Format):
        return format
    help = "write one as a string, such as 'xy -> xy'"
    if isinstance(format, (Machine, Grid, Processors)):
        help += "; a machine alone is given as machine=M"
    raise TypeMismatch(f"{whose}: {type(format).__name__} is no format", help)


class Tensor(Operand):
    """A tensor: a name, a shape, a format and elements.

    The format is a string as in a .distal file, such as ``"xy -> xy"``, with the machine after it, or a ``Format``.
    With a machine alone it is left out, and found at the first compile that uses the tensor. Without both the tensor
    lives on the first processor. Sizes are numbers, params or expressions of params.

    The elements are an array of NumPy: ``data``, or what ``bind`` gives, is used where it lies, and ``numpy()`` returns
    it. Without ``shape`` the tensor has that of ``data``. A tensor that nothing is bound to starts with zeros.

    >>> import numpy as np, distal
    >>> i, j, k = distal.indices("i j k")
    >>> A = distal.Tensor("A", (2, 2))
    >>> B = distal.Tensor("B", (2, 2), data=np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> A[i, j] = B[i, k] * B[k, j]
    >>> report = A.compile().run()
    >>> A.numpy()
    array([[ 7., 10.],
           [15., 22.]])
    """

    def __init__(self, name: str = "", shape: Sequence[IntLike] | IntLike | None = None, format: FormatLike = None,
                 machine: MachineLike | None = None, *, data: ArrayLike | None = None,
                 dtype: npt.DTypeLike | None = None, params: Iterable[Param] = ()) -> None:
        if not isinstance(name, str):
            raise TypeMismatch(f"the name of a tensor is {name!r}; it must be a string",
                               'write for instance Tensor("A", (4, 4))')
        array = None if data is None else as_numpy(data, f"tensor {name}")
        if shape is None:
            shape = () if array is None else array.shape
        sizes = list(shape) if isinstance(shape, (tuple, list)) else [shape]
        dimensions = [to_int(n, f"a size of tensor {name}") for n in sizes]  # type: ignore[arg-type]
        if dtype is None:
            dtype = np.float64 if array is None else array.dtype
        self._kind = kind_of(dtype, f"tensor {name}")
        self._dtype = np.dtype(dtype)
        self._use(_core.TensorHandle(self._kind, name, dimensions,
                                     to_format(format, machine, len(dimensions), f"tensor {name}", params)))
        if array is not None:
            self.bind(array)

    @classmethod
    def _of(cls, handle: _core.TensorHandle, dtype: np.dtype[Any]) -> Tensor:
        """The tensor of a program."""
        tensor = cls.__new__(cls)
        tensor._kind, tensor._dtype = handle.type, dtype
        tensor._use(handle)
        return tensor

    def _use(self, handle: _core.TensorHandle) -> None:
        self._handle = handle
        self._ndim = len(handle.shape)
        self._line = caller()
        self._statement: Statement | None = None
        self._storage: Storage | None = None
        self._written = False
        self._bound: NDArray | None = None
        self._bound_pieces: dict[int, NDArray] = {}

    # --- What it is -------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name, as errors and ``Kernel.text`` show it."""
        return self._handle.name

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes, for the current values of the params."""
        return tuple(self._handle.shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements, as NumPy calls it."""
        return self._dtype

    def __repr__(self) -> str:
        return f"Tensor({self.name!r}, {self.shape}, dtype={self._dtype})"

    # --- Statements -------------------------------------------------------------------------------------------------

    def __getitem__(self, at: Indices) -> Access:
        """An access such as ``A[i, j]`` or ``A[i + 1, j - n]``, for a statement; ``a[()]`` for a scalar."""
        variables: tuple[IndexVar | Index, ...]
        if isinstance(at, (IndexVar, Index)):
            variables = (at,)
        elif isinstance(at, (tuple, list)):
            variables = tuple(at)
        else:
            variables = () if isinstance(at, EllipsisType) else (at,)  # type: ignore[assignment]
        for variable in variables:
            if not isinstance(variable, (IndexVar, Index)):
                raise TypeMismatch(f"{self.name}[{variable!r}]: statements are written with index variables",
                                   "make them with distal.indices('i j'); the elements are in numpy()")
        if len(variables) != self._ndim:
            given = counted(len(variables), "index is", "indices are")
            raise InputError(f"tensor {self.name} has {counted(self._ndim, 'dimension', 'dimensions')}, "
                             f"and {given} given")
        return Access(self._handle.access(variables), self)

    def __setitem__(self, at: Indices, value: ExprLike | Accumulation) -> None:
        """Defines the tensor: ``A[i, j] = B[i, k] * C[k, j]``, or with ``+=`` or ``-=``."""
        if isinstance(value, Accumulation):
            value.access._handle.add_to(value.right._handle)
            operands = value.right._tensors
        else:
            right = to_expr(value)
            self[at]._handle.assign(right._handle)
            operands = right._tensors
        self._statement = Statement(self, operands, isinstance(value, Accumulation), caller())
        Epoch.advance()

    def __iadd__(self, other: object) -> NoReturn:
        raise InputError(f"tensor {self.name} has no indices before +=, -= or *=", self._to_define())

    __isub__ = __imul__ = __iadd__

    def _to_define(self) -> str:
        """How to write a statement that defines it."""
        at = ", ".join("ijklmn"[:self._ndim]) or "()"
        return f"write {self.name}[{at}] on the left, with variables from distal.indices"

    def _needs(self, tensor: Tensor) -> None:
        """The statement uses a workspace."""
        if self._statement is not None:
            self._statement.workspaces.append(tensor)

    def schedule(self) -> Schedule:
        """The schedule of the statement that defines this tensor.

        A call of it gives the statement a schedule, perhaps an empty one.
        """
        self._handle.schedule()
        return Schedule(self)

    def compile(self, find: FindOptions | None = None) -> Kernel:
        """The kernel of the statement that defines this tensor. What the statement leaves out is found.

        >>> import numpy as np, distal
        >>> i, j, k = distal.indices("i j k")
        >>> M = distal.Machine(distal.Processors(4), "M")
        >>> A, B, C = (distal.Tensor(x, (64, 64), machine=M) for x in "ABC")
        >>> A[i, j] = B[i, k] * C[k, j]                       # no schedule, no formats and no grid
        >>> A.has_format, len(A.compile().text.splitlines()) > 8, A.has_format
        (False, True, True)
        """
        return Kernel([self], find)

    @property
    def has_format(self) -> bool:
        """Whether the format is known: one that is left out is found at the first compile that uses the tensor."""
        return self._handle.has_format

    def _require_format(self, call: str) -> None:
        if not self.has_format:
            raise InputError(f"tensor {self.name}: its format is left out, and {call} needs one",
                             "compile the statement that uses it first, or give it a format")

    # --- Elements ---------------------------------------------------------------------------------------------------

    def bind(self, array: ArrayLike, processor: int | None = None) -> None:
        """Uses the caller's array in place from now on: one of NumPy, or of a library that speaks DLPack.

        It is the whole tensor, or with ``processor`` the piece of one processor. It has the tensor's shape and element
        type, and may have any strides. Kernels read it and write it; they keep it alive.

        >>> import numpy as np, distal
        >>> a = np.zeros((2, 3), order="F")
        >>> A = distal.Tensor("A", (2, 3))
        >>> A.bind(a)
        >>> A.numpy() is a
        True
        """
        found = as_numpy(array, f"tensor {self.name}")
        if found.dtype != self._dtype:
            raise TypeMismatch(f"tensor {self.name} has elements of type {self._dtype}, "
                               f"and the array has {found.dtype}")
        if processor is not None:
            self._require_format("bind")
            self._bound_pieces[self._owner(processor)] = found
            self._bound = None
        else:
            if found.shape != self.shape:
                raise InputError(f"tensor {self.name} has the shape {self.shape}, and the array has {found.shape}")
            self._bound = found
            self._bound_pieces = {}
        if self._storage is not None:
            self._storage.params = -1
        Epoch.advance()

    def _let_go(self) -> None:
        """Forgets the arrays that are bound."""
        self._bound, self._bound_pieces, self._storage = None, {}, None

    def _owner(self, processor: int) -> int:
        """The number of a processor that a caller named. It must own elements, and be of this rank."""
        number = to_index(processor, f"tensor {self.name}: the processor of a piece")
        owners = [piece.processor for piece in self._handle.layout()]
        if number not in owners:
            raise InputError(f"tensor {self.name}: processor {number} has no piece of it",
                             f"the processors with pieces are {', '.join(map(str, owners)) or 'those of other ranks'}")
        return number

    def numpy(self) -> NDArray:
        """The elements: the array that is bound, or that the tensor was given when it was first used.

        A tensor whose pieces were bound one by one is collected into a new array.
        """
        storage = self._stored()
        return storage.collected(self.shape, self._dtype) if storage.whole is None else storage.whole

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        array = self.numpy()
        if dtype is None or np.dtype(dtype) == array.dtype:
            return array.copy() if copy else array
        if copy is False:
            raise ValueError("another element type needs a copy")
        return array.astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, Any]:
        return self.numpy().__dlpack_device__()

    def pieces(self) -> list[PieceInfo]:
        """The pieces of all processors that own elements, for the current values of the params."""
        self._require_format("pieces")
        storage = self._stored()
        storage.scatter()
        return [PieceInfo(p.processor, p.rectangles, storage.arrays[p.processor]) for p in self._handle.layout()]

    def _stored(self) -> Storage:
        """Where the elements lie, for the current values of the params."""
        if self._storage is not None and self._storage.params == Epoch.params:
            return self._storage
        shape = self.shape
        whole = self._bound
        if whole is not None and whole.shape != shape:
            raise InputError(f"tensor {self.name} has the shape {shape} now, and the array that is bound has "
                             f"{whole.shape}", "bind another array after the change of the param")
        if whole is None and not self._bound_pieces:
            kept = None if self._storage is None else self._storage.whole
            whole = kept if kept is not None and kept.shape == shape else self._zeros(shape)
        if self._written and whole is not None and not whole.flags.writeable:
            raise InputError(f"tensor {self.name} is written by a kernel, and the array that is bound is read-only")
        self._storage = Storage(self._handle, self._dtype, whole, self._written, self._bound_pieces,
                                self._storage)
        return self._storage

    def _is_written(self) -> None:
        """A kernel writes it: replicas need memory of their own."""
        if not self._written:
            self._written = True
            if self._storage is not None:
                self._storage.params = -1

    def _zeros(self, shape: tuple[int, ...]) -> NDArray:
        if any(n < 1 for n in shape):
            raise InputError(f"tensor {self.name} has the shape {shape}; sizes are at least 1")
        try:
            return np.zeros(shape, self._dtype)
        except (MemoryError, ValueError):
            raise ResourceError(f"tensor {self.name} of the shape {shape} does not fit into memory") from None

    def load(self, npy_file: PathLike, *, comm: Any = None) -> None:
        """Reads the elements from a file of NumPy, which must have this shape and element type.

        With a communicator of mpi4py each of its ranks reads the pieces of its own processors.
        """
        file = to_path(npy_file, "load")
        storage = self._stored()
        if not self.has_format:
            self._on_first_processor(storage).load(file)
            return
        if comm is None:
            self._handle.load(file)
        else:
            load_on_ranks(self._handle, file, comm)
        storage.gather()

    def save(self, npy_file: PathLike, *, comm: Any = None) -> None:
        """Writes the elements to a file of NumPy.

        With a communicator of mpi4py all its ranks, on which a kernel has spread the tensor, write one file together.
        """
        file = to_path(npy_file, "save")
        if comm is not None:
            self._require_format("save")
        storage = self._stored()
        if not self.has_format:
            self._on_first_processor(storage).save(file)
            return
        storage.scatter()
        if comm is None:
            self._handle.save(file)
        else:
            save_on_ranks(self._handle, file, comm)

    def _on_first_processor(self, storage: Storage) -> Tensor:
        """An array with the same elements, for a tensor whose format is not known yet."""
        return Tensor(self.name, self.shape, data=storage.whole)

    # --- Formats ----------------------------------------------------------------------------------------------------

    def redistribute(self, format: FormatLike, machine: MachineLike | None = None, *,
                     options: RunOptions | None = None) -> RunReport:
        """Moves the tensor into another format; its elements keep their values.

        An array that was bound keeps the old elements and no longer belongs to the tensor. A kernel that uses the
        tensor is compiled for the new format at its next run.

        >>> import distal
        >>> M = distal.Machine(distal.Grid(2, 2))
        >>> A = distal.Tensor("A", (4, 4), "xy -> xy", M)
        >>> A.redistribute("xy -> yx", M).bytes_moved
        64
        """
        self._require_format("redistribute")
        used = to_run_options(options)
        self._stored().scatter()
        made = to_format(format, machine, self._ndim, f"tensor {self.name}")
        report = self._handle.redistribute(made, used)
        whole = np.zeros(self.shape, self._dtype)
        for piece, array in self._handle.pieces(self._kind):
            whole[index_of(piece)] = array
        self._bound_pieces = {}
        self._bound = None
        self._storage = Storage(self._handle, self._dtype, whole, self._written, {}, self._storage)
        Epoch.advance()
        return report

    def redistribution_cost(self, format: FormatLike, machine: MachineLike | None = None) -> Cost:
        """What ``redistribute`` would move and hold; moves nothing."""
        return self._handle.redistribution_cost(to_format(format, machine, self._ndim, f"tensor {self.name}"))

    def copy_kernel(self, source: Tensor) -> Kernel:
        """The kernel that copies the elements of ``source``, to inspect it or to run it many times."""
        if not isinstance(source, Tensor):
            raise TypeMismatch(f"{type(source).__name__} is no Tensor to copy from", "bind an array with bind()")
        for tensor in (self, source):
            tensor._require_format("a copy")
        return Kernel._of_copy(self, source)

    def copy_from(self, source: Tensor, *, options: RunOptions | None = None) -> RunReport:
        """Copies the elements of another tensor of the same shape and element type, whatever its format.

        This tensor keeps its format and its array.
        """
        return self.copy_kernel(source).run(options)
