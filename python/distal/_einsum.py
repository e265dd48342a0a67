"""Einstein sums of arrays, as NumPy writes them."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Literal, NamedTuple, Sequence

import numpy as np
import numpy.typing as npt

from ._arrays import KINDS, ArrayLike, NDArray, as_numpy, back, resolved
from ._contraction import REFUSED, Contraction
from ._core import Machine
from ._einsum_string import LETTERS, Subscripts, Term, from_sublists, parse
from ._errors import InputError, TypeMismatch
from ._numbers import counted
from ._on_machine import run_on
from ._tensor import MachineLike, to_machine

Order = Literal["C", "F", "A", "K"]
Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

_WIDER = {"b": np.int32, "h": np.int32, "B": np.int32, "H": np.int32, "e": np.float32, "?": np.int64}
"""By NumPy's character for a type that DISTAL does not have: the type in which DISTAL computes."""
_SAME_BITS = {4: np.int32, 8: np.int64}
"""The same for unsigned integers, by size: arithmetic modulo a power of 2 does not depend on the sign."""
_KEPT = 4096  # plans


def _compute_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which DISTAL computes with elements of a type."""
    native = dtype.newbyteorder("=")
    if native in KINDS:
        return native
    if dtype.char in _WIDER:
        return np.dtype(_WIDER[dtype.char])
    if dtype.kind == "i":
        return np.dtype(np.int64 if dtype.itemsize == 8 else np.int32)
    if dtype.kind == "u":
        return np.dtype(_SAME_BITS[dtype.itemsize])
    raise TypeMismatch(f"einsum does not compute with elements of type {dtype}",
                       "the types are bool, integers, float16, float32, float64, complex64 and complex128")


def _to_compute(array: NDArray, dtype: np.dtype[Any], compute: np.dtype[Any]) -> NDArray:
    """An operand in the type of the computation; without a copy where the bits are the same."""
    if array.dtype != dtype:
        array = array.astype(dtype)
    if array.dtype == compute:
        return array
    if dtype.kind == "u" and dtype.itemsize == compute.itemsize and dtype.isnative:
        return array.view(compute)
    return array.astype(compute)


class _Step:
    """One contraction of a plan. It removes its operands from the list, and appends its result."""

    def __init__(self, takes: Sequence[int], contraction: Contraction) -> None:
        self.takes = takes
        self.contraction = contraction


def _is_worth_splitting(s: Subscripts, steps: Sequence[tuple[Term, int]]) -> bool:
    """Whether contracting pair by pair takes less than half of the multiplications of one loop nest."""
    whole = math.prod(s.extents.values()) * len(s.inputs)
    split = sum(math.prod(s.extents[x] for x in labels) * operands for labels, operands in steps)
    return 2 * split < whole


class _WrongOrder(InputError, RuntimeError):
    """An order of contraction that NumPy refuses, partly with a RuntimeError."""


def _pairs(s: Subscripts, optimize: Any) -> list[tuple[int, ...]]:
    """NumPy's order of contraction."""
    names: dict[str, str] = {}
    for label in s.extents:
        names[label] = LETTERS[len(names)] if len(names) < len(LETTERS) else chr(192 + len(names))
    words = ["".join(names[x] for x in term) for term in s.inputs]
    text = ",".join(words) + "->" + "".join(names[x] for x in s.output)
    blanks = [np.broadcast_to(np.float32(0), [s.extents[x] for x in term]) for term in s.inputs]
    try:
        path: Any = np.einsum_path(text, *blanks, optimize=optimize)[0]
    except (LookupError, RuntimeError, TypeError, ValueError) as error:
        kind = TypeMismatch if isinstance(error, TypeError) else _WrongOrder
        raise kind(f"einsum: optimize={optimize!r} is no order of contraction of {len(s.inputs)} operands",
                   "it may be True, False, 'greedy', 'optimal', or a path as numpy.einsum_path returns it") from None
    return [tuple(p) for p in path[1:]]


