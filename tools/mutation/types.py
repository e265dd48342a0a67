"""Which types the variables and members of a program are declared with, by name, without a compiler."""

from .code import Code

NOT_TYPES = {"return", "throw", "new", "delete", "else", "case", "goto", "using", "namespace", "const", "struct",
             "class", "enum", "typename", "operator", "public", "auto", "co_return"}


def types_in(text):
    """Pairs of a name and a type that it is declared with."""
    code = Code(text)
    for i, token in enumerate(code.tokens):
        if token.kind == "name" and code.at(i + 1) in (",", ")", ";", "=", "{", ":", "("):
            before = i - 1
            while code.at(before) in ("&", "*", "&&"):
                before -= 1
            if code.kind(before) == "name" and code.at(before) not in NOT_TYPES:
                yield token.text, code.at(before)


def types_by_name(sources):
    out = {}
    for text in sources.values():
        for name, type_name in types_in(text):
            out.setdefault(name, set()).add(type_name)
    return out
