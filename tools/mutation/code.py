"""The tokens of one file, and which of them a fault may change."""

from .lexer import tokens_of

CLOSING = {"(": ")", "[": "]", "{": "}"}
# What stands in parentheses or braces after these words says something to the compiler, or to a reader.
SILENT_CALLS = {"static_assert", "assert", "decltype", "sizeof", "alignof", "noexcept", "requires", "explicit"}


class Code:
    def __init__(self, text, types=None):
        self.text = text
        self.types = types or {}  # of variables and members, by name; see types.py
        self.tokens = tokens_of(text)
        self.partner = self._partners()
        self.is_blocked = [False] * len(self.tokens)
        self._block_silent_parts()
        self._block_template_brackets()

    def is_spaced(self, i):
        """Whether a token has blanks on both sides, as a binary operator has by clang-format."""
        t = self.tokens[i]
        return self.text[t.start - 1 : t.start].isspace() and self.text[t.end : t.end + 1].isspace()

    def is_binary(self, i):
        return not self.is_blocked[i] and self.is_spaced(i) and self.at(i - 1) != "operator"

    def at(self, i):
        """The text of a token, or "" outside of the file."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def kind(self, i):
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else ""

    def span(self, first, last):
        """The text from one token to another, both included."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def _partners(self):
        partner, opened = {}, []
        for i, token in enumerate(self.tokens):
            if token.kind != "symbol":
                continue
            if token.text in CLOSING:
                opened.append(i)
            elif token.text in CLOSING.values() and opened:
                partner[opened[-1]] = i
                partner[i] = opened.pop()
        return partner

    def _block(self, first, last):
        for i in range(first, last + 1):
            self.is_blocked[i] = True

    def _block_silent_parts(self):
        for i in range(len(self.tokens)):
            if self.at(i) in SILENT_CALLS and i + 1 in self.partner:
                self._block(i, self.partner[i + 1])
            if self.at(i) == "[" and self.at(i + 1) == "[" and i in self.partner:  # an attribute
                self._block(i, self.partner[i])
            if self.at(i) == "enum":
                body = next((j for j in range(i, min(i + 8, len(self.tokens))) if self.at(j) in "{;"), i)
                self._block(i, self.partner.get(body, body))

    def _block_template_brackets(self):
        for i in range(len(self.tokens)):
            if self.at(i) == "<" and not self.is_blocked[i] and self._opens_template(i):
                end = self._end_of_template(i)
                if end:
                    self._block(i, end)

    def _opens_template(self, i):
        if self.at(i - 1) == "template":
            return True
        before = self.tokens[i - 1]
        return before.kind == "name" and before.end == self.tokens[i].start and before.text != "operator"

    def _end_of_template(self, i):
        depth = 0
        while i < len(self.tokens) and self.at(i) != ";":
            depth += {"<": 1, ">": -1, ">>": -2}.get(self.at(i), 0)
            if depth <= 0:
                return i
            i = self.partner.get(i, i + 1) if self.at(i) in CLOSING else i + 1
        return None
