#include "lang/resolve_distribution.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/parse_int.h"
#include "lang/same_machine.h"
#include "lang/suggest.h"

namespace distal::core {

namespace {

using Words = std::vector<DistributionWord>;

// A dimension after the cut into single ones. In the short form a name is never a param.
struct Part {
  std::string text;
  std::optional<Token> number;
  std::optional<IntExpr> face;
  bool may_be_param = false;
  SourceSpan span;
};

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_name(const std::string& text) {
  bool plain = text.find('*') == std::string::npos;
  return plain && !text.empty() && (text[0] < '0' || text[0] > '9');
}

// How many of the words between two arrows are Y of the first level; the rest is X of the second.
struct Cut {
  size_t y, x;
};

class Resolver {
 public:
  Resolver(const RawDistribution& raw, const Tensor& tensor, const Machine& machine, const Module& module)
      : raw_(raw), tensor_(tensor), machine_(machine), module_(module) {}

  Distribution run() {
    check_level_count();
    Distribution out;
    Words left = raw_.left;
    for (size_t level = 0; level < raw_.arrows.size(); ++level) {
      const DistributionArrow& arrow = raw_.arrows[level];
      LevelDistribution resolved;
      resolved.span = raw_.span;
      resolved.tensor_dimensions = tensor_side(left, arrow);
      bool last = level + 1 == raw_.arrows.size();
      size_t own = last ? arrow.words.size() : cut(level, resolved.tensor_dimensions).y;
      Words right(arrow.words.begin(), arrow.words.begin() + static_cast<std::ptrdiff_t>(own));
      left.assign(arrow.words.begin() + static_cast<std::ptrdiff_t>(own), arrow.words.end());
      resolved.machine_dimensions = machine_side(right, level, resolved.tensor_dimensions);
      add_cyclic(arrow, resolved);
      out.levels.push_back(std::move(resolved));
    }
    return out;
  }

 private:
  void check_level_count() const {
    size_t have = raw_.arrows.size(), want = machine_.levels.size();
    if (have == want) return;
    throw Error(fmt::format("{} has {} distribution{}, but its machine {} has {} level{}", tensor_.name, have,
                            have == 1 ? "" : "s", described(machine_), want, want == 1 ? "" : "s"),
                raw_.span,
                want == 1 ? "write one distribution, as in `xy -> xy`"
                          : "write one distribution per level, with commas between, as in `xy -> xy, xy -> x`");
  }

  size_t grid_arity(size_t level) const { return machine_.levels[level].extents.size(); }

  // The words as single dimensions: a lone word has one character a dimension, unless one dimension is all there
  // is to name.
  static std::vector<Part> parts(const Words& words, size_t arity) {
    std::vector<Part> out;
    bool lone = words.size() == 1 && !words[0].face;
    if (lone && (arity != 1 || words[0].text.size() == 1)) {
      const DistributionWord& word = words[0];
      for (size_t i = 0; i < word.text.size(); ++i) {
        SourceSpan span = word.span;
        span.column = word.columns[i];
        span.length = 1;
        out.push_back({word.text.substr(i, 1), std::nullopt, std::nullopt, false, span});
      }
      return out;
    }
    for (const DistributionWord& word : words) {
      bool number = word.token && word.token->kind == Token::Kind::Number;
      out.push_back({word.text, number ? word.token : std::nullopt, word.face, true, word.span});
    }
    return out;
  }

  std::vector<std::string> tensor_side(const Words& words, const DistributionArrow& arrow) const {
    size_t arity = tensor_.dimensions.size();
    std::vector<Part> dimensions = parts(words, arity);
    if (dimensions.size() != arity) refuse_tensor_arity(words, dimensions.size(), arrow);
    std::vector<std::string> names;
    for (const Part& part : dimensions) {
      if (part.face || !is_name(part.text)) {
        throw Error(fmt::format("`{}` cannot name a tensor dimension", part.face ? part.face->to_string() : part.text),
                    part.span, "left of the arrow stand names; faces and `*` belong on the right");
      }
      if (contains(names, part.text)) {
        throw Error(fmt::format("`{}` names two dimensions of {}", part.text, tensor_.name), part.span,
                    "every tensor dimension needs a name of its own");
      }
      names.push_back(part.text);
    }
    return names;
  }

