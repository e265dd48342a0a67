"""Executes the code in the documents, so that it stays correct.

In README.md and docs/, in the order of the text:
- a ```distal block is a program and must pass `distal check`; its first line may name its file, as in `# mine.distal`.
  A ```distal wrong block must be refused with status 2.
- a ```console block holds commands after `$ ` and what they print, on stdout and stderr. `...` stands for any text in
  a line, and on a line of its own for any lines. A command must succeed unless `[status N]` is the last line shown.
- a ```numpy block is run by this interpreter and must succeed.
- the ```cpp blocks of docs/tutorial/N-NAME.md must be whole lines of examples/tutorial/NAME.cpp, in the same order;
  those of docs/mpi.md must be lines of examples/mpi_layout.cpp, and those of docs/cookbook.md of the programs in
  examples/cookbook, one program after the other.
- relative links must lead to files.
All blocks of a document run in one folder, where `./distal` is the program, `algorithms` are the algorithms, and
`build/examples` has the compiled programs of the tutorial and the cookbook.
"""

import os
import re
import subprocess
import sys
import unittest

from support import ALGORITHMS, BINARY, ROOT, TIMEOUT, CliTest, distal

TUTORIAL = ROOT / "docs" / "tutorial"
MPI_PAGE = ROOT / "docs" / "mpi.md"
COOKBOOK = ROOT / "docs" / "cookbook.md"
PROGRAMS = BINARY.parent / "examples"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]+)[^)]*\)")


def blocks_of(document):
    """(kind, text, line) of every fenced block."""
    text = document.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        yield block["kind"].strip(), block["text"], text.count("\n", 0, block.start()) + 1


def program_of(page):
    """The source of the program that a page shows in pieces: N-NAME.md of the tutorial shows NAME.cpp."""
    if page == MPI_PAGE:
        return ROOT / "examples" / "mpi_layout.cpp"
    return ROOT / "examples" / "tutorial" / (page.stem.partition("-")[2] + ".cpp")


def find_lines(part, text, start):
    """The position in `text` after the whole lines `part`, searched from `start` on; None if they are missing."""
    at = ("\n" + text).find("\n" + part, start)
    return None if at < 0 else at + len(part)


def pattern_of(shown):
    """A regular expression for the output that a page shows for a command."""
    lines = []
    for line in shown.rstrip("\n").split("\n") if shown.strip() else []:
        if line == "...":
            lines.append(r"(?:[^\n]*\n)*")
        else:
            lines.append(re.escape(line).replace(re.escape("..."), r"[^\n]*") + r"\n")
    return "".join(lines)


