"""The contract of the command line: exit statuses, JSON, messages, help and the planner."""

import json
import math
import os
import re
import shutil
import sys
import unittest

import numpy as np
from support import ALGORITHMS, BINARY, CliTest, distal, distal_within, finished, settings

SUMMA = ALGORITHMS / "summa.distal"
SMALL = "ni=32,nj=24,nk=40,chunk=8"
LINE = """machine M = Grid(3)
tensor a(30) : x -> x on M
tensor b(30) : x -> x on M
a(i) = b(i)
schedule
  distribute({i}, {io}, {ii}, M)
  communicate({a, b}, io)
"""
COPY = "tensor a(8)\ntensor b(8)\na(i) = b(i)\n"

RUN_FIELDS = {
    "ok": bool,
    "engine": str,
    "processors": int,
    "processors_with_work": int,
    "seconds_min": float,
    "seconds_median": float,
    "gflops": float,
    "gbps": float,
    "max_relative_error": float,
    "bytes_moved": int,
    "bytes_copied": int,
    "messages": int,
    "peak_bytes_per_processor": int,
}
EXPLAIN_FIELDS = {
    "processors": int,
    "processors_with_work": int,
    "flops": (int, float),
    "bytes_moved": int,
    "bytes_by_level": list,
    "messages": int,
    "max_bytes_received": int,
    "max_bytes_sent": int,
    "peak_bytes_per_processor": int,
    "tensors": dict,
    "transfers": list,
}
PATTERNS = ("none", "broadcast", "shift", "gather", "reduce", "mixed")


