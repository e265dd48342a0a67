#include "tune/candidate_cost.h"

#include <algorithm>
#include <limits>
#include <set>

#include "support/checked.h"
#include "tune/processor_view.h"
#include "tune/tile_cost.h"
#include "tune/touched.h"

namespace distal::core {

namespace {

// Sums over all processors may exceed 64 bits while candidates are compared.
__extension__ using Wide = __int128;

// Candidates that move more than 64 bits can count are never the best, so their exact cost does not matter.
int64_t narrow(Wide value) { return static_cast<int64_t>(std::min<Wide>(value, std::numeric_limits<int64_t>::max())); }

class CostModel {
 public:
  CostModel(const StatementShape& shape, const Candidate& candidate)
      : shape_(shape),
        candidate_(candidate),
        view_(shape, candidate),
        counts_crossing_(!shape.has_given_formats() && shape.has_simple_accesses()) {}

  // Returns nothing if `stops` is true. The first processor is often the busiest; with given formats any may be.
  std::optional<CandidateCost> count(const StopCounting& stops) {
    if (stops) {
      is_regular() ? look_at_first() : look_at_some();
      visit(0, 1);
      if (stops(sums())) return std::nullopt;
      cost_ = {};
      moved_ = crossing_ = messages_ = 0;
      alike_.clear();
    }
    find_alike();
    if (shape_.has_replicas()) replicas_ = ReplicaCounts(static_cast<size_t>(shape_.processors));
    visit(0, 1);
    add_idle_processors();
    add_copies_to_first_replicas();
    return sums();
  }

  CandidateCost count_some() {
    if (is_regular()) return *count({});
    look_at_some();
    visit(0, 1);
    return sums();
  }

 private:
  CandidateCost sums() {
    cost_.bytes_moved = narrow(moved_);
    cost_.crossing_bytes = narrow(crossing_);
    cost_.messages = narrow(messages_);
    return cost_;
  }

  // By processor, of an output with replicas.
  struct ReplicaCounts {
    explicit ReplicaCounts(size_t processors) : exchanged(processors, 0), written(processors, 0) {}
    std::vector<Wide> exchanged;   // bytes of all tensors
    std::vector<int64_t> written;  // of a first owner: the elements that other owners write
  };

  // Consecutive coordinates of a level whose processors compute, own and copy equally much.
  struct Alike {
    int64_t first = 0;
    int64_t count = 1;
  };

  // Whether the tiles of work and their pieces begin together, and the tiles are those of one cut.
  bool is_regular() const {
    return !shape_.has_given_formats() && shape_.has_simple_accesses() && !candidate_.is_nested();
  }

  // Lengths change only where the blocks of a cut become short or end. The first coordinate is looked at separately,
  // because only there a piece begins where the tile begins.
  void find_alike() {
    if (!is_regular()) return look_at_each();
    std::vector<std::set<int64_t>> starts(candidate_.levels.size(), {0, 1});
    for (size_t l = 0; l < starts.size(); ++l) {
      const GridLevel& level = candidate_.levels[l];
      if (level.index != kNoIndex) add_starts(starts[l], shape_.extents[level.index], level.tile);
    }
    for (size_t t = 0; t < shape_.tensors.size(); ++t) {
      for (size_t d = 0; d < shape_.tensors[t].indices.size(); ++d) {
        std::set<int64_t> lengths{shape_.extents[shape_.tensors[t].indices[d]]};
        for (const Cut& cut : view_.all_cuts()[t][d]) {
          std::set<int64_t> shorter;
          for (int64_t length : lengths) {
            add_starts(starts[cut.level], length, cut.stride);
            shorter.insert(length % cut.stride);
            if (length >= cut.stride) shorter.insert(cut.stride);
          }
          lengths = std::move(shorter);
        }
      }
    }
    for (size_t l = 0; l < starts.size(); ++l) {
      alike_.emplace_back();
      int64_t parts = candidate_.levels[l].parts;
      for (auto start = starts[l].begin(); start != starts[l].end() && *start < parts; ++start) {
        auto next = std::next(start);
        int64_t end = next == starts[l].end() ? parts : std::min(*next, parts);
        alike_.back().push_back({*start, end - *start});
      }
    }
  }

