"""The parts of tools/mutate that need no build, and its lists of faults."""

import sys
import tempfile
import unittest
from itertools import islice
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from mutation.code import Code  # noqa: E402
from mutation.command import source_texts  # noqa: E402
from mutation.coverage import Coverage, masks_of  # noqa: E402
from mutation.entries import ListError, fault_of, parse  # noqa: E402
from mutation.folders import kinds_for  # noqa: E402
from mutation.lexer import tokens_of  # noqa: E402
from mutation.listed import mistakes_in_lists  # noqa: E402
from mutation.nearest import Nearest  # noqa: E402
from mutation.operators import edits_at  # noqa: E402
from mutation.seeded import seeded_faults  # noqa: E402
from mutation.snapshot import make_like  # noqa: E402
from mutation.suites import Test  # noqa: E402
from mutation.trial import FOUND, NOT_COMPILED, why_not_built  # noqa: E402
from mutation.types import types_by_name  # noqa: E402


def changes(text):
    """All seeded changes of a text, as the text becomes."""
    code = Code(text, types_by_name({"a.cpp": text}))
    edits = [edit for i in range(len(code.tokens)) for edit in edits_at(code, i)]
    return [text[: e.start] + e.new + text[e.end :] for e in edits]


class Lexing(unittest.TestCase):
    def test_what_is_no_code_is_left_out(self):
        text = '#define X 1 \\\n  2\n/* a\n< */ a; // b\nR"x(c " )")x" "d\\"" \'e\' 1\'000 0x1p-3'
        self.assertEqual([t.text for t in tokens_of(text)],
                         ["a", ";", 'R"x(c " )")x"', '"d\\""', "'e'", "1'000", "0x1p-3"])
        self.assertEqual([t.line for t in tokens_of(text)][:3], [4, 4, 5])


class Operators(unittest.TestCase):
    def test_comparisons(self):
        self.assertEqual(changes("a < b"), ["a <= b", "a >= b"])
        self.assertEqual(changes("a == b"), ["a != b"])

    def test_template_brackets_are_no_comparisons(self):
        self.assertEqual(changes("std::vector<std::array<int, 3>> x;"), [])
        self.assertEqual(changes("template <class T> bool operator<(T);"), [])

    def test_text_is_not_changed(self):
        for text in ('"a < b"', 'a + "b"', "// a < b", "static_assert(a < b);", "#if A < B"):
            self.assertEqual(changes(text), [], text)

    def test_numbers_and_extremes(self):
        self.assertEqual(changes("x = max(a, 0);"), ["x = min(a, 0);", "x = max(a, 1);"])
        self.assertEqual(changes("4096"), [])

    def test_arguments_of_one_type_are_swapped(self):
        text = "void f(int a, int b, Rect c) { return g(a, b, c); }"
        self.assertEqual(changes(text), [text.replace("g(a, b", "g(b, a")])

    def test_statements_are_removed_and_declarations_are_not(self):
        self.assertEqual(changes("{ f(a); }"), ["{ ; }"])
        self.assertEqual(changes("{ if (a) break; }"), ["{ if (a) ; }"])
        self.assertEqual(changes("{ lock_guard lock(m); std::vector<int> x = y; Rect& r = z; return a; }"), [])


class Lists(unittest.TestCase):
    TEXT = "int f() {\n  a = 1;  // one\n  b = 2;\n  a = 1;\n}\n"

    def fault(self, body):
        return fault_of(parse(f"what: w\nfile: f\n{body}", "list")[0], "listed 1", self.TEXT)

    def test_an_entry_changes_its_lines(self):
        fault = self.fault("- a = 1;\n  b = 2;\n")
        self.assertEqual((fault.apply(self.TEXT), fault.line), ("int f() {\n  b = 2;\n  a = 1;\n}\n", 2))
        self.assertIn("  b = 3;\n", self.fault("- b = 2;\n+ b = 3;").apply(self.TEXT))

    def test_a_text_must_be_there_once(self):
        with self.assertRaisesRegex(ListError, "list:1: the text of the fault occurs 2 times in f"):
            self.fault("- a = 1;")
        with self.assertRaisesRegex(ListError, "is not there"):
            self.fault("- c = 1;")

    def test_the_repositorys_lists(self):
        self.assertEqual(mistakes_in_lists(ROOT, source_texts()), [])


class Choice(unittest.TestCase):
    def test_a_seed_gives_the_same_faults(self):
        sources = {f"src/{n}.cpp": f"{{\n  f({n});\n  if (a < b) c = d + e;\n}}\n" for n in range(9)}
        faults = [list(islice(seeded_faults(sources, seed, lambda f, n: n == 3, {}), 5)) for seed in (1, 1, 2)]
        self.assertEqual(faults[0], faults[1])
        self.assertNotEqual(faults[0], faults[2])
        self.assertEqual({f.line for f in faults[0]}, {3})

    def test_the_nearest_tests_come_first(self):
        names = ["lang/Slow", "lang/Parse", "plan/Walk", "plan/Other"]
        coverage = Coverage(names, masks_of([{("src/lang/a.cpp", 7): True}] * 3 + [{}]))
        tests = [Test(n, frozenset({"quick"}), frozenset({n})) for n in reversed(names)]
        nearest = Nearest(coverage, {"lang/Slow": 9, "lang/Parse": 2, "plan/Walk": 1})
        sources = {"src/lang/a.cpp": "\n" * 6 + "{ f(a); }\n"}
        fault = next(seeded_faults(sources, 1, lambda f, n: True, {}))
        stages = nearest.quick_stages(fault, tests)
        self.assertEqual([[t.name for t in s.tests] for s in stages], [["lang/Parse", "lang/Slow"], ["plan/Walk"]])

    def test_the_tests_of_a_folder(self):
        self.assertEqual(kinds_for("src/engine/runner.cpp"), ["asan", "tsan"])
        self.assertEqual(kinds_for("src/engine/legion/emit.cpp"), ["legion"])
        self.assertEqual(kinds_for("src/lang/parse.cpp"), [])


class Building(unittest.TestCase):
    def test_why_a_build_failed(self):
        self.assertEqual(why_not_built("FAILED: a/b.cpp.o\nb.cpp:1: error: no").status, NOT_COMPILED)
        self.assertEqual(why_not_built("FAILED: plan_test plan_test[1]_tests.cmake\ncrashed").status, FOUND)

    def test_a_folder_goes_back_to_its_copy(self):
        with tempfile.TemporaryDirectory() as name:
            clean, folder = Path(name) / "clean", Path(name) / "build"
            (clean / "inner").mkdir(parents=True)
            (clean / "inner" / "a").write_text("1")
            self.assertEqual(make_like(folder, clean), 1)
            (folder / "inner" / "a").write_text("22")
            (folder / "b").write_text("new")
            self.assertEqual(make_like(folder, clean), 2)
            self.assertEqual([p.name for p in folder.rglob("*") if p.is_file()], ["a"])
            self.assertEqual((folder / "inner" / "a").read_text(), "1")


if __name__ == "__main__":
    unittest.main()
