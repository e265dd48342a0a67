"""The changes that a seed chooses from.

An operator takes the code of a file and the index of a token, and yields the edits that it can make there.
"""

from dataclasses import dataclass

from .arguments import call_arguments, has_order, is_plain, of_one_type
from .statements import removable_statement

COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "*": "+", "/": "*", "%": "/"}
LOGIC = {"&&": "||", "||": "&&"}
EXTREMES = {"min": "max", "max": "min", "min_element": "max_element", "max_element": "min_element",
            "lower_bound": "upper_bound", "upper_bound": "lower_bound"}
SMALL_NUMBERS = {str(n) for n in range(10)}  # bounds and strides; larger ones are sizes to tune


@dataclass(frozen=True)
class Edit:
    start: int
    end: int
    new: str
    what: str


def replace_token(code, i, new):
    t = code.tokens[i]
    return Edit(t.start, t.end, new, f"`{t.text}` becomes `{new}`")


def reverse_comparison(code, i):
    if code.is_binary(i):
        for new in COMPARISONS.get(code.at(i), ()):
            yield replace_token(code, i, new)


def change_arithmetic(code, i):
    is_text = "string" in (code.kind(i - 1), code.kind(i + 1))
    if code.at(i) in ARITHMETIC and code.is_binary(i) and not is_text:
        yield replace_token(code, i, ARITHMETIC[code.at(i)])


def change_logic(code, i):
    if code.at(i) in LOGIC and code.is_binary(i):
        yield replace_token(code, i, LOGIC[code.at(i)])


def drop_not(code, i):
    if code.at(i) == "!" and code.kind(i) == "symbol" and not code.is_blocked[i]:
        t = code.tokens[i]
        yield Edit(t.start, t.end, "", f"`!` is dropped before `{code.at(i + 1)}`")


def swap_extremes(code, i):
    is_call = code.at(i + 1) in ("(", "<")
    if code.kind(i) == "name" and code.at(i) in EXTREMES and is_call and not code.is_blocked[i]:
        yield replace_token(code, i, EXTREMES[code.at(i)])


def shift_number(code, i):
    token = code.tokens[i]
    if token.text not in SMALL_NUMBERS or code.is_blocked[i] or code.at(i - 1) == "case":
        return
    value = int(token.text)
    for new in (value + 1, value - 1):
        if new >= 0:
            yield replace_token(code, i, str(new))


def change_truth(code, i):
    if code.at(i) in ("true", "false") and not code.is_blocked[i]:
        yield replace_token(code, i, "false" if code.at(i) == "true" else "true")


def swap_arguments(code, i):
    arguments = call_arguments(code, i) if has_order(code, i) else []
    for (a, b), (c, d) in zip(arguments, arguments[1:]):
        if not (is_plain(code, a, b) and is_plain(code, c, d)):
            continue
        first, second = code.span(a, b), code.span(c, d)
        if first != second and of_one_type(code, b, d):
            start, end = code.tokens[a].start, code.tokens[d].end
            between = code.text[code.tokens[b].end : code.tokens[c].start]
            yield Edit(start, end, second + between + first, f"`{first}` and `{second}` are swapped")


def remove_statement(code, i):
    last = removable_statement(code, i)
    if last is not None:
        text = " ".join(code.span(i, last).split())
        shown = text if len(text) <= 60 else text[:57] + "..."
        yield Edit(code.tokens[i].start, code.tokens[last].end, ";", f"`{shown}` is removed")


OPERATORS = (reverse_comparison, change_arithmetic, change_logic, drop_not, swap_extremes, shift_number, change_truth,
             swap_arguments, remove_statement)


def edits_at(code, i):
    """All edits that begin at a token."""
    return [edit for operator in OPERATORS for edit in operator(code, i)]
