"""The paper's language: statements, formats, schedules, kernels."""

import shutil

import numpy as np
import pytest

import distal
from distal import Distribution, Everywhere, Face, Format, Grid, Machine, Tensor


def summa(n=64, tile=16, **data):
    """Tensors of a matrix multiplication by SUMMA on 2 x 2 processors."""
    M = Machine(Grid(2, 2), "M")
    A, B, C = (Tensor(name, (n, n), "xy -> xy", M, data=data.get(name)) for name in "ABC")
    i, j, k, io, jo, ii, ji, ko, ki = distal.indices("i j k io jo ii ji ko ki")
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().distribute((i, j), (io, jo), (ii, ji), M).split(k, ko, ki, tile).reorder(
        [io, jo, ko, ii, ji, ki]).communicate(A, jo).communicate([B, C], ko)
    return A, B, C


def test_draw(tmp_path):
    kernel = summa()[0].compile()
    drawing = kernel.draw(tmp_path / "summa.html")
    page = (tmp_path / "summa.html").read_text(encoding="utf-8")
    assert page == drawing.html and page.startswith("<!doctype html>")
    assert drawing.data["bytes_moved"] == kernel.cost.bytes_moved
    assert drawing._repr_html_().startswith("<iframe") and "B(i, k) * C(k, j)', steps=4" in repr(drawing)


@pytest.mark.skipif(not shutil.which("node"), reason="an SVG is drawn by Node")
def test_draw_an_svg(tmp_path):
    kernel = summa()[0].compile()
    drawing = kernel.draw(tmp_path / "summa.svg")
    first = (tmp_path / "summa.svg").read_text(encoding="utf-8")
    assert first == drawing.svg() == drawing._repr_svg_() == kernel._repr_svg_()
    assert first.startswith("<svg ") and "Step 1 of 4" in first
    assert "Step 4 of 4" in drawing.svg(step=0) and "processor 1,0" in drawing.svg("data", processor=2)
    with pytest.raises(distal.Error, match="step 5: the program has 4 steps, numbered from 1"):
        drawing.svg(step=5)
    with pytest.raises(distal.Error, match="view films: there is no such view"):
        drawing.svg("films")
    with pytest.raises(distal.Error, match="axes q: q is no index of the statement"):
        drawing.svg(axes=["q"])


def test_a_notebook_without_node_shows_the_page(monkeypatch):
    kernel = summa()[0].compile()
    monkeypatch.setenv("PATH", "")
    assert kernel._repr_svg_() is None
    assert kernel._repr_html_().startswith("<iframe")


def test_summa_of_the_paper(random):
    b, c = random.random((2, 64, 64))
    A, _, _ = summa(B=b, C=c)
    kernel = A.compile()
    report = kernel.run()
    np.testing.assert_allclose(A.numpy(), b @ c)
    assert report.bytes_moved == kernel.cost.bytes_moved == 65536
    assert report.messages == kernel.cost.messages
    assert kernel.cost.tensors["B"].pattern == "broadcast"
    assert "distribute" in kernel.text and "launch" in kernel.program and kernel.plan


def test_commands_as_a_list_or_in_a_chain():
    i, io, ii = distal.indices("i io ii")
    texts = []
    for chained in (True, False):
        M = Machine(Grid(2), "M")
        a, b = Tensor("a", 8, "x -> x", M), Tensor("b", 8, "x -> x", M)
        a[i] = b[i]
        if chained:
            a.schedule().divide(i, io, ii, M.x).distribute(io).communicate([a, b], io)
        else:
            s = a.schedule()
            s.divide(i, io, ii, 2)
            s.distribute([io])
            s.communicate((a, b), io)
        texts.append(a.compile().text)
    assert texts[0] == texts[1]


