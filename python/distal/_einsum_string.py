"""Parses the subscripts of an einsum."""

from __future__ import annotations

import operator
from collections import Counter
from typing import Any, NamedTuple, Sequence

from ._errors import InputError, TypeMismatch
from ._numbers import counted

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Term = tuple[str, ...]
"""One label for each dimension; those of an ellipsis are ``.0``, ``.1``, ..., of which ``.0`` is the last dimension."""


class Subscripts(NamedTuple):
    """The labels of the operands and of the result, and the extent of each label."""

    inputs: tuple[Term, ...]
    output: Term
    extents: dict[str, int]


def from_sublists(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """The string and the operands of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    operands = list(arguments[0:len(arguments) // 2 * 2:2])
    text = ",".join(_word(sub) for sub in arguments[1::2])
    if len(arguments) % 2:
        text += "->" + _word(arguments[-1])
    return text, operands


def _word(sublist: Any) -> str:
    out = ""
    try:
        labels = list(sublist)
    except TypeError:
        raise TypeMismatch("einsum: a sublist is a list of labels: integers from 0 to 51, and ...") from None
    for label in labels:
        if label is Ellipsis:
            out += "..."
            continue
        try:
            number = operator.index(label)
        except TypeError:
            shown = repr(label) if isinstance(label, (str, float)) else type(label).__name__
            raise TypeMismatch(f"einsum: {shown} is no label; labels are integers from 0 to 51, and ...",
                               'a string comes first: einsum("ij,jk->ik", a, b)') from None
        if not 0 <= number < len(LETTERS):
            raise InputError(f"einsum: {number} is no label; labels are integers from 0 to 51, and ...")
        out += LETTERS[number]
    return out


def _parts(word: str, whole: str) -> tuple[str, str | None]:
    """The letters before an ellipsis and after it; None: there is no ellipsis."""
    before, dots, after = word.partition("...")
    for letter in before + after:
        if letter not in LETTERS:
            raise InputError(f"einsum: `{letter}` is no label, in `{whole}`",
                             "labels are letters; `...` stands for further dimensions")
    return before, after if dots else None


def _expand(word: str, ndim: int, whole: str) -> Term:
    """The labels of an operand with this number of dimensions."""
    before, after = _parts(word, whole)
    count = ndim - len(before) - len(after or "")
    if count < 0 or (after is None and count > 0):
        names = len(before) + len(after or "")
        raise InputError(f"einsum: `{word}` names {counted(names, 'dimension', 'dimensions')}, and the operand has "
                         f"{ndim}",
                         "`...` stands for dimensions that are not named" if count > 0 else "")
    return (*before, *(f".{d}" for d in reversed(range(count))), *(after or ""))


def _dots(terms: Sequence[Term]) -> Term:
    """The labels of the ellipses together."""
    longest = max((sum(label[0] == "." for label in term) for term in terms), default=0)
    return tuple(f".{d}" for d in reversed(range(longest)))


def _output_term(word: str, inputs: Sequence[Term], whole: str) -> Term:
    before, after = _parts(word, whole)
    dots = _dots(inputs)
    if after is None and dots:
        raise InputError(f"einsum: the result in `{whole}` has no `...`, and the operands have",
                         "write `...` there too")
    output = (*before, *(dots if after is not None else ()), *(after or ""))
    for label, count in Counter(output).items():
        if count > 1:
            raise InputError(f"einsum: the result in `{whole}` has `{label}` twice")
        if not any(label in term for term in inputs):
            raise InputError(f"einsum: the result in `{whole}` has `{label}`, and no operand has")
    return output


def _implicit_output(inputs: Sequence[Term]) -> Term:
    """Labels that stand once, in the order of the alphabet, after those of the ellipses."""
    counts = Counter(label for term in inputs for label in term)
    return _dots(inputs) + tuple(sorted(label for label, n in counts.items() if n == 1 and label[0] != "."))


def _extents(inputs: Sequence[Term], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The extent of each label. One of 1 is broadcast."""
    extents: dict[str, int] = {}
    for term, shape in zip(inputs, shapes):
        own: dict[str, int] = {}
        for label, n in zip(term, shape):
            if own.setdefault(label, n) != n:
                raise InputError(f"einsum: '{label}' has the extents {own[label]} and {n} in one operand")
            known = extents.get(label, 1)
            if n != known and n != 1 and known != 1:
                shown = "..." if label[0] == "." else label
                raise InputError(f"einsum: '{shown}' has the extents {known} and {n}",
                                 "a label has one extent in all operands; only 1 is broadcast")
            extents[label] = known if n == 1 else n
    return extents


def parse(text: str, shapes: Sequence[tuple[int, ...]]) -> Subscripts:
    """The labels and extents that the subscripts give to operands of these shapes."""
    whole = text.replace(" ", "")
    left, arrow, right = whole.partition("->")
    words = left.split(",")
    if len(words) != len(shapes):
        raise InputError(f"einsum: `{text}` has {len(words)} operand{'s' * (len(words) > 1)}, "
                         f"and {len(shapes)} {'is' if len(shapes) == 1 else 'are'} given")
    inputs = tuple(_expand(word, len(shape), whole) for word, shape in zip(words, shapes))
    output = _output_term(right, inputs, whole) if arrow else _implicit_output(inputs)
    return Subscripts(inputs, output, _extents(inputs, shapes))
