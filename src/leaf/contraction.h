#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "leaf/leaf.h"

namespace distal::core {

// A part that adds a product of two operands to its output, over a box of its indices. Each index stands in at least
// two of the three: in the output and the left one (a row), in the output and the right one (a column), in both
// operands (a sum), or in all three (a batch). Whatever the loops, it is then a matrix multiply, a matrix times a
// vector, an outer product or an inner product, or a loop of them.
struct Contraction {
  int left = 1, right = 2;  // operands
  std::vector<int> rows, columns, sums, batch;
};

std::string to_string(const Contraction& contraction);  // the form of BLAS that it takes

// The contraction that a part is, or why it is none.
std::variant<Contraction, std::string> match_contraction(const LeafTask& task, ElementType type);

// The contraction by BLAS. Strides are known only when it runs: where BLAS cannot take them, `otherwise` runs.
std::unique_ptr<LeafKernel> make_contraction_leaf(const LeafTask& task, ElementType type,
                                                  const Contraction& contraction,
                                                  std::function<std::unique_ptr<LeafKernel>()> otherwise);

}  // namespace distal::core