def test_every_command(random):
    b = random.random((16, 8))
    i, j, io, ii, iio, iii, f, r, jo, ji = distal.indices("i j io ii iio iii f r jo ji")
    M = Machine(Grid(2), "M")
    a, B = Tensor("a", 16, "x -> x", M), Tensor("B", (16, 8), "xy -> x", M, data=b)
    a[i] = 2 * B[i, j] - 1
    a.schedule().divide(i, io, ii, 2).distribute(io, M).split(ii, iio, iii, 4).split(j, jo, ji, 2).reorder(
        io, iio, iii, jo, ji).rotate(jo, [io], r).communicate(a, io).communicate(B, r).unroll(ji, 2)
    a.compile().run()
    np.testing.assert_allclose(a.numpy(), 2 * b.sum(1) - 1)

    x, B = Tensor("x", (16, 8)), Tensor("B", (16, 8), data=b)
    x[i, j] = 3 * B[i, j]
    x.schedule().collapse(i, j, f).parallelize(f)
    x.compile().run()
    np.testing.assert_allclose(x.numpy(), 3 * b)

    y, B = Tensor("y", 8), Tensor("B", (16, 8), data=b)
    y[j] = B[i, j]
    y.schedule().reorder([i, j]).parallelize(i, distal.OutputRace.Atomics)
    y.compile().run()
    np.testing.assert_allclose(y.numpy(), b.sum(0))


@pytest.mark.parametrize("own", [False, True])
def test_substitute_and_precompute(random, own):
    b, c, d = random.random((3, 8, 8))
    i, j, k, l, ic, jc = distal.indices("i j k l ic jc")
    A, B, C, D = Tensor("A", (8, 8)), *(Tensor(n, (8, 8), data=x) for n, x in zip("BCD", (b, c, d)))
    A[i, l] = B[i, j] * C[j, k] * D[k, l]
    workspace = Tensor("W", (8, 8)) if own else "W"
    A.schedule().precompute(B[i, j] * C[j, k], (i, k), (ic, jc), workspace)
    A.compile().run()
    np.testing.assert_allclose(A.numpy(), b @ c @ d)

    P, B, C = Tensor("P", (8, 8)), Tensor("B", (8, 8), data=b), Tensor("C", (8, 8), data=c)
    P[i, j] = B[i, k] * C[k, j]
    P.schedule().reorder(i, j, k).substitute([i, j, k], distal.BLAS.GeMM)
    P.compile().run()
    np.testing.assert_allclose(P.numpy(), b @ c)


def test_scalars_without_indices(random):
    b = random.random(5)
    i, = distal.indices("i")
    s, t, a, B = Tensor("s"), Tensor("t"), Tensor("a", 5), Tensor("b", data=b)
    assert B.shape == (5,)  # that of its data
    s[()] = B[i]
    s.compile().run()
    t[()] = 2 * s * s - s - (-s)
    t.compile().run()
    np.testing.assert_allclose(t.numpy(), 2 * b.sum()**2)
    a[i] = B[i] * s + 1 - t
    distal.Kernel(a).run()
    np.testing.assert_allclose(a.numpy(), b * b.sum() + 1 - 2 * b.sum()**2)


def test_accumulation(random):
    b = random.random(5)
    i, = distal.indices("i")
    a = Tensor("a", 5, data=np.ones(5))
    B = Tensor("b", 5, data=b)
    a[i] += B[i]
    a.compile().run()
    np.testing.assert_allclose(a.numpy(), 1 + b)
    a[i] -= 3 * B[i]
    a.compile().run()
    np.testing.assert_allclose(a.numpy(), 1 - 2 * b)
    s = Tensor("s")
    s[()] = B[i] * B[i]
    s.compile().run()
    np.testing.assert_allclose(s.numpy(), b @ b)
    a[i] = s * B[i] + np.float64(2)
    a.compile().run()
    np.testing.assert_allclose(a.numpy(), (b @ b) * b + 2)


def test_shifted_indices(random):
    b = random.random((6, 7))
    n = distal.Param("n", 2)
    i, j = distal.indices("i j")
    a, B = Tensor("a", (4, 5)), Tensor("B", (6, 7), data=b)
    a[i, j] = B[i + 1, j + n] - B[i + n, j + 0] + B[2 + i - n, n + j]
    kernel = a.compile()
    for n.value in (2, 1):
        kernel.run()
        p = n.value
        want = b[1:5, p:p + 5] - b[p:p + 4, :5] + b[2 - p:6 - p, p:p + 5]
        np.testing.assert_allclose(a.numpy(), want)
    assert "B(i + 1, j + n)" in kernel.text
    assert [str(x) for x in (i + 1, i - 1, i - n, n + i, (i + n) + 1)]\
        == ["i + 1", "i - 1", "i - n", "i + n", "i + n + 1"]
    shifted = distal.Index(i) + 2
    assert shifted.variable.name == "i" and shifted.shift.value == 2 and distal.Index(i).shift is None
    v, w = Tensor("v", 3), Tensor("w", 4)
    v[i] = w[i + 1]
    v.compile().run()
    with pytest.raises(TypeError):
        i + 0.5
    with pytest.raises(distal.Error, match="shift"):
        v[i + 1] = w[i]
        v.compile()


