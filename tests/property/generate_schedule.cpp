#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

#include "model.h"

namespace distal::core::property {

namespace {

constexpr int64_t kMostIterations = 2500;  // of the whole nest, including iterations past the end of a tile

struct LoopModel {
  std::string name;
  std::vector<std::string> origins;  // the variables of the statement from which it is made
  int64_t extent = 1;
  bool contiguous = true;  // its iterations are consecutive values of its only origin
  bool distributed = false;
  bool marked = false;            // it is parallelized, unrolled or vectorized, so no command may replace it
  std::set<std::string> moves{};  // the variables whose values it changes: its origins, and those of loops it rotates
};

LoopModel made_from(const LoopModel& old, const std::string& name, int64_t extent, bool contiguous) {
  return {name, old.origins, extent, contiguous, false, false, old.moves};
}

template <class Names>
bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the loop changes one of the variables.
bool moves_any(const LoopModel& loop, const std::vector<std::string>& variables) {
  return std::any_of(variables.begin(), variables.end(), [&](const std::string& v) { return loop.moves.count(v) > 0; });
}

class ScheduleGenerator {
 public:
  ScheduleGenerator(Choice& choice, Numbers& numbers, const ScheduleScope& scope)
      : choice_(choice), numbers_(numbers), scope_(scope) {
    for (const std::string& v : scope.statement.variables) {
      int64_t extent = std::max<int64_t>(1, scope.extents.at(v));  // the model divides by it
      loops_.push_back({v, {v}, extent, true, false, false, {v}});
    }
    nest_ = {scope.statement.lhs.indices, scope.statement.terms, scope.statement.product_of_two};
    if (scope.machine) levels_left_.assign(scope.machine->levels.size(), true);
  }

  std::string run() {
    if (loops_.empty()) return "";
    rewrite(choice_.weighted({50, 30, 20}));
    if (choice_.chance(88)) distribute();
    if (choice_.chance(30)) add_step_loop();
    rewrite(choice_.weighted(step_loop_.empty() ? std::vector{30, 30, 20, 12, 8} : std::vector{70, 20, 10}));
    bool kernel = nest_.product_of_two && choice_.chance(60) && prepare_kernel();
    communicate();
    if (kernel) {
      substitute();
    } else if (!choice_.chance(24) || !precompute(first_of_leaf(false))) {
      if (choice_.chance(40)) mark(first_of_leaf(true));
    }
    return out_;
  }

 private:
  // The body of the loops: the statement, or one side of a workspace.
  struct Nest {
    std::vector<std::string> output;
    std::vector<Term> terms;
    bool product_of_two = false;
  };

  template <class... Args>
  void command(fmt::format_string<Args...> text, Args&&... args) {
    out_ += "  " + fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  std::string fresh(const std::string& base) { return fmt::format("{}{}", base.substr(0, 1), scope_.next_name++); }

  size_t position(const std::string& name) const {
    return static_cast<size_t>(
        std::find_if(loops_.begin(), loops_.end(), [&](const auto& l) { return l.name == name; }) - loops_.begin());
  }
  LoopModel& loop(const std::string& name) { return loops_[position(name)]; }

  int64_t iterations() const {
    int64_t all = iterations_around_;
    for (const LoopModel& l : loops_) all *= l.extent;
    return all;
  }

  std::vector<std::string> free_loops() const {
    std::vector<std::string> out;
    for (const LoopModel& l : loops_) {
      if (!l.marked && !l.distributed) out.push_back(l.name);
    }
    return out;
  }

  std::vector<std::string> names(const std::vector<LoopModel>& loops) const {
    std::vector<std::string> out;
    for (const LoopModel& l : loops) out.push_back(l.name);
    return out;
  }

  // ---- split, divide, collapse, reorder, rotate ----

  void rewrite(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      switch (choice_.weighted({25, 25, 13, 22, 15})) {
        case 0: tile(true); break;
        case 1: tile(false); break;
        case 2: collapse(); break;
        case 3: reorder(); break;
        default: rotate(); break;
      }
    }
  }

  static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

  void tile(bool split) {
    std::vector<std::string> targets = free_loops();
    if (!targets.empty()) tile(choice_.of(targets), split, choice_.between(1, 4));
  }

