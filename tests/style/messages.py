"""Every message of an Error stands in a test. Usage: messages.py ROOT

A message counts as tested if its longest part between the values that are put in stands in some test, or in one of the
golden texts. Internal errors need no test: no input may cause them.
"""

import re
import sys
from pathlib import Path

CALL = re.compile(r"\b(?:throw Error|refuse\w*|fail)\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
SPLIT_LITERAL = re.compile(r'"\s*\n\s*f?"')
SHORTEST = 6  # a part shorter than this would be found anywhere


def arguments(text, start):
    """What stands between the parentheses of the call whose first argument begins at `start`."""
    depth, at = 1, start
    while depth > 0 and at < len(text):
        literal = LITERAL.match(text, at)
        if literal:
            at = literal.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return text[start : at - 1]


def unescaped(text):
    return text.replace('\\"', '"').replace("\\\\", "\\")


def messages(text):
    """The longest fixed part of each message in the text of a source."""
    joined = SPLIT_LITERAL.sub("", text)
    for call in CALL.finditer(joined):
        for literal in LITERAL.findall(arguments(joined, call.end())):
            part = max(re.split(r"\{[^}]*\}|\\n", unescaped(literal)), key=len)
            if len(part) >= SHORTEST:
                yield part
                break


def untested(sources, tests):
    """The messages in `sources`, as (name, text), that stand nowhere in the text of the tests."""
    known = unescaped(SPLIT_LITERAL.sub("", tests))
    return [(name, part) for name, text in sources for part in messages(text) if part not in known]


def texts(folder, suffixes):
    for path in sorted(folder.rglob("*")):
        if path.suffix in suffixes:
            yield str(path), path.read_text(encoding="utf-8")


def main():
    root = Path(sys.argv[1])
    tests = "\n".join(text for _, text in texts(root / "tests", {".cpp", ".h", ".py", ".txt"}))
    found = untested(texts(root / "src", {".cpp", ".h"}), tests)
    for name, part in found:
        print(f"{name}: no test has the message with: {part}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
