"""The check of the include order finds what it must and nothing else."""

import unittest

from include_order import mistake


class IncludeOrder(unittest.TestCase):
    def test_legal(self):
        for file, included in [
            ("lang/parse.cpp", "lang/parse.h"),
            ("lang/parse.cpp", "support/error.h"),
            ("lower/place.cpp", "ir/stmt.h"),
            ("check/reference.cpp", "lang/index_notation.h"),
            ("engine/threads/pool.cpp", "engine/engine.h"),
            ("engine/threads/pool.cpp", "engine/threads/pool.h"),
            ("cli/main.cpp", "engine/threads/pool.h"),
            ("cli/main.cpp", "tune/find.h"),
            ("engine/legion/support/session.h", "grid.h"),
            ("engine/legion/support/session.h", "legion.h"),
        ]:
            self.assertIsNone(mistake(file, included), (file, included))

    def test_illegal(self):
        for file, included in [
            ("support/error.h", "lang/parse.h"),
            ("ir/stmt.h", "schedule/split.h"),
            ("check/reference.cpp", "ir/stmt.h"),
            ("check/reference.cpp", "data/random.h"),
            ("lower/place.cpp", "check/reference.h"),
            ("engine/threads/pool.cpp", "engine/mpi/rank.h"),
            ("lang/parse.cpp", "cli/main.h"),
            ("engine/legion/support/session.h", "plan/plan.h"),
            ("stray/file.cpp", "support/error.h"),
        ]:
            self.assertIsNotNone(mistake(file, included), (file, included))


if __name__ == "__main__":
    unittest.main()
