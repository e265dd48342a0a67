"""Tokens of C++. Comments, preprocessor lines and blanks are left out."""

import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""
    (?P<skip>\n | [^\S\n]+ | //(?:\\\n|[^\n])* | /\*.*?\*/)
  | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
             | (?:u8|[uUL])?"(?:\\.|[^"\\])*"
             | (?:u8|[uUL])?'(?:\\.|[^'\\])*')
  | (?P<number>\.?\d(?:'\w|[eEpP][+-]|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<symbol><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
DIRECTIVE = re.compile(r"[ \t]*#(?:\\\n|//[^\n]*|/\*.*?\*/|[^\n])*", re.DOTALL)


@dataclass(frozen=True)
class Token:
    kind: str  # "string", "number", "name" or "symbol"
    text: str
    start: int
    line: int

    @property
    def end(self):
        return self.start + len(self.text)


def tokens_of(text):
    out, at, line = [], 0, 1
    while at < len(text):
        begins_line = at == 0 or text[at - 1] == "\n"
        directive = DIRECTIVE.match(text, at) if begins_line else None
        found = directive or TOKEN.match(text, at)
        if not directive and found.lastgroup != "skip":
            out.append(Token(found.lastgroup, found.group(), at, line))
        line += found.group().count("\n")
        at = found.end()
    return out
