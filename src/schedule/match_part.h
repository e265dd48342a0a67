#pragma once

#include <functional>
#include <optional>

#include "lang/index_notation.h"

namespace distal::core {

// A right side with a part of it replaced.
struct ReplacedPart {
  Expr rhs;
  bool in_product = false;  // the part was multiplied by something
};

// Replaces `part` by `with`. A part is an addend or a sum of the right side, or some factors of one of its products, in
// any order. Returns nothing if the right side has no such part.
std::optional<ReplacedPart> replace_part(const Expr& rhs, const Expr& part, const Access& with);

// The expression with every index renamed.
Expr map_accesses(const Expr& expr, const std::function<Access(Access)>& map);
Expr rename_indices(const Expr& expr, const std::function<IndexVar(const IndexVar&)>& rename);

}  // namespace distal::core
