"""What the MPI engine refuses, and how a job ends when a rank fails."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from support import ALGORITHMS, BINARY, CliTest, distal_within  # noqa: E402

SUMMA = ALGORITHMS / "summa.distal"
MPIRUN = os.environ["DISTAL_MPIRUN"]
PROGRAMS = os.environ["DISTAL_PROGRAMS_ON_RANKS"]
# Variables that `distal` sets for mpirun. A user who calls mpirun sets them too.
MPIRUN_VARIABLES = {
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def mpirun(*words):
    return subprocess.run(
        [MPIRUN, *map(str, words)],
        env={**os.environ, **MPIRUN_VARIABLES},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def children_of(process):
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, encoding="utf-8", check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    found, wanted = [], {process}
    while True:
        more = [(int(pid), name) for pid, parent, name in rows if int(parent) in wanted and int(pid) not in wanted]
        if not more:
            return found
        found += more
        wanted |= {pid for pid, _ in more}


def runs(pid):
    """Whether the process runs. A process that has ended may still be a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def cpu_seconds(pid):
    """The CPU time of a process, in all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def need_in(said):
    """The bytes that the run needs on a node, from the message."""
    return int(re.search(r"\(([\d,]+) bytes\) on this node", said).group(1).replace(",", ""))


class Refusals(CliTest):
    def test_options(self):
        said = "the mpi engine does not support --own-memory"
        self.refuse(2, said, "run", SUMMA, "--engine", "mpi", "--ranks", 2, "--own-memory")

    def test_options_are_refused_before_there_are_ranks(self):
        run = ["run", SUMMA, "--engine", "mpi", "--ranks", 3]
        np.save(self.folder / "small.npy", np.zeros((2, 3)))
        for said, words in {
            "--load Z=z.npy: there is no tensor Z in the program": ["--load", "Z=z.npy"],
            "--save Z=z.npy: there is no tensor Z in the program": ["--save", "Z=z.npy"],
            "--strict-order and --leaf generated both choose how leaves run": ["--strict-order", "--leaf", "generated"],
            "missing.npy' does not exist": ["--load", "B=missing.npy"],
            "the file's shape is (2, 3), the tensor's is (": ["--load", f"B={self.folder}/small.npy"],
        }.items():
            with self.subTest(words=words):
                text = self.refuse(2, said, *run, *words)
                self.assertEqual(text.count("error: "), 1, text)

    def test_folder_to_save_to_is_missing(self):
        run = ["run", SUMMA, "--engine", "mpi", "--ranks", 3, "--save", "A=no/such/a.npy"]
        said = self.refuse(2, "'no/such/a.npy' cannot be opened for writing", *run)
        self.assertEqual(len(said.splitlines()), 2, said)

    def test_missing_data_is_said_once(self):
        done = mpirun("-n", 3, BINARY, "run", SUMMA, "--engine", "mpi", "--load", "B=missing.npy")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("missing.npy' does not exist"), 1, done.stderr)

    def test_threads_in_a_job(self):
        done = mpirun("-n", 2, BINARY, "run", SUMMA)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        said = "this is one of 2 processes of a job, but the threads engine runs in one process"
        self.assertIn(f"error: {said}\n  help: use --engine mpi to run the program on all of them", done.stderr)
        self.assertEqual(mpirun("-n", 1, BINARY, "run", SUMMA).returncode, 0)

    def test_threads_in_a_job_by_the_starters_variables(self):
        """The tasks of Slurm, for example, may have none of MPI's variables."""
        for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"):
            for tasks, status in (("3", 2), ("1", 0)):
                with self.subTest(name=name, tasks=tasks):
                    run = [str(BINARY), "run", str(SUMMA)]
                    done = subprocess.run(run, env={**os.environ, name: tasks}, capture_output=True, timeout=60,
                                          encoding="utf-8", check=False)
                    self.assertEqual(done.returncode, status, done.stderr)
                    self.assertEqual("this is one of 3 processes of a job" in done.stderr, status != 0)

    def test_place_of_an_error_is_shown_once(self):
        wrong = self.write("wrong.distal", "param n = 4\ntensor A(n)\ntensor B(n, n)\nA(i) = B(i)\n")
        done = mpirun("-n", 2, BINARY, "run", wrong, "--engine", "mpi")
        self.assertEqual(done.stderr.count("error: "), 1, done.stderr)
        self.assertIn("wrong.distal:4:8: error: ", done.stderr)
        self.assertIn("  A(i) = B(i)\n         ^", done.stderr)

    def test_wrong_words_are_said_once(self):
        done = mpirun("-n", 3, BINARY.with_name("distal-mpi"), "run", SUMMA, "--engine", "mpi", "--bogus")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("--bogus"), 1, done.stderr)

    def test_wrong_program_is_said_once(self):
        wrong = self.write("wrong.distal", "param n = 4\ntensor A(n), B(n, n)\nA(i) = B(i)\n")
        said = self.refuse(2, "B", "run", wrong, "--engine", "mpi", "--ranks", 3)
        self.assertEqual(said.count("error"), 1, said)

    def test_without_mpi(self):
        alone = self.folder / "distal"
        shutil.copy(BINARY, alone)
        done = subprocess.run(
            [alone, "run", str(SUMMA), "--engine", "mpi"], capture_output=True, encoding="utf-8", check=False
        )
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("this DISTAL was built without MPI, because no MPI was found at build time", done.stderr)
        self.assertIn("install libopenmpi-dev", done.stderr)

    def test_starter_is_missing(self):
        wanted = ["cannot start /no/mpirun", "names a launcher without options, as in DISTAL_MPIRUN=mpirun"]
        self.refuse(3, wanted, "run", SUMMA, "--engine", "mpi", env={"DISTAL_MPIRUN": "/no/mpirun"})

    def test_memory_of_the_node(self):
        size = "ni=400000,nj=400000,nk=400000"
        self.refuse(3, [" bytes) on this node, which has "], "run", SUMMA, "--engine", "mpi", "--ranks", 2, "--set",
                    size)

    def test_memory_of_ranks_that_do_not_share_it(self):
        """They still run on one machine."""
        run = ["run", SUMMA, "--engine", "mpi", "--ranks", 2, "--set", "ni=400000,nj=400000,nk=400000"]
        needs = []
        for shared in "10":
            said = self.refuse(3, "on this node, which has", *run, env={"DISTAL_MPI_SHARED": shared})
            needs.append(need_in(said))
        self.assertGreaterEqual(needs[1], needs[0])

    def test_need_beyond_64_bits(self):
        tensors = "".join(f"tensor {name}(n)\n" for name in "abc")
        program = self.write("sum.distal", f"param n = 500000000 * 1000000000\n{tensors}a(i) = b(i) + c(i)\n")
        for words in (("--engine", "mpi", "--ranks", 2), ()):
            said = self.refuse(2, "a size does not fit in 64 bits", "run", program, *words)
            self.assertEqual(said.count("64 bits"), 1, said)

    def test_memory_for_checks(self):
        """With --check, every rank makes the whole inputs."""
        run = ["run", SUMMA, "--engine", "mpi", "--ranks", 2, "--set", "ni=400000,nj=400000,nk=400000"]
        a_matrix = 8 * 400000**2
        needs = {}
        for words in ((), ("--check",), ("--save", f"A={self.folder}/a.npy")):
            said = self.refuse(3, ["on this node, which has", "choose smaller sizes, or more nodes"], *run, *words)
            needs[words[:1]] = need_in(said)
        self.assertEqual(needs["--check",] - needs[()], 2 * 2 * a_matrix)
        self.assertEqual(needs["--save",], needs[()])

    def test_memory_for_files(self):
        """Ranks keep a little of a file for the check, and their pieces."""
        large = self.folder / "large.npy"
        with open(large, "wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f8", "fortran_order": False, "shape": (2**20, 2**17)}
            )
            file.truncate(file.tell() + 2**40)
        run = ["run", SUMMA, "--engine", "mpi", "--ranks", 3, "--set", f"ni={2**20},nk={2**17},nj=1"]
        without = need_in(self.refuse(3, "the run needs 1.0 TiB (", *run))
        loaded = need_in(self.refuse(3, "the run needs 1.0 TiB (", *run, "--load", f"B={large}"))
        self.assertEqual(loaded - without, 3 * 2**24)

    def test_gpus(self):
        program = self.write("gpu.distal", "tensor a(8) : x -> x on Grid(2) gpu\ntensor b(8)\na(i) = b(i)\n")
        said = "Grid(2) gpu has gpu processors, and the mpi engine has none"
        self.refuse(3, said, "run", program, "--engine", "mpi", "--ranks", 2, env={"DISTAL_MPIRUN": "/no/mpirun"})

    def test_ranks_of_the_job(self):
        done = mpirun("-n", 2, BINARY, "run", SUMMA, "--engine", "mpi", "--ranks", 3)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("--ranks 3, but the job has 2 ranks"), 1, done.stderr)
        self.assertIn("omit --ranks when mpirun starts the ranks", done.stderr)

    def test_ranks_without_a_starter(self):
        with_mpi = BINARY.with_name("distal-mpi")
        done = subprocess.run(
            [with_mpi, "run", str(SUMMA), "--engine", "mpi", "--ranks", "3"],
            env={**os.environ, **MPIRUN_VARIABLES},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--ranks 3, but the job has 1 rank", done.stderr)
        self.assertIn("`distal run` starts ranks only if no launcher has set a variable such as PMIX_RANK", done.stderr)
        self.assertIn("otherwise start the ranks with mpirun, without --ranks", done.stderr)


class Differences(CliTest):
    """Ranks with different inputs report that, and do not wait for each other."""

    def differ(self, what, first, second):
        done = mpirun("-n", 1, *first, ":", "-n", 1, *second)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{what} of rank 1 differ from those of rank 0", done.stderr)
        self.assertIn("; give all ranks the same", done.stderr)
        return done.stderr

    def test_words(self):
        mpi = BINARY.with_name("distal-mpi")
        run = [mpi, "run", SUMMA, "--engine", "mpi", "--set", "ni=64"]
        for other in (
            [*run[:-1], "ni=65"],
            [*run, "--reps", 2],
            [*run, "--save", f"A={self.folder}/a.npy"],
            [*run, "--bogus"],
            [mpi, "run", SUMMA],
            [mpi, "check", SUMMA],
        ):
            with self.subTest(other=other):
                self.differ("the command-line arguments", run, other)

    def in_two_folders(self, name, texts):
        """Writes files of one name but different contents into two folders, as on nodes with their own disks."""
        out = []
        for number, text in enumerate(texts):
            folder = self.folder / str(number)
            folder.mkdir()
            (folder / name).write_bytes(text)
            out.append(["-wdir", folder])
        return out

    def test_programs(self):
        text = SUMMA.read_text(encoding="utf-8")
        first, second = self.in_two_folders("p.distal", [text.encode(), text.replace("nk = ", "nk = 1").encode()])
        run = [BINARY, "run", "p.distal", "--engine", "mpi"]
        said = self.differ("the program and its params", [*first, *run], [*second, *run])
        self.assertRegex(said, r"help: rank 1 has `param .*nk = 11024.*`, rank 0 has `param .*nk = 1024.*`;")

    def test_data(self):
        header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }"
        header = header.ljust(127) + b"\n"
        first, second = self.in_two_folders("b.npy", [header + bytes(32), header + bytes(31) + b"?"])
        run = [BINARY, "run", SUMMA, "--engine", "mpi", "--set", "ni=2,nk=2", "--load", "B=b.npy"]
        self.differ("the data that --load read", [*first, *run], [*second, *run])

    def test_one_without_shared_memory(self):
        """If one rank has no shared memory, no rank uses it."""
        run = [BINARY, "run", SUMMA, "--engine", "mpi", "--set", "ni=64,gx=2,gy=1"]
        done = mpirun("-n", 1, *run, ":", "-n", 1, "env", "DISTAL_MPI_SHARED=0", *run)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 MPI ranks on 2 nodes", done.stdout)
        threads = re.compile("[^ ]+ threads? each")
        self.assertEqual(threads.search(done.stdout)[0], threads.search(mpirun("-n", 2, *run).stdout)[0])


