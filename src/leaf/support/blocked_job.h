// The arguments of the compiled code of register blocks. The compiler includes this file and embeds its text in that
// code, so it includes nothing.
#pragma once

namespace distal::core {

// Adds the matrix product of two operands, times the other factors, to some rows and columns of the output. The offset
// of an element is the sum of two table entries, such as one of its row and one of its column. Offsets count elements.
// The sum is divided into runs, in which operands may be contiguous.
template <class T>
struct BlockedJob {
  using Int = long;

  Int rows, columns, sums;
  const T* left;        // rows x sums
  const Int* left_row;  // offset by row
  const Int* left_sum;  // offset by term of the sum
  const T* right;       // sums x columns
  const Int* right_sum;
  const Int* right_column;
  T* output;
  const Int* output_row;
  const Int* output_column;
  const T* const* factor;  // the other factors, rows x columns
  const Int* const* factor_row;
  const Int* const* factor_column;
  const T* scale;             // a number that everything is multiplied by
  T* packed_right;            // buffer for the right operand, packed in panels
  T* packed_left;             // buffer for the left operand's rows, if they are not contiguous
  Int runs;                   // number of runs of the sum
  const Int* run_begin;       // first term of each run, and the end of the last run
  Int left_contiguous;        // each row of the left operand is contiguous
  Int left_runs_contiguous;   // each run of such a row is contiguous
  Int right_runs_contiguous;  // each run of a column of the right operand is contiguous
  Int pack_only;              // only fill `packed_right`
  Int column_run;             // columns in a contiguous run; no panel crosses the end of one
  Int overwrite;              // overwrite the output instead of adding to it
};

}  // namespace distal::core