def grid_of(name, processors):
    """Settings with which an algorithm uses a number of processors."""
    side = math.isqrt(processors)
    if name == "solomonik":
        return {"g": math.isqrt(processors // 4), "c": 4}
    if name in ("johnson", "cosma", "mttkrp"):
        return {"gx": side // 2, "gy": side // 4, "gz": processors // (side // 2 * (side // 4))}
    if name == "ttm":
        return {"gx": processors}
    return {"gx": side, "gy": side}


class Json(CliTest):
    """--json prints exactly one object on one line of stdout, with the documented names."""

    def assert_fields(self, said, fields):
        for name, kind in fields.items():
            self.assertIn(name, said)
            self.assertIsInstance(said[name], kind, name)

    def test_run(self):
        said = self.json_of("run", SUMMA, "--set", SMALL)
        self.assert_fields(said, RUN_FIELDS)
        self.assertIs(said["ok"], True)
        self.assertEqual(said["engine"], "threads")
        self.assertEqual(said["processors"], 4)
        self.assertLessEqual(said["seconds_min"], said["seconds_median"])
        self.assertGreater(said["gflops"], 0)
        self.assertGreater(said["gbps"], 0)
        self.assertLess(said["max_relative_error"], 1e-14)

    def test_run_keeps_stderr_for_all_else(self):
        done = distal("run", SUMMA, "--set", SMALL, "--json")
        self.assertEqual(done.stdout.count("\n"), 1)
        json.loads(done.stdout)

    def test_explain(self):
        for file in sorted(ALGORITHMS.glob("*.distal")):
            with self.subTest(file.stem):
                said = self.json_of("explain", file)
                self.assert_fields(said, EXPLAIN_FIELDS)
                self.assertEqual(sum(said["bytes_by_level"]), said["bytes_moved"])
                for name in ("bytes", "messages"):
                    whole = said["bytes_moved" if name == "bytes" else name]
                    self.assertEqual(sum(tensor[name] for tensor in said["tensors"].values()), whole)
                for tensor in said["tensors"].values():
                    self.assertEqual(set(tensor), {"bytes", "messages", "pattern"})
                    self.assertIn(tensor["pattern"], PATTERNS)
                    self.assertEqual(tensor["pattern"] == "none", tensor["bytes"] == 0)
                self.assertEqual(sum(one["bytes"] for one in said["transfers"]), said["bytes_moved"])
                fields = ["statement", "tensor", "bytes", "messages", "shared", "reason"]
                for one in said["transfers"]:
                    self.assertEqual(list(one), fields)
                    self.assertEqual(one["bytes"], said["tensors"][one["tensor"]]["bytes"])

    def test_why_tensors_move(self):
        text = self.succeed("explain", SUMMA, "--set", "ni=64,nj=64,nk=64,chunk=16")
        wanted = "\nWhy it moves\n  A(i, j) = B(i, k) * C(k, j)\n    B: 32,768 bytes in 8 messages: "
        wanted += "processors share tiles, because j is cut by 2 and B has no such index\n    C: "
        self.assertIn(wanted, text)
        said = self.json_of("explain", SUMMA)["transfers"]
        self.assertEqual([one["shared"] for one in said],
                         [[{"index": "j", "processors": 2}], [{"index": "i", "processors": 2}]])

    def test_check_samples_at_most_1000_elements_unless_asked(self):
        sizes = "ni=64,nj=64,nk=8"
        self.assertEqual(self.json_of("run", SUMMA, "--set", sizes)["elements_checked"], 1000)
        self.assertEqual(self.json_of("run", SUMMA, "--set", sizes, "--check")["elements_checked"], 4096)

    def test_levels(self):
        text = "machine M = Grid(2) of Grid(3)\ntensor a(12) : x -> x, x -> x on M\ntensor b(12)\n"
        text += "a(i) = b(i)\nschedule\n  distribute(i, io, ii, M[0])\n  distribute(ii, iio, iii, M[1])\n"
        said = self.json_of("explain", self.write("levels.distal", text))
        # b is on the first processor. Each of the 5 others gets 2 elements, 3 of them across the upper level.
        self.assertEqual(said["bytes_by_level"], [3 * 2 * 8, 2 * 2 * 8])


class Acceptance(CliTest):
    """Bytes and patterns of the textbooks, for 1024 x 1024 matrices of doubles."""

    MATRIX = 1024 * 1024 * 8

    def explain(self, name, **values):
        return self.json_of("explain", ALGORITHMS / f"{name}.distal", "--set", settings(values))

    def patterns(self, said):
        return {name: tensor["pattern"] for name, tensor in said["tensors"].items()}

    def test_cannon(self):
        said = self.explain("cannon", ni=1024, nj=1024, nk=1024, gx=4, gy=4)
        self.assertEqual(self.patterns(said), {"A": "none", "B": "shift", "C": "shift"})
        self.assertEqual(said["bytes_moved"], 2 * (4 - 1) * self.MATRIX)

    def test_summa(self):
        said = self.explain("summa", ni=1024, nj=1024, nk=1024, gx=4, gy=4, chunk=256)
        self.assertEqual(self.patterns(said), {"A": "none", "B": "broadcast", "C": "broadcast"})
        self.assertEqual(said["bytes_moved"], 2 * (4 - 1) * self.MATRIX)

    def test_pumma(self):
        said = self.explain("pumma", ni=1024, nj=1024, nk=1024, gx=4, gy=4)
        self.assertEqual(self.patterns(said), {"A": "none", "B": "broadcast", "C": "shift"})
        self.assertEqual(said["bytes_moved"], 2 * (4 - 1) * self.MATRIX)

    def test_johnson(self):
        said = self.explain("johnson", ni=1024, nj=1024, nk=1024, gx=2, gy=2, gz=2)
        self.assertEqual(self.patterns(said), {"A": "reduce", "B": "broadcast", "C": "broadcast"})
        self.assertEqual(said["bytes_moved"], 3 * (2 - 1) * self.MATRIX)

    def test_matched_layouts_move_nothing(self):
        for name in ("ttv", "ttm"):
            self.assertEqual(self.explain(name)["bytes_moved"], 0, name)

    def test_a_run_moves_what_explain_says(self):
        for file in sorted(ALGORITHMS.glob("*.distal")):
            with self.subTest(file.stem):
                sizes = {name: 12 for name in ("ni", "nj", "nk", "nl", "nm", "nn")}
                text = file.read_text(encoding="utf-8")
                values = settings({name: size for name, size in sizes.items() if f"{name} =" in text})
                run = self.json_of("run", file, "--set", values, "--own-memory")
                promised = self.json_of("explain", file, "--set", values)
                for name in ("bytes_moved", "messages", "processors"):
                    self.assertEqual(run[name], promised[name], name)
                self.assertLessEqual(run["peak_bytes_per_processor"], promised["peak_bytes_per_processor"])

    def test_1024_processors(self):
        for file in sorted(ALGORITHMS.glob("*.distal")):
            with self.subTest(file.stem):
                said = self.json_of("explain", file, "--set", settings(grid_of(file.stem, 1024)))
                self.assertEqual(said["processors"], 1024)


class Text(CliTest):
    """The output for people."""

    def test_run_summary(self):
        text = self.succeed("run", SUMMA, "--set", SMALL)
        for wanted in ("A(i, j) = B(i, k) * C(k, j)", "4 processors", "2×2 grid", "gemm", "moved", "memory", "time"):
            self.assertIn(wanted, text)
        for wanted in ("GFLOP/s", "GB/s", "check     correct", "relative error"):
            self.assertIn(wanted, text)

    def test_explain_shows_all_stages(self):
        text = self.succeed("explain", SUMMA)
        wanted = ["Loops", "reorder({io, jo, ko, ii, ji, ki})", "Placement", "Program", "Communication", "Total"]
        places = [text.find(word) for word in wanted]
        self.assertNotIn(-1, places)
        self.assertEqual(places, sorted(places))

    def test_dump_excludes_json_and_ranks(self):
        self.refuse(2, "--json excludes --dump", "explain", SUMMA, "--dump=plan", "--json")
        self.refuse(2, "--dump excludes --ranks", "explain", SUMMA, "--dump=messages", "--ranks", 2)

    def test_every_pass_can_be_dumped(self):
        for name in ("module", "placement", "schedule", "program", "plan", "messages", "leaf"):
            self.assertTrue(self.succeed("explain", SUMMA, f"--dump={name}", "--set", SMALL).strip(), name)

    def test_messages_add_up(self):
        """As a matrix, and as a list if there are too many processors for a matrix."""
        for grid in ("gx=2,gy=3", "gx=4,gy=3"):
            values = f"ni=13,nj=11,nk=9,chunk=2,{grid}"
            text = self.succeed("explain", SUMMA, "--dump=messages", "--set", values)
            steps = re.findall(r"step \d+: ([\d,]+) bytes in (\d+) messages?", text)
            told = self.json_of("explain", SUMMA, "--set", values)
            self.assertEqual(sum(int(b.replace(",", "")) for b, _ in steps), told["bytes_moved"])
            self.assertEqual(sum(int(m) for _, m in steps), told["messages"])
            shown = re.findall(r"(?<=  )([\d,]+)(?=  |$)", text, re.MULTILINE)
            self.assertEqual(sum(int(b.replace(",", "")) for b in shown), told["bytes_moved"], text)

    def test_a_dumped_module_is_a_program(self):
        for file in sorted(ALGORITHMS.glob("*.distal")):
            text = self.succeed("explain", file, "--dump=module")
            copy = self.write("copy.distal", text)
            self.assertEqual(self.succeed("explain", copy, "--dump=module"), text)
            self.assertEqual(self.json_of("explain", copy), self.json_of("explain", file))

    def test_explain_compiles_and_runs_nothing(self):
        cache = self.folder / "cache"
        file = ALGORITHMS / "ttv.distal"
        for option in ([], ["--json"], ["--dump=leaf"]):
            self.succeed("explain", file, *option, env={"DISTAL_CACHE": str(cache), "DISTAL_CXX": "/bin/false"})
        self.assertFalse(cache.exists() and any(cache.iterdir()))

    def test_check(self):
        for file in sorted(ALGORITHMS.glob("*.distal")):
            self.assertIn("OK", self.succeed("check", file))

    def test_without_a_check(self):
        text = self.succeed("run", SUMMA, "--set", SMALL, "--no-check")
        self.assertIn("\n  check     none\n", text)
        said = self.json_of("run", SUMMA, "--set", SMALL, "--no-check")
        checked = self.json_of("run", SUMMA, "--set", SMALL)
        self.assertEqual((said["ok"], said["max_relative_error"], said["elements_checked"]), (None, None, 0))
        for field in ("bytes_moved", "messages", "peak_bytes_per_processor", "tasks"):
            self.assertEqual(said[field], checked[field], field)

    def test_a_grid_of_one_dimension(self):
        text = self.succeed("run", self.write("line.distal", LINE))
        self.assertIn("  ran on    3 processors, a grid of 3, on threads, ", text)

    def test_nothing_distributed(self):
        text = LINE[: LINE.index("schedule")] + "schedule\n"
        for command in ("run", "explain"):
            said = self.succeed(command, self.write("whole.distal", text))
            wanted = "  note      nothing is distributed; to share the work, write in the schedule\n            "
            self.assertIn(wanted + "distribute({i}, {io}, {ii}, M)\n", said)
            self.assertNotIn("note", self.succeed(command, self.write("shared.distal", LINE)))
        inline = text.replace("machine M = Grid(3)\n", "").replace("on M", "on Grid(3)")
        self.assertIn("distribute({i}, {io}, {ii}, Grid(3))", self.succeed("run", self.write("inline.distal", inline)))

    def test_an_index_without_values(self):
        free = "param n = 0\nmachine M = Grid(2)\ntensor a(4) : x -> x on M\n"
        free += "tensor B(4, n) : xy -> x on M\na(i) = B(i, j)\n"
        given = free + "schedule\n  distribute(i, io, ii, M)\n"
        bare = free.replace("Grid(2)", "2 processors").replace(" : x -> x", "").replace(" : xy -> x", "")
        for text in (free, given, bare):
            for command in ("run", "explain"):
                said = self.succeed(command, self.write("empty.distal", text))
                self.assertIn("  note      index j of a(i) = B(i, j) has no values\n", said)
                self.assertNotIn("nothing is distributed", said)
        self.succeed("draw", self.folder / "empty.distal", "-o", self.folder / "empty.html")
        self.assertIn("index j has no values", self.json_of("optimize", self.write("empty.distal", free))["left"][0])

    def test_help_names_every_option(self):
        options = {
            ("run",): "FILE --set --type --engine --threads --reps --leaf --check --no-check --json --own-memory "
            "--seed --load --save --strict-order --ranks --for --memory --model",
            ("draw",): "FILE --output --set --type --json --view --step --processor --axes --for --memory --engine "
            "--model",
            ("emit",): "FILE --target --output --set --type --for --memory --engine --model",
            ("explain",): "FILE --set --type --json --dump --for --memory --engine --model",
            ("check",): "FILE --set --type --for --memory --engine --model",
            ("optimize",): "FILE --set --type --for --memory --engine --model --output --json",
            ("redistribute",): "FILE TENSOR FORMAT --set --type --threads --reps --leaf --check --json "
            "--own-memory --engine --seed --load --save --explain --for --memory --model",
            (): "run explain draw optimize emit check redistribute completion manual",
        }
        for command, words in options.items():
            text = self.succeed(*command, "--help")
            self.assertIn("Exit status: 0", text)
            for word in words.split():
                self.assertIn(word, text, command)


class Redistribute(CliTest):
    """A tensor of a program moves into another format."""

    def redistribute(self, tensor, format_text, *more, file=SUMMA):
        return self.succeed("redistribute", file, tensor, format_text, "--set", SMALL, *more)

    def json_to(self, tensor, format_text, *more, file=SUMMA):
        return self.json_of("redistribute", file, tensor, format_text, "--set", SMALL, *more)

    def test_summary(self):
        text = self.redistribute("B", "xy -> xy cyclic(x = 4, y = 2) on Grid(2, 2) order(1, 0)", "--check")
        for line in (
            "B(32, 40)",
            "  from      xy -> xy on M",
            "  to        xy -> xy cyclic(x = 4, y = 2) on Grid(2, 2) order(1, 0)",
        ):
            self.assertIn(line, text.splitlines())
        self.assertRegex(text, r"moved     7.5 KiB in \d+ messages")
        self.assertRegex(text, r"check     correct, largest relative error 0.0e\+00 in 1,280 elements")

    def test_json_has_the_names_of_run_and_explain(self):
        said = self.json_to("B", ": xy -> yx on M", "--type", "int32")
        for name, kind in RUN_FIELDS.items():
            self.assertIsInstance(said[name], kind, name)
        self.assertEqual((said["tensor"], said["from"], said["to"]), ("B", "xy -> xy on M", "xy -> yx on M"))
        self.assertEqual(said["pattern"], "shift")
        self.assertEqual(said["bytes_moved"], 2 * 16 * 20 * 4)
        self.assertEqual(said["messages"], 2)
        told = self.json_to("B", "xy -> yx on M", "--type", "int32", "--explain")
        for name, kind in EXPLAIN_FIELDS.items():
            self.assertIsInstance(told[name], kind, name)
        self.assertEqual(told["bytes_moved"], said["bytes_moved"])
        self.assertEqual(told["tensors"]["B"]["pattern"], "shift")

    def test_moves_what_is_missing_and_no_more(self):
        whole = 32 * 40 * 8
        for format_text, moved in {
            "xy -> xy on M": 0,
            "xy -> xy on M order(1, 0)": 0,
            "xy -> x* on M": whole,
            "xy -> ** on M": 3 * whole,
            "xy -> 11 on M": whole * 3 // 4,
            "xy -> x on Grid(4)": whole // 2,
            "xy -> x, xy -> y on Grid(gx) of Grid(gy)": 0,
            "order(1, 0)": whole * 3 // 4,
        }.items():
            self.assertEqual(self.json_to("B", format_text, "--check")["bytes_moved"], moved, format_text)

    def test_load_and_save(self):
        array = np.random.default_rng(1).integers(-9, 9, (32, 40))
        np.save(self.folder / "b.npy", array)
        there = f"B={self.folder}/there.npy"
        here = f"B={self.folder}/b.npy"
        self.redistribute("B", "xy -> yx cyclic(x = 3)", "--type", "int64", "--load", here, "--save", there)
        np.testing.assert_array_equal(np.load(self.folder / "there.npy"), array)

    def test_explain_shows_a_program_and_runs_nothing(self):
        text = self.redistribute("B", "xy -> x*", "--explain")
        for wanted in ("B_redistributed(i, j) = B(i, j)", "Placement", "everywhere on M[0].1", "broadcast"):
            self.assertIn(wanted, text)

    def test_scalars_and_taken_names(self):
        file = self.write("scalar.distal", "machine a_redistributed = Grid(2, 3)\ntensor a\na = 1\n")
        said = self.json_of("redistribute", file, "a", ": -> *1")
        self.assertEqual(said["bytes_moved"], 16)
        self.assertEqual(said["from"], "the first processor")

    def test_refusals(self):
        def refuse(wanted, tensor, format_text, *more):
            return self.refuse(2, wanted, "redistribute", SUMMA, tensor, format_text, *more)

        refuse(["there is no tensor D in the program", "`A`, `B` and `C`"], "D", "xy -> yx on M")
        text = refuse(["format:1:13: error: unknown machine `N`", "`M`"], "B", "xy -> yx on N")
        lines = text.splitlines()
        self.assertEqual(lines[1], "  xy -> yx on N")
        self.assertEqual(lines[2].index("^"), lines[1].index("N"))
        refuse("format:1:1: error: the left side names 1 dimension, but B has 2", "B", "x -> yx on M")
        refuse(["format:1:8: error: face 2 of B is outside machine dimension 1", "0 to 1"], "B", "xy -> y2 on M")
        refuse("format:1:15: error: expected `on`, `order`, `in`, `cyclic` or the end", "B", "xy -> yx on M now")
        refuse("format:2:1: error: expected nothing after the format", "B", "xy -> yx on M\ntensor Z")
        refuse(["the order of B is not a permutation", "order(1, 1)"], "B", "order(1, 1)")
        refuse("the format is empty", "B", "")
        refuse("--load C=c.npy: only B is redistributed", "B", "xy -> yx", "--load", "C=c.npy")
        refuse("--save A=a.npy: only B is redistributed", "B", "xy -> yx", "--save", "A=a.npy")
        self.refuse(2, "FORMAT is required", "redistribute", SUMMA, "B")
        said = "redistribute has no engine legion; its engines are threads and mpi"
        refuse(said, "B", "xy -> yx", "--engine", "legion")
        self.refuse(3, "gpu", "redistribute", SUMMA, "B", "xy -> xy on Grid(2, 2) gpu")


class Draw(CliTest):
    """Pictures; tests/view looks at what is in them."""

    def draw(self, name, *options):
        output = self.folder / name
        text = self.succeed("draw", ALGORITHMS / "cannon.distal", "-o", output, *options)
        self.assertEqual(text, f"wrote {output}\n")
        return output.read_text(encoding="utf-8")

    def test_page(self):
        page = self.draw("c.html")
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertIn("A(i, j) = B(i, k) * C(k, j)", page)

    def test_data_has_the_totals_of_explain(self):
        drawn = self.json_of("draw", ALGORITHMS / "cannon.distal")
        explained = self.json_of("explain", ALGORITHMS / "cannon.distal")
        for field in ("processors", "bytes_moved", "messages"):
            self.assertEqual(drawn[field], explained[field])
        self.assertEqual(max(drawn["peak_bytes"]), explained["peak_bytes_per_processor"])

    @unittest.skipUnless(shutil.which("node"), "there is no node")
    def test_svg(self):
        self.assertIn("Step 1 of 2", self.draw("c.svg"))
        self.assertIn("Step 2 of 2", self.draw("c.svg", "--step", 0))
        self.assertIn("bytes held by each processor", self.draw("c.svg", "--view", "memory"))
        self.assertIn("processor 1,0", self.draw("c.svg", "--processor", 2))
        flat = self.draw("c.svg", "--axes", "i,j")
        self.assertNotIn("k: 1024", flat)
        self.assertIn("j: 1024", flat)

    def test_what_was_weighed(self):
        text = (ALGORITHMS / "cannon.distal").read_text(encoding="utf-8")
        free = self.write("free.distal", text[: text.index("schedule")])
        (choice,) = self.json_of("draw", free)["choices"]
        (found,) = self.json_of("optimize", free)["statements"]
        bound = choice.pop("lower_bound_bytes")
        self.assertEqual(choice, found)
        self.assertLessEqual(bound, choice["exchanged_bytes"])
        self.assertEqual(self.json_of("draw", ALGORITHMS / "cannon.distal")["choices"], [])

    def test_refusals(self):
        def refuse(wanted, *options, status=2):
            self.refuse(status, wanted, "draw", ALGORITHMS / "cannon.distal", *options)
            self.assertEqual(list(self.folder.iterdir()), [])

        svg = self.folder / "c.svg"
        refuse(["draw needs a file to write", "-o FILE.html", "--json for the data"])
        refuse("-o c.png: a picture is an .html or an .svg", "-o", "c.png")
        refuse("--axes q: q is no index of the statement", "-o", svg, "--axes", "q")
        refuse("its indices are i, j, k", "-o", svg, "--axes", "q")
        refuse("--axes i,j,k,i: a picture has at most three axes", "-o", svg, "--axes", "i,j,k,i")
        refuse("--axes i,i: i is named twice", "-o", svg, "--axes", "i,i")
        refuse("--step 3: the program has 2 steps, numbered from 1", "-o", svg, "--step", 3)
        refuse("--processor 4: the machine has 4 processors, numbered from 0", "-o", svg, "--processor", 4)
        refuse("--output excludes --json", "--json", "-o", svg)
        refuse("film", "-o", svg, "--view", "movie")
        refuse("the program leaves nothing out, so nothing was weighed", "-o", svg, "--view", "choice")
        refuse("cannot write", "-o", self.folder / "none" / "c.html", status=3)

    def test_no_node(self):
        self.refuse(3, ["an SVG is drawn by Node, and there is no `node`", "nodejs"], "draw",
                    ALGORITHMS / "cannon.distal", "-o", self.folder / "c.svg", env={"PATH": "/nowhere"})


class Refusals(CliTest):
    """Wrong input: status 2, nothing on stdout, and a message that says what is wrong and what would be right."""

    def test_command_line(self):
        help_of_run = "`distal run --help` lists what there is"
        self.refuse(2, ["`distal` needs a command", "the commands are `run`, `explain`"])
        self.refuse(2, ["there is no command `foo`", "the commands are `run`, `explain`"], "foo")
        self.refuse(2, ["there is no command `rn`", "did you mean `run`?"], "rn")
        self.refuse(2, ["there is no command `help`", "write `distal --help`"], "help")
        self.refuse(2, ["there is no command `version`", "write `distal --version`"], "version")
        unquoted = ["redistribute", SUMMA, "B", "xy", "->", "x", "on", "M"]
        self.refuse(2, "a format stands in quotes, as in 'xy -> x on Grid(4)'", *unquoted)
        self.refuse(2, "write `distal run a.distal` or `distal explain a.distal`", "a.distal")
        self.refuse(2, ["`distal` has no option `--versoin`", "did you mean `--version`?"], "--versoin")
        self.refuse(2, ["`distal run`: FILE is required", "FILE is a .distal program", help_of_run], "run")
        self.refuse(2, ["`distal run` has no option `--verbose`", "`distal explain FILE`"], "run", SUMMA, "--verbose")
        self.refuse(2, ["has no option `--sets`", "did you mean `--set`?"], "run", SUMMA, "--sets", "ni=4")
        self.refuse(2, ["has no option `--reps`", "option of `run` and `redistribute`"], "check", SUMMA, "--reps", 1)
        self.refuse(2, ["know what to do with `ni=4`", "write `--set ni=4`"], "run", SUMMA, "ni=4")
        self.refuse(2, ["know what to do with `B=b.npy`", "write `--load B=b.npy`"], "run", SUMMA, "B=b.npy")
        self.refuse(2, ["`distal run`: --set needs a value", help_of_run], "run", SUMMA, "--set")
        said = ["--set takes NAME=VALUE, and got 'ni'", "write --set ni=512,nj=256 without spaces around the `=`"]
        self.refuse(2, said, "run", SUMMA, "--set", "ni", "=", "4")
        self.refuse(2, "write all digits, as in --set ni=1000000", "run", SUMMA, "--set", "ni=1e6")
        said = ["--load Z=z.npy: there is no tensor Z in the program", "the tensors are `A`, `B` and `C`"]
        self.refuse(2, said, "run", SUMMA, "--load", "Z=z.npy")
        self.refuse(2, "--check excludes --no-check", "run", SUMMA, "--check", "--no-check")
        self.refuse(2, "--fast", "run", SUMMA, "--fast")
        self.refuse(2, ["know what to do with", "it takes one program"], "run", SUMMA, SUMMA)
        self.refuse(2, ["--threads", "-1"], "run", SUMMA, "--threads", "-1")
        self.refuse(2, ["--reps", "0"], "run", SUMMA, "--reps", 0)
        self.refuse(2, ["fast", "auto", "generated", "interpreted"], "run", SUMMA, "--leaf", "fast")
        for leaf in ("generated", "interpreted"):
            said = f"--strict-order and --leaf {leaf} both choose how leaves run; give only one of them"
            self.refuse(2, said, "run", SUMMA, "--set", SMALL, "--strict-order", "--leaf", leaf)
        self.refuse(2, ["foo", "module", "placement", "plan"], "explain", SUMMA, "--dump=foo")
        said = "there is no engine cuda; the engines are threads, mpi and legion"
        self.refuse(2, said, "run", SUMMA, "--engine", "cuda")
        said = "--ranks: the threads engine runs in one process; use --engine mpi or legion for several"
        self.refuse(2, said, "run", SUMMA, "--ranks", 2)
        self.refuse(2, "there is no target mpi; the only target is legion", "emit", SUMMA, "--target", "mpi", "-o", "x")
        self.refuse(3, "cannot write /proc/", "emit", SUMMA, "-o", "/proc/nowhere")

    def test_files(self):
        self.refuse(2, ["cannot read missing.distal", "No such file"], "run", "missing.distal")
        self.refuse(2, ["cannot read", "Is a directory"], "run", self.folder)
        self.refuse(2, "the program has no statement", "run", self.write("empty.distal", ""))
        binary = self.folder / "binary.distal"
        binary.write_bytes(bytes(range(256)) * 8)
        text = self.refuse(2, f"{binary} is not a text file", "check", binary)
        self.assert_printable(text)
        # A terminal escape sequence, bytes that are not UTF-8, and control characters.
        for wrong in (b"\x1b[2J", b"\xff\x80\x80", b"\xc2\x9b31m", b"tensor a \x1b[31m\x07\xfe", b"a \x7f"):
            binary.write_bytes(wrong + b" \x1b]0;title\x07\n")
            self.assert_printable(self.refuse(2, f"{binary}:1:", "check", binary))
        words = self.write("words.distal", "tensor α(8)\n")
        self.refuse(2, ["stray character `α`", "tensor α(8)"], "check", words)
        locked = self.write("locked.distal", COPY)
        locked.chmod(0)
        if not os.access(locked, os.R_OK):
            self.refuse(2, "Permission denied", "run", locked)

    def assert_printable(self, text):
        self.assertTrue(all(c.isprintable() or c == "\n" for c in text), ascii(text))

    def test_position_line_and_caret(self):
        file = self.write("wrong.distal", "tensor a(8)\ntensor b(8)\na(i) = b(i) * c(i)\n")
        text = self.refuse(2, f"{file}:3:15: error: unknown tensor `c`", "run", file)
        lines = text.splitlines()
        self.assertIn("  a(i) = b(i) * c(i)", lines)
        self.assertEqual(lines[2].index("^"), lines[1].index("c(i)"))
        self.assertIn("help:", text)

    def test_settings(self):
        for value, wanted in {
            "ni": "--set takes NAME=VALUE, and got 'ni'",
            "=3": "--set takes NAME=VALUE, and got '=3'",
            "ni=": "--set takes NAME=VALUE, and got 'ni='",
            "ni=x": "--set ni: 'x' is not a 64-bit integer",
            "ni=3.5": "--set ni: '3.5' is not a 64-bit integer",
            "ni=99999999999999999999": "not a 64-bit integer",
            "nx=3": ["there is no such param", "`ni`, `nj`, `nk`, `gx`, `gy` and `chunk`"],
            "nj=-4": "dimension 1 of A is nj = -4; it must be at least 0",
            "gx=0": "extent 0 of the grid is gx = 0; it must be at least 1",
            "chunk=0": "split: the size is 0, and must be at least 1",
            "ni=4000000000,nj=4000000000": "a tensor may have up to 2^62 bytes",
        }.items():
            for command in ("run", "explain", "check"):
                self.refuse(2, wanted, command, SUMMA, "--set", value)

    def test_types(self):
        types = ["--type half: there is no such element type", "float, double, int32, int64, complex<float>",
                 "complex<double>"]
        self.refuse(2, types, "run", SUMMA, "--type", "half")
        real = self.write("real.distal", "tensor a(8)\ntensor b(8)\na(i) = 0.5 * b(i)\n")
        wanted = "the literal 0.5 is not an integer, but the element type is int32"
        self.refuse(2, wanted, "run", real, "--type", "int32")

    def save(self, name, array, **options):
        np.save(self.folder / name, array, **options)
        return f"B={self.folder / name}"

    def test_load(self):
        self.refuse(2, "missing.npy' does not exist", "run", SUMMA, "--load", "B=missing.npy")
        self.refuse(2, "--load names a file for tensor B twice", "run", SUMMA, "--load", "B=b.npy", "--load", "B=c.npy")
        two = "--save A=a.npy,B=b.npy: give --save once for each tensor"
        self.refuse(2, two, "run", SUMMA, "--save", "A=a.npy,B=b.npy")
        self.refuse(2, "is not a regular file", "run", SUMMA, "--load", f"B={self.folder}")
        self.refuse(2, "--load Z=b.npy: there is no tensor Z in the program", "run", SUMMA, "--load", "Z=b.npy")
        self.refuse(2, "--load takes NAME=FILE, and got 'B'", "run", SUMMA, "--load", "B")
        wrong = self.save("shape.npy", np.zeros((3, 4)))
        wanted = "the file's shape is (3, 4), the tensor's is (32, 40)"
        self.refuse(2, wanted, "run", SUMMA, "--set", SMALL, "--load", wrong)
        wrong = self.save("type.npy", np.zeros((32, 40), np.float32))
        wanted = ["the file holds float, the program computes with double", "--type 'float'"]
        self.refuse(2, wanted, "run", SUMMA, "--set", SMALL, "--load", wrong)
        wrong = self.save("object.npy", np.array([None]), allow_pickle=True)
        self.refuse(2, "has elements of type '|O'", "run", SUMMA, "--set", SMALL, "--load", wrong)
        wrong = self.save("big.npy", np.zeros((32, 40), ">f8"))
        self.refuse(2, "is big endian", "run", SUMMA, "--set", SMALL, "--load", wrong)
        whole = self.folder / "shape.npy"
        (self.folder / "short.npy").write_bytes(whole.read_bytes()[:-8])
        wanted = "has 88 bytes of elements, but its header asks for 96"
        self.refuse(2, wanted, "run", SUMMA, "--load", f"B={self.folder}/short.npy")
        text = self.write("text.npy", "no array")
        self.refuse(2, "is not a .npy file", "run", SUMMA, "--load", f"B={text}")

    def test_save(self):
        self.refuse(2, "there is no tensor Z in the program", "run", SUMMA, "--save", "Z=a.npy")
        self.refuse(2, "--save takes NAME=FILE, and got 'A='", "run", SUMMA, "--save", "A=")
        nowhere = f"A={self.folder}/no/a.npy"
        # Refused before anything is compiled or allocated.
        without = {"DISTAL_CXX": "/nonexistent/compiler", "DISTAL_CACHE": str(self.folder / "cache")}
        for more in (["--set", SMALL], ["--leaf", "generated"], ["--set", "ni=400000,nj=400000,nk=400000"]):
            wanted = f"'{self.folder}/no/a.npy' cannot be opened for writing"
            self.refuse(2, wanted, "run", SUMMA, *more, "--save", nowhere, env=without)
        self.refuse(2, "cannot be opened for writing", "run", SUMMA, "--save", f"A={self.folder}")
        for engine in ("threads", "mpi"):
            same = ["--save", f"A={self.folder}/a.npy", "--save", f"B={self.folder}/../{self.folder.name}/a.npy"]
            wanted = [f"--save B={self.folder}/../{self.folder.name}/a.npy: A is saved to this file",
                      "name one file for each tensor"]
            self.refuse(2, wanted, "run", SUMMA, "--engine", engine, *same)

    def test_programs_of_one_name_are_not_emitted_together(self):
        other = self.write("summa.distal", SUMMA.read_text(encoding="utf-8"))
        wanted = ["two programs would be written to summa.cpp", "rename one of the files"]
        self.refuse(2, wanted, "emit", SUMMA, other, "-o", self.folder / "out")

    def test_emit_overwrites_its_own_files_only(self):
        emit = ["emit", SUMMA, "-o", self.folder / "out"]
        self.succeed(*emit)
        self.succeed(*emit, "--set", SMALL)
        for path in sorted((self.folder / "out").rglob("*.*")):
            text = path.read_text(encoding="utf-8")
            self.assertRegex(text, r"\A(//|#) Emitted by DISTAL for Legion\.\n", path)
        for name in ("CMakeLists.txt", "summa.cpp"):
            mine = self.folder / "out" / name
            emitted = mine.read_text(encoding="utf-8")
            mine.write_text("mine\n" + emitted, encoding="utf-8")
            wanted = [f"{mine} exists already, and `distal emit` did not write it", "name another folder with -o"]
            self.refuse(2, wanted, *emit)
            self.assertEqual(mine.read_text(encoding="utf-8"), "mine\n" + emitted)
            mine.write_text(emitted, encoding="utf-8")

    def test_wrong_programs(self):
        head = "machine M = Grid(2, 2)\ntensor A(8, 8) : xy -> xy on M\ntensor B(8, 8) : xy -> xy on M\n"
        head += "A(i, j) = B(i, j)\nschedule\n  "
        for command, wanted in {
            "split(k, ko, ki, 2)": "there is no loop k",
            "split(i, j, ii, 2)": "j is a variable of this statement already",
            "communicate(C, i)": "tensor C is not in this statement; its tensors are A, B",
            "distribute({i, j}, {io, jo}, {ii, ji}, Grid(4))": "has 1 dimension, but level 0 of the machine",
            "parallelize(k)": "there is no loop k",
            "substitute({i, j}, gemm)": "not a product of two tensors",
            "fuse(i, j)": "unknown schedule command `fuse`",
        }.items():
            file = self.write("wrong.distal", head + command + "\n")
            self.refuse(2, [wanted, f"{file}:6:"], "check", file)

    def test_too_many_steps_name_the_missing_communicate(self):
        text = SUMMA.read_text(encoding="utf-8").split("schedule")[0]
        text += "schedule\n  reorder({k, i, j})\n  distribute(j, M)\n  communicate({A, B}, i)\n"
        file = self.write("slow.distal", text)
        wanted = ["C, which no communicate names, is communicated at loop j", "at most 10,000,000",
                  "say communicate(C, k)"]
        self.refuse(2, wanted, "explain", file)


class Defaults(CliTest):
    """Programs that leave out grids, formats or schedules."""

    def test_what_no_command_communicates_runs(self):
        text = SUMMA.read_text(encoding="utf-8").split("schedule")[0]
        distribute = "schedule\n  distribute({i, j}, {io, jo}, {ii, ji}, M)\n"
        for schedule, with_work in (("schedule\n", 1), (distribute, 4), ("", 4)):
            file = self.write("plain.distal", text + schedule)
            said = self.json_of("run", file, "--set", "ni=256,nj=256,nk=256")
            self.assertTrue(said["ok"])
            self.assertEqual(said["processors_with_work"], with_work)

    def test_the_names_of_numpy_are_types(self):
        file = self.write("copy.distal", "type float32\n" + COPY)
        self.assertEqual(self.json_of("run", file)["type"], "float")
        for numpy_name, name in (("float64", "double"), ("complex64", "complex<float>"), ("int32", "int32")):
            self.assertEqual(self.json_of("run", file, "--type", numpy_name)["type"], name)

    def test_flops_beyond_64_bits(self):
        for n, flops in ((3_000_000, 54 * 10**18), (1_000_000, 2 * 10**18)):
            sizes = f"ni={n},nj={n},nk={n},gx=100,gy=100,chunk={n // 100}"
            said = self.json_of("explain", SUMMA, "--set", sizes)
            self.assertEqual(said["flops"], flops)

    def test_tensors_without_elements(self):
        for size in ("ni", "nj", "nk"):
            sizes = settings({"ni": 32, "nj": 24, "nk": 40, "chunk": 8} | {size: 0})
            said = self.json_of("run", SUMMA, "--set", sizes, "--check")
            self.assertTrue(said["ok"])

    def test_the_processors_with_work_are_said(self):
        text = SUMMA.read_text(encoding="utf-8").split("schedule")[0]
        file = self.write("plain.distal", text + "schedule\n")
        self.assertIn("  ran on    1 of 4 processors, a 2×2 grid", self.succeed("run", file, "--set", SMALL))
        self.assertRegex(self.succeed("explain", file, "--set", SMALL), r"  processors +4, 1 with work\n")


class Resources(CliTest):
    """What the machine lacks: status 3."""

    def test_too_much_memory(self):
        huge = "ni=400000,nj=400000,nk=400000"
        text = self.refuse(3, ["error: the run needs ", " bytes), and the machine has "], "run", SUMMA, "--set", huge)
        self.assertRegex(text, r"needs [\d.]+ TiB \([\d,]+ bytes\), and the machine has [\d.]+ \wiB \([\d,]+ bytes\)")

    def test_explain_needs_no_memory(self):
        said = self.json_of("explain", SUMMA, "--set", "ni=400000,nj=400000,nk=400000")
        self.assertGreater(said["peak_bytes_per_processor"], 2**39)

    def test_gpu_machine(self):
        machine = "machine M = Grid(2) of Grid(4) gpu\n"
        grid = "Grid(2) gpu has gpu processors, and the threads engine has none"
        for text, wanted in {
            machine + "tensor a(8) : x -> x, x -> x on M\ntensor b(8)\na(i) = b(i)\n": grid.replace("2", "4"),
            "tensor a(8) : x -> x on Grid(2) gpu\ntensor b(8)\na(i) = b(i)\n": grid,
            COPY + "schedule\n  distribute(i, io, ii, Grid(2) gpu)\n": grid,
            "tensor a(8) in gpu\ntensor b(8)\na(i) = b(i)\n": (
                "tensor a lives in gpu memory, and the threads engine has none"
            ),
        }.items():
            with self.subTest(text):
                file = self.write("gpu.distal", text)
                self.refuse(3, [wanted, f"{file}:"], "run", file)
                self.json_of("explain", file)  # explain needs no GPU

    def test_no_compiler(self):
        file = ALGORITHMS / "ttv.distal"
        env = {"DISTAL_CXX": "/nonexistent/compiler", "DISTAL_CACHE": str(self.folder / "cache")}
        compiled = ["run", file, "--leaf", "generated", "--set", "ni=8,nj=8,nk=8"]
        said = ["DISTAL_CXX is `/nonexistent/compiler`, and there is no such program", "name a C++ compiler"]
        self.refuse(3, said, *compiled, env=env)
        said = ["DISTAL_CXX is `g++ -O3`, and there is no such program", "without options, as in DISTAL_CXX=g++\n"]
        self.refuse(3, said, *compiled, env={**env, "DISTAL_CXX": "g++ -O3"})
        said = ["/bin/true reported success, but compiled nothing", "set DISTAL_CXX to a C++ compiler"]
        self.refuse(3, said, *compiled, env={**env, "DISTAL_CXX": "/bin/true"})
        self.succeed("run", file, "--leaf", "interpreted", "--set", "ni=8,nj=8,nk=8", env=env)

    def test_no_compiler_at_all(self):
        """Leaves that BLAS does not run are interpreted, and the report says so."""
        env = {"PATH": "/nonexistent", "DISTAL_CXX": "", "DISTAL_CACHE": str(self.folder / "cache")}
        without = "interpreted, as there is no C++ compiler"
        run = ["run", ALGORITHMS / "mttkrp.distal", "--set", "ni=50,nj=60,nk=70,nl=16", "--reps", 1]
        self.assertEqual(self.json_of(*run, env=env)["leaves"], [without])
        self.assertIn(f", {without} leaf, double\n", self.succeed(*run, env=env))
        self.assertEqual(self.json_of("run", ALGORITHMS / "ttv.distal", env=env)["leaves"], ["BLAS"])
        self.assertIn(without, self.succeed("explain", *run[1:4], "--dump=leaf", env=env))
        self.refuse(3, "no C++ compiler was found", *run, "--leaf", "generated", env=env)

    def test_no_blas(self):
        file = ALGORITHMS / "ttv.distal"
        sizes = ("--set", "ni=8,nj=8,nk=8")
        env = {"DISTAL_BLAS": "/nonexistent/libblas.so", "DISTAL_CACHE": str(self.folder / "cache")}
        message = ["cannot load a BLAS: /nonexistent/libblas.so", "set DISTAL_BLAS"]
        self.refuse(3, message, "run", file, *sizes, env=env)
        self.refuse(3, message, "run", SUMMA, "--set", SMALL, env=env)
        self.succeed("run", file, "--leaf", "interpreted", *sizes, env=env)
        self.succeed("run", SUMMA, "--type", "int32", "--set", SMALL, env=env)
        self.succeed("explain", file, *sizes, env=env)

    def test_version(self):
        text = self.succeed("--version")
        self.assertRegex(text, r"\Adistal \d+\.\d+\.\d+\nBLAS: \S.*\n\Z")
        text = self.succeed("--version", env={"DISTAL_BLAS": "/nonexistent/libblas.so"})
        self.assertIn("\nBLAS: none; cannot load a BLAS: /nonexistent/libblas.so", text)

    def test_limits_of_a_process(self):
        """A lack of memory for pieces, threads or BLAS is an error; the process does not hang."""
        said = ""
        for mebibytes in range(75, 701, 75):
            sizes = "ni=1000,nj=1000,nk=1000,gx=2,gy=1,chunk=250"
            done = distal_within(mebibytes, "run", SUMMA, "--set", sizes, "--reps", 1, "--threads", 2)
            self.assertIn(done.returncode, (0, 3), done.stderr)
            said += done.stderr
        self.assertNotIn("internal error", said)
        wanted = r"error: each thread that calls BLAS needs 160 MiB, but this process is limited to .*\n  help: raise"
        self.assertRegex(said, wanted)

    def test_an_array_larger_than_memory(self):
        file = self.folder / "large.npy"
        np.save(file, np.zeros(0))
        header = file.read_bytes().replace(b"(0,), }        ", b"(536870912,), }")
        with open(file, "wb") as out:
            out.write(header)
            out.truncate(len(header) + 2**32)  # sparse: uses no disk space
        program = self.write("copy.distal", "tensor a(536870912)\ntensor b(536870912)\na(i) = b(i)\n")
        done = distal_within(2048, "run", program, "--load", f"b={file}")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot allocate 4294967296 bytes for processor 0", done.stderr)


class WrongResult(CliTest):
    """Status 1: the run ended, but its result is wrong."""

    def test_a_compiler_that_compiles_something_else(self):
        compiler = self.folder / "c++"
        compiler.write_text(
            "#!/bin/sh\nfor last; do :; done\nsed -i 's/ += C(/ -= C(/' \"$last\"\nexec c++ \"$@\"\n",
            encoding="utf-8",
        )
        compiler.chmod(0o700)
        env = {"DISTAL_CXX": str(compiler), "DISTAL_CACHE": str(self.folder / "cache")}
        command = ("run", ALGORITHMS / "ttv.distal", "--leaf", "generated", "--set", "ni=8,nj=8,nk=8")
        done = distal(*command, env=env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"check     WRONG, .*\n +A\(\d, \d\) is \S+, expected ")
        done = distal(*command, "--json", env=env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIs(json.loads(done.stdout)["ok"], False)


class Cosma(CliTest):
    """What algorithms/cosma_settings.py prints is valid for --set, and keeps to the memory."""

    def settings_of(self, *words):
        script = [sys.executable, "-B", ALGORITHMS / "cosma_settings.py", *words, "--distal", BINARY]
        return finished(script)

    def test_printed_settings_run(self):
        for processors, limit in ((8, 20000), (8, 10000), (13, 6000)):
            done = self.settings_of(37, 53, 29, processors, "--memory", limit)
            self.assertEqual(done.returncode, 0, done.stderr)
            values = done.stdout.strip()
            program = ALGORITHMS / "cosma.distal"
            said = self.json_of("run", program, "--check", "--own-memory", "--set", values)
            self.assertIs(said["ok"], True)
            said = self.json_of("explain", program, "--set", values)
            self.assertLessEqual(said["processors"], processors)
            self.assertLessEqual(said["peak_bytes_per_processor"], limit)

    def test_cubes_of_processors_give_cubes(self):
        done = self.settings_of(1024, 1024, 1024, 64)
        self.assertEqual(done.stdout, "ni=1024,nj=1024,nk=1024,gx=4,gy=4,gz=4,seqi=1,seqj=1,steps=1\n")
        done = self.settings_of(1000, 1000, 1000, 127)
        self.assertIn("gx=5,gy=5,gz=5", done.stdout)

    def test_little_memory_gives_steps(self):
        program = ALGORITHMS / "cosma.distal"
        said = {}
        for limit in (2_000_000, 1_179_648):
            done = self.settings_of(1024, 1024, 1024, 64, "--memory", limit)
            self.assertIn("gx=4,gy=4,gz=4", done.stdout)
            said[limit] = self.json_of("explain", program, "--set", done.stdout.strip())
            self.assertLessEqual(said[limit]["peak_bytes_per_processor"], limit)
        self.assertNotIn("seqi=1,seqj=1,steps=1\n", done.stdout)
        self.assertEqual(said[2_000_000]["bytes_moved"], said[1_179_648]["bytes_moved"])

    def test_refusals_are_those_of_optimize(self):
        done = self.settings_of(100, 100, 100, 4, "--memory", 100)
        self.assertEqual(done.returncode, 3)
        self.assertIn("nothing fits: a processor needs at least", done.stderr)
        self.assertEqual(self.settings_of(8, 8, 8, 2, "--type", "half").returncode, 2)


class Running(CliTest):
    """Options of `run` do not change its result."""

    def result(self, *options):
        file = self.folder / "a.npy"
        self.succeed("run", SUMMA, "--set", SMALL, "--type", "int64", "--save", f"A={file}", *options)
        return np.load(file)

    def test_options_do_not_change_the_result(self):
        wanted = self.result()
        for options in (
            ["--threads", 1],
            ["--threads", 5],
            ["--reps", 7],
            ["--own-memory"],
            ["--leaf", "interpreted"],
            ["--leaf", "generated"],
            ["--strict-order"],
            ["--set", "gx=3,gy=5"],
            ["--set", "gx=1,gy=1"],
        ):
            self.assertTrue(np.array_equal(self.result(*options), wanted), options)

    def test_strict_order_gives_the_same_bits_on_any_number_of_threads(self):
        sums = "tensor a\ntensor b(60000)\ntensor c(60000)\na = b(i) * c(i)\n"
        library = "tensor A(9, 9)\ntensor B(9, 900)\ntensor C(900, 9)\nA(i, j) = B(i, k) * C(k, j)\n"
        library += "schedule\n  substitute({i, j, k}, gemm)\n"
        for name, text in (("a", sums), ("A", library)):
            file = self.write("sums.distal", text)
            made = []
            for threads in (1, 2, 5):
                out = self.folder / f"{threads}.npy"
                said = self.succeed("run", file, "--strict-order", "--threads", threads, "--save", f"{name}={out}")
                self.assertIn("gemm (BLAS) leaf" if name == "A" else "interpreted leaf", said)
                made.append(np.load(out))
            for other in made[1:]:
                self.assertEqual(made[0].tobytes(), other.tobytes())

    def test_threads_inside_a_processor_end_well(self):
        text = "machine M = Grid(2)\ntensor A(9, 7) : xy -> x on M\ntensor B(9, 7) : xy -> x on M\nA(i, j) = B(i, j)\n"
        text += "schedule\n  distribute(i, io, ii, M)\n  communicate({A, B}, io)\n  parallelize(ii)\n"
        file = self.write("parallel.distal", text)
        for _ in range(10):  # the threads of the leaf must not outlive its code
            self.succeed("run", file, "--threads", 1)

    def test_seed(self):
        self.assertFalse(np.array_equal(self.result("--seed", 2), self.result()))
        self.assertTrue(np.array_equal(self.result("--seed", 2), self.result("--seed", 2)))

    def test_more_processors_than_threads(self):
        said = self.json_of("run", SUMMA, "--set", "ni=64,nj=64,nk=64,gx=32,gy=32,chunk=16", "--threads", 2)
        self.assertEqual(said["processors"], 1024)
        self.assertIs(said["ok"], True)

    def test_fortran_order_is_understood(self):
        array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
        np.save(self.folder / "b.npy", array)
        file = self.write("copy.distal", "tensor A(3, 4)\ntensor B(3, 4)\nA(i, j) = B(i, j)\n")
        self.succeed("run", file, "--load", f"B={self.folder}/b.npy", "--save", f"A={self.folder}/a.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "a.npy"), array))

    def test_inputs_can_be_saved(self):
        file = self.write("copy.distal", COPY)
        self.succeed("run", file, "--save", f"a={self.folder}/a.npy", "--save", f"b={self.folder}/b.npy")
        self.assertTrue(np.array_equal(np.load(self.folder / "a.npy"), np.load(self.folder / "b.npy")))

    def test_settings_may_have_spaces(self):
        said = json.loads(self.succeed("explain", SUMMA, "--set", " ni = 8, nj = 8,nk=8 ", "--json"))
        self.assertEqual(said["flops"], 2 * 8 * 8 * 8)

    def test_settings_may_be_given_in_parts(self):
        said = self.json_of("explain", SUMMA, "--set", "gx=3", "--set", "gy=5,ni=17")
        self.assertEqual(said["processors"], 15)


if __name__ == "__main__":
    unittest.main()
