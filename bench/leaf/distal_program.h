#pragma once

#include <distal/distal.h>

#include <map>
#include <string>
#include <vector>

#include "statement.h"

// A statement compiled by DISTAL's public interface, for one processor or distributed along one index over several.
namespace leaf {

class DistalProgram {
 public:
  DistalProgram(const Statement& statement, const Extents& extents, distal::ElementKind type, int grid,
                char distributed)
      : distributed_(distributed), grid_(grid), machine_(distal::Grid(grid)) {
    for (auto [index, n] : extents) params_.emplace(index, distal::Param(std::string("n") + index, n));
    for (const Access& access : statement.accesses()) declare(access, type);
    distal::TensorHandle& left = tensors_.at(statement.left.tensor);
    define(statement);
    if (grid > 1) schedule(left);
    kernel_.emplace_back(left.compile());
  }

  void run() const { kernel_.front().run(); }
  distal::TensorHandle& tensor(const std::string& name) { return tensors_.at(name); }
  void resize(const Extents& extents) {
    for (auto [index, n] : extents) params_.at(index) = n;
  }

 private:
  void declare(const Access& access, distal::ElementKind type) {
    std::vector<distal::Int> dimensions;
    for (char index : access.indices) dimensions.emplace_back(params_.at(index));
    tensors_.try_emplace(access.tensor, type, access.tensor, dimensions, format(access));
  }

  // A tensor with the distributed index is partitioned along it. Other operands are replicated, and a scalar lies on
  // the first processor. So only the sum of a scalar is communicated.
  distal::Format format(const Access& access) const {
    if (grid_ == 1) return {};
    std::vector<distal::ModeFormat> modes(access.indices.size(), distal::Dense);
    size_t d = access.indices.find(distributed_);
    distal::Role role = distal::Everywhere{};
    if (d != std::string::npos) role = distal::Role(static_cast<int>(d));
    if (access.indices.empty()) role = distal::Face{0};
    return {modes, distal::Distribution(machine_, {role})};
  }

  distal::IndexVar variable(char index) const {
    return variables_.try_emplace(index, std::string(1, index)).first->second;
  }

  distal::Access access(const Access& a) const {
    const distal::TensorHandle& t = tensors_.at(a.tensor);
    auto v = [&](size_t d) { return variable(a.indices[d]); };
    switch (a.indices.size()) {
      case 0: return t();
      case 1: return t(v(0));
      case 2: return t(v(0), v(1));
      case 3: return t(v(0), v(1), v(2));
      case 4: return t(v(0), v(1), v(2), v(3));
      default: throw std::runtime_error("a tensor of more than 4 dimensions");
    }
  }

  distal::Expr product(const std::vector<Access>& term) const {
    distal::Expr result = access(term[0]);
    for (size_t f = 1; f < term.size(); ++f) result = result * access(term[f]);
    return result;
  }

  void define(const Statement& statement) const {
    distal::Expr sum = product(statement.terms[0]);
    for (size_t t = 1; t < statement.terms.size(); ++t) sum = sum + product(statement.terms[t]);
    access(statement.left) = sum;
  }

  void schedule(distal::TensorHandle& left) const {
    distal::IndexVar outer("outer"), inner("inner");
    std::vector<distal::TensorHandle> all;
    for (const auto& [name, tensor] : tensors_) all.push_back(tensor);
    left.schedule().distribute({variable(distributed_)}, {outer}, {inner}, machine_).communicate(all, outer);
  }

  char distributed_;
  int grid_;
  distal::Machine machine_;
  std::map<char, distal::Param> params_;
  std::map<std::string, distal::TensorHandle> tensors_;
  mutable std::map<char, distal::IndexVar> variables_;  // made when they are first used
  std::vector<distal::Kernel> kernel_;                  // one element, made at the end of the constructor
};

}  // namespace leaf
