#pragma once

#include <cstdint>
#include <string>

#include "lang/element_type.h"
#include "leaf/support/blocked_job.h"

namespace distal::core {

using BlockedFunction = void(const BlockedJob<void>* job);

// Terms of the sum and rows in one call of the code: this part of the left operand stays in the second-level cache
// while the panels of the right operand stream past. kPackedBytes of the right operand are packed at once and stay in
// the last-level cache.
inline constexpr int64_t kBlockedSums = 512;
inline constexpr int64_t kBlockedRowsAtOnce = 96;
inline constexpr int64_t kPackedBytes = 16 << 20;
// The largest vector of any CPU, in bytes, and the rows of a register block.
inline constexpr int64_t kVectorBytes = 64;
inline constexpr int64_t kRowsPerBlock = 6;

// The C++ of a matrix multiply in register blocks, with `factors` factors beside the two operands.
std::string blocked_source(ElementType type, int factors);

}  // namespace distal::core