  [[noreturn]] void refuse_tensor_arity(const Words& words, size_t have, const DistributionArrow& arrow) const {
    size_t want = tensor_.dimensions.size();
    std::string help = want == 0 ? "a scalar has nothing left of the arrow, as in `-> 0`"
                                 : "write one character per dimension, as in `xy -> ...`, or names with commas, as in "
                                   "`row, col -> ...`";
    throw Error(fmt::format("the left side names {} dimension{}, but {} has {}", have, have == 1 ? "" : "s",
                            tensor_.name, want),
                words.empty() ? arrow.span : words.front().span, help);
  }

  std::vector<MachineDimension> machine_side(const Words& words, size_t level,
                                             const std::vector<std::string>& names) const {
    size_t arity = grid_arity(level);
    std::vector<Part> dimensions = parts(words, arity);
    if (dimensions.size() != arity) refuse_machine_arity(words, dimensions.size(), level);
    std::vector<MachineDimension> out;
    std::vector<std::string> used;
    for (const Part& part : dimensions) {
      MachineDimension dimension = machine_dimension(part, names);
      if (const auto* partition = std::get_if<Partition>(&dimension.role)) {
        if (contains(used, partition->name)) {
          throw Error(fmt::format("`{}` is partitioned by two machine dimensions", partition->name), part.span,
                      "a tensor dimension may be cut along one machine dimension only");
        }
        used.push_back(partition->name);
      }
      out.push_back(std::move(dimension));
    }
    return out;
  }

  [[noreturn]] void refuse_machine_arity(const Words& words, size_t have, size_t level) const {
    std::string where = machine_.levels.size() == 1 ? described(machine_)
                                                    : fmt::format("level {} of {}, {},", level, described(machine_),
                                                                  to_string(machine_.levels[level]));
    size_t want = grid_arity(level);
    throw Error(fmt::format("the right side names {} machine dimension{}, but {} has {}", have, have == 1 ? "" : "s",
                            where, want),
                words.empty() ? raw_.arrows[level].span : words.front().span,
                "write one of a name, a face such as 0, or `*` for each machine dimension, as in `x0*` or `row, 0, *`");
  }

  MachineDimension machine_dimension(const Part& part, const std::vector<std::string>& names) const {
    if (part.face) return {Fix{*part.face}, part.span};
    if (part.number) return {Fix{integer_value(*part.number)}, part.span};
    if (part.text == "*") return {Broadcast{}, part.span};
    bool digit = part.text.size() == 1 && part.text[0] >= '0' && part.text[0] <= '9';
    if (digit) return {Fix{part.text[0] - '0'}, part.span};
    if (contains(names, part.text)) return {Partition{part.text}, part.span};
    if (part.may_be_param && is_param(part.text)) return {Fix{IntExpr::name(part.text, part.span)}, part.span};
    refuse_dimension(part, names);
  }

  bool is_param(const std::string& name) const {
    return std::any_of(module_.params.begin(), module_.params.end(), [&](const Param& p) { return p.name == name; });
  }

  [[noreturn]] void refuse_dimension(const Part& part, const std::vector<std::string>& names) const {
    std::string help = names.empty() ? fmt::format("{} is a scalar and has no dimensions", tensor_.name)
                                     : fmt::format("the dimensions of {} are {}", tensor_.name, listing(names));
    auto is_dimension = [&](char c) { return contains(names, std::string(1, c)); };
    if (part.text.size() > 1 && std::all_of(part.text.begin(), part.text.end(), is_dimension)) {
      help += fmt::format("; `{}` names {} of them, and there is one dimension of the machine here", part.text,
                          part.text.size());
    }
    help += "; a face is a number, or an expression in parentheses";
    if (names.size() == 1 && names[0].size() > 1)
      help += fmt::format("; with one dimension, `{}` is one name", names[0]);
    throw Error(fmt::format("`{}` is not a dimension of {}", part.text, tensor_.name), part.span, help);
  }

