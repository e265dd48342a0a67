#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lang/module.h"

namespace distal::core {

// The bytes of the pieces of a program's tensors, by processor. If the format of a tensor is still to be found, every
// processor counts with an even share. A tensor that no statement accesses gets no format, and lies on the first
// processor.
class PieceBytes {
 public:
  PieceBytes(const Bindings& params, int64_t processors) : params_(params), processors_(processors) {}

  // The most that a processor has of all tensors except some.
  int64_t most_of_others(const Module& module, const std::set<std::string>& excepted);

 private:
  const std::vector<int64_t>& bytes_of(const Module& module, const Tensor& tensor);

  const Bindings& params_;
  int64_t processors_;
  std::map<std::string, std::vector<int64_t>> found_;  // by name and format
};

}  // namespace distal::core