class Users(CliTest):
    def test_own_mpirun(self):
        done = mpirun("-n", 3, BINARY, "run", SUMMA, "--engine", "mpi", "--set", "ni=30,nj=31,nk=32", "--check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 MPI ranks", done.stdout)

    def test_statement_that_reads_what_another_wrote(self):
        """The check of sampled elements reads outputs of an earlier statement that other ranks own."""
        copies = "tensor A(9) : x -> x cyclic(x) on M\ntensor R(9) : x -> x on M\nA(i) = B(i)\nR(i) = 2 * A(i)\n"
        sums = "tensor A(9) : x -> x cyclic(x) on M\ntensor R\nA(i) = B(i)\nR += A(i) * B(i)\n"
        for text in (copies, sums):
            program = self.write("two.distal", "machine M = Grid(4)\ntensor B(9) : x -> x on M\n" + text)
            for ranks in (1, 2, 3):
                for shared in "01":
                    for check in ([], ["--check"]):
                        run = ["run", program, "--engine", "mpi", "--ranks", ranks, *check]
                        self.succeed(*run, env={"DISTAL_MPI_SHARED": shared})

    def test_redistribute(self):
        words = ["redistribute", SUMMA, "B", "xy -> yx cyclic(x = 7) on Grid(2, 2)", "--set", "ni=60,nj=50,nk=40"]
        data = np.random.default_rng(1).random((60, 40))
        np.save(self.folder / "b.npy", data)
        files = ["--load", f"B={self.folder}/b.npy", "--save", f"B={self.folder}/moved.npy"]
        on_ranks = self.json_of(*words, "--check", *files, "--engine", "mpi", "--ranks", 4)
        self.assertTrue((np.load(self.folder / "moved.npy") == data).all())
        on_threads = self.json_of(*words)
        for field in ("tensor", "from", "to", "pattern", "bytes_moved", "messages"):
            self.assertEqual(on_ranks[field], on_threads[field], field)
        self.assertEqual((on_ranks["ok"], on_ranks["elements_checked"]), (True, 2400))
        text = self.succeed(*words, "--engine", "mpi", "--ranks", 3)
        self.assertIn(" of 3 MPI ranks", text)
        self.refuse(2, "--save A=a.npy: only B is redistributed", *words, "--save", "A=a.npy", "--engine", "mpi")

    def test_without_a_check(self):
        words = ["run", SUMMA, "--set", "ni=60,nj=50,nk=40", "--engine", "mpi", "--ranks", 2, "--no-check"]
        self.assertIn("\n  check     none\n", self.succeed(*words))
        self.assertIsNone(self.json_of(*words)["ok"])

    def test_input_is_left_for_the_next_command(self):
        script = f"while read n; do echo $n; '{BINARY}' run '{SUMMA}' --engine mpi --ranks 2 --json --reps 1; done"
        done = subprocess.run(
            ["sh", "-c", script], input="first\nsecond\n", capture_output=True, encoding="utf-8", timeout=60, check=True
        )
        self.assertEqual([line for line in done.stdout.splitlines() if line[0] != "{"], ["first", "second"])

    def test_files(self):
        """Every rank reads what it needs of them, and one writes the result."""
        random = np.random.default_rng(5)
        b, c = random.standard_normal((37, 29)), random.standard_normal((29, 53))
        np.save(self.folder / "b.npy", b)
        np.save(self.folder / "c.npy", c)
        for shared in "10":
            result = self.folder / f"a{shared}.npy"
            files = ["--load", f"B={self.folder}/b.npy", "--load", f"C={self.folder}/c.npy", "--save", f"A={result}"]
            sizes = "ni=37,nj=53,nk=29,gx=2,gy=3,chunk=7"
            run = ["run", SUMMA, "--engine", "mpi", "--ranks", 3, "--set", sizes]
            self.succeed(*run, *files, env={"DISTAL_MPI_SHARED": shared})
            np.testing.assert_allclose(np.load(result), b @ c, rtol=1e-12, atol=1e-12)

    def test_nodes_by_name(self):
        """Ranks of one machine count as on several nodes if they name different ones."""
        run = ["env", "DISTAL_MPI_NODE={}", BINARY, "run", SUMMA, "--engine", "mpi", "--check"]
        named = [["-n", 1, *(str(word).format(name) for word in run)] for name in ("a", "b", "a")]
        done = mpirun(*named[0], ":", *named[1], ":", *named[2])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("3 MPI ranks on 2 nodes", done.stdout)


