#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lang/element_type.h"
#include "lang/index_notation.h"

namespace distal::core {

// The reference evaluates a statement by its definition, element by element. It shares no code with the compiler, so
// that they cannot share a mistake.

// Returns the address of one element of a tensor, which is valid until the next call.
using ElementReader = std::function<const void*(const std::string& tensor, std::span<const int64_t> coordinates)>;

// A tensor that is dense in memory, for checks of many elements. Strides count elements.
struct DenseTensor {
  const void* data = nullptr;
  std::vector<int64_t> strides;
};
using DenseLookup = std::function<std::optional<DenseTensor>(const std::string& tensor)>;

struct CheckResult {
  bool ok = true;
  double max_relative_error = 0;
  int64_t checked = 0;
  std::string first_wrong;  // "A(3, 4) is 1.5, expected 1.25 ..."; empty if ok
};

// Compares the output of a statement with the reference.
//
// `before` reads all tensors as they were before the statement. `after` reads the output after it; it returns null for
// an element that is not to be checked. At most `max_samples` distinct elements are checked: the corners of the output,
// and others chosen by the seed. 0 or less checks all.
//
// Integers wrap around and must match exactly. For other types the error is |got - want| / (sum of the absolute values
// of all contributions, or 1 if that is 0), computed in long double. It may be at most epsilon(T) * (16 + number of
// contributions): a sum of n rounded products is off by at most about n epsilon, in any order, and 16 allows for the
// operations inside one contribution. Infinities and NaNs must match those of the reference.
//
// `dense` may return some of the tensors of `before` as dense arrays, which are read much faster. `output_shape` is the
// shape of the output; it may be left out where the left side has no shifted index. Shifts are constants.
CheckResult check_statement(const Statement& statement, ElementType type,
                            const std::map<std::string, int64_t>& variable_extents, const ElementReader& before,
                            const ElementReader& after, int64_t max_samples, uint64_t seed,
                            const DenseLookup& dense = {}, const std::vector<int64_t>& output_shape = {});

// The whole output of a statement as elements of `type` in C order.
std::vector<std::byte> evaluate_statement(const Statement& statement, ElementType type,
                                          const std::map<std::string, int64_t>& variable_extents,
                                          const ElementReader& before, const std::vector<int64_t>& output_shape = {});

}  // namespace distal::core
