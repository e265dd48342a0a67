#include <fmt/format.h>

#include "check/evaluate.h"
#include "support/checked.h"

namespace distal::core {

namespace {

class Flattener {
 public:
  Flattener(const std::vector<std::string>& outer, const std::map<std::string, int64_t>& extents)
      : names_(outer), outer_count_(outer.size()), extents_(extents) {}

  FlatAddend flatten(const Addend& addend) {
    flat_.negated = addend.negated;
    fold(addend.expr, Overloaded{[&](const Access& access) { visit_access(access); },
                                 [&](const Literal& literal) {
                                   flat_.steps.push_back({Step::Kind::Constant, flat_.constants.size()});
                                   flat_.constants.push_back(literal);
                                 },
                                 [&](const Negate&) { flat_.steps.push_back({Step::Kind::Negate}); },
                                 [&](const Binary& b) { flat_.steps.push_back({kind_of(b.op)}); }});
    for (int64_t extent : flat_.summed_extents) flat_.contributions = checked_mul(flat_.contributions, extent);
    return std::move(flat_);
  }

 private:
  void visit_access(const Access& access) {
    Read read{access.tensor, {}, {}, -1};
    for (size_t d = 0; d < access.indices.size(); ++d) {
      size_t variable = variable_of(access.indices[d].name);
      read.variables.push_back(variable);
      read.offsets.push_back(access.offset(d).evaluate({}));
      if (variable >= outer_count_) read.depth = std::max(read.depth, static_cast<int>(variable - outer_count_));
    }
    flat_.steps.push_back({Step::Kind::Read, flat_.reads.size()});
    flat_.reads.push_back(std::move(read));
  }

  size_t variable_of(const std::string& name) {
    auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      auto extent = extents_.find(name);
      if (extent == extents_.end()) throw InternalError(fmt::format("the reference has no extent for '{}'", name));
      names_.push_back(name);
      flat_.summed_extents.push_back(extent->second);
      return names_.size() - 1;
    }
    return static_cast<size_t>(found - names_.begin());
  }

  static Step::Kind kind_of(BinaryOp op) {
    switch (op) {
      case BinaryOp::Add: return Step::Kind::Add;
      case BinaryOp::Subtract: return Step::Kind::Subtract;
      case BinaryOp::Multiply: return Step::Kind::Multiply;
    }
    throw InternalError("unknown operator");
  }

  std::vector<std::string> names_;
  size_t outer_count_;
  const std::map<std::string, int64_t>& extents_;
  FlatAddend flat_;
};

}  // namespace

std::vector<Addend> split_addends(const Expr& expr) {
  using Addends = std::vector<Addend>;
  return fold(expr, Overloaded{[](const Access& access) {
                                 return Addends{{false, access}};
                               },
                               [](const Literal& literal) {
                                 return Addends{{false, literal}};
                               },
                               [](const Negate&, Addends operand) {
                                 for (Addend& addend : operand) addend.negated = !addend.negated;
                                 return operand;
                               },
                               [](const Binary& b, Addends left, Addends right) {
                                 if (b.op == BinaryOp::Multiply) {
                                   return Addends{{false, Expr::binary(b.op, b.left, b.right)}};
                                 }
                                 for (Addend& addend : right) {
                                   addend.negated = addend.negated != (b.op == BinaryOp::Subtract);
                                   left.push_back(std::move(addend));
                                 }
                                 return left;
                               }});
}

FlatAddend flatten(const Addend& addend, const std::vector<std::string>& outer,
                   const std::map<std::string, int64_t>& variable_extents) {
  return Flattener(outer, variable_extents).flatten(addend);
}

}  // namespace distal::core
