#pragma once

#include <cstdint>
#include <string>

#include "lang/element_type.h"

namespace distal::core {

// The arguments of the compiled code: add the matrix product of two operands, times the other factors, to some rows and
// columns of the output. The offset of an element is the sum of two table entries, such as one of its row and one of
// its column. Offsets count elements. The sum is divided into runs, in which operands may be contiguous.
struct BlockedJob {
  int64_t rows, columns, sums;
  const void* left;         // rows x sums
  const int64_t* left_row;  // offset by row
  const int64_t* left_sum;  // offset by term of the sum
  const void* right;        // sums x columns
  const int64_t* right_sum;
  const int64_t* right_column;
  void* output;
  const int64_t* output_row;
  const int64_t* output_column;
  const void* const* factor;  // the other factors, rows x columns
  const int64_t* const* factor_row;
  const int64_t* const* factor_column;
  const void* scale;              // a number that everything is multiplied by
  void* packed_right;             // buffer for the right operand, packed in panels
  void* packed_left;              // buffer for the left operand's rows, if they are not contiguous
  int64_t runs;                   // number of runs of the sum
  const int64_t* run_begin;       // first term of each run, and the end of the last run
  int64_t left_contiguous;        // each row of the left operand is contiguous
  int64_t left_runs_contiguous;   // each run of such a row is contiguous
  int64_t right_runs_contiguous;  // each run of a column of the right operand is contiguous
  int64_t pack_only;              // only fill `packed_right`
  int64_t column_run;             // columns in a contiguous run; no panel crosses the end of one
  int64_t overwrite;              // overwrite the output instead of adding to it
};
using BlockedFunction = void(const BlockedJob* job);

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
