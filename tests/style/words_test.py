"""The check of words finds what it should."""

import unittest

from words import problems


class Words(unittest.TestCase):
    def found(self, name, *lines):
        return [number for number, _ in problems(name, "\n".join(lines))]

    def test_long_comments(self):
        self.assertEqual(self.found("a.cpp", "// short", "// " + 120 * "x", "int " + 120 * "x" + ";"), [2])
        self.assertEqual(self.found("a.sh", "# " + 119 * "x", "value = 1  # " + 120 * "x"), [1, 2])

    def test_long_lines_of_python(self):
        self.assertEqual(self.found("a.py", "# " + 119 * "x", "value = 1", "value = " + 113 * "1"), [1, 3])
        self.assertEqual(self.found("a.py", 120 * "x", "# nobody"), [2])

    def test_long_lines_of_documents(self):
        self.assertEqual(self.found("a.md", 121 * "x", "|" + 121 * "x" + "|", "```", 121 * "x", "```"), [1])
        self.assertEqual(self.found("a.md", "see [this](" + 120 * "x" + ")"), [])

    def test_sentences_of_documents(self):
        self.assertEqual(self.found("a.md", 50 * "a" + ". " + 55 * "B"), [1])
        self.assertEqual(self.found("a.md", 110 * "a" + "."), [])
        self.assertEqual(self.found("a.md", "One. Two."), [])

    def test_riddles(self):
        self.assertEqual(self.found("a.h", "// Whoever has it", "int nobody = 0;"), [1])
        self.assertEqual(self.found("a.md", "There are so many of them."), [1])


if __name__ == "__main__":
    unittest.main()