  void look_at_first() { alike_.assign(candidate_.levels.size(), {{0, 1}}); }

  // The first, middle and last coordinate of each level.
  void look_at_some() {
    for (const GridLevel& level : candidate_.levels) {
      alike_.emplace_back();
      for (int64_t c : std::set<int64_t>{0, level.parts / 2, level.parts - 1}) alike_.back().push_back({c, 1});
    }
  }

  // No rule says which coordinates own equally much of given pieces, or of the rectangles of several accesses.
  void look_at_each() {
    for (const GridLevel& level : candidate_.levels) {
      alike_.emplace_back();
      for (int64_t c = 0; c < level.parts; ++c) alike_.back().push_back({c, 1});
    }
  }

  // Processors outside of the machine of the candidate have no work, but may own given pieces.
  void add_idle_processors() {
    if (!shape_.has_given_formats()) return;
    for (int64_t p = candidate_.processors(); p < shape_.processors; ++p) {
      Wide held = 0;
      for (size_t t = 0; t < shape_.tensors.size(); ++t) {
        const ShapeTensor& tensor = shape_.tensors[t];
        if (tensor.given) held += Wide{given_volume(tensor, p)} * tensor.element_bytes;
      }
      cost_.home_bytes = std::max(cost_.home_bytes, narrow(held));
      cost_.peak_bytes = std::max(cost_.peak_bytes, narrow(held));
      if (!shape_.has_replicas()) continue;
      Touched nothing;
      Wide exchanged = Wide{of_replica(nothing, p, given_volume(shape_.tensors[0], p))} * output_bytes();
      moved_ += exchanged;
      cost_.exchanged_bytes = std::max(cost_.exchanged_bytes, narrow(exchanged));
      replicas_->exchanged[static_cast<size_t>(p)] = exchanged;
    }
  }

  int64_t output_bytes() const { return shape_.tensors[0].element_bytes; }

  // The elements of an output with replicas that a processor exchanges. It sends what it does not own, and gets the
  // rest of its replica: from the one who wrote it, if that is an owner, and otherwise from the first owner. Partials
  // are added at the first owner, and all others get copies of the sum. What first owners get is known at the end.
  int64_t of_replica(Touched& touched, int64_t processor, int64_t piece) {
    int64_t first = shape_.tensors[0].given->first_replica[static_cast<size_t>(processor)];
    if (processor == first) return touched.foreign;
    if (has_partials()) {
      touched.copied = touched.owned + touched.foreign;
      return touched.copied + piece;
    }
    if (replicas_) replicas_->written[static_cast<size_t>(first)] += touched.owned;
    return touched.foreign + piece - touched.owned;
  }

  void add_copies_to_first_replicas() {
    for (size_t p = 0; replicas_ && p < replicas_->written.size(); ++p) {
      Wide copied = Wide{replicas_->written[p]} * output_bytes();
      moved_ += copied;
      cost_.exchanged_bytes = std::max(cost_.exchanged_bytes, narrow(replicas_->exchanged[p] + copied));
      cost_.link_bytes = std::max(cost_.link_bytes, cost_.exchanged_bytes);
    }
  }

  static int64_t given_volume(const ShapeTensor& tensor, int64_t processor) {
    auto at = static_cast<size_t>(processor);
    int64_t volume = tensor.given->owns_scalar[at] ? 1 : 0;
    for (const std::vector<Run>& runs : tensor.given->runs[at]) {
      int64_t length = 0;
      for (const Run& run : runs) length += run.hi - run.lo;
      volume *= length;
    }
    return volume;
  }

  static void add_starts(std::set<int64_t>& starts, int64_t length, int64_t stride) {
    starts.insert(length / stride);
    starts.insert(length / stride + 1);
  }

  void visit(size_t level, int64_t count) {
    if (level == alike_.size()) return add_processors(count);
    for (const Alike& alike : alike_[level]) {
      view_.go_to(level, alike.first);
      visit(level + 1, count * alike.count);
    }
  }