  // Replaces the loop by two; returns the name of the outer one.
  std::string tile(const std::string& target, bool split, int64_t number) {
    LoopModel old = loop(target);
    int64_t inner = split ? number : ceil_div(old.extent, number);
    int64_t outer = split ? ceil_div(old.extent, number) : number;
    if (iterations() / old.extent * inner * outer > kMostIterations) return target;
    LoopModel o = made_from(old, fresh(target), outer, false), i = made_from(old, fresh(target), inner, old.contiguous);
    command("{}({}, {}, {}, {})", split ? "split" : "divide", target, o.name, i.name, numbers_.write(number).text);
    size_t at = position(target);
    loops_[at] = o;
    loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1, i);
    return o.name;
  }

  void collapse() {
    std::vector<size_t> places;
    for (size_t p = 0; p + 1 < loops_.size(); ++p) {
      bool busy = loops_[p].marked || loops_[p].distributed || loops_[p + 1].marked || loops_[p + 1].distributed;
      if (!busy) places.push_back(p);
    }
    if (places.empty()) return;
    size_t at = choice_.of(places);
    LoopModel a = loops_[at], b = loops_[at + 1];
    LoopModel fused = made_from(a, fresh("f"), a.extent * b.extent, false);
    fused.moves.insert(b.moves.begin(), b.moves.end());
    for (const std::string& v : b.origins) {
      if (!contains(fused.origins, v)) fused.origins.push_back(v);
    }
    command("collapse({}, {}, {})", a.name, b.name, fused.name);
    loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    loops_[at] = fused;
  }

  void reorder() {
    if (loops_.size() < 2) return;
    std::vector<std::string> chosen = names(loops_);
    choice_.shuffle(chosen);
    if (choice_.chance(50)) chosen.resize(static_cast<size_t>(choice_.between(2, int64_t(chosen.size()))));
    reorder(chosen);
  }

  void reorder(const std::vector<std::string>& chosen) {
    std::vector<size_t> places;
    std::vector<LoopModel> moved;
    for (const std::string& name : chosen) {
      places.push_back(position(name));
      moved.push_back(loop(name));
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 0; i < places.size(); ++i) loops_[places[i]] = moved[i];
    command("reorder({{{}}})", fmt::join(chosen, ", "));
  }

  void rotate() {
    std::vector<size_t> places;
    for (size_t p = 1; p < loops_.size(); ++p) {
      if (!loops_[p].marked && !loops_[p].distributed) places.push_back(p);
    }
    if (places.empty()) return;
    size_t at = choice_.of(places);
    std::vector<std::string> by;
    for (size_t p = 0; p < at; ++p) by.push_back(loops_[p].name);
    // Rotations by distributed loops are the useful ones, so they are preferred; all are legal.
    std::vector<std::string> distributed;
    for (size_t p = 0; p < at; ++p) {
      if (loops_[p].distributed) distributed.push_back(loops_[p].name);
    }
    if (!distributed.empty() && choice_.chance(60)) by = distributed;
    choice_.shuffle(by);
    by.resize(static_cast<size_t>(choice_.between(1, std::min<int64_t>(3, int64_t(by.size())))));
    rotate(at, by);
  }

  // Returns the name of the rotated loop.
  std::string rotate(size_t at, const std::vector<std::string>& by) {
    LoopModel& target = loops_[at];
    std::string result = fresh(target.name);
    command("rotate({}, {{{}}}, {})", target.name, fmt::join(by, ", "), result);
    if (target.name == step_loop_) step_loop_ = result;
    for (const std::string& name : by) loop(name).moves.insert(target.moves.begin(), target.moves.end());
    target.name = result;
    target.contiguous = false;
    return result;
  }

  // ---- distribute ----

  void distribute() {
    if (!scope_.machine) {
      if (choice_.chance(50)) onto_grid({}, static_cast<size_t>(choice_.between(1, 2)));
      return;
    }
    std::vector<size_t> order;
    for (size_t l = 0; l < levels_left_.size(); ++l) order.push_back(l);
    if (choice_.chance(7)) choice_.shuffle(order);
    for (size_t level : order) {
      if (!levels_left_[level] || !choice_.chance(85)) continue;
      distribute_level(level);
      if (choice_.chance(25)) rewrite(1);
    }
  }