def commands_of(text):
    """(command, shown output, status) of each command in a console block."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        while command.endswith("\\"):
            more, _, shown = shown.partition("\n")
            command = command[:-1] + more
        status = re.search(r"^\[status (\d+)\]\n?\Z", shown, flags=re.MULTILINE)
        if status:
            shown = shown[: status.start()]
        yield command, shown, int(status[1]) if status else 0


class Documents(CliTest):
    def setUp(self):
        super().setUp()
        (self.folder / "distal").symlink_to(BINARY)
        (self.folder / "algorithms").symlink_to(ALGORITHMS)
        (self.folder / "build").mkdir()
        (self.folder / "build" / "examples").symlink_to(PROGRAMS)

    def check_program(self, kind, text):
        name = re.match(r"#\s*(\S+\.distal)\s*$", text.split("\n")[0])
        file = self.write(name[1] if name else "unnamed.distal", text)
        done = distal("check", file)
        self.assertEqual(done.returncode, 2 if kind.endswith("wrong") else 0, f"{text}\n{done.stdout}{done.stderr}")

    def check_console(self, text):
        for command, shown, status in commands_of(text):
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=TIMEOUT,
                check=False,
            )
            self.assertEqual(done.returncode, status, f"$ {command}\n{done.stdout}")
            if not re.fullmatch(pattern_of(shown), done.stdout):
                self.fail(f"$ {command}\nprints\n{done.stdout}\nand not, as shown,\n{shown}")

    def check_python(self, text):
        done = subprocess.run(
            [sys.executable, "-B", "-c", text],
            cwd=self.folder,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
            check=False,
        )
        self.assertEqual(done.returncode, 0, f"{text}\n{done.stdout}{done.stderr}")

    def check_block(self, kind, text):
        if kind.startswith("distal"):
            self.check_program(kind, text)
        elif kind == "console":
            self.check_console(text)
        elif kind == "numpy":
            self.check_python(text)

    def test_blocks(self):
        for document in DOCUMENTS:
            for kind, text, line in blocks_of(document):
                with self.subTest(f"{document.relative_to(ROOT)}:{line}"):
                    self.check_block(kind, text)

    def test_documents_show_something(self):
        kinds = [kind for document in DOCUMENTS for kind, _, _ in blocks_of(document)]
        self.assertGreater(kinds.count("console"), 10)
        self.assertGreater(kinds.count("distal"), 10)

    def test_code_is_that_of_the_programs(self):
        for page in [*sorted(TUTORIAL.glob("[0-9]-*.md")), MPI_PAGE]:
            program = program_of(page).read_text(encoding="utf-8")
            parts = [(text, line) for kind, text, line in blocks_of(page) if kind == "cpp"]
            self.assertTrue(parts, page)
            end = 0
            for text, line in parts:
                found = find_lines(text, program, end)
                if found is None:
                    self.fail(f"{page.relative_to(ROOT)}:{line}: these lines are not next in the program\n{text}")
                end = found

    def test_code_of_the_cookbook(self):
        shown = ""
        for program in ("ranks", "scf", "cp_als"):
            shown += (ROOT / "examples" / "cookbook" / f"{program}.cpp").read_text(encoding="utf-8")
        end = 0
        for kind, text, line in blocks_of(COOKBOOK):
            if kind == "cpp":
                end = find_lines(text, shown, end)
                self.assertIsNotNone(end, f"cookbook.md:{line}: these lines are not next in the programs\n{text}")

    def test_every_program_has_a_page(self):
        shown = {program_of(page) for page in TUTORIAL.glob("[0-9]-*.md")}
        self.assertEqual(shown, set((ROOT / "examples" / "tutorial").glob("*.cpp")))
        index = (TUTORIAL / "README.md").read_text(encoding="utf-8")
        for page in TUTORIAL.glob("[0-9]-*.md"):
            self.assertIn(f"({page.name})", index)

    def test_links(self):
        for document in DOCUMENTS:
            for link in LINK.findall(BLOCK.sub("", document.read_text(encoding="utf-8"))):
                with self.subTest(f"{document.relative_to(ROOT)}: {link}"):
                    self.assertTrue((document.parent / link).exists())

    def test_every_algorithm_is_in_the_readme(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        for file in ALGORITHMS.glob("*.distal"):
            self.assertIn(f"algorithms/{file.name}", text)


class Matching(unittest.TestCase):
    """The rule by which shown output is compared."""

    def match(self, shown, printed):
        return re.fullmatch(pattern_of(shown), printed) is not None

    def test_rule(self):
        self.assertTrue(self.match("a ... c\n", "a b c\n"))
        self.assertTrue(self.match("a\n...\nd\n", "a\nb\nc\nd\n"))
        self.assertTrue(self.match("a\n...\n", "a\n"))
        self.assertTrue(self.match("", ""))
        self.assertFalse(self.match("a ... c\n", "a b\nc\n"))
        self.assertFalse(self.match("a\n", "a\nb\n"))
        self.assertFalse(self.match("1.5\n", "125\n"))
        self.assertFalse(self.match("", "a\n"))

    def test_lines(self):
        self.assertEqual(find_lines("b\n", "a\nb\n", 0), 4)
        self.assertEqual(find_lines("a\n", "a\nb\na\n", 2), 6)
        self.assertIsNone(find_lines("a\n", "a\nb\n", 2))
        self.assertIsNone(find_lines("b\n", "ab\n", 0))
        self.assertIsNone(find_lines("a", "b\n", 0))

    def test_commands(self):
        text = "$ one\nout\n$ two \\\n  more\n[status 2]\n"
        self.assertEqual(list(commands_of(text)), [("one", "out\n", 0), ("two   more", "", 2)])


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUTF8", "1")
    unittest.main()
