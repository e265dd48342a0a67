#pragma once

#include <string>

namespace distal::core::test {

// Programs that the tests of several engines use, besides those in algorithms/.

inline const std::string kMatvecByRows = R"(param n = 13, g = 4
machine M = Grid(g)
tensor a(n) : x -> x on M
tensor B(n, n) : xy -> x on M
tensor c(n) : x -> * on M
a(i) = B(i, j) * c(j)
schedule
  distribute(i, io, ii, M)
  communicate({a, B, c}, io)
)";

// B and c do not move; every processor computes a partial of the whole vector a.
inline const std::string kMatvecByColumns = R"(param n = 13, g = 4
machine M = Grid(g)
tensor a(n) : x -> 0 on M
tensor B(n, n) : xy -> y on M
tensor c(n) : x -> x on M
a(i) = B(i, j) * c(j)
schedule
  distribute(j, jo, ji, M)
  communicate({a, B, c}, jo)
)";

inline const std::string kBatchedGemm = R"(param nb = 5, ni = 7, nj = 6, nk = 9, g = 2, h = 3
machine M = Grid(g, h)
tensor A(nb, ni, nj) : bxy -> bx on M
tensor B(nb, ni, nk) : bxy -> bx on M
tensor C(nb, nk, nj) : bxy -> b0 on M
A(b, i, j) = B(b, i, k) * C(b, k, j)
schedule
  distribute({b, i}, {bo, io}, {bi, ii}, M)
  communicate({A, B, C}, io)
  reorder({bo, io, bi, ii, j, k})
  substitute({ii, j, k}, gemm)
)";

// Cannon between nodes; inside a node the tile is cut by rows.
inline const std::string kTwoLevelCannon = R"(param ni = 13, nj = 17, nk = 19, g = 3, h = 2
machine M = Grid(g, g) of Grid(h)
tensor A(ni, nj) : xy -> xy, xy -> x on M
tensor B(ni, nk) : xy -> xy, xy -> x on M
tensor C(nk, nj) : xy -> xy, xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M[0])
  divide(k, ko, ki, g)
  reorder({io, jo, ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  distribute(ii, iio, iii, M[1])
  reorder({io, jo, kos, iio, iii, ji, ki})
  communicate(A, jo)
  communicate({B, C}, kos)
  substitute({iii, ji, ki}, gemm)
)";

inline const std::string kCannonInCannon = R"(param n = 17, g = 2, h = 2
machine M = Grid(g, g) of Grid(h, h)
tensor A(n, n) : xy -> xy, xy -> xy on M
tensor B(n, n) : xy -> xy, xy -> xy on M
tensor C(n, n) : xy -> xy, xy -> xy on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M[0])
  divide(k, ko, ki, g)
  reorder({io, jo, ko, ii, ji, ki})
  rotate(ko, {io, jo}, kos)
  distribute({ii, ji}, {iio, jio}, {iii, jii}, M[1])
  divide(ki, kio, kii, h)
  reorder({io, jo, kos, iio, jio, kio, iii, jii, kii})
  rotate(kio, {iio, jio}, kios)
  communicate(A, jio)
  communicate({B, C}, kios)
  substitute({iii, jii, kii}, gemm)
)";

// Incomplete: append kSharedByNode (the processors of a node share B and C) or kEachItsOwn (each acquires its own).
inline const std::string kTwoLevelSumma = R"(param ni = 13, nj = 17, nk = 19, chunk = 4
machine M = Grid(2, 3) of Grid(2)
tensor A(ni, nj) : xy -> xy, xy -> y on M
tensor B(ni, nk) : xy -> xy, xy -> y on M
tensor C(nk, nj) : xy -> xy, xy -> y on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M[0])
  split(k, ko, ki, chunk)
  reorder({io, jo, ko, ii, ji, ki})
  distribute(ji, jio, jii, M[1])
)";