class Memory(CliTest):
    """A run holds what explain says it will."""

    def test_peak_is_explained(self):
        for name, ranks, settings in (
            ("cannon", 4, "ni=32,nj=32,nk=32"),
            ("summa", 4, "ni=50,nj=70,nk=64,chunk=8"),
            ("johnson", 3, "ni=20,nj=21,nk=22,gx=2,gy=2,gz=2"),
            ("cosma", 5, "ni=24,nj=30,nk=36"),
        ):
            program = [ALGORITHMS / f"{name}.distal", "--set", settings]
            for shared, nodes in (("1", 1), ("0", ranks)):
                with self.subTest(name=name, nodes=nodes):
                    environment = {"DISTAL_MPI_SHARED": shared}
                    run = self.json_of("run", *program, "--engine", "mpi", "--ranks", ranks, env=environment)
                    explained = self.json_of("explain", *program, "--ranks", ranks, "--nodes", nodes)
                    self.assertEqual(run["peak_bytes_per_processor"], explained["peak_bytes_per_processor"])
                    self.assertGreater(run["resident_bytes"], run["peak_bytes_per_processor"])

    def test_peak_on_nodes_of_several_ranks(self):
        for name in ("summa", "johnson"):
            program = [ALGORITHMS / f"{name}.distal", "--json"]
            run = [BINARY, "run", *program, "--engine", "mpi"]
            done = mpirun("-n", 3, "env", "DISTAL_MPI_NODE=a", *run, ":", "-n", 2, "env", "DISTAL_MPI_NODE=b", *run)
            self.assertEqual(done.returncode, 0, done.stderr)
            explained = self.json_of("explain", program[0], "--ranks", 5, "--nodes", 2)
            self.assertEqual(json.loads(done.stdout)["peak_bytes_per_processor"], explained["peak_bytes_per_processor"])

    def test_nodes(self):
        explain = ["explain", SUMMA]
        for ranks in (1, 2):
            said = f"--nodes {ranks + 1} is more than --ranks {ranks}, but every node needs a rank"
            self.refuse(2, said, *explain, "--ranks", ranks, "--nodes", ranks + 1)
        self.refuse(2, "--nodes requires --ranks", *explain, "--nodes", 2)


