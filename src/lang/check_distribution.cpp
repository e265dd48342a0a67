#include <fmt/format.h>

#include <algorithm>

#include "lang/check_parts.h"
#include "lang/lexer.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string counted(size_t n, const std::string& what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

// Checks the left side, the right side and then the cyclic dimensions.
class LevelCheck {
 public:
  LevelCheck(const LevelDistribution& level, const Cuttable& space, const Machine& machine, size_t number,
             const Module& scope)
      : level_(level), space_(space), machine_(machine), number_(number), scope_(scope) {}

  void run() const {
    check_tensor_side();
    check_machine_side();
    for (const auto& [name, block] : level_.cyclic) check_cyclic(name, block);
  }

 private:
  const std::vector<std::string>& names() const { return level_.tensor_dimensions; }

  // A C++ program numbers the dimensions.
  std::string shown(const std::string& name) const {
    if (is_in_text(level_.span)) return fmt::format("`{}`", name);
    auto found = std::find(names().begin(), names().end(), name);
    return fmt::format("dimension {}", found - names().begin());
  }

  void check_tensor_side() const {
    if (names().size() != space_.dimensions) refuse_tensor_arity();
    for (size_t d = 0; d < names().size(); ++d) {
      const SourceSpan& span = level_.places.name(d, level_.span);
      if (!is_identifier(names()[d])) {
        throw Error(fmt::format("`{}` cannot name a tensor dimension", names()[d]), span,
                    "left of the arrow stand names; faces and `*` belong on the right");
      }
      if (std::find(names().begin(), names().end(), names()[d]) != names().begin() + static_cast<std::ptrdiff_t>(d)) {
        throw Error(fmt::format("`{}` names two dimensions of {}", names()[d], space_.name), span,
                    "every tensor dimension needs a name of its own");
      }
    }
  }

  [[noreturn]] void refuse_tensor_arity() const {
    std::string help = space_.dimensions == 0
                           ? "a scalar has nothing left of the arrow, as in `-> 0`"
                           : "write one character per dimension, as in `xy -> ...`, or names with commas, as in "
                             "`row, col -> ...`";
    throw Error(fmt::format("the left side names {}, but {} has {}", counted(names().size(), "dimension"), space_.name,
                            space_.dimensions),
                level_.places.left, help);
  }

  void check_machine_side() const {
    if (level_.machine_dimensions.size() != machine_.levels[number_].extents.size()) refuse_machine_arity();
    std::vector<std::string> used;
    for (const MachineDimension& dimension : level_.machine_dimensions) {
      if (const auto* fix = std::get_if<Fix>(&dimension.role)) check_face(fix->face, dimension.span);
      const auto* partition = std::get_if<Partition>(&dimension.role);
      if (!partition) continue;
      if (!contains(names(), partition->name)) refuse_dimension(partition->name, dimension.span);
      if (contains(used, partition->name)) {
        throw Error(fmt::format("{} is partitioned by two machine dimensions", shown(partition->name)), dimension.span,
                    "a tensor dimension may be cut along one machine dimension only");
      }
      used.push_back(partition->name);
    }
  }

  [[noreturn]] void refuse_machine_arity() const {
    std::string grid = machine_.levels.size() == 1 ? described(machine_)
                                                   : fmt::format("level {} of {}, {},", number_, described(machine_),
                                                                 to_string(machine_.levels[number_]));
    size_t have = level_.machine_dimensions.size(), want = machine_.levels[number_].extents.size();
    if (!is_in_text(level_.span)) {
      throw Error(fmt::format("the distribution has {}, but {} has {}", counted(have, "role"), grid,
                              counted(want, "dimension")),
                  level_.span, "give one role for each machine dimension");
    }
    throw Error(fmt::format("the right side names {}, but {} has {}", counted(have, "machine dimension"), grid, want),
                level_.places.right,
                "write one of a name, a face such as 0, or `*` for each machine dimension, as in `x0*` or `row, 0, *`");
  }

  void check_face(const IntExpr& face, const SourceSpan& span) const {
    check_int(face, scope_, span);
    if (face.is_constant() && face.value() < 0) refuse_negative_face(face.to_string(), span);
  }

  [[noreturn]] void refuse_dimension(const std::string& name, const SourceSpan& span) const {
    if (!is_in_text(level_.span)) {
      throw Error(fmt::format("the distribution cuts dimension {} of {}, which has {}", name, space_.name,
                              counted(space_.dimensions, "dimension")),
                  span, "dimensions are counted from 0");
    }
    std::string help = names().empty() ? fmt::format("{} is a scalar and has no dimensions", space_.name)
                                       : fmt::format("the dimensions of {} are {}", space_.name, listing(names()));
    auto is_dimension = [&](char c) { return contains(names(), std::string(1, c)); };
    if (name.size() > 1 && std::all_of(name.begin(), name.end(), is_dimension)) {
      help += fmt::format("; `{}` names {} of them, and there is one dimension of the machine here", name, name.size());
    }
    help += "; a face is a number, or an expression in parentheses, and `*` stands for a copy everywhere";
    if (names().size() == 1 && names()[0].size() > 1)
      help += fmt::format("; with one dimension, `{}` is one name", names()[0]);
    throw Error(fmt::format("`{}` is not a dimension of {}", name, space_.name), span, help);
  }

  void check_cyclic(const std::string& name, const IntExpr& block) const {
    const SourceSpan& span = level_.places.cyclic_name(name, level_.span);
    if (!contains(names(), name)) {
      if (!is_in_text(level_.span)) refuse_dimension(name, span);
      throw Error(fmt::format("`cyclic` of `{}`, which is not a dimension of {}", name, space_.name), span,
                  fmt::format("the dimensions of {} are {}", space_.name, listing(names())));
    }
    std::vector<std::string> partitioned;
    for (const MachineDimension& d : level_.machine_dimensions) {
      if (const auto* partition = std::get_if<Partition>(&d.role)) partitioned.push_back(partition->name);
    }
    if (!contains(partitioned, name)) {
      throw Error(fmt::format("`cyclic` of {}, which no machine dimension partitions", shown(name)), span,
                  fmt::format("the partitioned dimensions are: {}", listing(partitioned)));
    }
    check_size(block, scope_, fmt::format("the cyclic block of {}", shown(name)), span);
  }

  const LevelDistribution& level_;
  const Cuttable& space_;
  const Machine& machine_;
  size_t number_;
  const Module& scope_;
};

}  // namespace

void check_level(const LevelDistribution& distribution, const Cuttable& space, const Machine& machine, size_t level,
                 const Module& scope) {
  LevelCheck(distribution, space, machine, level, scope).run();
}

void refuse_negative_face(const std::string& face, const SourceSpan& span) {
  throw Error(face.empty() ? "a face cannot be negative" : fmt::format("face {} is negative", face), span,
              "the faces of a machine dimension are 0 up to its extent less 1; write a computed one in parentheses");
}

}  // namespace distal::core