class _Plan:
    """What an einsum of operands of these shapes does: contractions one after the other."""

    def __init__(self, s: Subscripts, shapes: Sequence[tuple[int, ...]], compute: np.dtype[Any], optimize: Any) -> None:
        self.shape = tuple(s.extents[x] for x in s.output)
        self.extents = s.extents
        self.is_empty = 0 in s.extents.values()
        self.steps: list[_Step] = []
        if self.is_empty:
            return
        every = tuple(range(len(shapes)))
        order = [every]
        if len(shapes) > 2 or not isinstance(optimize, bool):
            order = _pairs(s, "greedy" if isinstance(optimize, bool) else optimize)
            if isinstance(optimize, bool) and not _is_worth_splitting(s, self._labels(s, order)):
                order = [every]
        self._make(s, list(shapes), order, compute)

    @staticmethod
    def _contract(s: Subscripts, terms: list[Term], takes: tuple[int, ...]) -> tuple[list[Term], Term]:
        """Removes operands from the list, and appends their product. Returns the operands and the product."""
        taken = [terms[n] for n in takes]
        for n in sorted(takes, reverse=True):
            del terms[n]
        needed = {x for term in (*terms, s.output) for x in term}
        kept = dict.fromkeys(x for term in taken for x in term if x in needed)
        result = s.output if not terms else tuple(kept)
        terms.append(result)
        return taken, result

    @classmethod
    def _labels(cls, s: Subscripts, order: Sequence[tuple[int, ...]]) -> list[tuple[Term, int]]:
        """The loops and the number of operands of each contraction."""
        terms, out = list(s.inputs), []
        for takes in order:
            taken, _ = cls._contract(s, terms, takes)
            out.append((tuple(dict.fromkeys(x for term in taken for x in term)), len(takes)))
        return out

    def _make(self, s: Subscripts, shapes: list[tuple[int, ...]], order: Sequence[tuple[int, ...]],
              compute: np.dtype[Any]) -> None:
        terms = list(s.inputs)
        for takes in order:
            taken, result = self._contract(s, terms, takes)
            taken_shapes = tuple(shapes[n] for n in takes)
            for n in sorted(takes, reverse=True):
                del shapes[n]
            # An operand may have extent 1 where others are longer, so only the extents of these operands count.
            extents = {x: 1 for term in taken for x in term}
            for term, shape in zip(taken, taken_shapes):
                extents.update({x: n for x, n in zip(term, shape) if n != 1})
            contraction = Contraction(tuple(taken), result, extents, taken_shapes, compute.char)
            shapes.append(contraction.shape)
            self.steps.append(_Step(takes, contraction))

    def run(self, out: NDArray, arrays: list[NDArray]) -> None:
        """Computes into ``out``. The arrays have the type of the computation."""
        if self.is_empty:
            out[...] = 0
            return
        for step in self.steps[:-1]:
            taken = [arrays[n] for n in step.takes]
            for n in sorted(step.takes, reverse=True):
                del arrays[n]
            result = np.empty(step.contraction.shape, out.dtype)
            step.contraction.run(result, taken)
            arrays.append(result)
        last = self.steps[-1]
        last.contraction.run(out, [arrays[n] for n in last.takes])


class _Ready(NamedTuple):
    """A plan and its result, for operands of these shapes, types and strides."""

    plan: _Plan
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    """The result's shape, with the axes in their order in memory."""
    axes: tuple[int, ...] | None
    """Transposes the axes in memory into those of the result; None: they are the same."""
    call: Callable[..., None] | None
    """Computes the result from the operands, if the plan is one contraction that needs nothing else."""


_plans: dict[Any, _Plan] = {}
_ready: dict[Any, _Ready] = {}


def _plan(text: str, shapes: tuple[tuple[int, ...], ...], compute: np.dtype[Any], optimize: Any) -> _Plan:
    key = (text, shapes, compute, str(optimize))
    plan = _plans.get(key)
    if plan is None:
        plan = _Plan(parse(text, shapes), shapes, compute, optimize)
        if len(_plans) >= _KEPT:
            _plans.clear()
        _plans[key] = plan
    return plan


def _as_array(operand: ArrayLike) -> NDArray:
    """An operand of einsum: also a number or a list."""
    if hasattr(operand, "__dlpack__") and not isinstance(operand, (np.ndarray, np.generic)):
        return as_numpy(resolved(operand), "einsum")
    try:
        array = np.asarray(operand)
    except ValueError as error:
        raise InputError(f"einsum: an operand is no array: {error}") from None
    except (RuntimeError, TypeError) as error:  # of the operand's own library
        raise TypeMismatch(f"einsum: an operand is no array: {error}") from None
    if array.dtype.hasobject and array.ndim == 0 and not isinstance(operand, (np.ndarray, np.generic)):
        raise TypeMismatch(f"einsum: an operand is {type(operand).__name__}, and no array")
    return array


def _is_view(s: Subscripts, has_out: bool, dtype: npt.DTypeLike | None) -> bool:
    """Whether the result has the elements of the only operand as they are."""
    return len(s.inputs) == 1 and not has_out and dtype is None and set(s.inputs[0]) == set(s.output)