// Incomplete: append a distribution of ki onto M[1] and the communicate commands.
inline const std::string kReductionAtBothLevels = R"(param ni = 7, nj = 9, nk = 23
machine M = Grid(2, 2) of Grid(3)
tensor A(ni, nj) : xy -> x0, xy -> 0 on M
tensor B(ni, nk) : xy -> xy, xy -> y on M
tensor C(nk, nj) : xy -> 0x, xy -> x on M
A(i, j) = B(i, k) * C(k, j)
schedule
  distribute({i, k}, {io, ko}, {ii, ki}, M[0])
)";

inline const std::string kSumAtThreeLevels = R"(param n = 37
machine M = Grid(2) of Grid(3) of Grid(2)
tensor a : -> 1, -> 0, -> 1 on M
tensor b(n) : x -> x, x -> x, x -> x on M
a = b(i) * b(i)
schedule
  distribute(i, io, ii, M[0])
  distribute(ii, iio, iii, M[1])
  distribute(iii, iiio, iiii, M[2])
  communicate({a, b}, iiio)
)";

inline const std::string kSharedByNode =
    "  reorder({io, jo, ko, jio, ii, jii, ki})\n  communicate(A, jo)\n  communicate({B, C}, ko)\n";
inline const std::string kEachItsOwn =
    "  reorder({io, jo, jio, ko, ii, jii, ki})\n  communicate(A, jio)\n  communicate({B, C}, ko)\n";

inline const std::string kTtvOnALine = R"(param n = 9
machine M = Grid(4)
tensor A(n, n) : xy -> x on M
tensor B(n, n, n) : xyz -> x on M
tensor c(n) : z -> z on M
A(i, j) = B(i, j, k) * c(k)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, c}, io)
)";

inline const std::string kTtvOnACube = R"(param n = 9
machine M = Grid(2, 1, 3)
tensor A(n, n) : xy -> xy0 on M
tensor B(n, n, n) : xyz -> xyz on M
tensor c(n) : z -> 00z on M
A(i, j) = B(i, j, k) * c(k)
schedule
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, c}, ko)
)";

inline const std::string kTtmOnAPlane = R"(param n = 9
machine M = Grid(2, 3)
tensor A(n, n, n) : xyl -> xl on M
tensor B(n, n, n) : xyz -> xz on M
tensor C(n, n) : zl -> *l on M
A(i, j, l) = B(i, j, k) * C(k, l)
schedule
  distribute({i, l}, {io, lo}, {ii, li}, M)
  split(k, ko, ki, 2)
  reorder({io, lo, ko, ii, j, li, ki})
  communicate({A, C}, lo)
  communicate(B, ko)
)";

inline const std::string kTtmOnACube = R"(param n = 9
machine M = Grid(2, 2, 2)
tensor A(n, n, n) : xyl -> xy1 on M
tensor B(n, n, n) : xyz -> xyz on M
tensor C(n, n) : zl -> 0*z on M
A(i, j, l) = B(i, j, k) * C(k, l)
schedule
  distribute({i, j, k}, {io, jo, ko}, {ii, ji, ki}, M)
  communicate({A, B, C}, ko)
)";

inline const std::string kMttkrpOnALine = R"(param n = 9
machine M = Grid(4)
tensor A(n, 3) : xy -> x on M
tensor B(n, 5, 6) : xyz -> x on M
tensor C(5, 3) : xy -> * on M
tensor D(6, 3) : xy -> 0 on M
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule
  distribute(i, io, ii, M)
  communicate({A, B, C, D}, io)
)";

inline const std::string kMttkrpOnAPlane = R"(param n = 9
machine M = Grid(3, 2)
tensor A(n, 3) : xy -> x* on M
tensor B(n, 5, 6) : xyz -> xy on M
tensor C(5, 3) : xy -> *x on M
tensor D(6, 3) : xy -> xy on M
A(i, l) = B(i, j, k) * C(j, l) * D(k, l)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({A, B, C, D}, jo)
)";

}  // namespace distal::core::test
