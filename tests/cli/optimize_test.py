"""`distal optimize`: what is left out of a program is found, and the program that it prints is like any other."""

import unittest

from support import CliTest

GEMM = """param n = 48, m = 40
machine M = Grid(2, 2, 2)
tensor A(n, n) on M
tensor B(n, m) on M
tensor C(m, n) on M
A(i, j) = B(i, k) * C(k, j)
"""


class Optimize(CliTest):
    def optimize(self, text, *more):
        return self.json_of("optimize", self.write("program.distal", text), *more)

    def counts_of(self, text):
        return self.json_of("explain", self.write("found.distal", text))

    def test_what_it_prints_counts_the_same_and_runs(self):
        for goal in ("time", "bytes"):
            said = self.optimize(GEMM, "--for", goal)
            one = said["statements"][0]
            counted = self.counts_of(said["program"])
            for name in ("exchanged_bytes", "bytes_moved", "messages", "peak_bytes_per_processor"):
                self.assertEqual(one[name], counted[name], name)
            self.assertEqual(counted["processors"], 8)
            self.succeed("run", self.write("found.distal", said["program"]), "--check")

    def test_processors_without_a_grid(self):
        for count in (1, 7, 8, 12):
            said = self.optimize(GEMM.replace("Grid(2, 2, 2)", f"{count} processors"), "--for", "bytes")
            one = said["statements"][0]
            counted = self.counts_of(said["program"])
            self.assertEqual((one["processors"], counted["processors"]), (count, count))
            for name in ("exchanged_bytes", "bytes_moved", "messages", "peak_bytes_per_processor"):
                self.assertEqual(one[name], counted[name], name)
            self.succeed("run", self.write("found.distal", said["program"]), "--check")

    def test_the_text_is_a_program(self):
        text = self.succeed("optimize", self.write("program.distal", GEMM), "--for", "bytes")
        self.assertIn("# A(i, j) = B(i, k) * C(k, j)\n"
                      "#   grid 2 (i) x 2 (j) x 2 (k): 8 of 8 processors have work\n", text)
        self.assertRegex(text, r"#   B: [\d,]+ bytes in [\d,]+ messages: processors share tiles, because j is cut by 2 "
                               r"and B has no such index\n")
        again = self.succeed("optimize", self.write("again.distal", text))
        self.assertEqual(again.strip(), text[: text.index("# A(i, j)")].strip())

    def test_output_file(self):
        path = self.folder / "found.distal"
        text = self.succeed("optimize", self.write("program.distal", GEMM), "-o", path)
        self.assertTrue(all(line.startswith("#") for line in text.splitlines()), text)
        self.succeed("check", path)
        self.refuse(2, "cannot write", "optimize", path, "-o", self.folder / "no" / "such")

    def test_what_is_given_stays(self):
        given = GEMM.replace("tensor B(n, m) on M", "tensor B(n, m) : xy -> x00 on M")
        said = self.optimize(given, "--for", "bytes")
        self.assertIn("tensor B(n, m) : xy -> x00 on M", said["program"])
        self.assertEqual(said["statements"][0]["exchanged_bytes"], self.counts_of(said["program"])["exchanged_bytes"])
        scheduled = said["program"]
        self.assertEqual(self.optimize(scheduled)["program"], scheduled)

    def test_why_each_tensor_moves(self):
        one = self.optimize(GEMM, "--for", "bytes")["statements"][0]
        transfers = {t["tensor"]: t for t in one["transfers"]}
        self.assertEqual(list(transfers), ["A", "B", "C"])
        self.assertEqual(sum(t["bytes"] for t in transfers.values()), one["bytes_moved"])
        for name, index in (("A", "k"), ("B", "j"), ("C", "i")):
            self.assertEqual(transfers[name]["shared"], [{"index": index, "processors": 2}])
            self.assertIsNone(transfers[name]["change"])
        self.assertEqual(
            transfers["A"]["reason"], "partial results are added, because k is cut by 2 and A has no such index"
        )
        counted = self.counts_of(self.optimize(GEMM, "--for", "bytes")["program"])["tensors"]
        for name, transfer in transfers.items():
            for field in ("bytes", "messages"):
                self.assertEqual(transfer[field], counted[name][field], name)

    def test_the_cheapest_change_of_a_given_format(self):
        """In the other order of its dimensions B would stay where it is; the change costs what redistribute counts."""
        program = "machine M = Grid(4)\ntensor A(8, 8) on M\ntensor B(8, 8) : xy -> y on M\nA(i, j) = B(i, j)\n"
        program = program.replace("tensor A(8, 8) on M", "tensor A(8, 8) : xy -> x on M")
        transfers = {t["tensor"]: t for t in self.optimize(program)["statements"][0]["transfers"]}
        moved = transfers["A"] if transfers["A"]["bytes"] else transfers["B"]
        other = transfers["B"] if moved is transfers["A"] else transfers["A"]
        self.assertEqual(moved["reason"], "its format differs from the tiles of the work")
        self.assertEqual(moved["shared"], [])
        self.assertEqual(moved["change"]["bytes_saved"], 3 * 4 * 4 * 8)
        self.assertEqual(moved["change"]["bytes_needed"], 3 * 4 * 4 * 8)
        self.assertEqual((other["bytes"], other["reason"], other["change"]), (0, "", None))
        better = f"{'xy'} -> {'x' if moved['tensor'] == 'B' else 'y'}"
        self.assertIn(moved["change"]["format"].split(" -> ")[1], ("i", "j"))
        file = self.write("program.distal", program)
        cost = self.json_of("redistribute", file, moved["tensor"], better, "--explain")
        self.assertEqual(cost["bytes_moved"], moved["change"]["bytes_needed"])
        text = self.succeed("optimize", file)
        change = rf"#     {moved['tensor']} : ij -> [ij] would move 384 bytes less; to redistribute moves 384 once\n"
        self.assertRegex(text, change)
        stays = f"#   {other['tensor']}: stays where it is\n"
        self.assertIn(stays, text)

    def test_a_given_format_that_nothing_could_better(self):
        """B has the format that the search would choose, so the report names only the sharing of tiles as a cause."""
        found = self.optimize(GEMM, "--for", "bytes")
        lines = found["program"].split("\n")
        given = next(line for line in lines if line.startswith("tensor B"))
        again = self.optimize(GEMM.replace("tensor B(n, m) on M", given), "--for", "bytes")
        transfer = again["statements"][0]["transfers"][1]
        self.assertIsNone(transfer["change"])
        self.assertEqual(transfer["reason"], "processors share tiles, because j is cut by 2 and B has no such index")

    def test_memory(self):
        line = GEMM.replace("Grid(2, 2, 2)", "Grid(8)")
        free = self.optimize(line, "--for", "bytes")["statements"][0]["peak_bytes_per_processor"]
        said = self.optimize(line, "--for", "bytes", "--memory", free - 1)
        self.assertEqual(len(said["statements"][0]["loops"]), 1)
        self.assertLess(said["statements"][0]["peak_bytes_per_processor"], free)
        counted = self.counts_of(said["program"])
        self.assertEqual(said["statements"][0]["peak_bytes_per_processor"], counted["peak_bytes_per_processor"])
        self.refuse(3, "nothing fits: a processor needs at least", "optimize", self.write("p.distal", GEMM), "--memory",
                    9)

    def test_order_of_contraction(self):
        """Parts of a product are statements with certificates of their own. These count what `optimize` says."""
        sizes = "param n = 12\nmachine M = 6 processors\n"
        tensors = "".join(f"tensor {name}(n, n, n, n) on M\n" for name in "AI")
        tensors += "".join(f"tensor {name}(n, n) on M\n" for name in "PQRS")
        text = sizes + tensors + "A(p, q, r, s) = P(p, i) * Q(q, j) * I(i, j, k, l) * R(r, k) * S(s, l)\n"
        for goal in ("time", "bytes"):
            said = self.optimize(text, "--for", goal)
            counted = self.counts_of(said["program"])
            self.assertEqual(len(said["statements"]), 4 if goal == "time" else len(counted["certificates"]))
            for one, certificate in zip(said["statements"], counted["certificates"]):
                self.assertEqual(one["statement"], certificate["statement"])
                self.assertEqual(one["exchanged_bytes"], certificate["exchanged_bytes"])
            self.assertEqual(sum(one["bytes_moved"] for one in said["statements"]), counted["bytes_moved"])
            self.succeed("run", self.write("found.distal", said["program"]), "--check")
            self.succeed("run", self.write("found.distal", said["program"]), "--check", "--set", "n=7")

    def test_order_of_contraction_on_one_processor(self):
        text = "param n = 9\n" + "".join(f"tensor {name}(n, n)\n" for name in "ABCD")
        text += "A(i, j) = B(i, k) * C(k, l) * D(l, j)\n"
        said = self.optimize(text)
        self.assertIn("precompute(B(i, k) * C(k, l), {i, l}, {iw, lw}, A1)", said["program"])
        self.assertEqual([one["processors"] for one in said["statements"]], [1, 1])
        self.succeed("run", self.write("chain.distal", text), "--check")

    def test_models(self):
        model = "flops_per_second = 1e9\nlink_bytes_per_second = 1\n" \
                "memory_bytes_per_second = 1e9\nseconds_per_message = 1\n"
        slow = self.optimize(GEMM, "--model", self.write("slow.model", model))["statements"][0]["seconds"]
        self.assertGreater(slow, self.optimize(GEMM)["statements"][0]["seconds"])
        self.refuse(2, "cannot read the model", "optimize", self.write("p.distal", GEMM), "--model", "no-such.model")

    def test_other_sizes(self):
        found = self.optimize(GEMM, "--for", "bytes", "--set", "n=31,m=7")["program"]
        for sizes in ("n=31,m=7", "n=64,m=64", "n=3,m=2", "n=1,m=1"):
            self.succeed("run", self.write("found.distal", found), "--check", "--set", sizes)

    def test_why_nothing_is_found(self):
        text = "param n = 0\nmachine M = Grid(2)\ntensor a(4) on M\ntensor B(4, n) on M\na(i) = B(i, k)\n"
        self.assertIn("# as written: a(i) = B(i, k): index k has no values",
                      self.succeed("optimize", self.write("d.distal", text)))


if __name__ == "__main__":
    unittest.main()
