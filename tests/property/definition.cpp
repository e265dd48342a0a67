#include "definition.h"

#include <algorithm>
#include <set>

#include "plan/walk.h"

namespace distal::core::property {

namespace {

int64_t ceil_of(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Calls f for all coordinates below `shape`, the last dimension fastest.
template <class F>
void for_each_coordinate(const std::vector<int64_t>& shape, F&& f) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  std::vector<int64_t> at(shape.size(), 0);
  while (true) {
    f(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

struct Level {
  const LevelDistribution* distribution;
  std::vector<int64_t> extents;
};

std::vector<Level> levels_of(const Tensor& tensor, const Bindings& params) {
  std::vector<Level> out;
  for (size_t l = 0; tensor.distribution && l < tensor.distribution->levels.size(); ++l) {
    Level level{&tensor.distribution->levels[l], {}};
    for (const IntExpr& e : tensor.machine->levels[l].extents) level.extents.push_back(e.evaluate(params));
    out.push_back(level);
  }
  return out;
}

// Whether the processor at these coordinates of all levels owns the element.
bool owns(const std::vector<Level>& levels, const std::vector<int64_t>& processor, std::vector<int64_t> element,
          std::vector<int64_t> extent, const Bindings& params) {
  size_t coordinate = 0;
  for (const Level& level : levels) {
    for (size_t m = 0; m < level.extents.size(); ++m, ++coordinate) {
      const auto& role = level.distribution->machine_dimensions[m].role;
      if (const auto* fix = std::get_if<Fix>(&role)) {
        if (processor[coordinate] != fix->face.evaluate(params)) return false;
      }
      const auto* partition = std::get_if<Partition>(&role);
      if (!partition) continue;
      size_t d = 0;
      while (level.distribution->tensor_dimensions[d] != partition->name) ++d;
      int64_t parts = level.extents[m];
      auto cyclic = level.distribution->cyclic.find(partition->name);
      bool dealt = cyclic != level.distribution->cyclic.end();
      int64_t block = dealt ? cyclic->second.evaluate(params) : ceil_of(extent[d], parts);
      int64_t number = element[d] / block;
      if (number % parts != processor[coordinate]) return false;
      element[d] = number / parts * block + element[d] % block;
      extent[d] = ceil_of(extent[d], block * parts) * block;
    }
  }
  return true;
}

class ByteCounter : public PlanVisitor {
 public:
  ByteCounter(const Plan& plan, const std::map<std::string, Owners>& owners) : plan_(plan), owners_(owners) {
    for (const TensorPlan& t : plan.tensors) bytes[t.name] = 0;
  }

  std::map<std::string, int64_t> bytes;

  void begin(const StagePlan& stage) override {
    stage_ = &stage;
    had_.clear();
  }
  bool wants_leaves() const override { return false; }

  void fetch(const FetchStep& step) override {
    const AcquirePlan& a = *step.acquire;
    for (const Fetch& f : step.fetches) {
      std::set<int64_t> wanted;
      for (const Rect& r : f.rects) add_elements(a.tensor, r, wanted);
      std::set<int64_t>& had = had_[{a.acquire->id, f.place}];
      if (a.acquire->privilege == Privilege::Read) {
        for (int64_t e : wanted) {
          if (had.count(e) == 0 && !is_home(a, f.place, e)) count(a.tensor, 1);
        }
      }
      had = std::move(wanted);
    }
  }

  void release(const ReleaseStep& step) override {
    if (!step.acquire) return replicate_all(step.tensor);
    const AcquirePlan& a = *step.acquire;
    for (int64_t place : step.places) {
      for (int64_t e : had_[{a.acquire->id, place}])
        a.acquire->privilege == Privilege::Write ? write(a, place, e) : combine(a, place, e);
      had_.erase({a.acquire->id, place});
    }
  }

 private:
  const std::vector<int64_t>& owners_of(int tensor, int64_t element) const {
    return owners_.at(plan_.tensors[tensor].name)[static_cast<size_t>(element)];
  }
  void count(int tensor, int64_t elements) {
    bytes[plan_.tensors[tensor].name] += elements * plan_.tensors[tensor].element_bytes;
  }

  void add_elements(int tensor, const Rect& rect, std::set<int64_t>& out) const {
    const Coordinates& shape = plan_.tensors[tensor].owners.shape();
    std::vector<int64_t> extents;
    for (size_t d = 0; d < shape.size(); ++d) extents.push_back(rect.hi[d] - rect.lo[d]);
    for_each_coordinate(extents, [&](const std::vector<int64_t>& at) {
      int64_t index = 0;
      for (size_t d = 0; d < at.size(); ++d) index = index * shape[d] + rect.lo[d] + at[d];
      out.insert(index);
    });
  }

  bool is_at(const AcquirePlan& a, int64_t processor, int64_t place) const {
    return stage_->machine.leader(processor, a.acquire->place_levels) == place;
  }
  bool is_home(const AcquirePlan& a, int64_t place, int64_t element) const {
    for (int64_t p : owners_of(a.tensor, element)) {
      if (is_at(a, p, place)) return true;
    }
    return false;
  }

  // Counts what a write sends: the element, if its place does not own it, and a copy to each further replica.
  void write(const AcquirePlan& a, int64_t place, int64_t element) {
    if (!is_home(a, place, element)) count(a.tensor, 1);
    count(a.tensor, replicas_served(a, place, element) - 1);
  }

  // How many replicas get their value from this place. Along an `everywhere` dimension each coordinate writes its own
  // replicas.
  int64_t replicas_served(const AcquirePlan& a, int64_t place, int64_t element) const {
    int64_t replicas = 0;
    for (int64_t p : owners_of(a.tensor, element)) {
      bool same = true;
      for (int d : stage_->everywhere) same = same && stage_->coordinate(p, d) == stage_->coordinate(place, d);
      replicas += same ? 1 : 0;
    }
    return replicas;
  }

  // Counts a partial: it is sent once, unless it is combined where it lies.
  void combine(const AcquirePlan& a, int64_t place, int64_t element) {
    bool there = a.acquire->parent ? place == stage_->machine.leader(
                                                  place, stage_->acquires[*a.acquire->parent].acquire->place_levels)
                                   : is_at(a, owners_of(a.tensor, element)[0], place);
    if (!there) count(a.tensor, 1);
  }

  void replicate_all(int tensor) {
    for (const std::vector<int64_t>& all : owners_.at(plan_.tensors[tensor].name)) {
      count(tensor, static_cast<int64_t>(all.size()) - 1);
    }
  }

  const Plan& plan_;
  const std::map<std::string, Owners>& owners_;
  const StagePlan* stage_ = nullptr;
  std::map<std::pair<int, int64_t>, std::set<int64_t>> had_;  // the elements acquired last, by acquire and place
};

}  // namespace

Owners owners_by_definition(const Tensor& tensor, const Bindings& params) {
  std::vector<int64_t> shape, machine;
  for (const IntExpr& e : tensor.dimensions) shape.push_back(e.evaluate(params));
  std::vector<Level> levels = levels_of(tensor, params);
  for (const Level& level : levels) machine.insert(machine.end(), level.extents.begin(), level.extents.end());
  Owners out;
  for_each_coordinate(shape, [&](const std::vector<int64_t>& element) {
    out.emplace_back();
    int64_t number = 0;
    for_each_coordinate(machine, [&](const std::vector<int64_t>& processor) {
      if (owns(levels, processor, element, shape, params)) out.back().push_back(number);
      ++number;
    });
  });
  return out;
}

std::map<std::string, int64_t> bytes_by_definition(const Plan& plan, const std::map<std::string, Owners>& owners) {
  ByteCounter counter(plan, owners);
  walk(plan, counter);
  return counter.bytes;
}

}  // namespace distal::core::property
