#include "lang/resolve_distribution.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/parse_int.h"

namespace distal::core {

namespace {

using Words = std::vector<DistributionWord>;

// One dimension of a side. A name of the short form is never a param.
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
  Resolver(const RawDistribution& raw, const Cuttable& space, const Machine& machine, const Module& module)
      : raw_(raw), space_(space), machine_(machine), module_(module) {}

  Distribution run() {
    Distribution out;
    Words left = raw_.left;
    for (size_t level = 0; level < raw_.arrows.size(); ++level) {
      const DistributionArrow& arrow = raw_.arrows[level];
      LevelDistribution resolved;
      resolved.span = raw_.span;
      resolved.places.left = left.empty() ? arrow.span : left.front().span;
      read_tensor_side(left, resolved);
      bool last = level + 1 == raw_.arrows.size();
      size_t own = last ? arrow.words.size() : cut(level, resolved.tensor_dimensions).y;
      Words right(arrow.words.begin(), arrow.words.begin() + static_cast<std::ptrdiff_t>(own));
      left.assign(arrow.words.begin() + static_cast<std::ptrdiff_t>(own), arrow.words.end());
      resolved.places.right = right.empty() ? arrow.span : right.front().span;
      for (const Part& part : parts(right, grid_arity(level))) {
        resolved.machine_dimensions.push_back(machine_dimension(part, resolved.tensor_dimensions));
      }
      add_cyclic(arrow, resolved);
      out.levels.push_back(std::move(resolved));
    }
    return out;
  }

 private:
  size_t grid_arity(size_t level) const { return machine_.levels[level].extents.size(); }

  // The words as single dimensions. A lone word has one character per dimension, unless there is one dimension only;
  // then it is the name of that dimension.
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

  void read_tensor_side(const Words& words, LevelDistribution& level) const {
    for (const Part& part : parts(words, space_.dimensions)) {
      if (part.face) {
        throw Error(fmt::format("`{}` cannot name a tensor dimension", part.face->to_string()), part.span,
                    "left of the arrow stand names; faces and `*` belong on the right");
      }
      level.tensor_dimensions.push_back(part.text);
      level.places.names.push_back(part.span);
    }
  }

  MachineDimension machine_dimension(const Part& part, const std::vector<std::string>& names) const {
    if (part.face) return {Fix{*part.face}, part.span};
    if (part.number) return {Fix{integer_value(*part.number)}, part.span};
    if (part.text == "*") return {Broadcast{}, part.span};
    bool digit = part.text.size() == 1 && part.text[0] >= '0' && part.text[0] <= '9';
    if (digit) return {Fix{part.text[0] - '0'}, part.span};
    bool is_face = !contains(names, part.text) && part.may_be_param && is_param(part.text);
    if (is_face) return {Fix{IntExpr::name(part.text, part.span)}, part.span};
    return {Partition{part.text}, part.span};
  }

  bool is_param(const std::string& name) const {
    return std::any_of(module_.params.begin(), module_.params.end(), [&](const Param& p) { return p.name == name; });
  }

  // Of the ways to cut the list between two arrows that the arities allow, the first whose names fit. Uniform
  // forms come first, because people rarely mix them.
  Cut cut(size_t level, const std::vector<std::string>& names) const {
    const DistributionArrow& arrow = raw_.arrows[level];
    size_t count = arrow.words.size();
    if (arrow.own_words) return {*arrow.own_words, count - *arrow.own_words};
    size_t p = grid_arity(level), n = space_.dimensions;
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
                    p == 1 ? "" : "s", level, n, n == 1 ? "" : "s", space_.name),
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
    for (const auto& [dimension, block] : arrow.cyclic) {
      if (!level.cyclic.emplace(dimension.text, block).second) {
        throw Error(fmt::format("`cyclic` gives the block of `{}` twice", dimension.text), dimension.span);
      }
      level.places.cyclic.emplace(dimension.text, dimension.span);
    }
  }

  const RawDistribution& raw_;
  const Cuttable& space_;
  const Machine& machine_;
  const Module& module_;
};

// Without a level for each arrow the words cannot be cut. `check` then says what is wrong with the machine.
Distribution unresolved(const RawDistribution& raw) {
  LevelDistribution level;
  level.span = raw.span;
  return {std::vector<LevelDistribution>(raw.arrows.size(), level)};
}

}  // namespace

Distribution resolve_distribution(const RawDistribution& raw, const Cuttable& space, const Machine* machine,
                                  const Module& module) {
  if (!machine || machine->levels.size() != raw.arrows.size()) return unresolved(raw);
  return Resolver(raw, space, *machine, module).run();
}

}  // namespace distal::core