def _check(arrays: Sequence[NDArray], out: NDArray | None, dtype: npt.DTypeLike | None, casting: Casting,
           casting_of_out: Casting) -> np.dtype[Any]:
    """The type of the computation as NumPy sees it. Refuses what `casting` does not allow."""
    try:
        if dtype is not None:
            result = np.dtype(dtype)
        else:
            result = np.result_type(*arrays, *([] if out is None else [out.dtype]))
        for a in arrays:
            if not np.can_cast(a.dtype, result, casting):
                raise TypeMismatch(f"einsum: an operand of type {a.dtype} cannot become {result} "
                                   f"with casting={casting!r}")
        if out is not None and not np.can_cast(result, out.dtype, casting_of_out):
            raise TypeMismatch(f"einsum: a result of type {result} cannot become {out.dtype} with casting={casting!r}")
    except TypeMismatch:
        raise
    except ValueError as error:
        raise InputError(f"einsum: {error}") from None
    except TypeError as error:
        raise TypeMismatch(f"einsum: {error}") from None
    return result


def _axis_order(s: Subscripts, arrays: Sequence[NDArray]) -> list[int]:
    """The axes of the result, outermost first, as the operands lie in memory: NumPy's order K."""
    strides = [{x: abs(n) for x, n in zip(term, a.strides)} for term, a in zip(s.inputs, arrays)]
    order: list[int] = []
    for axis, label in enumerate(s.output):
        place = len(order)
        for other in reversed(range(len(order))):
            outer = s.output[order[other]]
            known = [(at[outer], at[label]) for at in strides if at.get(outer) and at.get(label)]
            if any(n >= m for n, m in known):
                break
            if known:
                place = other
        order.insert(place, axis)
    return order


def _axes_of_result(order: Order, s: Subscripts, arrays: Sequence[NDArray]) -> list[int]:
    """The axes of the result, outermost first."""
    if order not in ("C", "F", "A", "K", "c", "f", "a", "k"):
        raise InputError(f"einsum: order is {order!r}; it may be 'C', 'F', 'A' or 'K'")
    axes = list(range(len(s.output)))
    if order in "Kk":
        return _axis_order(s, arrays)
    if order in "Ff" or (order in "Aa" and all(a.flags.f_contiguous for a in arrays)):
        return axes[::-1]
    return axes


def _empty(shape: Sequence[int], axes: Sequence[int], dtype: np.dtype[Any]) -> NDArray:
    """An array whose axes lie in memory in this order, outermost first."""
    made: NDArray = np.empty([shape[axis] for axis in axes], dtype)
    return made.transpose(np.argsort(axes)) if len(axes) > 1 else made


def _without_repeats(array: NDArray, term: Term) -> NDArray:
    """The array with extent 1 along the labels along which its elements repeat."""
    if 0 not in array.strides or 0 in array.shape:
        return array
    changing = {x for x, step in zip(term, array.strides) if step != 0}
    return array[tuple(slice(None) if x in changing else slice(0, 1) for x in term)]


def einsum(*operands: ArrayLike, out: NDArray | None = None, dtype: npt.DTypeLike | None = None, order: Order = "K",
           casting: Casting = "safe", optimize: Any = True, machine: MachineLike | None = None) -> Any:
    """Evaluates the Einstein summation convention on the operands, as ``numpy.einsum`` does.

    ``einsum("ik,kj->ij", a, b)`` multiplies matrices. The form with lists, ``einsum(a, [0, 2], b, [2, 1])``, works too.
    Arrays of NumPy, and of libraries that speak DLPack, are used in place; the result is an array of the first
    operand's library. A kernel is compiled for each string and shape, and kept.

    ``optimize`` is the order of contraction of three or more operands. With True or False the order is found, and all
    is computed in one loop nest if pairs would gain little. Otherwise it is a path, or the name of one, as in
    ``numpy.einsum_path``.

    ``machine=Grid(2, 2)`` computes on the processors of a grid, ``machine=Processors(4)`` on a grid that is found. The
    schedule and the formats of all arrays are found too: those with the least modelled time.

    >>> import numpy as np, distal
    >>> a = np.arange(6).reshape(2, 3)
    >>> distal.einsum("ij,kj->ik", a, a)
    array([[ 5, 14],
           [14, 50]])
    >>> int(distal.einsum("ij->", a))
    15
    """
    if out is None and dtype is None and order == "K" and optimize is True and machine is None and operands:
        arrays = operands[1:]
        try:
            ready = _ready.get((operands[0], casting, *[(a.shape, a.dtype, a.flags.c_contiguous) for a in arrays]))
        except (AttributeError, TypeError):
            ready = None
        if ready is not None:
            plan, compute, shape, axes, call = ready
            result: Any = np.empty(shape, compute)
            if axes is not None:
                result = result.transpose(axes)
            if call is None:
                plan.run(result, list(arrays))
            else:
                try:
                    call(result, *arrays)
                except REFUSED:
                    plan.run(result, list(arrays))
            return result if shape else result[()]
    return _einsum(operands, out, dtype, order, casting, optimize, machine)