  void distribute_level(size_t level) {
    size_t dimensions = scope_.machine->levels[level].extents.size();
    switch (choice_.weighted({30, 14, 18, 24, 14})) {
      case 0:
        if (compound(level, dimensions)) return;
        break;
      case 4:
        if (by_notation(level)) return;
        break;
      case 1:
        // If no tensor is on the machine, the statement would run on this grid instead of the machine. Loops that name
        // no level get their dimensions after all other commands, so their level is not known here.
        if (is_first_left(level) && !bare_ && scope_.tensors_are_on_machine && onto_grid(level, dimensions)) return;
        break;
      case 2:
        if (onto_tensor(level)) return;
        break;
      default: break;
    }
    bare(level, dimensions);
  }

  bool is_first_left(size_t level) const {
    return std::find(levels_left_.begin(), levels_left_.end(), true) ==
           levels_left_.begin() + static_cast<std::ptrdiff_t>(level);
  }

  std::string level_name(const std::string& name, size_t level) {
    bool needed = scope_.machine->levels.size() > 1;
    return needed || choice_.chance(10) ? fmt::format("{}[{}]", name, level) : name;
  }

  bool compound(size_t level, size_t dimensions) {
    std::vector<int64_t> extents;
    for (const Quantity& q : scope_.machine->levels[level].extents) extents.push_back(q.value);
    std::vector<std::string> targets = some_targets(dimensions);
    if (targets.empty() || !fits(targets, extents)) return false;
    std::string onto = level_name(scope_.machine->name, level);
    distribute_onto(targets, extents, onto, std::vector<bool>(dimensions, false));
    levels_left_[level] = false;
    return true;
  }

  // Distributes loops by notation, like the dimensions of a tensor. The remaining grid dimensions are fixed to a face.
  bool by_notation(size_t level) {
    const std::vector<Quantity>& grid = scope_.machine->levels[level].extents;
    std::vector<size_t> dimensions;
    for (size_t d = 0; d < grid.size(); ++d) dimensions.push_back(d);
    choice_.shuffle(dimensions);
    dimensions.resize(static_cast<size_t>(choice_.between(1, int64_t(grid.size()))));
    std::vector<int64_t> extents;
    for (size_t d : dimensions) extents.push_back(grid[d].value);
    std::vector<std::string> targets = some_targets(dimensions.size());
    if (targets.empty() || !fits(targets, extents)) return false;

    const std::string letters = "xyzu";
    std::string right;
    for (const Quantity& extent : grid) right += std::to_string(choice_.below(extent.value));
    for (size_t t = 0; t < dimensions.size(); ++t) right[dimensions[t]] = letters[t];
    std::vector<bool> cyclic;
    std::vector<std::string> dealt;
    for (size_t t = 0; t < targets.size(); ++t) {
      cyclic.push_back(choice_.chance(20));
      if (cyclic[t]) dealt.push_back(fmt::format("{} = {}", letters[t], choice_.between(1, 3)));
    }
    std::string blocks = dealt.empty() ? "" : fmt::format(" cyclic({})", fmt::join(dealt, ", "));
    distribute_onto(targets, extents,
                    fmt::format("{} -> {}{} on {}", letters.substr(0, targets.size()), right, blocks,
                                level_name(scope_.machine->name, level)),
                    cyclic);
    levels_left_[level] = false;
    return true;
  }

  bool onto_grid(std::optional<size_t> level, size_t dimensions) {
    std::vector<int64_t> extents;
    std::vector<std::string> written;
    for (size_t d = 0; d < dimensions; ++d) {
      Quantity q = numbers_.write(choice_.between(1, 5));
      extents.push_back(q.value);
      written.push_back(q.text);
    }
    std::vector<std::string> targets = some_targets(dimensions);
    if (targets.empty() || !fits(targets, extents)) return false;
    distribute_onto(targets, extents, fmt::format("Grid({})", fmt::join(written, ", ")),
                    std::vector<bool>(dimensions, false));
    if (level) levels_left_[*level] = false;
    return true;
  }

  // Whether the number of iterations stays below the limit. A cyclic distribution makes about as many as a blocked one.
  bool fits(const std::vector<std::string>& targets, const std::vector<int64_t>& extents) {
    int64_t all = iterations();
    for (size_t t = 0; t < targets.size(); ++t) {
      int64_t extent = loop(targets[t]).extent;
      all = all / extent * extents[t] * ceil_div(extent, extents[t]);
    }
    return all <= kMostIterations;
  }

  std::vector<std::string> some_targets(size_t count) {
    std::vector<std::string> targets = free_loops();
    if (targets.size() < count) return {};
    if (choice_.chance(50)) choice_.shuffle(targets);
    targets.resize(count);
    return targets;
  }

