#pragma once

#include <cstdint>
#include <vector>

namespace distal::core {

// A product of factors. Indices are numbers.
struct Product {
  std::vector<std::vector<int>> factors;  // the distinct indices of each
  std::vector<int> result;                // the indices of the output
  std::vector<int64_t> extents;           // by index
  std::vector<int> summed_last{};         // indices that only the last part may sum over
};

// A part of a product: it multiplies its inputs, and sums over the indices that nothing else needs.
struct ContractionPart {
  std::vector<int> inputs;  // a factor, or the number of factors plus that of an earlier part
  std::vector<int> result;  // the indices of the result

  bool operator==(const ContractionPart&) const = default;
};

// An order of contraction: the parts, one after another. The last one gives the output.
struct ContractionOrder {
  std::vector<ContractionPart> parts;
  double flops = 0;     // as the kernels of leaves do them
  double elements = 0;  // that all parts read and write
};

// The flops of a kernel that multiplies inputs with these indices in one pass. It multiplies two of them as matrices
// and the others to blocks of their product, if any two have rows, columns and sums; otherwise it multiplies all of
// them at every point.
double kernel_flops(const std::vector<std::vector<int>>& inputs, const std::vector<int>& result,
                    const std::vector<int64_t>& extents);

// The best orders: those that need at most a tenth more flops than the least, and that no other order beats in both
// flops and elements. The first one reads and writes the fewest elements. All trees are compared whose parts multiply
// two or more inputs, or sum one. Of more than eight factors, the two whose product adds the fewest elements are
// multiplied first, until eight are left. A product with more than 64 indices has one order only, that of one part.
std::vector<ContractionOrder> contraction_orders(const Product& product);

// The order of one part.
ContractionOrder fused_order(const Product& product);

}  // namespace distal::core