def test_params_as_numbers(random):
    b = random.random(5)
    n = distal.Param("n", 3)
    i, = distal.indices("i")
    a, B = Tensor("a", 5), Tensor("b", 5, data=b)
    a[i] = n * B[i] - B[i] * (n - 1) + (2 * n + 1) - n
    kernel = a.compile()
    for n.value in (3, -4, 7):
        kernel.run()
        np.testing.assert_allclose(a.numpy(), b + n.value + 1)
    a[i] = n
    a.compile().run()
    assert (a.numpy() == 7).all()
    a[i] += n - B[i]
    a.compile().run()
    np.testing.assert_allclose(a.numpy(), 14 - b)


def test_params_change_sizes_and_grids(random):
    n, g = distal.Param("n", 8), distal.Param("g", 2)
    M = Machine(Grid(g), "M")
    i, io, ii = distal.indices("i io ii")
    a, b = Tensor("a", n, "x -> x", M), Tensor("b", n, "x -> x", M)
    a[i] = 2 * b[i]
    a.schedule().distribute([i], [io], [ii], M).communicate([a, b], io)
    kernel = a.compile()
    for size, processors in [(8, 2), (12, 3), (5, 4), (1, 1)]:
        n.value, g.value = size, processors
        values = random.random(size)
        b.bind(values)
        kernel.run()
        np.testing.assert_allclose(a.numpy(), 2 * values)
        assert a.shape == (size,) and M.x.value == processors


FORMATS = ["xy -> xy", "xy -> yx", "xy -> x*", "xy -> *y", "xy -> x0", "xy -> xy cyclic(x = 2)",
           "xy -> xy cyclic(x, y = 3)", "xy -> ** order(1, 0)", "xy -> xy order(1, 0)", "xy -> 11"]


@pytest.mark.parametrize("to", FORMATS)
def test_formats_and_redistribution(random, to):
    M = Machine(Grid(2, 3), "M")
    data = random.random((7, 8))
    i, j, io, jo, ii, ji = distal.indices("i j io jo ii ji")
    A = Tensor("A", (7, 8), to, M)
    B = Tensor("B", (7, 8), "xy -> xy", M, data=data)
    A[i, j] = 2 * B[i, j]
    A.schedule().distribute((i, j), (io, jo), (ii, ji), M).communicate([A, B], jo)
    kernel = A.compile()
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * data)
    cost = B.redistribution_cost(to, M)
    assert B.redistribute(to, M).bytes_moved == cost.bytes_moved
    np.testing.assert_array_equal(B.numpy(), data)
    B.numpy()[...] = data + 1
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), 2 * (data + 1))
    for processor, rectangles, piece in A.pieces():
        assert sum(np.prod(np.subtract(r.hi, r.lo)) for r in rectangles) == piece.size


def test_formats_from_objects():
    M = Machine(Grid(2, 2), "M")
    tiles = Format([distal.Dense] * 2, [1, 0], Distribution(M, [1, Face(0)]))
    texts = []
    for format in (tiles, "xy -> y0 order(1, 0)"):
        A, B = Tensor("A", (4, 4), format, M), Tensor("B", (4, 4), format, M)
        i, j = distal.indices("i j")
        A[i, j] = B[i, j]
        texts.append(A.compile().text)
    assert texts[0] == texts[1]
    two = Machine([Grid(2), Grid(2)], "L")
    d = Distribution.hierarchical(two, [[0], [Everywhere()]]).cyclic(0, 2, 0)
    assert d.cyclic_dimensions[0][0] == 0 and len(d.levels) == 2
    assert Format.parse("x -> x, x -> *", 1, two).distribution.levels[1][0].role.__class__ is Everywhere
    f = distal.Param("f", 1)
    assert str(Format.parse("x, y -> x, f", 2, M, [f]).distribution.levels[0][1].role.at) == "f"
    assert Machine(Grid(4).of(distal.Processor.GPU)).levels[0].processor == distal.Processor.GPU