  // Follows the distribution of a tensor of the statement.
  bool onto_tensor(size_t level) {
    std::vector<std::string> candidates;
    for (const auto& [name, tensor] : scope_.tensors) {
      if (!tensor.levels.empty() && tensor.machine == scope_.machine->name) candidates.push_back(name);
    }
    if (candidates.empty()) return false;
    const Tensor& tensor = scope_.tensors.at(choice_.of(candidates));
    if (!first_access(tensor.name).shifts.empty()) return false;
    std::vector<std::string> indices = first_access(tensor.name).indices;
    std::vector<std::string> targets;
    std::vector<int64_t> extents;
    std::vector<bool> cyclic;
    const std::vector<Role>& roles = tensor.levels[level];
    for (size_t d = 0; d < roles.size(); ++d) {
      if (roles[d].kind != Role::Kind::Partition) continue;
      std::string target = target_made_from(indices[static_cast<size_t>(roles[d].dimension)], targets);
      if (target.empty()) return false;
      targets.push_back(target);
      extents.push_back(scope_.machine->levels[level].extents[d].value);
      cyclic.push_back(roles[d].cyclic);
    }
    if (targets.empty() || !fits(targets, extents)) return false;
    distribute_onto(targets, extents, level_name(tensor.name, level), cyclic);
    levels_left_[level] = false;
    return true;
  }

  TensorAccess first_access(const std::string& tensor) const {
    if (scope_.statement.lhs.tensor == tensor) return scope_.statement.lhs;
    return *std::find_if(scope_.statement.rhs.begin(), scope_.statement.rhs.end(),
                         [&](const TensorAccess& a) { return a.tensor == tensor; });
  }

  // The first free loop that is made from the index alone.
  std::string target_made_from(const std::string& index, const std::vector<std::string>& taken) const {
    for (const LoopModel& l : loops_) {
      bool made = l.origins == std::vector<std::string>{index} && !l.marked && !l.distributed;
      if (made && std::find(taken.begin(), taken.end(), l.name) == taken.end()) return l.name;
    }
    return "";
  }

  void distribute_onto(const std::vector<std::string>& targets, const std::vector<int64_t>& extents,
                       const std::string& onto, const std::vector<bool>& cyclic) {
    std::vector<LoopModel> distributed, rounds, local;
    std::vector<std::string> given;  // the local loops as the command names them
    bool named = std::count(cyclic.begin(), cyclic.end(), true) > 0 && choice_.chance(50);
    for (size_t t = 0; t < targets.size(); ++t) {
      const LoopModel& old = loop(targets[t]);
      distributed.push_back(made_from(old, fresh(targets[t]), extents[t], false));
      distributed.back().distributed = true;
      if (cyclic[t]) {
        rounds.push_back(made_from(old, named ? fresh(targets[t]) : targets[t] + "_round", 1, false));
        if (named) given.push_back(rounds.back().name);
      }
      local.push_back(
          made_from(old, fresh(targets[t]), ceil_div(old.extent, extents[t]), old.contiguous && !cyclic[t]));
      given.push_back(local.back().name);
    }
    bool plain = targets.size() == 1 && given.size() == 1 && choice_.chance(50);
    auto list = [&](const std::vector<std::string>& all) {
      return plain ? all[0] : fmt::format("{{{}}}", fmt::join(all, ", "));
    };
    command("distribute({}, {}, {}, {})", list(targets), list(names(distributed)), list(given), onto);

    size_t below = 0;
    for (size_t p = 0; p < loops_.size(); ++p) {
      if (loops_[p].distributed) below = p + 1;
    }
    std::vector<LoopModel> made;
    auto is_target = [&](const LoopModel& l) {
      return std::find(targets.begin(), targets.end(), l.name) != targets.end();
    };
    auto keep = [&](size_t first, size_t last) {
      for (size_t p = first; p < last; ++p) {
        if (!is_target(loops_[p])) made.push_back(loops_[p]);
      }
    };
    keep(0, below);
    made.insert(made.end(), distributed.begin(), distributed.end());
    made.insert(made.end(), rounds.begin(), rounds.end());
    made.insert(made.end(), local.begin(), local.end());
    keep(below, loops_.size());
    loops_ = made;
  }

