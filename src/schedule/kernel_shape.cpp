#include "schedule/kernel_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "schedule/checks.h"
#include "support/text.h"

namespace distal::core {

namespace {

using Match = std::variant<KernelShape, std::string>;  // the shape, or why there is none

// The loops and operands that a kernel needs.
struct KernelForm {
  const char* name;
  std::vector<IndexRole> roles;  // one per loop, sorted
  const char* mismatch;          // the message for loops with other roles
  bool any_operand = false;      // the row index may be in either operand
  bool adds = false;             // the kernel only adds to its output and has no sum, so the statement must use +=
  bool one_matrix = false;       // the operands must be one matrix and its transpose
};

const std::array<KernelForm, 7>& forms() {
  using enum IndexRole;
  static const std::array<KernelForm, 7> all{{
      {.name = "gemm",
       .roles = {Row, Column, Sum},
       .mismatch = "one of its loops must run over rows, one over columns and one over the sum"},
      {.name = "gemv",
       .roles = {Row, Sum},
       .mismatch = "one of its loops must index the output, and one must run over the sum",
       .any_operand = true},
      {.name = "ger",
       .roles = {Row, Column},
       .mismatch = "one of its loops must run over rows and one over columns",
       .adds = true},
      {.name = "dot", .roles = {Sum}, .mismatch = "its loop must run over a sum"},
      {.name = "axpy",
       .roles = {Row},
       .mismatch = "its loop must index the output and one operand",
       .any_operand = true,
       .adds = true},
      {.name = "syrk",
       .roles = {Row, Column, Sum},
       .mismatch = "one of its loops must run over rows, one over columns and one over the sum",
       .one_matrix = true},
      {.name = "batched_gemm",
       .roles = {Batch, Row, Column, Sum},
       .mismatch = "one of its loops must index all three tensors, one must run over rows, one over columns and one "
                   "over the sum"},
  }};
  return all;
}

const KernelForm* form_of(const std::string& name) {
  for (const KernelForm& f : forms()) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

// A statement output = left * right, or with += or -=.
struct Multiply {
  const Access &output, &left, &right;
};

std::optional<Multiply> multiply_of(const Assignment& a) {
  const auto* negated = std::get_if<Negate>(&a.rhs.node());
  const auto* product = std::get_if<Binary>(negated ? &negated->operand.node() : &a.rhs.node());
  if (!product || product->op != BinaryOp::Multiply) return std::nullopt;
  const auto* left = std::get_if<Access>(&product->left.node());
  const auto* right = std::get_if<Access>(&product->right.node());
  if (!left || !right) return std::nullopt;
  return Multiply{a.lhs, *left, *right};
}

std::optional<IndexRole> role_of(const Multiply& m, const IndexVar& v) {
  auto count = [&](const Access& a) { return std::count(a.indices.begin(), a.indices.end(), v); };
  auto output = count(m.output), left = count(m.left), right = count(m.right);
  if (std::max({output, left, right}) > 1) return std::nullopt;
  return core::role_of(output > 0, left > 0, right > 0);
}

// The index that each loop runs over, or why there is no one index.
std::variant<std::vector<IndexVar>, std::string> indices_of(const Nest& nest, const std::vector<IndexVar>& loops) {
  std::vector<IndexVar> out;
  for (const IndexVar& loop : loops) {
    std::vector<IndexVar> origin = origins(nest, loop);
    if (origin.size() != 1) return fmt::format("loop {} is a collapse of several indices", loop.name);
    if (contains(out, origin[0])) return fmt::format("two of the loops run over {}", origin[0].name);
    out.push_back(origin[0]);
  }
  return out;
}

std::string wrong_occurrences(const KernelForm& form, const Multiply& m, const IndexVar& v) {
  bool batches = form.roles[0] == IndexRole::Batch;
  return fmt::format("{} must occur once in {} of {}, {} and {}", v.name, batches ? "two or all" : "exactly two",
                     to_string(m.output), to_string(m.left), to_string(m.right));
}

// Whether the right operand is the transpose of the left one.
bool is_one_matrix(const Multiply& m, const KernelShape& shape) {
  Access other = m.left;
  std::replace(other.indices.begin(), other.indices.end(), shape[0].variable, shape[1].variable);
  return other == m.right;
}

Match match(const Nest& nest, const KernelForm& form, const std::vector<IndexVar>& loops) {
  const Assignment& a = assignment_of(nest);
  std::optional<Multiply> m = multiply_of(a);
  if (!m) return fmt::format("{} is not a product of two tensors", to_string(a.rhs));
  if (loops.size() != form.roles.size()) {
    return fmt::format("it takes {}, and {} {} named", counted(static_cast<int64_t>(form.roles.size()), "loop"),
                       loops.size(), loops.size() == 1 ? "is" : "are");
  }
  auto indices = indices_of(nest, loops);
  if (const auto* why = std::get_if<std::string>(&indices)) return *why;

  KernelShape shape;
  std::vector<IndexRole> roles;
  for (const IndexVar& v : std::get<std::vector<IndexVar>>(indices)) {
    std::optional<IndexRole> role = role_of(*m, v);
    if (!role || (role == IndexRole::Batch && form.roles[0] != IndexRole::Batch)) return wrong_occurrences(form, *m, v);
    if (role == IndexRole::Column && form.any_operand) role = IndexRole::Row;
    shape.push_back({*role, v});
  }
  std::sort(shape.begin(), shape.end(), [](const KernelIndex& x, const KernelIndex& y) { return x.role < y.role; });
  for (const KernelIndex& i : shape) roles.push_back(i.role);
  if (roles != form.roles) return std::string(form.mismatch);
  if (form.adds && a.op != AssignOp::Accumulate) {
    return fmt::format("{} = {} assigns, but {} adds; write +=", to_string(a.lhs), to_string(a.rhs),
                       with_article(form.name));
  }
  if (form.one_matrix && !is_one_matrix(*m, shape)) {
    return fmt::format("{} and {} are not one matrix and its transpose", to_string(m->left), to_string(m->right));
  }
  return shape;
}

}  // namespace

std::string kernel_names() {
  std::string out;
  for (size_t i = 0; i < forms().size(); ++i) {
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == forms().size() ? " and " : ", ", forms()[i].name);
  }
  return out;
}

bool is_kernel(const std::string& name) { return form_of(name) != nullptr; }

std::string with_article(const std::string& kernel) { return (kernel[0] == 'a' ? "an " : "a ") + kernel; }

KernelShape kernel_shape(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables) {
  Match m = match(nest, *form_of(kernel), variables);
  if (const auto* why = std::get_if<std::string>(&m)) throw InternalError("kernel_shape: " + *why);
  return std::get<KernelShape>(m);
}

std::string why_not_kernel(const Nest& nest, const std::string& kernel, const std::vector<IndexVar>& variables) {
  Match m = match(nest, *form_of(kernel), variables);
  const auto* why = std::get_if<std::string>(&m);
  return why ? *why : "";
}

}  // namespace distal::core
