"""tools/gpu run with stand-ins for programs: what it counts as passed and failed, and what the benchmark writes.

Also runs bench/gpu/host, which needs no GPU.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("DISTAL_BINARY")
TIMEOUT = 120

# Runs what it is told to, as an emitted program: by the program's name it is right, wrong or ends early.
PROGRAMS = r'''#!/usr/bin/env python3
import sys
words = sys.argv[1:]
if "--paced" in words:
    for line in sys.stdin:
        print('{"seconds": 0.002, "leaf_seconds": 0.001, "host_seconds": 0.00001, '
              '"most_host_seconds": 0.00001, "leaves": 1}',
              flush=True)
        words.append("ran")
        if words.count("ran") == int(words[words.index("--reps") + 1]):
            break
    print("check  correct, largest relative error 1.0e-16 in 7 elements")
    sys.exit(0)
runs = " ".join(words).split(" --then ")
for run in runs:
    run = run.split()
    name = run[run.index("--program") + 1]
    if name == "dies":
        print("error: no room", file=sys.stderr)
        sys.exit(3)
    if "--after" in run:
        with open(run[run.index("--after") + 1] + "/0.npy", "w", encoding="utf-8") as file:
            file.write("other" if name == "differs" else "same")
    wrong = 4 if name == "wrong" else 0
    print('{"seconds": [0.1], "tasks": 1, "leaves": [], "checked": 9, "wrong": %d, "max_relative_error": 0.0}' % wrong)
'''

PEERS = r'''#!/usr/bin/env python3
import sys
for line in sys.stdin:
    print('{"seconds": 0.0018, "leaf_seconds": 0.001}', flush=True)
'''


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "gpu", self.root / "tools")
        shutil.copytree(ROOT / "bench" / "gpu", self.root / "bench" / "gpu")
        self.gpu = self.root / "build" / "gpu"
        self.gpu.mkdir(parents=True)
        self.executable("programs", PROGRAMS)
        self.executable("random", PROGRAMS)
        self.executable("peers", PEERS)
        self.cases("cases", "right n=3\nright n=4,g=2\n")
        self.cases("large", "right n=9\n")
        (self.gpu / "random.cases").write_text("right\n", encoding="utf-8")

    def executable(self, name, text):
        path = self.gpu / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def cases(self, name, text):
        (self.root / "bench" / "gpu" / name).write_text("# a comment\n" + text, encoding="utf-8")

    def run_it(self, *words, status, **environment):
        done = subprocess.run([self.root / "tools" / "gpu", "run", *words], capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT, check=False, env={**os.environ, **environment})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def test_all_checks_pass(self):
        out = self.run_it("checks", status=0)
        self.assertTrue(out.endswith("4 passed, 0 failed\n"), out)

    def test_wrong_elements_fail(self):
        self.cases("cases", "right n=3\nwrong n=4\nright n=5\n")
        out = self.run_it("checks", status=1)
        self.assertTrue(out.endswith("4 passed, 1 failed\n"), out)
        self.assertRegex(out, r"wrong +n=4 +FAIL")

    def test_a_program_that_ends_early_fails_and_the_others_run(self):
        self.cases("cases", "right n=3\ndies n=4\nright n=5\n")
        out = self.run_it("checks", status=1)
        self.assertTrue(out.endswith("4 passed, 1 failed\n"), out)
        self.assertRegex(out, r"dies n=4 +FAIL  status 3\n +error: no room")

    def test_not_all_cases_wait_for_a_gpu_that_does_not_work(self):
        self.cases("cases", "dies n=4\n" * 30)
        out = self.run_it("checks", status=1)
        self.assertTrue(out.endswith("2 passed, 30 failed\n"), out)
        self.assertEqual(out.count("no room"), 10)
        self.assertIn("FAIL  20 more, which are not run", out)

    def test_results_are_compared_with_the_reference(self):
        for name in ("same", "differs"):
            (self.gpu / "expected" / name).mkdir(parents=True)
            (self.gpu / "expected" / name / "0.npy").write_text("same", encoding="utf-8")
        (self.gpu / "random.cases").write_text("same\ndiffers\nright\n", encoding="utf-8")
        out = self.run_it("checks", status=1)
        self.assertTrue(out.endswith("5 passed, 1 failed\n"), out)
        self.assertRegex(out, r"differs +FAIL")

    def test_errors_that_the_sanitizer_finds_fail(self):
        tools = self.root / "bin"
        tools.mkdir()
        sanitizer = tools / "compute-sanitizer"
        path = f"{tools}:{os.environ['PATH']}"
        for tool, passed, failed in (("none", 8, 0), ("racecheck", 6, 2)):
            sanitizer.write_text("#!/usr/bin/env bash\nwhile [[ $1 == -* ]]; do\n"
                                 "  [[ $1 == --tool ]] && tool=$2\n  shift 2\n"
                                 f'done\n"$@"\n[[ $tool != {tool} ]] || exit 9\n', encoding="utf-8")
            sanitizer.chmod(0o755)
            out = self.run_it("sanitize", status=1 if failed else 0, PATH=path)
            self.assertTrue(out.endswith(f"{passed} passed, {failed} failed\n"), out)

    def test_the_benchmark_writes_its_page(self):
        out = self.run_it("bench", status=1, BENCH_OPTIONS="--only ttv gemm --pairs 3 --scale 16")
        page = (self.root / "build" / "gpu-out" / "RESULTS.md").read_text(encoding="utf-8")
        self.assertIn(page, out)
        rows = [line for line in page.splitlines() if re.match(r"\| (TTV|GEMM)", line)]
        self.assertEqual(len(rows), 2, page)
        # GEMM: 1.8 ms of cuBLAS's call by 2 ms are 0.9, and the goal is 0.93; the leaf takes as long as cuBLAS.
        self.assertIn("| 2.000 |", rows[0])
        self.assertIn("0.900 of cublas, goal 0.93: **missed**", rows[0])
        self.assertIn("1.000 of cublas, goal 0.98: met", rows[0])
        # The host takes 10 µs of 20 in both.
        self.assertIn("| 10, met |", rows[0])
        self.assertRegex(out, r"\n3 passed, 3 failed\n$")

    def test_every_program_has_a_case(self):
        cases = (ROOT / "bench" / "gpu" / "cases").read_text(encoding="utf-8").splitlines()
        programs = [*ROOT.glob("algorithms/*.distal"), *ROOT.glob("bench/gpu/*.distal")]
        self.assertEqual({p.stem for p in programs}, {c.split()[0] for c in cases if not c.startswith("#")})

    @unittest.skipUnless(BINARY, "DISTAL_BINARY is not set")
    def test_all_cases_are_valid(self):
        lines = [line for name in ("cases", "large")
                 for line in (ROOT / "bench" / "gpu" / name).read_text(encoding="utf-8").splitlines()]
        for line in lines:
            if line.startswith("#"):
                continue
            program, params = line.split()
            folders = (ROOT / "algorithms", ROOT / "bench" / "gpu")
            file = next(f / f"{program}.distal" for f in folders if (f / f"{program}.distal").exists())
            done = subprocess.run([BINARY, "check", file, "--set", params], capture_output=True, encoding="utf-8",
                                  timeout=TIMEOUT, check=False)
            self.assertEqual(done.returncode, 0, line + done.stdout + done.stderr)

    @unittest.skipUnless(BINARY, "DISTAL_BINARY is not set")
    def test_the_hosts_time_is_measured(self):
        done = subprocess.run([ROOT / "bench" / "gpu" / "host" / "run.sh", self.root / "host"], capture_output=True,
                              encoding="utf-8", timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = dict(re.findall(r"\| (\S+) .*\| (\d+ \| \d+) \| \d+ \|", done.stdout))
        self.assertEqual(rows["GEMM"], "0 | 1", done.stdout)
        self.assertEqual(rows["inner"], "2 | 0", done.stdout)
        self.assertEqual(len(rows), 9, done.stdout)

    def test_words(self):
        done = subprocess.run([self.root / "tools" / "gpu", "run", "faster"], capture_output=True, encoding="utf-8",
                              timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("usage: tools/gpu prepare | run [checks|sanitize|bench]... | nvcc", done.stderr)


if __name__ == "__main__":
    sys.exit(unittest.main())