def test_machines_without_a_grid():
    M = Machine(distal.Processors(4), "M")
    assert not M.has_grid and M.processors.value == 4
    assert repr(distal.Processors(4)) == "Processors(4)" and repr(M) == "Machine(Processors(4))"
    assert M.as_(Grid(3)) is M and M.has_grid and M.x.value == 3
    A, B = Tensor("A", 8, Format(M)), Tensor("B", 8, "x -> x", M, data=np.arange(8.0))
    i, = distal.indices("i")
    A[i] = 2 * B[i]
    assert "4 processors as Grid(3)" in A.compile().text
    A.compile().run()
    np.testing.assert_array_equal(A.numpy(), 2 * np.arange(8))


def free_product(random, machine=None):
    """A = B C, of which only the machine is said, and the product of the arrays."""
    M = distal.Machine(distal.Processors(4), "M") if machine is None else machine
    n = distal.Param("n", 12)
    b, c = random.random((2, 12, 12))
    A, B, C = Tensor("A", (n, n), machine=M), Tensor("B", (n, n), machine=M, data=b), Tensor("C", (n, n), Format(M))
    C.numpy()[...] = c
    i, j, k = distal.indices("i j k")
    A[i, j] = B[i, k] * C[k, j]
    return A, B, C, n, b @ c


def test_what_is_left_out_is_found(random):
    A, B, C, n, want = free_product(random)
    assert not B.has_format
    kernel = A.compile()
    assert A.has_format and B.has_format and len(B.pieces()) == 4
    assert "machine M = 4 processors as " in kernel.text and "schedule\n" in kernel.text
    assert kernel.cost.processors_with_work == 4
    assert kernel.run().bytes_moved == kernel.cost.bytes_moved
    np.testing.assert_allclose(A.numpy(), want)
    assert distal.Program.parse(kernel.text).text == kernel.text
    n.value = 7
    B.bind(np.eye(7))
    C.numpy()[...] = 3
    kernel.run()
    np.testing.assert_array_equal(A.numpy(), np.full((7, 7), 3.0))


def test_options_of_what_is_found(random, tmp_path):
    goal = distal.Goal.Bytes
    assert distal.FindOptions(goal=goal).goal == goal and distal.FindOptions().memory_bytes is None
    with pytest.raises(distal.ResourceError, match="nothing fits"):
        free_product(random)[0].compile(distal.FindOptions(memory_bytes=100))
    with pytest.raises(distal.InputError, match="there is no model of the engine `tapes`"):
        distal.Kernel([free_product(random)[0]], distal.FindOptions(engine="tapes"))
    with pytest.raises(distal.Error, match="cannot read the model"):
        free_product(random)[0].compile(distal.FindOptions(model=str(tmp_path / "none.model")))
    little = free_product(random)[0].compile(distal.FindOptions(goal=goal, memory_bytes=1300))
    assert little.cost.peak_bytes_per_processor <= 1300
    text = "tensor a(9) on M\ntensor b(9) on M\na(i) = b(i)\n"
    program = distal.Program.parse("machine M = 3 processors\n" + text, options=distal.FindOptions(goal=goal))
    assert program.cost.processors_with_work == 3 and "schedule" in program.text


def test_a_format_that_is_left_out_is_needed(random, tmp_path):
    A, B, C, _, want = free_product(random)
    for call, needs in [(lambda: B.pieces(), "pieces"), (lambda: B.bind(np.zeros((6, 6)), processor=0), "bind"),
                        (lambda: B.redistribute("xy -> x", distal.Grid(4)), "redistribute"),
                        (lambda: Tensor("D", (12, 12)).copy_from(B), "a copy")]:
        with pytest.raises(distal.InputError, match=f"tensor B: its format is left out, and {needs} needs one"):
            call()
    B.save(tmp_path / "b.npy")
    C.load(tmp_path / "b.npy")
    np.testing.assert_array_equal(C.numpy(), B.numpy())
    A.compile().run()
    np.testing.assert_allclose(A.numpy(), B.numpy() @ B.numpy())


