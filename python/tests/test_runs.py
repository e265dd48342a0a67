"""Runs that are watched, ended and explained."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import distal


def long_kernel(tasks=400, rows=150):
    """A kernel of many tasks, its result and its operand, the other operand of which has ones."""
    i, j, k, l, io, ii = distal.indices("i j k l io ii")
    M = distal.Machine(distal.Grid(tasks), "M")
    A, B = (distal.Tensor(name, (tasks, rows, rows), "xyz -> x", M) for name in "AB")
    C = distal.Tensor("C", (rows, rows), "xy -> *", M, data=np.ones((rows, rows)))
    A[i, j, l] = B[i, j, k] * C[k, l]
    A.schedule().distribute([i], [io], [ii], M).communicate([A, B, C], io)
    return A.compile(), A, B


def interrupt(seconds):
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGINT)


def ends_early(kernel, whole, raised, **options):
    """Whether a signal ends a run of a kernel in less than the time of the whole."""
    thread = threading.Thread(target=interrupt, args=(whole / 10,))
    start = time.perf_counter()
    with pytest.raises(raised):
        thread.start()
        while True:  # a signal that arrives between two runs raises too
            kernel.run(**options)
    thread.join()
    return time.perf_counter() - start < 0.7 * whole


def timed(kernel):
    kernel.run(own_memory=True)
    start = time.perf_counter()
    kernel.run(own_memory=True)
    return time.perf_counter() - start


def test_an_interrupt_ends_a_run():
    kernel, A, B = long_kernel()
    B.numpy()[...] = 1
    whole = timed(kernel)
    early = [ends_early(kernel, whole, KeyboardInterrupt, own_memory=True) for _ in range(5)]
    assert any(early), "the machine may be busy, but not at each of five tries"
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), np.full(A.shape, 150.0))
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class Stop(Exception):
    pass


def test_the_programs_own_handler_is_called(monkeypatch):
    kernel, _, _ = long_kernel()
    seen = []

    def raises(number, frame):
        seen.append(number)
        raise Stop

    def returns(number, frame):
        seen.append(number)

    before = signal.getsignal(signal.SIGINT)
    try:
        for handler, raised in [(raises, Stop), (returns, KeyboardInterrupt)]:
            signal.signal(signal.SIGINT, handler)
            for _ in range(20):  # the signal may arrive between two runs, where a handler that returns ends nothing
                thread = threading.Thread(target=interrupt, args=(0.005,))
                try:
                    thread.start()
                    while thread.is_alive():
                        kernel.run(own_memory=True)
                except raised:
                    break
                finally:
                    thread.join()
            else:
                pytest.fail("no run was ended")
    finally:
        signal.signal(signal.SIGINT, before)
    assert set(seen) == {signal.SIGINT}
    kernel.run()


def test_an_einsum_can_be_interrupted_in_a_program(tmp_path):
    """The whole program ends as Python programs do: with a traceback and the status of the signal."""
    text = "import numpy as np, distal\na = np.ones((60, 60))\nprint('begins', flush=True)\n" \
           "while True: distal.einsum('ij,jk,kl->il', a, a, a)\n"
    program = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "begins\n"
    time.sleep(0.3)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and program.returncode == -signal.SIGINT


def test_an_interrupt_that_ends_the_compiler_too(tmp_path):
    """As Ctrl-C in a terminal does."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\ncase \"$*\" in *--version*) exec g++ \"$@\";; esac\nkill -INT 0\nsleep 5\nexit 1\n")
    compiler.chmod(0o755)
    text = "import distal\ni, j = distal.indices('i j')\n" \
           "a, b, c = (distal.Tensor(name, (1500, 1500)) for name in 'abc')\n" \
           "a[i, j] = b[i, j] * c[j, i] + 5 * b[j, i]\na.compile().run()\n"
    environment = {**os.environ, "DISTAL_CXX": str(compiler), "DISTAL_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=60,
                          start_new_session=True, check=False)
    assert done.returncode == -signal.SIGINT and done.stderr.endswith("KeyboardInterrupt\n"), done.stderr


def test_other_threads_watch_and_end_a_run():
    kernel, _, _ = long_kernel()
    progress = distal.Progress()
    seen = []

    def watch():
        while progress.state().done == 0:
            time.sleep(0.0005)
        seen.append(progress.state().done)
        progress.cancel()

    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.raises(distal.Interrupted, match="interrupted") as caught:
        while True:
            kernel.run(progress=progress, own_memory=True)
    thread.join()
    assert caught.value.line.file == __file__ and seen[0] > 0 and progress.is_cancelled()
    with pytest.raises(distal.Interrupted):
        kernel.run(distal.RunOptions(progress=progress))
    options = distal.RunOptions(progress=progress)
    assert options.progress is progress
    options.progress = None
    assert options.progress is None
    kernel.run(options)


SLOW = """
param p = 65520
machine M = p processors
tensor A(4000, 4000) : xy -> * on M
tensor B(4000, 4000, 100) on M
tensor C(4000, 4000, 100) on M
A(i, j) = B(i, k, l) * C(k, j, l)
"""
"""A program whose search takes seconds."""