def _einsum(operands: tuple[ArrayLike, ...], out: NDArray | None, dtype: npt.DTypeLike | None, order: Order,
            casting: Casting, optimize: Any, machine: MachineLike | None) -> Any:
    """The path of einsum for calls that are not in the cache."""
    if not operands:
        raise InputError("einsum: no subscripts are given", 'write for instance einsum("ij,jk->ik", a, b)')
    if isinstance(operands[0], str):
        text, given = operands[0], list(operands[1:])
    else:
        if len(operands) < 2:
            raise InputError("einsum: a list of labels follows each operand")
        text, given = from_sublists(operands)
    if not given:
        raise InputError("einsum: no operand is given")
    if out is not None and not isinstance(out, np.ndarray):
        raise TypeMismatch(f"einsum: out is {type(out).__name__}; it must be an array of NumPy")
    if out is not None and not out.flags.writeable:
        raise InputError("einsum: out is read-only")
    arrays = [_as_array(a) for a in given]
    if not isinstance(optimize, bool):
        casting_of_out: Casting = "unsafe"  # as NumPy, which assigns the result of the last pair
    else:
        casting_of_out = casting
    result_type = _check(arrays, out, dtype, casting, casting_of_out)
    s = parse(text, [a.shape for a in arrays])
    shape = tuple(s.extents[x] for x in s.output)
    axes = _axes_of_result(order, s, arrays)
    if out is not None and out.shape != shape:
        raise InputError(f"einsum: out has the shape {out.shape}, and the result has {shape}")
    if machine is None and _is_view(s, out is not None, dtype) and order in "Kk":
        return back(np.einsum(text, arrays[0]), given)
    grid = None if machine is None else to_machine(machine, "einsum")
    result = _computed(text, s, arrays, axes, result_type, optimize, out, grid)
    if out is not None:
        if result is not out:
            np.copyto(out, result, casting=casting_of_out)
        return out
    if machine is None:
        _remember(operands, text, s, arrays, axes, result_type, casting)
    return back(result if shape else result[()], given)