  // Adds what `count` processors like this one do.
  void add_processors(int64_t count) {
    int64_t points = view_.find_work();
    Wide home = 0;
    Exchanged sum;
    for (size_t t = 0; t < shape_.tensors.size(); ++t) {
      view_.look_at(t);
      int64_t bytes = shape_.tensors[t].element_bytes;
      home += Wide{view_.piece_volume()} * bytes;
      Exchanged elements = exchanged_of(t, points);
      sum.received += elements.received * bytes;
      sum.on_link += elements.on_link * bytes;
      sum.crossing += elements.crossing * bytes;
      sum.messages += elements.messages;
      sum.copied += elements.copied * bytes;
    }
    moved_ += count * sum.received;
    crossing_ += count * sum.crossing;
    messages_ += count * sum.messages;
    cost_.exchanged_bytes = std::max(cost_.exchanged_bytes, narrow(sum.received));
    cost_.link_bytes = std::max(cost_.link_bytes, narrow(sum.on_link));
    if (replicas_) replicas_->exchanged[static_cast<size_t>(view_.processor())] = sum.received;
    cost_.home_bytes = std::max(cost_.home_bytes, narrow(home));
    cost_.peak_bytes = std::max(cost_.peak_bytes, narrow(home + sum.copied));
    cost_.messages_of_busiest = std::max(cost_.messages_of_busiest, narrow(sum.messages));
    cost_.points_of_busiest = std::max(cost_.points_of_busiest, points);
    if (points > 0) cost_.working_processors += count;
  }

  // What a processor exchanges: elements of one tensor, or bytes of all.
  struct Exchanged {
    Wide received = 0;  // or sent, of results
    Wide on_link = 0;   // as link_bytes
    Wide crossing = 0;  // the outermost level
    Wide copied = 0;
    Wide messages = 0;
  };

  Exchanged exchanged_of(size_t t, int64_t points) {
    if (t == 0 && shape_.has_replicas()) {
      Touched touched = points == 0 ? Touched{} : touched_at_once(view_);
      int64_t elements = of_replica(touched, view_.processor(), view_.piece_volume());
      return {elements, elements, 0, touched.copied, estimated_messages(view_, elements, 1)};
    }
    if (points == 0) return {};
    if (!shape_.tensors[t].is_simple()) {
      Touched touched = touched_in_steps(view_);
      return {touched.foreign, touched.foreign, 0, touched.copied, estimated_messages(view_, touched.foreign, 1)};
    }
    TileCost cost(view_);
    Wide times = cost.visits(), tile = view_.tile_volume();
    Wide received = times * (tile - view_.owned_of_tile());
    Wide crossing = counts_crossing_ ? times * (tile - view_.owned_by_outer_processor()) : 0;
    return {received, received * cost.rounds_of_tree(), crossing, Wide{cost.largest_copy()} * cost.buffers(),
            times * cost.messages()};
  }

  // Whether the output is made of partials, because processors add to the same elements.
  bool has_partials() const {
    const ShapeTensor& output = shape_.tensors[0];
    bool sums = std::any_of(candidate_.levels.begin(), candidate_.levels.end(), [&](const GridLevel& level) {
      return level.index != kNoIndex && !output.has_index(level.index);
    });
    return shape_.accumulates || sums || !output.is_simple();
  }

  const StatementShape& shape_;
  const Candidate& candidate_;
  ProcessorView view_;
  bool counts_crossing_;
  std::vector<std::vector<Alike>> alike_;  // by level
  std::optional<ReplicaCounts> replicas_;
  CandidateCost cost_;
  Wide moved_ = 0, crossing_ = 0, messages_ = 0;
};

}  // namespace

CandidateCost cost_of(const StatementShape& shape, const Candidate& candidate) {
  return *CostModel(shape, candidate).count({});
}

CandidateCost cost_of_some(const StatementShape& shape, const Candidate& candidate) {
  return CostModel(shape, candidate).count_some();
}

std::optional<CandidateCost> cost_unless(const StatementShape& shape, const Candidate& candidate,
                                         const StopCounting& stops) {
  return CostModel(shape, candidate).count(stops);
}

}  // namespace distal::core
