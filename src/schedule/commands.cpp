#include "schedule/commands.h"

namespace distal::core {

namespace {

const std::vector<CommandRow>& rows() {
  static const std::vector<CommandRow> all{
      split_command(),      divide_command(),          collapse_command(),    reorder_command(),
      distribute_command(), distribute_onto_command(), communicate_command(), rotate_command(),
      substitute_command(), parallelize_command(),     unroll_command(),      vectorize_command(),
      precompute_command(),
  };
  return all;
}

}  // namespace

const std::vector<Signature>& signatures() {
  static const std::vector<Signature> all = [] {
    std::vector<Signature> out;
    for (const CommandRow& row : rows()) out.push_back(row.signature);
    return out;
  }();
  return all;
}

const CommandRow& row_of(const Command& command) {
  return rows()[static_cast<size_t>(&signature_of(command) - signatures().data())];
}

}  // namespace distal::core
