"""Tests of public_headers.py: it finds the mistakes that it should find."""

import tempfile
import unittest
from pathlib import Path

import public_headers


class PublicHeaders(unittest.TestCase):
    def test_standard_library_and_own_headers_are_fine(self):
        self.assertEqual(public_headers.foreign_includes('#include <vector>\n#include "distal/error.h"\n'), [])

    def test_others_are_foreign(self):
        for name in ["<fmt/format.h>", "<unistd.h>", '"lang/module.h"', '"error.h"', '"distal/../lang/module.h"']:
            self.assertEqual(public_headers.foreign_includes(f"#include {name}\n"), [name])

    def test_a_header_that_leans_on_another_is_refused(self):
        with tempfile.TemporaryDirectory() as root:
            Path(root, "alone.h").write_text("#pragma once\n#include <vector>\ninline std::vector<int> v;\n")
            Path(root, "leans.h").write_text("#pragma once\ninline std::vector<int> v;\n")
            self.assertEqual(public_headers.complaint("g++", root, "alone.h"), "")
            self.assertIn("vector", public_headers.complaint("g++", root, "leans.h"))


if __name__ == "__main__":
    unittest.main()
