#pragma once

namespace distal::core::test {

// Statements that read the outputs of earlier ones; the last one overwrites the input of the first. They need arenas of
// different sizes, so the arenas are reallocated between them.
inline constexpr const char* kStatements = R"(param n = 11
machine M = Grid(2, 3)
tensor A(n, n) : xy -> xy on M
tensor B(n, n) : xy -> yx on M
tensor C(n, n) : xy -> x0 on M
tensor D(n, n) : xy -> xy cyclic(x = 2, y) on M
B(i, j) = A(j, i)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({A, B}, jo)
C(i, j) = B(i, k) * A(k, j)
schedule
  distribute({i, k}, {io, ko}, {ii, ki}, M)
  communicate({A, B, C}, ko)
C(i, j) += D(i, j)
D(i, j) = C(i, j) - B(i, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, D)
  communicate({B, C, D}, j_round)
A(i, j) = B(j, i)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({A, B}, jo)
)";

}  // namespace distal::core::test
