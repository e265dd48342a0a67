#pragma once

#include "lang/module.h"

namespace distal::core {

// The rules of what several constructs have.

// Whether an error at this place can show a line. A program made in C++ has no lines.
inline bool is_in_text(const SourceSpan& span) { return span.line > 0; }
// The place of an expression; that of the construct around it, if its own is unknown.
SourceSpan place_of(const IntExpr& expr, const SourceSpan& otherwise);

// Requires an identifier. `what` is what it names, for instance "a tensor".
void check_name(const std::string& name, const std::string& what, const SourceSpan& span);

// Requires that an expression is short enough for passes that walk it recursively.
void check_length(int64_t operators, const SourceSpan& span);
// Requires that the params of an expression are declared, that no divisor is a constant below 1, and that the
// expression is not too long.
void check_int(const IntExpr& expr, const Module& scope, const SourceSpan& otherwise);
// The same for a size. If it is a constant, it must be at least `least`.
void check_size(const IntExpr& expr, const Module& scope, const std::string& what, const SourceSpan& otherwise,
                int64_t least = 1);
// "n - 1 = 3", or "3" for a constant.
std::string with_value(const IntExpr& expr, int64_t value);
// Requires that the value of a size is at least `least`.
void require_at_least(int64_t least, const IntExpr& expr, int64_t value, const std::string& what,
                      const SourceSpan& otherwise);

void check_grid(const Grid& grid, const Module& scope);
// The number of processors of a machine, and its grids.
void check_levels(const Machine& machine, const Module& scope);

// What is cut by one level of a distribution: a tensor, or the iteration space of a statement.
struct Cuttable {
  std::string name;
  size_t dimensions;
};
// The validity rules of tensor distribution notation, for one level of a machine.
void check_level(const LevelDistribution& distribution, const Cuttable& space, const Machine& machine, size_t level,
                 const Module& scope);
[[noreturn]] void refuse_negative_face(const std::string& face, const SourceSpan& span);

// The machine with the one level that the loops of a distribution notation are mapped to. Throws an Error if `ref`
// names none.
Machine machine_of_notation(const GridRef& ref, const Module& scope);

// Requires that the tensors of an expression are declared and have as many dimensions as indices.
void check_access(const Access& access, const Module& scope);
void check_expression(const Expr& expr, const Module& scope, const SourceSpan& otherwise, bool may_name_workspaces);

}  // namespace distal::core
