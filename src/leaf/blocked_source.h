#pragma once

#include <cstdint>
#include <string>

#include "lang/element_type.h"

namespace distal::core {

// What the blocked code is asked to do: add to some rows and columns of the output the products of the two operands,
// summed, times the other factors. Where an element lies is the sum of an offset of its row and one of its column.
struct BlockedJob {
  int64_t rows, columns, sums;
  const void* left;         // rows x sums
  const int64_t* left_row;  // offsets by row,
  const int64_t* left_sum;  // and by step of the sum
  const void* right;        // sums x columns
  const int64_t* right_sum;
  const int64_t* right_column;
  void* output;
  const int64_t* output_row;
  const int64_t* output_column;
  const void* const* factor;  // the others, rows x columns
  const int64_t* const* factor_row;
  const int64_t* const* factor_column;
  const void* scale;        // a number that all is multiplied with
  void* packed;             // the right operand, vector by vector
  void* line;               // room for the left operand's rows, each in one piece
  int64_t runs;             // pieces of the sum,
  const int64_t* run;       // the steps that they begin at, and the end of the last
  int64_t left_in_line;     // the left operand's rows are in one piece,
  int64_t left_by_one;      // or each run of them is
  int64_t right_by_column;  // each run of the right operand's columns is in one piece
  int64_t pack_only;        // fill `packed`, and nothing else
  int64_t column_run;       // columns that no panel crosses the end of: those that are in one piece
  int64_t begin;            // set the output, do not add to it
};
using BlockedFunction = void(const BlockedJob* job);

// How much of the sum is taken at once, and how many rows: so much of the left operand stays in the second cache while
// the right one passes by, panel after panel. Of that so many bytes are packed at once: they stay in the last cache.
inline constexpr int64_t kBlockedSums = 512;
inline constexpr int64_t kBlockedRowsAtOnce = 96;
inline constexpr int64_t kBlockedBytes = 16 << 20;
// Of any machine: the bytes of a vector, and the rows of a block.
inline constexpr int64_t kBlockedVector = 64;
inline constexpr int64_t kBlockedRows = 6;

// The C++ of a matrix multiply in register blocks, with so many factors beside the two operands.
std::string blocked_source(ElementType type, int factors);

}  // namespace distal::core