def test_distribute_onto(random):
    b = random.random((6, 6))
    M = Machine(Grid(2, 3), "M")
    i, j, io, jo, ii, ji = distal.indices("i j io jo ii ji")
    for onto in (distal.Onto(M, [1, 0]), distal.Onto(M, [1, 0]).cyclic(0, 2), Grid(2, 2), M[0]):
        A, B = Tensor("A", (6, 6)), Tensor("B", (6, 6), data=b)
        A[i, j] = B[i, j]
        A.schedule().distribute([i, j], [io, jo], [ii, ji], onto)
        A.compile().run()
        np.testing.assert_array_equal(A.numpy(), b)
    A, B = Tensor("A", (6, 6), "xy -> yx cyclic(x = 2)", M), Tensor("B", (6, 6), data=b)
    A[i, j] = B[i, j]
    A.schedule().distribute([i, j], [io, jo], [ii, ji], A).communicate([A, B], jo)
    assert A.compile().run().bytes_moved == B.redistribution_cost("xy -> yx cyclic(x = 2)", M).bytes_moved
    np.testing.assert_array_equal(A.numpy(), b)


def test_compound_schedules(random):
    b, c = random.random((2, 12, 12))
    M = Machine(Grid(2, 2), "M")
    A, B, C = (Tensor(n, (12, 12), "xy -> xy", M, data=x) for n, x in zip("ABC", (None, b, c)))
    i, j, k, io, jo, ii, ji, ko, ki, kos = distal.indices("i j k io jo ii ji ko ki kos")
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().apply(distal.compound.stationary, A, (i, j), (io, jo), (ii, ji), M).apply(
        distal.compound.systolic, [B, C], k, ko, ki, 2, (ii, ji), (io, jo), kos)
    assert A.compile().run().messages == 8
    np.testing.assert_allclose(A.numpy(), b @ c)
    A[i, j] = B[i, k] * C[k, j]
    A.schedule().apply(distal.compound.stationary, A, (i, j), (io, jo), (ii, ji), M).apply(
        distal.compound.chunked, [B, C], k, ko, ki, 3, (ii, ji)).apply(
        distal.compound.tile, ii, ji, *distal.indices("a b c d"), 2, 3)
    A.compile().run()
    np.testing.assert_allclose(A.numpy(), b @ c)


def test_several_statements_in_one_kernel(random):
    b = random.random((4, 4))
    i, j, k = distal.indices("i j k")
    D, E, B = Tensor("D", (4, 4)), Tensor("E", (4, 4)), Tensor("B", (4, 4), data=b)
    D[i, j] = B[i, k] * B[k, j]
    E[i, j] = D[i, k] * B[k, j]
    distal.Kernel([D, E]).run()
    np.testing.assert_allclose(E.numpy(), b @ b @ b)


def test_options_and_copies(random):
    data = random.random((8, 8))
    A, B, _ = summa(8, 4, B=data, C=np.eye(8))
    kernel = A.compile()
    assert kernel.run(own_memory=True, threads=1).bytes_copied > 0
    np.testing.assert_allclose(A.numpy(), data)
    kernel.run(distal.RunOptions(strict_order=True))
    M = Machine(Grid(4), "R")
    rows = Tensor("rows", (8, 8), "xy -> x", M)
    assert rows.copy_from(B).bytes_moved == rows.copy_kernel(B).cost.bytes_moved
    np.testing.assert_array_equal(rows.numpy(), data)


def test_files(tmp_path, random):
    M = Machine(Grid(2, 2), "M")
    data = random.random((5, 6))
    np.save(tmp_path / "a.npy", data)
    A = Tensor("A", (5, 6), "xy -> xy cyclic(x = 2)", M)
    A.load(tmp_path / "a.npy")
    np.testing.assert_array_equal(A.numpy(), data)
    A.numpy()[0, 0] = 7
    A.save(tmp_path / "b.npy")
    data[0, 0] = 7
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), data)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "complex64", "complex128"])
def test_element_types(dtype):
    b = np.arange(6).reshape(2, 3).astype(dtype)
    i, j = distal.indices("i j")
    B, a = Tensor("B", (2, 3), data=b), Tensor("a", 2, dtype=dtype)
    a[i] = B[i, j]
    a.compile().run()
    assert a.dtype == b.dtype
    np.testing.assert_array_equal(a.numpy(), b.sum(1))
