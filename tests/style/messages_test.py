"""The check of messages finds what it should."""

import unittest

from messages import untested


class Messages(unittest.TestCase):
    def found(self, source, tests):
        return [part for _, part in untested([("a.cpp", source)], tests)]

    def test_a_message_without_a_test(self):
        self.assertEqual(self.found('throw Error("this is wrong");', "nothing"), ["this is wrong"])
        self.assertEqual(self.found('throw Error("this is wrong");', '"this is wrong"'), [])

    def test_the_longest_part_counts(self):
        source = 'refuse(nest, span, fmt::format("{} (of {}) is much too large", a, b));'
        self.assertEqual(self.found(source, "4 (of 3) is much"), [") is much too large"])
        self.assertEqual(self.found(source, "4 (of 3) is much too large"), [])

    def test_texts_over_several_lines(self):
        self.assertEqual(self.found('fail("one long "\n     "text");', '"one "\n  "long text"'), [])

    def test_quotes(self):
        self.assertEqual(self.found('fail("write \\"a\\" here");', '"write \\"a\\" here"'), [])

    def test_internal_errors_need_none(self):
        self.assertEqual(self.found('throw InternalError("cannot happen");', ""), [])

    def test_the_message_and_not_the_help(self):
        self.assertEqual(self.found('throw Error("it is wrong", {}, "make it right");', "it is wrong"), [])


if __name__ == "__main__":
    unittest.main()