  // Of the ways to cut the list between two arrows that the arities allow, the first whose names fit; uniform
  // forms come first, because people rarely mix them.
  Cut cut(size_t level, const std::vector<std::string>& names) const {
    const DistributionArrow& arrow = raw_.arrows[level];
    size_t count = arrow.words.size();
    if (arrow.own_words) return {*arrow.own_words, count - *arrow.own_words};
    size_t p = grid_arity(level), n = tensor_.dimensions.size();
    size_t short_x = n == 0 ? 0 : 1;
    std::vector<Cut> fitting;
    for (Cut c : {Cut{1, short_x}, Cut{p, n}, Cut{1, n}, Cut{p, short_x}}) {
      if (c.y + c.x == count && fits(arrow.words, c, p, n)) fitting.push_back(c);
    }
    for (const Cut& c : fitting) {
      if (names_fit(arrow.words, c, names)) return c;
    }
    if (!fitting.empty()) return fitting.front();
    if (count == 2 && n > 0) return {1, 1};  // both sides in the short form: the check of its arity says which is wrong
    throw Error(
        fmt::format("cannot cut this list into the {} machine dimension{} of level {} and the {} dimension{} of {}", p,
                    p == 1 ? "" : "s", level, n, n == 1 ? "" : "s", tensor_.name),
        arrow.words.empty() ? arrow.span : arrow.words.front().span,
        "between two arrows stands the right side of one level, then the left side of the next, as in "
        "`xy -> xy, xy -> x`");
  }

  static bool fits(const Words& words, const Cut& cut, size_t p, size_t n) {
    auto is_word_of = [](const DistributionWord& word, size_t arity) {
      return arity == 1 || (!word.face && word.text.size() == arity);
    };
    bool y_fits = cut.y == p || is_word_of(words.front(), p);
    bool x_fits = cut.x == n || is_word_of(words.back(), n);
    return y_fits && x_fits;
  }

  bool names_fit(const Words& words, const Cut& cut, const std::vector<std::string>& names) const {
    Words right(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(cut.y));
    size_t arity = cut.y == 1 ? words.front().text.size() : cut.y;
    std::vector<Part> dimensions = parts(right, cut.y == 1 && words.front().face ? 1 : arity);
    return std::all_of(dimensions.begin(), dimensions.end(), [&](const Part& part) {
      return part.face || part.number || !is_name(part.text) || contains(names, part.text) ||
             (part.may_be_param && is_param(part.text));
    });
  }

  void add_cyclic(const DistributionArrow& arrow, LevelDistribution& level) const {
    for (const CyclicEntry& entry : arrow.cyclic) {
      const std::string& name = entry.dimension.text;
      if (!contains(level.tensor_dimensions, name)) {
        throw Error(fmt::format("`cyclic` of `{}`, which is not a dimension of {}", name, tensor_.name),
                    entry.dimension.span,
                    fmt::format("the dimensions of {} are {}", tensor_.name, listing(level.tensor_dimensions)));
      }
      check_partitioned(entry, level);
      if (!level.cyclic.emplace(name, entry.block).second) {
        throw Error(fmt::format("`cyclic` gives the block of `{}` twice", name), entry.dimension.span);
      }
    }
  }

  void check_partitioned(const CyclicEntry& entry, const LevelDistribution& level) const {
    std::vector<std::string> partitioned;
    for (const MachineDimension& d : level.machine_dimensions) {
      if (const auto* partition = std::get_if<Partition>(&d.role)) partitioned.push_back(partition->name);
    }
    if (contains(partitioned, entry.dimension.text)) return;
    throw Error(fmt::format("`cyclic` of `{}`, which no machine dimension partitions", entry.dimension.text),
                entry.dimension.span, fmt::format("the partitioned dimensions are: {}", listing(partitioned)));
  }

  const RawDistribution& raw_;
  const Tensor& tensor_;
  const Machine& machine_;
  const Module& module_;
};

}  // namespace

Distribution resolve_distribution(const RawDistribution& raw, const Tensor& tensor, const Machine& machine,
                                  const Module& module) {
  return Resolver(raw, tensor, machine, module).run();
}

}  // namespace distal::core