def slow_search():
    """The same in Python: a tensor to compile, one whose format is left out, and the number of processors."""
    p = distal.Param("p", 65520)
    M = distal.Machine(distal.Processors(p), "M")
    A = distal.Tensor("A", (4000, 4000), "xy -> *", M)
    B, C = (distal.Tensor(name, (4000, 4000, 100), machine=M) for name in "BC")
    i, j, k, l = distal.indices("i j k l")
    A[i, j] = B[i, k, l] * C[k, j, l]
    return A, B, p


def once_it_searches(act):
    """A Progress, and a thread that calls ``act`` once a search with it has begun."""
    progress = distal.Progress()

    def watch():
        while progress.state().done == 0:
            time.sleep(0.0005)
        act(progress)

    thread = threading.Thread(target=watch)
    thread.start()
    return progress, thread


def search_until_interrupted(tensor, is_watched):
    """Compiles a tensor, and gets a signal meanwhile, or soon after that."""
    if is_watched:
        progress, thread = once_it_searches(lambda _: interrupt(0))
        find = distal.FindOptions(progress=progress)
    else:
        thread, find = threading.Thread(target=interrupt, args=(0.1,)), None
        thread.start()
    try:
        tensor.compile(find)
        while True:
            time.sleep(0.001)
    finally:
        thread.join()


@pytest.mark.parametrize("is_watched", [True, False])
@pytest.mark.parametrize("raised", [KeyboardInterrupt, Stop])
def test_an_interrupt_ends_a_search(raised, is_watched):
    def stop(number, frame):
        raise Stop

    before = signal.getsignal(signal.SIGINT)
    try:
        if raised is Stop:
            signal.signal(signal.SIGINT, stop)
        for _ in range(5):
            A, B, p = slow_search()
            with pytest.raises(raised):
                search_until_interrupted(A, is_watched)
            if not B.has_format:
                break
    finally:
        signal.signal(signal.SIGINT, before)
    assert not B.has_format, "the machine may be busy, but not at each of five tries"
    p.value = 4
    assert A.compile().cost.processors_with_work == 4


def test_other_threads_end_a_search():
    for _ in range(5):
        progress, thread = once_it_searches(lambda progress: progress.cancel())
        try:
            distal.Program.parse(SLOW, options=distal.FindOptions(progress=progress))
        except distal.Interrupted as error:
            assert error.message == "interrupted" and error.line.file == __file__
            break
        finally:
            thread.join()
    else:
        pytest.fail("no search was ended")
    options = distal.FindOptions(progress=progress)
    assert options.progress is progress and progress.is_cancelled()
    with pytest.raises(distal.Interrupted, match="interrupted"):
        slow_search()[0].compile(options)
    options.progress = None
    assert options.progress is None
    assert distal.Program.parse(SLOW, p=3, options=options).cost.processors_with_work == 3


FORKS = """
import os, sys, threading
import numpy as np, distal
i, j = distal.indices("i j")
M = distal.Machine(distal.Grid(4), "M")
A, B = distal.Tensor("A", (400, 300), "xy -> x", M), distal.Tensor("B", (400, 300), "xy -> x", M)
A[i, j] = 2 * B[i, j] + 1
kernel = A.compile()
a = np.random.rand(300, 300)

def work(value):
    for _ in range(3):
        B.numpy()[...] = value
        kernel.run(threads=4)
        assert (A.numpy() == 2 * value + 1).all()
        assert np.allclose(distal.einsum("ij,jk->ik", a, a), a @ a)

work(1)
child = os.fork()
work(2)
if child:
    assert os.waitpid(child, 0)[1] == 0
    print("both are done")
sys.exit(0)  # and with it all kernels
"""


def test_a_forked_child_runs_the_kernels_of_its_parent():
    """It has none of the threads that they have kept there."""
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout == "both are done\n", done.stderr


def test_runs_in_other_threads_are_left_alone():
    """Python raises KeyboardInterrupt in the main thread only."""
    kernel, A, B = long_kernel(40)
    B.numpy()[...] = 1
    thread = threading.Thread(target=kernel.run)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        interrupt(0)
        time.sleep(1)
    thread.join()
    np.testing.assert_array_equal(A.numpy(), np.full(A.shape, 150.0))


def test_a_kernel_explains_itself():
    i, j, k, io, jo, ii, ji = distal.indices("i j k io jo ii ji")
    M = distal.Machine(distal.Grid(2, 2), "M")
    A, B, C = (distal.Tensor(name, (8, 8), "xy -> xy", M) for name in "ABC")
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().distribute((i, j), (io, jo), (ii, ji), M).communicate([A, B, C], jo)
    kernel = A.compile()
    (certificate,) = kernel.certificates
    assert certificate.statement == "A(i, j) = B(i, k) * C(k, j)" and certificate.processors == 4
    assert certificate.exchanged_bytes == 256 and 0 < certificate.lower_bound_bytes <= 256
    assert certificate.optimality == 256 / certificate.lower_bound_bytes
    assert certificate.bound
    text = str(kernel)
    assert text == kernel.explain() and text.startswith(kernel.text)
    for row in ["  bytes moved               1,024 in 8 messages", "    of B                    512, broadcast",
                "  exchanged bytes           256 by processor (0, 0)",
                f"  lower bound               {certificate.lower_bound_bytes}"]:
        assert f"{row}\n" in text