  // Distributes existing loops. Most are first divided to the extents of the grid.
  void bare(size_t level, size_t dimensions) {
    std::vector<std::string> chosen = free_loops();
    if (chosen.empty()) return;
    choice_.shuffle(chosen);
    chosen.resize(std::min(chosen.size(), static_cast<size_t>(choice_.between(1, int64_t(dimensions)))));
    for (size_t d = 0; d < chosen.size(); ++d) {
      int64_t extent = scope_.machine->levels[level].extents[d].value;
      if (choice_.chance(60)) chosen[d] = tile(chosen[d], false, extent);
    }
    if (choice_.chance(60)) {
      std::vector<std::string> order = chosen;
      for (const LoopModel& l : loops_) {
        if (std::find(chosen.begin(), chosen.end(), l.name) == chosen.end()) order.push_back(l.name);
      }
      if (order.size() > 1) reorder(order);
    }
    // Without the name of a level, loops take the first free dimensions. These belong to `level` only if it is the
    // first free level.
    bool named = !is_first_left(level) || choice_.chance(50);
    std::string onto = named ? ", " + level_name(scope_.machine->name, level) : "";
    bare_ = bare_ || !named;
    if (chosen.size() == 1) {
      command("distribute({}{})", chosen[0], onto);
    } else {
      command("distribute({{{}}}{})", fmt::join(chosen, ", "), onto);
    }
    for (const std::string& name : chosen) loop(name).distributed = true;
    levels_left_[level] = false;
  }

  // Puts a loop of steps, rotated or not, directly below the launches, as systolic algorithms do.
  void add_step_loop() {
    std::vector<std::string> targets = free_loops(), distributed;
    for (const LoopModel& l : loops_) {
      if (l.distributed) distributed.push_back(l.name);
    }
    if (targets.empty() || distributed.empty()) return;
    step_loop_ = tile(choice_.of(targets), choice_.chance(40), choice_.between(1, 5));
    std::vector<std::string> order = distributed;
    order.push_back(step_loop_);
    for (const LoopModel& l : loops_) {
      if (std::find(order.begin(), order.end(), l.name) == order.end()) order.push_back(l.name);
    }
    if (order != names(loops_)) reorder(order);
    if (choice_.chance(70)) {
      choice_.shuffle(distributed);
      distributed.resize(static_cast<size_t>(choice_.between(1, int64_t(distributed.size()))));
      step_loop_ = rotate(position(step_loop_), distributed);
    }
  }

  // ---- communicate, substitute ----

  void communicate() {
    std::vector<std::string> tensors;
    for (const auto& [name, unused] : scope_.tensors) tensors.push_back(name);
    choice_.shuffle(tensors);
    std::vector<std::string> places = communicate_places();
    if (places.empty()) return;
    if (choice_.chance(8)) return;
    bool once = choice_.chance(20);  // all in one command
    if (once) return emit_communicate(tensors, choice_.of(places));
    for (const std::string& tensor : tensors) {
      int times = static_cast<int>(choice_.weighted({20, 68, 12}));
      for (int i = 0; i < times; ++i) emit_communicate({tensor}, place_for(tensor, places));
    }
  }

  const std::string& place_for(const std::string& tensor, const std::vector<std::string>& places) {
    bool steps = std::find(places.begin(), places.end(), step_loop_) != places.end();
    bool input = tensor != scope_.statement.lhs.tensor;
    if (steps && input && choice_.chance(75)) return step_loop_;
    // Whether to communicate above the launch of a lower level, whose processors then share what is acquired.
    bool shared = scope_.machine && scope_.machine->levels.size() > 1 && loops_[0].distributed && choice_.chance(25);
    return shared ? loops_[0].name : choice_.of(places);
  }

  std::vector<std::string> communicate_places() const {
    std::vector<std::string> out;
    for (const LoopModel& l : loops_) {
      if (std::find(kernel_.begin(), kernel_.end(), l.name) == kernel_.end()) out.push_back(l.name);
    }
    return out;
  }

  void emit_communicate(const std::vector<std::string>& tensors, const std::string& at) {
    if (tensors.size() == 1) {
      command("communicate({}, {})", tensors[0], at);
    } else {
      command("communicate({{{}}}, {})", fmt::join(tensors, ", "), at);
    }
    for (const std::string& t : tensors) communicated_[t] = at;
  }

