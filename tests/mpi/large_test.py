"""Messages of many segments between ranks without shared memory, and large pieces in shared memory.

Usage: large_test.py [beyond_2_gib]
"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from support import ALGORITHMS, ROOT, CliTest  # noqa: E402

WITHOUT_SHARED_MEMORY = {"DISTAL_MPI_SHARED": "0"}


class Runs(CliTest):
    def move(self, program, ranks, settings, *words, shared=False):
        """Runs a program; its result must be right, and its counts those of explain."""
        nodes = 1 if shared else ranks
        explained = self.json_of("explain", program, "--set", settings, "--ranks", ranks, "--nodes", nodes)
        run = ["run", program, "--set", settings, "--engine", "mpi", "--ranks", ranks, "--threads", 1, "--reps", 2]
        done = self.json_of(*run, *words, env={} if shared else WITHOUT_SHARED_MEMORY)
        self.assertTrue(done["ok"])
        for count in ("bytes_moved", "messages", "peak_bytes_per_processor"):
            self.assertEqual(done[count], explained[count], count)
        return done


class Large(Runs):
    def test_rows(self):
        self.move(ROOT / "tests/mpi/gather.distal", 3, "ni=30,nj=1100,nk=1300,g=3,chunk=1000", "--check")

    def test_rows_that_are_relayed(self):
        self.move(ROOT / "bench/mpi/network.distal", 3, "ni=30,nj=1100,nk=2600,g=3,chunk=450", "--check")

    def test_tiles(self):
        self.move(ALGORITHMS / "summa.distal", 4, "ni=700,nj=1500,nk=1300,gx=2,gy=2,chunk=650", "--check")

    def test_partials(self):
        self.move(ALGORITHMS / "johnson.distal", 4, "ni=900,nj=1100,nk=40,gx=2,gy=1,gz=2", "--check")

    def test_partials_in_a_tree(self):
        self.move(ALGORITHMS / "johnson.distal", 5, "ni=900,nj=700,nk=40,gx=1,gy=1,gz=5", "--check")

    def test_broadcast(self):
        self.move(ALGORITHMS / "summa.distal", 5, "ni=1000,nj=50,nk=1000,gx=1,gy=5,chunk=500", "--check")

    def test_pieces_of_a_neighbour(self):
        """Pieces of more than 4 MiB, which have padding between them."""
        self.move(ALGORITHMS / "summa.distal", 4, "ni=1700,nj=1500,nk=1600,gx=2,gy=2,chunk=800", "--check", shared=True)


class Beyond2GiB(Runs):
    def test_one_message(self):
        done = self.move(ROOT / "tests/mpi/one_message.distal", 2, "n=300000000")
        self.assertEqual((done["messages"], done["bytes_moved"]), (1, 8 * 300000000))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "Beyond2GiB" if "beyond_2_gib" in sys.argv else "Large"])
