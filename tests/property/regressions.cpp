#include "regressions.h"

namespace distal::core::property {

const std::vector<Regression>& regressions() {
  static const std::vector<Regression> programs{
      {"a gemm whose batch index is rotated by one of its loops is not one multiply", R"(
type int64
tensor A(2, 1)
tensor B(1, 1, 2)
tensor C(2, 1)
C(l, j) = A(l, k) * B(j, k, i)
schedule
  rotate(i, {l}, i0)
  reorder({i0, l})
  substitute({j, l, k}, gemm)
)",
       true},
      {"a gemm whose rows are rotated by one of its loops is not contiguous", R"(
type int64
tensor A(6, 8)
tensor B(7, 8)
tensor C(6, 7)
C(i, j) = A(i, k) * B(j, k)
schedule
  divide(i, i0, i1, 2)
  reorder({i1, i0})
  rotate(i0, {i1}, i4)
  reorder({i4, i1, j, k})
  substitute({i1, j, k}, gemm)
)",
       true},
      {"the verifier asked for all elements where the statement writes a diagonal", R"(
machine M = Grid(2)
type int64
tensor B(2)
tensor C(2, 2) : xy -> x on M
C(k, k) = B(k)
)"},
      {"folding wrote the whole box around a diagonal", R"(
type int64
tensor D(2)
tensor E(2, 2)
E(i, i) = D(i)
)"},
      {"folding wrote the whole box around separate rows", R"(
machine M = Grid(1, 1)
type int64
tensor A(3, 3)
tensor B(3, 3) : xy -> 00 on M
B(j, i) = A(i, j)
schedule
  split(j, j0, j1, 1)
  distribute({j0, j1}, {j2, j4}, {j3, j5}, Grid(2, 4))
  reorder({i, j2})
)"},
      {"processors of a lower level whose launch stands outside added to one shared output at once", R"(
machine M = Grid(2, 2) of Grid(3, 2)
type int64
tensor s
tensor B(7, 7, 8) : xyz -> z*, xyz -> 0* on M
tensor E(7, 7) : xy -> x*, xy -> *0 on M
E(k, j) += s * B(k, j, i)
schedule
  distribute({j, i}, {j0, i2}, {j1, i3}, Grid(5, 4))
  divide(k, k4, k5, 3)
  divide(i3, i6, i7, 2)
  reorder({k4, i6, j0, i2, j1, i7, k5})
  distribute({k4, i6}, M[1])
  split(j1, j8, j9, 2)
  reorder({j8, i6, j0, k5, j9, i7, i2, k4})
  communicate({B, E, s}, i6)
)"},
      {"loops that name no level were counted against every level", R"(
machine M = Grid(3, 3) of Grid(2, 2)
type int64
tensor A(7, 11, 11) : xyz -> 20, xyz -> xy
tensor B(7, 11) : xy -> yx, xy -> *x
B(j, i) += A(j, k, i)
schedule
  reorder({k, i, j})
  distribute({k, i})
  divide(j, j0, j1, 2)
  distribute(j0, M[1])
)"},
      {"a loop that names no level took the dimension of one that names it", R"(
machine M = Grid(1) of Grid(4, 2, 2)
type int64
tensor G(13, 4) : xy -> x, xy -> *x1 on M
tensor H(13, 4) : xy -> y, xy -> *yx
H(k, l) = G(k, l)
schedule
  split(k, k0, k1, 4)
  distribute(k0, M[0])
  divide(l, l2, l3, 4)
  divide(k1, k4, k5, 2)
  reorder({l2, k4, k0, k5, l3})
  distribute({l2, k4})
)"},
      {"a collapsed loop that is rotated by a running one was assumed to run over all values", R"(
machine M = Grid(2, 1)
type int64
tensor A(2, 1, 2)
tensor B(2, 1, 2)
B(k, i, j) = A(k, i, j)
schedule
  collapse(i, j, f0)
  rotate(f0, {k}, f1)
  distribute({f1, k}, {f2, k4}, {f3, k5}, M)
  communicate(B, f2)
)"},
      {"the verifier waited for replicas that a shared copy brings", R"(
machine M = Grid(1) of Grid(2)
type int64
tensor A(1)
tensor B(1)
tensor C(1) : z -> 0, z -> * on M
C(i) = A(k) * B(i)
schedule
  distribute(i)
  distribute(k)
  communicate(C, i)
)"},
      {"distribute refused to follow a tensor that is partitioned twice along one index", R"(
machine M = Grid(2, 2)
type int64
tensor A(6, 5)
tensor B(5, 5, 6) : xyz -> yx on M
tensor C(6, 5)
C(i, j) = A(i, j) + B(j, j, i)
schedule
  split(j, j0, j1, 2)
  distribute({j1, j0}, {j4, j6}, {j5, j7}, B)
)"},
      {"a workspace without indices was assumed not to change in the sum around it", R"(
type int64
tensor A(2)
tensor B(2)
tensor C
C = A(i) + B(i)
schedule
  precompute(B(i), {}, {}, W)
)"},
      {"the producer's copy of an index was recovered before the loop that it shares with the original", R"(
type int64
tensor A(13)
tensor C(13)
C(i) = A(i)
schedule
  divide(i, i1, i2, 4)
  split(i1, i3, i4, 3)
  precompute(A(i), {i2}, {iw}, W)
)"},
      {"a workspace along a collapsed loop was too small where the loop wraps round", R"(
type int64
tensor C(7)
tensor D(7, 7)
tensor G(7, 7)
G(j, i) = C(i) * D(i, j)
schedule
  reorder({i, j})
  collapse(i, j, f)
  divide(f, f0, f1, 9)
  precompute(C(i) * D(i, j), {f1}, {fw}, W)
)"},
      {"a workspace along the outer of two loops had no room for the gaps between its elements", R"(
type int64
tensor A(12)
tensor C(12)
C(i) = A(i)
schedule
  split(i, io, ii, 3)
  reorder({ii, io})
  precompute(A(i), {io}, {iw}, W)
)"},
      {"a term next to a workspace was added in the first iteration of a collapsed loop, not of the sum in it", R"(
type int64
tensor A(2, 2)
tensor C(2)
C(i) = A(i, j) + 5
schedule
  collapse(i, j, f)
  precompute(A(i, j), {}, {}, W)
)"},
      {"a consumer was skipped if the producer's loops began past the end of a tile", R"(
type int64
tensor D(1, 1)
tensor E(1, 2)
tensor F(2, 1)
F(j, k) = D(k, i) * E(i, j)
schedule
  divide(i, i0, i1, 5)
  rotate(i0, {j}, i2)
  precompute(D(k, i) * E(i, j), {k}, {kw}, W)
)"},
      {"a producer skipped iterations for which the original of a rotated index is past the end of a tile", R"(
type int64
tensor A(3, 5)
tensor B(5, 3)
tensor D(3, 3)
D(j, i) = A(i, k) * B(k, j)
schedule
  distribute({k}, {ko}, {ki}, Grid(4))
  split(j, jo, ji, 2)
  reorder({ko, jo, ji, i, ki})
  rotate(ki, {jo}, kr)
  precompute(A(i, k) * B(k, j), {jo, ji, i}, {jwo, jwi, iw}, W)
)"},
      {"an element of a workspace was added up for each value of an index that it does not use", R"(
type int64
tensor A(2, 1)
tensor B(1, 1)
tensor C
C = A(l, j) * B(j, k)
schedule
  collapse(l, j, f)
  precompute(B(j, k), {f}, {fw}, W)
)",
       true},
      {"an addend of a workspace was added with each iteration of a sum that it does not use", R"(
type int64
tensor B(2, 2)
tensor C(2)
tensor D(2)
tensor E
E = B(j, i) - C(j) + D(i)
schedule
  precompute(B(j, i) - C(j), {}, {}, W)
)",
       true},
      {"the same, with a workspace that has a home", R"(
type int64
tensor B(2, 2)
tensor C(2)
tensor D(2)
tensor E
tensor W(2)
E = B(j, i) - C(j) + D(i)
schedule
  precompute(B(j, i) - C(j), {i}, {iw}, W)
)",
       true},
      {"a copy was replicated along a machine dimension that a later distribute used", R"(
machine M = Grid(2, 1)
type int64
tensor A(3)
tensor E(3) : x -> *x on M
E(k) = A(k)
schedule
  distribute({k}, {ko}, {ki}, x -> *x on E)
  distribute(ki)
)"},
  };
  return programs;
}

}  // namespace distal::core::property