  // The position of the first loop that belongs to the leaf. With `all_named`, it is behind the last loop if some
  // tensor has no communicate, as that tensor may be communicated anywhere.
  size_t first_of_leaf(bool all_named) const {
    size_t below = 0;
    for (const auto& [tensor, unused] : scope_.tensors) {
      auto found = communicated_.find(tensor);
      if (found != communicated_.end()) below = std::max(below, position(found->second) + 1);
      if (found == communicated_.end() && all_named) return loops_.size();
    }
    for (size_t p = 0; p < loops_.size(); ++p) {
      if (loops_[p].distributed) below = std::max(below, p + 1);
    }
    return below;
  }

  void substitute() { command("substitute({{{}}}, gemm)", fmt::join(kernel_, ", ")); }

  // ---- parallelize, unroll, vectorize ----

  // Marks loops from `first` on.
  void mark(size_t first) {
    if (first >= loops_.size()) return;
    int times = static_cast<int>(choice_.between(1, 3));
    for (int i = 0; i < times; ++i) {
      auto at = static_cast<size_t>(choice_.between(int64_t(first), int64_t(loops_.size()) - 1));
      switch (choice_.weighted({40, 30, 30})) {
        case 0: parallelize(at); break;
        case 1: unroll(at); break;
        default: vectorize(); break;
      }
    }
  }

  bool indexes_only(const LoopModel& l) const {
    return std::all_of(l.origins.begin(), l.origins.end(),
                       [&](const std::string& v) { return contains(nest_.output, v); });
  }

  void parallelize(size_t at) {
    if (loops_[at].marked) return;
    loops_[at].marked = true;
    if (indexes_only(loops_[at])) return command("parallelize({})", loops_[at].name);
    bool one_sum = std::none_of(loops_.begin() + static_cast<std::ptrdiff_t>(at), loops_.end(),
                                [&](const LoopModel& l) { return moves_any(l, nest_.output); });
    bool reduction = one_sum && choice_.chance(70);
    command("parallelize({}, {})", loops_[at].name, reduction ? "reduction" : "atomics");
  }

  void unroll(size_t at) {
    if (loops_[at].marked) return;
    loops_[at].marked = true;
    command("unroll({}, {})", loops_[at].name, numbers_.write(choice_.between(1, 4)).text);
  }

  void vectorize() {
    LoopModel& last = loops_.back();
    if (last.marked || (!indexes_only(last) && moves_any(last, nest_.output))) return;
    last.marked = true;
    command("vectorize({})", last.name);
  }

  // ---- precompute ----

  // Precomputes a subexpression into a workspace inside loop `first` or a later loop, and schedules the loops of both
  // sides. Returns false if that is not possible.
  bool precompute(size_t first) {
    std::optional<Subexpression> part = random_subexpression(choice_, nest_.terms, {"", nest_.output});
    if (!part) return false;
    auto from = static_cast<size_t>(choice_.between(int64_t(first), int64_t(loops_.size())));
    std::vector<size_t> named;
    for (size_t p = from; p < loops_.size(); ++p) {
      if (moves_any(loops_[p], part->free)) named.push_back(p);
    }
    size_t start = named.empty() ? loops_.size() : named[0];
    while (start > 0 && is_summed(loops_[start - 1], *part) && !loops_[start - 1].distributed) --start;
    if (start < first) return false;
    for (size_t p = start; p < loops_.size(); ++p) {
      if (!can_stand_inside(loops_[p], *part)) return false;
    }
    emit_precompute(*part, start, named);
    return true;
  }

  static bool is_summed(const LoopModel& l, const Subexpression& part) {
    return std::all_of(l.origins.begin(), l.origins.end(),
                       [&](const std::string& v) { return contains(part.sums, v); });
  }

  // Whether the loop can be inside the workspace: in the producer if it only sums, in both sides if the subexpression
  // uses it, else in the consumer.
  static bool can_stand_inside(const LoopModel& l, const Subexpression& part) {
    if (is_summed(l, part)) return !moves_any(l, part.other);
    bool extra =
        std::any_of(l.origins.begin(), l.origins.end(), [&](const std::string& v) { return !contains(part.free, v); });
    if (moves_any(l, part.free) && extra) return false;  // each element would be added up several times
    return std::none_of(l.origins.begin(), l.origins.end(),
                        [&](const std::string& v) { return contains(part.sums, v); });
  }

