"""The certificates that `explain` prints are proofs: each is checked from its text, in exact arithmetic."""

import re
import unittest

from certificate import Wrong, check
from random_program import RandomProgram
from support import ALGORITHMS, CliTest, settings

SIZES = {
    "cosma": [{"ni": 4096, "nj": 64, "nk": 64, "gx": 64, "gy": 1, "gz": 1, "steps": 1},
              {"ni": 512, "nj": 512, "nk": 64, "gx": 8, "gy": 8, "gz": 1, "steps": 1},
              {"ni": 97, "nj": 61, "nk": 53, "gx": 3, "gy": 2, "gz": 2, "steps": 1}],
    "mttkrp": [{"ni": 37, "nj": 41, "nk": 29, "nl": 5, "gx": 3, "gy": 2, "gz": 2}],
    "johnson": [{"ni": 30, "nj": 50, "nk": 70, "gx": 3, "gy": 2, "gz": 2}],
}  # fmt: skip
RANDOM_PROGRAMS = 100

PROOF = """some processor exchanges at least 18874368 bytes, in elements of 8 bytes
points of all processors: 68719476736 of i 4096, j 4096, k 4096
64 processors own: A 262144, B 262144, C 262144
  points <= A(i, j)^(1/2) * B(i, k)^(1/2) * C(k, j)^(1/2)
  at A 1048576, B 1048576, C 1048576: at most 1073741824 points
"""


class Proofs(CliTest):
    def check_json(self, said):
        """Checks all certificates of what `explain --json` said, and returns how many have a bound."""
        proven = 0
        for certificate in said["certificates"]:
            bound, exchanged = certificate["lower_bound_bytes"], certificate["exchanged_bytes"]
            self.assertLessEqual(bound, exchanged, certificate)
            if bound == 0:
                self.assertIsNone(certificate["optimality"])
                continue
            proven += 1
            self.assertEqual(check(certificate["bound"]), bound)
            self.assertAlmostEqual(certificate["optimality"], exchanged / bound)
        best = [c["optimality"] for c in said["certificates"] if c["optimality"] is not None]
        self.assertEqual(said["optimality"], max(best, default=None))
        return proven

    def test_algorithms(self):
        for path in sorted(ALGORITHMS.glob("*.distal")):
            for values in [{}, *SIZES.get(path.stem, [])]:
                with self.subTest(path.stem, values=values):
                    options = ["--set", settings(values)] if values else []
                    self.check_json(self.json_of("explain", path, *options))

    def test_random_programs(self):
        proven = 0
        for seed in range(RANDOM_PROGRAMS):
            with self.subTest(seed=seed):
                program = self.write("random.distal", RandomProgram(seed).text)
                proven += self.check_json(self.json_of("explain", program))
        self.assertGreater(proven, RANDOM_PROGRAMS // 4)

    def test_explain_prints_the_same_proof(self):
        shown = self.succeed("explain", ALGORITHMS / "mttkrp.distal")
        said = self.json_of("explain", ALGORITHMS / "mttkrp.distal")
        proof = shown.partition("    bound\n")[2]
        self.assertEqual("".join(line.removeprefix("      ") + "\n" for line in proof.splitlines()), said["bound"])
        self.assertIn(f"    lower bound               {said['lower_bound_bytes']:,}\n", shown)
        self.assertIn(f"    exchanged bytes           {said['exchanged_bytes']:,} by processor", shown)


class Checker(unittest.TestCase):
    """The checker accepts a proof, and nothing that is a little different."""

    def test_a_proof(self):
        self.assertEqual(check(PROOF), 18874368)

    def test_planted_mistakes(self):
        for old, new in [
            ("18874368", "18874369"),
            ("1073741824 points", "1073741823 points"),
            ("1073741824 points", "1073741825 points"),
            ("A 1048576", "A 1048577"),
            ("A 1048576", "A 1048575"),
            ("A 262144", "A 262145"),
            ("A(i, j)^(1/2)", "A(i, j)^(1/3)"),
            ("k 4096", "k 4095"),
            ("64 processors", "65 processors"),
        ]:
            with self.subTest(new=new), self.assertRaises(Wrong):
                check(PROOF.replace(old, new, 1))

    def test_idle_processors(self):
        text = re.sub("64 processors own.*", "64 processors own: A 0, B 262144, C 262144", PROOF)
        text = "\n".join([*text.splitlines()[:3], "  no points with fewer than 1 element", ""])
        with self.assertRaises(Wrong):
            check(text)
        self.assertEqual(check(text.replace("18874368", "8")), 8)


if __name__ == "__main__":
    unittest.main()
