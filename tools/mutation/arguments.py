"""Arguments of calls, for the operator that swaps two of them."""

NOT_CALLS = {"if", "for", "while", "switch", "return", "catch", "operator"}
# The order of their arguments says nothing, or only something to a reader of a message.
ORDERLESS = {"min", "max", "swap", "intersect", "overlap", "format", "print", "tie", "gcd"}


def call_arguments(code, i):
    """The arguments of the call whose name is the token, as pairs of first and last token."""
    opening = i + 1
    is_call = code.kind(i) == "name" and code.at(opening) in ("(", "{") and opening in code.partner
    if not is_call or code.at(i) in NOT_CALLS or code.is_blocked[i]:
        return []
    out, first, at, end = [], opening + 1, opening + 1, code.partner[opening]
    while at < end:
        if code.at(at) == "," and not code.is_blocked[at]:
            out.append((first, at - 1))
            first = at + 1
        at = code.partner[at] + 1 if code.at(at) in ("(", "[", "{") and at in code.partner else at + 1
    return out + [(first, end - 1)] if out else []


def is_plain(code, first, last):
    """Whether an argument is a path such as `rect.lo[d]`; a declaration or an expression is not."""
    if first > last or code.kind(first) != "name":
        return False
    for i in range(first, last + 1):
        if code.kind(i) == "name" and i > first and code.kind(i - 1) == "name":
            return False
        if code.kind(i) == "string" or (code.kind(i) == "symbol" and code.at(i) not in (".", "->", "::", "[", "]")):
            return False
    return True


def has_order(code, i):
    return code.at(i) not in ORDERLESS


def of_one_type(code, last, other_last):
    """Whether two arguments can have the same type, going by the names that they end in."""
    return bool(code.types.get(code.at(last), set()) & code.types.get(code.at(other_last), set()))
