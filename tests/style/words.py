"""Comments and documents are easy to read, as far as a program can tell. Usage: words.py ROOT

No line of a comment, a document or a Python source is longer than 120 characters. No line of a document that has more
than one sentence is longer than 100 columns. Tables, code blocks and links may be longer. Some vague words are not
allowed: write who does something, and how many there are.
"""

import re
import subprocess
import sys
from pathlib import Path

LONGEST = 120
LONGEST_OF_SENTENCES = 100
SOURCES = {".h", ".cpp", ".cu", ".py", ".js", ".cmake", ".sh", ".distal"}
SCRIPTS = {"test", "distal", "CMakeLists.txt", "mutate", "run"}
SKIPPED = ("tests/golden/", "tests/fuzz/corpus/", "tests/style/")

COMMENT = re.compile(r"^\s*(//|#|\*)|\s(//|#)\s")
SENTENCES = re.compile(r"[a-z)`][.?!] +[A-Z`]")
LINK = re.compile(r"\]\([^)]*\)|https?://\S+")
RIDDLES = re.compile(r"(?<!`)\b(whoever|whomever|nobody|so many|so much|of now|all of it is|what there is)\b",
                     re.IGNORECASE)


def prose_of_document(text):
    """The lines of a Markdown text that are neither code nor table, as (number, line)."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code and not line.startswith("|"):
            yield number, line


def comments(text):
    for number, line in enumerate(text.splitlines(), 1):
        if COMMENT.search(line):
            yield number, line


def problems_of_document(text):
    for number, line in prose_of_document(text):
        shown = LINK.sub("]", line)
        if len(shown) > LONGEST:
            yield number, f"{len(shown)} characters"
        elif len(shown) > LONGEST_OF_SENTENCES and SENTENCES.search(shown):
            yield number, f"several sentences in {len(shown)} columns"
        for word in RIDDLES.findall(line):
            yield number, f'says "{word}"'


def problems_of_source(text):
    for number, line in comments(text):
        if len(LINK.sub("]", line)) > LONGEST:
            yield number, f"{len(line)} characters"
        for word in RIDDLES.findall(line):
            yield number, f'says "{word}"'


def problems_of_python(text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > LONGEST and len(LINK.sub("]", line)) > LONGEST:
            yield number, f"{len(line)} characters"
    yield from ((number, what) for number, what in problems_of_source(text) if not what.endswith(" characters"))


def problems(name, text):
    if name.endswith(".md"):
        return list(problems_of_document(text))
    if name.endswith(".py"):
        return list(problems_of_python(text))
    return list(problems_of_source(text))


def is_read(name):
    path = Path(name)
    return not name.startswith(SKIPPED) and (path.suffix in SOURCES | {".md"} or path.name in SCRIPTS)


def main():
    root = Path(sys.argv[1])
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, encoding="utf-8", check=False)
    if listed.returncode != 0:
        print("no git checkout: skipped")
        return 0
    found = 0
    for name in filter(is_read, listed.stdout.splitlines()):
        if not (root / name).exists():
            continue
        for number, what in problems(name, (root / name).read_text(encoding="utf-8")):
            print(f"{name}:{number}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