  void emit_precompute(const Subexpression& part, size_t start, const std::vector<size_t>& named) {
    std::vector<LoopModel> around(loops_.begin(), loops_.begin() + static_cast<std::ptrdiff_t>(start)), consumer,
        producer;
    std::vector<std::pair<std::string, std::string>> copies;
    for (size_t p = start; p < loops_.size(); ++p) {
      const LoopModel& l = loops_[p];
      if (!is_summed(l, part)) consumer.push_back(l);
      if (std::find(named.begin(), named.end(), p) != named.end()) {
        producer.push_back(made_from(l, fresh(l.name), l.extent, l.contiguous));
        copies.emplace_back(l.name, producer.back().name);
      } else if (is_summed(l, part)) {
        producer.push_back(l);
      }
    }
    choice_.shuffle(copies);
    std::vector<std::string> of, as, indices;
    for (const auto& [loop_name, copy] : copies) {
      of.push_back(loop_name);
      as.push_back(copy);
      for (const std::string& v : part.free) {
        if (loop(loop_name).moves.count(v) > 0 && !contains(indices, v)) indices.push_back(v);
      }
    }
    std::string workspace = fmt::format("W{}", scope_.next_name++);
    command("precompute({}, {{{}}}, {{{}}}, {})", text_of(part.terms), fmt::join(of, ", "), fmt::join(as, ", "),
            workspace);
    for (const LoopModel& l : around) iterations_around_ *= l.extent;
    bool whole = part.rest.size() == 1 && part.rest[0].factors.size() == 1;
    Nest made{indices, part.terms, nest_.product_of_two && whole},
        rest{nest_.output, filled(part, {workspace, indices}), false};
    bool producer_first = choice_.chance(50);
    if (producer_first) schedule_side(producer, made);
    schedule_side(consumer, rest);
    if (!producer_first) schedule_side(producer, made);
  }

  // Schedules the loops of one side of a workspace. All of them belong to the leaf.
  void schedule_side(const std::vector<LoopModel>& loops, const Nest& nest) {
    if (loops.empty()) return;
    loops_ = loops;
    nest_ = nest;
    if (choice_.chance(40)) rewrite(choice_.weighted({0, 60, 40}));
    if (nest_.product_of_two && choice_.chance(70) && prepare_kernel()) return substitute();
    if (choice_.chance(40)) mark(0);
  }

  // Reorders one loop of rows, one of columns and one of the sum to be the innermost. Returns false if one is missing.
  bool prepare_kernel() {
    const std::vector<std::string>&a = nest_.output, &b = nest_.terms[0].factors[0].variables,
          &c = nest_.terms[0].factors[1].variables;
    auto has = [](const std::vector<std::string>& x, const std::string& v) { return contains(x, v); };
    std::string rows, columns, sum;
    for (const LoopModel& l : loops_) {
      if (l.marked || l.distributed || !l.contiguous || l.origins.size() != 1) continue;
      const std::string& v = l.origins[0];
      if (has(a, v) && has(b, v) && !has(c, v)) rows = l.name;
      if (has(a, v) && has(c, v) && !has(b, v)) columns = l.name;
      if (has(b, v) && has(c, v) && !has(a, v)) sum = l.name;
    }
    if (rows.empty() || columns.empty() || sum.empty()) return false;
    kernel_ = {rows, columns, sum};
    choice_.shuffle(kernel_);
    std::vector<std::string> order;
    for (const LoopModel& l : loops_) {
      if (std::find(kernel_.begin(), kernel_.end(), l.name) == kernel_.end()) order.push_back(l.name);
    }
    order.insert(order.end(), kernel_.begin(), kernel_.end());
    if (order != names(loops_)) reorder(order);
    return true;
  }

  Choice& choice_;
  Numbers& numbers_;
  const ScheduleScope& scope_;
  Nest nest_;
  int64_t iterations_around_ = 1;  // of the loops around a workspace, while loops_ are the loops inside
  std::vector<LoopModel> loops_;   // outermost first
  std::vector<bool> levels_left_;  // by level of the machine: nothing is distributed onto it yet
  bool bare_ = false;              // some loops name no level
  std::string step_loop_;          // the preferred place to communicate inputs; empty if there is no step loop
  std::vector<std::string> kernel_;
  std::map<std::string, std::string> communicated_;  // tensor -> loop
  std::string out_;
};

}  // namespace

std::string random_schedule(Choice& choice, Numbers& numbers, const ScheduleScope& scope) {
  return ScheduleGenerator(choice, numbers, scope).run();
}

}  // namespace distal::core::property