def _computed(text: str, s: Subscripts, arrays: Sequence[NDArray], axes: Sequence[int], result_type: np.dtype[Any],
              optimize: Any, out: NDArray | None, machine: Machine | None) -> NDArray:
    """The result: in ``out`` if it can be computed there, else in an array of its own."""
    compute = _compute_type(result_type)
    inputs = [_to_compute(_without_repeats(a, term), result_type, compute)
              for a, term in zip(arrays, s.inputs)]
    shapes = tuple(a.shape for a in inputs)
    plan = _plan(text, shapes, compute, optimize)
    shape = tuple(s.extents[x] for x in s.output)
    can_use = out is not None and out.dtype == result_type == compute and out.shape == plan.shape
    if out is not None and can_use and not any(np.may_share_memory(out, a) for a in inputs):
        result = out
    else:
        result = _empty(plan.shape, axes, compute)
    if machine is None:
        plan.run(result, inputs)
    else:
        run_on(machine, parse(text, shapes), inputs, result)
    # Labels along which no operand changes: a sum over them is a multiple, a result has copies.
    repeats = math.prod(s.extents[x] // plan.extents[x] for x in s.extents if x not in s.output and plan.extents[x])
    if repeats != 1:
        result *= compute.type(repeats)
    if plan.shape != shape:
        small, result = result, _empty(shape, axes, compute)
        result[...] = small
    return _from_compute(result, result_type)


def _from_compute(result: NDArray, dtype: np.dtype[Any]) -> NDArray:
    """The result in its own type."""
    if result.dtype == dtype:
        return result
    if dtype.kind == "b":
        return result.astype(bool)
    if dtype.kind == "u" and dtype.itemsize == result.dtype.itemsize and dtype.isnative:
        return result.view(dtype)
    return result.astype(dtype)


def _remember(operands: Sequence[Any], text: str, s: Subscripts, arrays: Sequence[NDArray], axes: Sequence[int],
              dtype: np.dtype[Any], casting: str) -> None:
    """Keeps the plan for operands that need no conversion."""
    if dtype not in KINDS or not isinstance(operands[0], str):
        return
    if not all(type(a) is np.ndarray and a.dtype == dtype and a.flags.c_contiguous for a in operands[1:]):
        return
    if len(_ready) >= _KEPT:
        _ready.clear()
    plan = _plan(text, tuple(a.shape for a in arrays), dtype, True)
    in_memory = tuple(plan.shape[axis] for axis in axes)
    back_again = None if list(axes) == list(range(len(axes))) else tuple(int(n) for n in np.argsort(axes))
    call = plan.steps[0].contraction.call if len(plan.steps) == 1 else None
    key = (text, casting, *[(a.shape, a.dtype, True) for a in arrays])
    _ready[key] = _Ready(plan, dtype, in_memory, back_again, call)


def tensordot(a: ArrayLike, b: ArrayLike, axes: int | Sequence[Any] = 2) -> Any:
    """Sums the products of elements over axes of two arrays, as ``numpy.tensordot`` does.

    >>> import numpy as np, distal
    >>> distal.tensordot(np.eye(2), np.array([3.0, 4.0]), axes=1)
    array([3., 4.])
    """
    ndim_a, ndim_b = np.ndim(a) if not hasattr(a, "ndim") else a.ndim, np.ndim(b) if not hasattr(b, "ndim") else b.ndim
    over_a, over_b = _axes(axes, ndim_a, ndim_b)
    if len(over_a) != len(over_b):
        given = counted(len(over_a), "axis", "axes")
        raise InputError(f"tensordot: {given} of the first array, and {len(over_b)} of the second")
    labels_a, labels_b = list(range(ndim_a)), list(range(ndim_a, ndim_a + ndim_b))
    if ndim_a + ndim_b > len(LETTERS):
        raise InputError(f"tensordot: {ndim_a + ndim_b} dimensions; at most {len(LETTERS)} are possible")
    for x, y in zip(over_a, over_b):
        extents = np.shape(a)[x], np.shape(b)[y]
        if extents[0] != extents[1]:
            raise InputError(f"tensordot: axis {x} has the extent {extents[0]}, and axis {y} has {extents[1]}")
        labels_b[y] = labels_a[x]
    kept = [x for n, x in enumerate(labels_a) if n not in over_a]
    kept += [y for n, y in enumerate(labels_b) if n not in over_b]
    text = "".join(LETTERS[x] for x in labels_a) + "," + "".join(LETTERS[y] for y in labels_b)
    return einsum(text + "->" + "".join(LETTERS[x] for x in kept), a, b)


def _axes(axes: int | Sequence[Any], ndim_a: int, ndim_b: int) -> tuple[list[int], list[int]]:
    """The axes of tensordot, counted from the first."""
    if hasattr(axes, "__index__") and not isinstance(axes, np.ndarray):
        axes = operator.index(axes)
        if not 0 <= axes <= min(ndim_a, ndim_b):
            raise InputError(f"tensordot: {axes} axes, and the arrays have {ndim_a} and {ndim_b}")
        return list(range(ndim_a - axes, ndim_a)), list(range(axes))

    def counted(given: Any, ndim: int) -> list[int]:
        found = [operator.index(axis) for axis in (given if np.iterable(given) else [given])]
        for axis in found:
            if not -ndim <= axis < ndim:
                raise InputError(f"tensordot: there is no axis {axis}; the array has {ndim}")
        if len({axis % ndim for axis in found}) < len(found):
            raise InputError(f"tensordot: an axis is named twice in {given!r}")
        return [axis % ndim for axis in found]

    try:
        first, second = axes
        return counted(first, ndim_a), counted(second, ndim_b)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        kind = TypeMismatch if isinstance(error, TypeError) else InputError
        raise kind(f"tensordot: axes is {axes!r}; it is a number of axes, or a list for each of the arrays") from None


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> Any:
    """Permutes the axes, as ``numpy.transpose`` does: a view.

    >>> import numpy as np, distal
    >>> distal.transpose(np.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    try:
        return back(np.transpose(_as_array(a), axes), [a])
    except ValueError as error:
        raise InputError(f"transpose: {error}") from None
    except TypeError as error:
        raise TypeMismatch(f"transpose: {error}") from None
