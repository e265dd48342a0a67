// The roles of the indices of a product of two tensors. Emitted Legion programs get a copy of this file, so it includes
// the standard library alone and stays within C++17.
#pragma once

#include <optional>
#include <string>

namespace distal::core {

// The role of an index in output += left * right.
enum class IndexRole { Batch, Row, Column, Sum };

inline std::string to_string(IndexRole role) {
  return role == IndexRole::Batch    ? "batch"
         : role == IndexRole::Row    ? "rows"
         : role == IndexRole::Column ? "columns"
                                     : "sum";
}

// The role of an index that these of the three tensors have. Nothing if it occurs in one of them only.
inline std::optional<IndexRole> role_of(bool output, bool left, bool right) {
  if (int{output} + int{left} + int{right} < 2) return std::nullopt;
  if (!output) return IndexRole::Sum;
  return !left ? IndexRole::Column : !right ? IndexRole::Row : IndexRole::Batch;
}

// The indices of a product by role. `All` is a container of them.
template <class All>
struct IndicesByRole {
  All batch, rows, columns, sums;

  All& of(IndexRole role) {
    return role == IndexRole::Batch    ? batch
           : role == IndexRole::Row    ? rows
           : role == IndexRole::Column ? columns
                                       : sums;
  }
  bool is_matrix_product() const { return !rows.empty() && !columns.empty() && !sums.empty(); }
};

// Sorts indices by role. `has(index, tensor)` says whether a tensor has the index: 0 is the output, then left and
// right. Nothing if an index occurs in one tensor only.
template <class All, class Indices, class Has>
std::optional<IndicesByRole<All>> sort_by_role(const Indices& indices, const Has& has) {
  IndicesByRole<All> out;
  for (const auto& index : indices) {
    std::optional<IndexRole> role = role_of(has(index, 0), has(index, 1), has(index, 2));
    if (!role) return std::nullopt;
    out.of(*role).push_back(index);
  }
  return out;
}

}  // namespace distal::core
