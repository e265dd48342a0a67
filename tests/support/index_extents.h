#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lang/index_notation.h"

namespace distal::core::test {

// The extents of a statement's indices by definition, for the reference: the compiler has its own. `shape` gives the
// shape of a tensor. Shifts are constants.
template <class Shape>
std::map<std::string, int64_t> index_extents(const Statement& statement, const Shape& shape) {
  std::map<std::string, int64_t> out, shifted;
  for (const Access& a : accesses(statement)) {
    for (size_t d = 0; d < a.indices.size(); ++d) {
      const std::string& v = a.indices[d].name;
      int64_t extent = shape(a.tensor)[d];
      if (!a.is_shifted(d)) {
        out[v] = extent;
        continue;
      }
      extent -= a.offset(d).evaluate({});
      auto [found, fresh] = shifted.emplace(v, extent);
      if (!fresh) found->second = std::min(found->second, extent);
    }
  }
  out.merge(shifted);
  return out;
}

}  // namespace distal::core::test
