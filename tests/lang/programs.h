#pragma once

#include <string>
#include <vector>

namespace distal::core::test {

// SUMMA, printed in canonical form.
inline const std::string summa = R"(param ni = 1024, nj = 1024, nk = 1024, gx = 2, gy = 2, chunk = 256
machine M = Grid(gx, gy)

tensor A(ni, nj) : xy -> xy on M
tensor B(ni, nk) : xy -> xy on M
tensor C(nk, nj) : xy -> xy on M

A(i, j) = B(i, k) * C(k, j)

schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  split(k, ko, ki, chunk)
  reorder({io, jo, ko, ii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, ko)
  substitute({ii, ji, ki}, gemm)
)";

// Programs that together use every form of the language; all must parse, print and parse back to themselves.
inline const std::vector<std::string> all_programs = {
    summa,
    // Faces and broadcasts in the short form.
    R"(param n = 8
machine M = Grid(2, 2)
tensor A(n, n) : xy -> x0 on M
tensor b(n) : x -> x* on M
tensor c(n) : x -> 10 on M
tensor s : -> 01 on M
A(i, j) = b(i) * c(j) * s
)",
    // Faces in the long form.
    R"(param n = 8, face = 2
machine M = Grid(16, 16, 3)
tensor A(n, n) : row, col -> row, 12, face on M
tensor B(n, n) : row, col -> (2*face - 1), *, (face) on M
tensor C(n, n) : xy -> x, (n + 1), y on M
tensor d(n) : face -> face, 3, (face) on M
A(i, j) = B(i, j) + C(i, j) * d(j)
)",
    // Block-cyclic.
    R"(param n = 512, nb = 16
machine M = Grid(2, 2)
tensor B(n, n) : xy -> xy cyclic(x = 64, y = 32) on M
tensor A(n, n) : xy -> yx on M cyclic(x)
tensor C(n, n) : row, col -> row, col cyclic(col = nb*2) on M
A(i, j) = B(j, i) + C(i, j)
)",
    // Several levels.
    R"(param n = 8
machine M = Grid(2, 2) of Grid(4)
machine N = Grid(2) of Grid(2, 2) gpu of Grid(3) cpu
tensor A(n, n) : xy -> xy, xy -> x on M
tensor B(n, n) : xy -> *0 , xy -> y on M in gpu
tensor C(n, n) : row, col -> row, col, row, col -> col on M
tensor D(n, n) : xy -> xy cyclic(x = 2), xy -> x cyclic(x) on M
tensor s : -> 00, -> 3 on M
tensor E(n, n) : xy -> x, xy -> xy, xy -> y on N
tensor F(n, n) : row, col -> row, row, col -> row, 1, row, col -> (n - 6) on N
A(i, j) = B(i, j) + C(i, j) * D(i, j) * s
E(i, j) = F(j, i)
)",
    // Clauses in any order, machines in place.
    R"(param n = 8, g = 3
tensor A(n, n) : xy -> xy order(1, 0) on Grid(g, 2) in system
tensor B(n, n) : xy -> xy in gpu on Grid(3, 2) order(0, 1)
tensor C(n, n) on Grid(g, 2)
A(i, j) = B(i, j) - C(i, j)
)",
    // Statements.
    R"(type float
tensor a
tensor b(5)
tensor T(5, 5, 5, 5, 5, 5)
a = b(i) * b(i)
a += 2.5e-1 * b(i) - (b(i) - -b(i)) * 3 + (-b(i)) * b(i) - (1 + b(i)) - (-b(i) * b(j)) + (b(i) + b(j))
tensor b2(5)
b(p) = T(p, p, q, r, s, t) * (b2(q) * 1.5)
)",
    // Every command and every form of it.
    R"(param n = 64, c = 4, g = 2
machine M = Grid(g, g) of Grid(2)
tensor A(n, n) : xy -> xy, xy -> x on M
tensor B(n, n) : xy -> xy, xy -> x on M
tensor C(n, n) : xy -> xy, xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  split(k, ko, ki, ceildiv(n, c) + min(c, 3)*max(1, g))
  divide(i, io, ii, g) .divide(j, jo, ji, (g + 1)/2)
  .collapse(io, jo, f)
  reorder(f, ko, ii)
  reorder({f, ko, ii})
  distribute(io)
  distribute({io, jo})
  distribute(io, M[1])
  distribute({io, jo}, M)
  distribute({io, jo}, Grid(g, 2*g))
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  distribute({i, j}, {io, jo}, {ii, ji}, M[0])
  distribute(i, io, ii, A)
  distribute(ii, iio, iii, A[1])
  distribute({i, j}, {io, jo}, {ii, ji}, Grid(g, g) gpu)
  communicate(A, jo)
  communicate({B, C}, ko)
  rotate(ko, {io, jo}, kos)
  rotate(ko, io, kos)
  substitute({ii, ji, ki}, gemm)
  parallelize(ii)
)",
    // Keywords as names.
    R"(param param = 4, machine = param, min = 3
machine of = Grid(2)
tensor in(param) : on -> on on of
tensor order(param)
tensor on
tensor gpu(min + 1)
machine Grid = Grid(2)
tensor split(param) : x -> x on Grid
gpu(in) = order(in)
tensor schedule
on = in(schedule)
order(in) = split(in)
schedule
  split(in, schedule, split, machine)
split(i) = order(i) * on
schedule = on
schedule
schedule += split(tensor)
schedule
  parallelize(tensor)
)",
};

}  // namespace distal::core::test