class Death(CliTest):
    def test_ranks_that_may_not_have_what_blas_needs(self):
        """A lack of memory in BLAS is reported; OpenBLAS by itself would try to allocate forever."""
        said = ""
        for mebibytes in range(325, 701, 75):
            sizes = "ni=1000,nj=1000,nk=1000,gx=2,gy=1,chunk=250"
            run = ["run", SUMMA, "--set", sizes, "--engine", "mpi", "--ranks", 2, "--reps", 1]
            said += distal_within(mebibytes, *run).stderr
        self.assertIn("error: each thread that calls BLAS needs 160 MiB, but this process is limited to ", said)

    def test_rank_that_fails_ends_the_job(self):
        """A leaf of one rank fails in the middle of a run."""
        for how, said in {
            "error": "rank 1: error: this leaf fails",
            "memory": "rank 1: error: out of memory",
            "anything": "rank 1: internal error",
        }.items():
            for memory in ("shared", "apart"):
                with self.subTest(how=how, memory=memory):
                    start = time.monotonic()
                    done = mpirun("-n", 3, PROGRAMS, memory, "fails", how)
                    self.assertLess(time.monotonic() - start, 10)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(said, done.stderr)

    def test_application_of_which_a_rank_fails_ends(self):
        """Even if it catches all exceptions, as the other ranks wait for the one that failed."""
        start = time.monotonic()
        done = mpirun("-n", 3, os.environ["DISTAL_API_ON_RANKS"], "fails")
        self.assertLess(time.monotonic() - start, 10)
        self.assertNotEqual(done.returncode, 0)
        said = "rank 1: error: (the system has no more threads, or no memory for one|out of memory)"
        self.assertRegex(done.stderr, said)

    def test_rank_without_memory_ends_the_job(self):
        """A rank that may have less memory than the others finds out when it allocates."""
        run = [BINARY, "run", SUMMA, "--engine", "mpi", "--set", "ni=6000,nj=6000,nk=6000,gx=2,gy=1"]
        start = time.monotonic()
        done = mpirun("-n", 1, *run, ":", "-n", 1, "prlimit", f"--as={600 << 20}", *run)
        self.assertLess(time.monotonic() - start, 10)
        self.assertNotEqual(done.returncode, 0)
        # Half of each of three matrices, with padding between large pieces.
        need = 3 * (3000 * 6000 * 8 + 3072)
        self.assertIn(f"rank 1: error: cannot allocate {need} bytes for the pieces of rank 1", done.stderr)

    def test_killed_rank_ends_the_job(self):
        """A rank is killed in the middle of a run that would take minutes."""
        for shared in "10":
            with self.subTest(shared=shared):
                self.kill_a_rank({"DISTAL_MPI_SHARED": shared})

    def kill_a_rank(self, environment):
        with subprocess.Popen(
            [str(BINARY), "run", str(SUMMA), "--engine", "mpi", "--ranks", "3", "--reps", "100000"],
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        ) as job:
            try:
                self.kill_second_of_three(job)
            finally:
                job.terminate()

    def kill_second_of_three(self, job):
        deadline = time.monotonic() + 60
        ranks = []
        while len(ranks) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
            ranks = [pid for pid, name in children_of(job.pid) if name.startswith("distal-mpi")]
        self.assertEqual(len(ranks), 3)
        while cpu_seconds(ranks[1]) < 2 and time.monotonic() < deadline:  # more CPU time than a start takes
            time.sleep(0.1)
        self.assertGreaterEqual(cpu_seconds(ranks[1]), 2)
        start = time.monotonic()
        os.kill(ranks[1], signal.SIGKILL)
        _, said = job.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 10)
        self.assertNotEqual(job.returncode, 0)
        self.assertIn("Kill", said.replace("kill", "Kill").replace("KILL", "Kill"))
        time.sleep(0.5)
        self.assertEqual([pid for pid in ranks if runs(pid)], [])


if __name__ == "__main__":
    unittest.main()
