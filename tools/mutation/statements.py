"""Finds the statements that can be removed: calls, assignments, throws and jumps."""

JUMPS = {"break", "continue", "throw"}
KEYWORDS = {
    "return", "if", "for", "while", "do", "switch", "case", "default", "else", "using", "namespace", "class", "struct",
    "enum", "union", "template", "typedef", "static", "constexpr", "const", "auto", "public", "private", "protected",
    "friend", "virtual", "inline", "extern", "explicit", "mutable", "goto", "try", "catch", "static_assert", "assert",
    "delete", "operator", "typename", "unsigned", "int", "bool", "double", "float", "void", "char",
}
HEADERS = {"if", "for", "while", "switch", "constexpr"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<=", ">>=", "++", "--"}
PATH = {".", "->", "::"}


def removable_statement(code, i):
    """The last token of the statement that begins at a token, or None if it cannot be removed."""
    if not begins_statement(code, i):
        return None
    last = end_of_statement(code, i)
    if last is None:
        return None
    if code.at(i) in JUMPS or (code.at(i) == "return" and last == i + 1):
        return last
    return last if has_effect(code, i, last) else None


def begins_statement(code, i):
    before = code.at(i - 1)
    if before == ")":
        return code.at(code.partner.get(i - 1, 0) - 1) in HEADERS
    return before in (";", "{", "}", "else") and not code.is_blocked[i]


def end_of_statement(code, i):
    while i < len(code.tokens) and code.at(i) != ";":
        if code.at(i) in (")", "]", "}"):
            return None
        i = code.partner[i] + 1 if i in code.partner else i + 1
    return i if i < len(code.tokens) else None


def has_effect(code, first, last):
    """Whether it is a call or an assignment, not a declaration."""
    i = first + 1 if code.at(first) in ("++", "--", "*") else first
    if code.kind(i) != "name" or code.at(i) in KEYWORDS:
        return False
    is_changed = i > first and code.at(first) != "*"
    while i < last:
        text = code.at(i)
        if text in ASSIGNMENTS:
            return code.at(i + 1) not in ("default", "delete")
        if text in ("(", "[") and i in code.partner:
            is_changed = is_changed or text == "("
            i = code.partner[i]
        elif code.kind(i) == "name":
            if i > first and (code.kind(i - 1) == "name" or code.at(i - 1) == ">"):
                return False
        elif text not in PATH and not code.is_blocked[i]:
            return False
        i += 1
    return is_changed
