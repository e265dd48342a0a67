#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

// The stride of an operand along an axis: 0, 1, or anything else.
enum class StrideKind : char { Zero, Unit, Large };

// The properties of a plane of two axes that its code depends on. x is the inner axis.
struct PlaneShape {
  std::vector<StrideKind> x;        // by operand: its stride along x
  std::vector<bool> moves_along_y;  // by operand: whether its stride along y is not 0
  bool accumulate = true;
  bool nontemporal = false;  // non-temporal stores, which bypass the caches, for an output larger than these

  bool operator<(const PlaneShape& other) const;
};

// The number of rows that run at once. They share the operands that do not move along y, and each has a sum of its own,
// so that additions do not wait for one another. Long sums over several operands that move along y run row by row:
// these operands already are as many streams as memory serves best.
int rows_at_once(bool sums, int64_t moving_operands, bool is_short);

// The compiled code: extents along x and y; addresses and strides along x and y by operand.
using PlaneFunction = void(int64_t nx, int64_t ny, void* const* data, const int64_t* stride_x, const int64_t* stride_y);

// The C++ that computes the terms on a plane.
std::string plane_source(const std::vector<LeafTerm>& terms, ElementType type, const PlaneShape& shape);

}  // namespace distal::core
