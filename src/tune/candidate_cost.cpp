#include "tune/candidate_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plan/rect.h"
#include "support/checked.h"
#include "tune/dimension_view.h"

namespace distal::core {

namespace {

// Sums over all processors may exceed 64 bits while candidates are compared.
__extension__ using Wide = __int128;

// Candidates that move more than 64 bits can count are never the best, so their exact cost does not matter.
int64_t narrow(Wide value) { return static_cast<int64_t>(std::min<Wide>(value, std::numeric_limits<int64_t>::max())); }

// The number of nonempty pieces into which the cuts from number `first` on divide [0, length).
int64_t nonempty_pieces(const std::vector<Cut>& cuts, size_t first, int64_t length) {
  if (length <= 0) return 0;
  if (first == cuts.size()) return 1;
  int64_t stride = cuts[first].stride;
  int64_t rest = nonempty_pieces(cuts, first + 1, length % stride);
  int64_t whole = length / stride;
  return whole > 0 ? whole * nonempty_pieces(cuts, first + 1, stride) + rest : rest;
}

class CostModel {
 public:
  CostModel(const StatementShape& shape, const Candidate& candidate) : shape_(shape), candidate_(candidate) {
    for (size_t t = 0; t < shape.tensors.size(); ++t) {
      cuts_.emplace_back();
      for (size_t d = 0; d < shape.tensors[t].indices.size(); ++d) {
        cuts_.back().push_back(cuts_of(shape, candidate, static_cast<int>(t), static_cast<int>(d)));
      }
    }
    tiles_ = shape.extents;
    chunks_.assign(shape.extents.size(), 0);
    lengths_.assign(shape.extents.size(), 0);
    at_.assign(candidate.levels.size(), 0);
    for (const GridLevel& level : candidate.levels) {
      if (level.index != kNoIndex) tiles_[level.index] = level.tile;
    }
    for (size_t i = 0; i < tiles_.size(); ++i) chunks_[i] = tiles_[i];
    for (const SequentialLoop& loop : candidate.loops) chunks_[loop.index] = ceil_div(tiles_[loop.index], loop.parts);
    counts_crossing_ = !shape.has_given_formats() && shape.has_simple_accesses();
    for (const GridLevel& level : candidate.levels) {
      work_.emplace_back();
      for (int64_t c = 0; level.is_cyclic() && c < level.parts; ++c) {
        work_.back().push_back(level.runs_of(c, shape.extents[level.index]));
      }
    }
  }

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

  // The elements that the processor touches and owns, or does not own, and those that it copies. A rectangle that lies
  // in one run of each dimension is used in place, and equal ones are copied once.
  struct Touched {
    int64_t owned = 0;
    int64_t foreign = 0;
    int64_t copied = 0;
    bool keeps = false;  // some of the copies that it has
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
    for (size_t t = 0; t < cuts_.size(); ++t) {
      for (size_t d = 0; d < cuts_[t].size(); ++d) {
        std::set<int64_t> lengths{shape_.extents[shape_.tensors[t].indices[d]]};
        for (const Cut& cut : cuts_[t][d]) {
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
      for (size_t t = 0; t < cuts_.size(); ++t) {
        const ShapeTensor& tensor = shape_.tensors[t];
        if (tensor.given) held += Wide{given_volume(tensor, p)} * tensor.element_bytes;
      }
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
      at_[level] = alike.first;
      visit(level + 1, count * alike.count);
    }
  }

  // Adds what `count` processors like the one at `at_` do.
  void add_processors(int64_t count) {
    int64_t points = find_lengths();
    Wide exchanged = 0, link = 0, held = 0, messages = 0;
    for (size_t t = 0; t < cuts_.size(); ++t) {
      int64_t bytes = shape_.tensors[t].element_bytes;
      find_views(t);
      held += Wide{pieces_volume()} * bytes;
      if (t == 0 && shape_.has_replicas()) {
        Touched touched = points == 0 ? Touched{} : touched_of(rects_of(shape_.tensors[t]), {});
        int64_t elements = of_replica(touched, processor(), pieces_volume());
        exchanged += Wide{elements} * bytes;
        link += Wide{elements} * bytes;
        held += Wide{touched.copied} * bytes;
        messages += messages_for(t, elements, 1);
        continue;
      }
      if (points == 0) continue;
      if (!shape_.tensors[t].is_simple()) {
        Touched touched = touched_in_steps(t);
        exchanged += Wide{touched.foreign} * bytes;
        link += Wide{touched.foreign} * bytes;
        held += Wide{touched.copied} * bytes;
        messages += messages_for(t, touched.foreign, 1);
        continue;
      }
      int64_t tile = 1, owned = owns_face_ ? 1 : 0;
      for (const DimensionView& d : views_) {
        tile *= d.tile;
        owned *= d.owned_of_tile();
      }
      int64_t times = visits(t);
      Wide foreign = Wide{times} * (tile - owned) * bytes;
      exchanged += foreign;
      link += foreign * rounds_of_tree(t);
      if (counts_crossing_) crossing_ += count * Wide{times} * (tile - owned_by_outer_processor(t)) * bytes;
      held += Wide{largest_copy(t)} * buffers_of(t) * bytes;
      messages += Wide{times} * messages_of(t);
    }
    moved_ += count * exchanged;
    messages_ += count * messages;
    cost_.exchanged_bytes = std::max(cost_.exchanged_bytes, narrow(exchanged));
    cost_.link_bytes = std::max(cost_.link_bytes, narrow(link));
    if (replicas_) replicas_->exchanged[static_cast<size_t>(processor())] = exchanged;
    cost_.peak_bytes = std::max(cost_.peak_bytes, narrow(held));
    cost_.messages_of_busiest = std::max(cost_.messages_of_busiest, narrow(messages));
    cost_.points_of_busiest = std::max(cost_.points_of_busiest, points);
    if (points > 0) cost_.working_processors += count;
  }

  // The part of every index that the processor computes. Returns the number of points.
  int64_t find_lengths() {
    lengths_ = shape_.extents;
    starts_.assign(lengths_.size(), 0);
    for (size_t l = 0; l < at_.size(); ++l) {
      const GridLevel& level = candidate_.levels[l];
      if (level.index == kNoIndex && at_[l] > 0) return 0;
      if (level.index == kNoIndex) continue;
      int64_t& length = lengths_[level.index];
      if (level.is_cyclic()) {
        const std::vector<Run>& runs = work_[l][at_[l]];
        length = runs.empty() ? 0 : runs.back().local + runs.back().hi - runs.back().lo;
        continue;
      }
      int64_t offset = at_[l] * level.tile;
      length = std::clamp<int64_t>(length - offset, 0, level.tile);
      starts_[level.index] += offset;
    }
    int64_t points = 1;
    for (int64_t length : lengths_) points *= length;
    return points;
  }

  void find_views(size_t t) {
    views_.clear();
    // Of what is counted by rectangles, views begin where the tensor begins.
    bool has_rects = !shape_.tensors[t].is_simple() || (t == 0 && shape_.has_replicas());
    if (has_rects) views_.resize(shape_.tensors[t].indices.size());
    for (int index : shape_.tensors[t].indices) {
      if (has_rects) break;
      int own_level = candidate_.level_of(index);
      views_.push_back({lengths_[index], chunks_[index], {}, nullptr, starts_[index]});
      bool is_cyclic = own_level >= 0 && candidate_.levels[own_level].is_cyclic();
      if (is_cyclic) views_.back().work = &work_[own_level][at_[own_level]];
    }
    shape_.tensors[t].given ? find_given(*shape_.tensors[t].given) : find_owned(t);
  }

  void find_owned(size_t t) {
    owns_face_ = true;
    for (size_t l = 0; l < at_.size(); ++l) {
      if (candidate_.roles[t][l] == kFace && at_[l] != 0) owns_face_ = false;
    }
    for (size_t d = 0; d < views_.size(); ++d) {
      views_[d].owns_work = views_[d].work != nullptr;
      if (views_[d].owns_work) continue;
      Extent owned{0, shape_.extent_of(static_cast<int>(t), static_cast<int>(d))};
      for (const Cut& cut : cuts_[t][d]) {
        owned.lo += at_[cut.level] * cut.stride;
        owned.hi = std::min(owned.hi, owned.lo + cut.stride);
      }
      if (owned.length() > 0) views_[d].owned = {owned.lo - views_[d].start, owned.hi - views_[d].start};
    }
  }

  // The elements of the tile that this processor, or another one of the same processor of the outermost level, owns.
  int64_t owned_by_outer_processor(size_t t) const {
    auto is_inner = [&](size_t level) { return candidate_.levels[level].machine_level > 0; };
    int64_t owned = 1;
    for (size_t l = 0; l < at_.size(); ++l) {
      if (candidate_.roles[t][l] == kFace && at_[l] != 0 && !is_inner(l)) owned = 0;
    }
    for (size_t d = 0; d < views_.size(); ++d) {
      int index = shape_.tensors[t].indices[d];
      Extent mine{0, shape_.extents[index]};
      for (const Cut& cut : cuts_[t][d]) {
        // Along a cut that is not of the work, the inner processors own the whole range together.
        if (is_inner(static_cast<size_t>(cut.level)) && candidate_.levels[cut.level].index != index) continue;
        mine.lo += at_[cut.level] * cut.stride;
        mine.hi = std::min(mine.hi, mine.lo + cut.stride);
      }
      int64_t lo = std::max(mine.lo, views_[d].start), hi = std::min(mine.hi, views_[d].start + views_[d].tile);
      owned *= std::max<int64_t>(0, hi - lo);
    }
    return owned;
  }

  int64_t processor() const {
    int64_t number = 0;
    for (size_t l = 0; l < at_.size(); ++l) number = number * candidate_.levels[l].parts + at_[l];
    return number;
  }

  void find_given(const GivenPieces& given) {
    auto at = static_cast<size_t>(processor());
    owns_face_ = given.owns_scalar[at];
    for (size_t d = 0; d < views_.size(); ++d) {
      const std::vector<Run>& runs = given.runs[at][d];
      if (runs.size() == 1) views_[d].owned = {runs[0].lo - views_[d].start, runs[0].hi - views_[d].start};
      if (runs.size() > 1) views_[d].runs = &runs;
    }
  }

  int64_t pieces_volume() const {
    int64_t volume = owns_face_ ? 1 : 0;
    for (const DimensionView& d : views_) volume *= d.piece();
    return volume;
  }

  // How often a processor acquires a whole tile, chunk by chunk. A loop over another index repeats the chunks of all
  // loops inside of it, and the blocks of a tensor that is acquired block by block. If there is one chunk only, the
  // processor still has it.
  int64_t visits(size_t t) const {
    const std::vector<int>& indices = shape_.tensors[t].indices;
    int64_t times = 1;
    bool changes = is_in_blocks(shape_, candidate_, static_cast<int>(t)) && has_several_blocks();
    for (auto loop = candidate_.loops.rbegin(); loop != candidate_.loops.rend(); ++loop) {
      int64_t count = ceil_div(lengths_[loop->index], chunks_[loop->index]);
      bool is_own = std::find(indices.begin(), indices.end(), loop->index) != indices.end();
      if (is_own) changes = changes || count > 1;
      if (!is_own && changes) times *= count;
    }
    return times;
  }

  // In how many rounds a chunk reaches all processors that need it at the same step, if its owners and then the
  // receivers send it on. Without sequential loops all pieces are on their way at once, and no owner is waited for.
  int64_t rounds_of_tree(size_t t) const {
    if (candidate_.loops.empty()) return 1;
    double receivers = 1;
    for (size_t l = 0; l < candidate_.levels.size(); ++l) {
      if (is_shared_along(t, l)) receivers *= static_cast<double>(candidate_.levels[l].parts);
    }
    double at_once = receivers / (owners_of_chunk(t, receivers) * static_cast<double>(chunks_at_once(t)));
    int64_t rounds = 1;
    for (double reached = 2; reached < at_once; reached *= 2) ++rounds;
    return rounds;
  }

  bool is_shared_along(size_t t, size_t level) const {
    const GridLevel& l = candidate_.levels[level];
    return l.index != kNoIndex && !shape_.tensors[t].has_index(l.index);
  }

  int64_t parts_of_loop(int index) const {
    auto over = [&](const SequentialLoop& loop) { return loop.index == index; };
    auto found = std::find_if(candidate_.loops.begin(), candidate_.loops.end(), over);
    return found == candidate_.loops.end() ? 1 : found->parts;
  }

  // How many processors own the pieces of one chunk. Of a given format only the average size of its pieces is used.
  double owners_of_chunk(size_t t, double receivers) const {
    const ShapeTensor& tensor = shape_.tensors[t];
    double owners = 1;
    if (tensor.given) {
      for (const DimensionView& d : views_) owners *= static_cast<double>(std::min(d.tile, d.chunk));
      return std::clamp(owners / std::max(1.0, tensor.given->average_elements), 1.0, receivers);
    }
    for (size_t l = 0; l < candidate_.levels.size(); ++l) {
      int dimension = candidate_.roles[t][l];
      if (!is_shared_along(t, l) || dimension == kFace) continue;
      int64_t parts = candidate_.levels[l].parts;
      owners *= static_cast<double>(std::max<int64_t>(1, parts / parts_of_loop(tensor.indices[dimension])));
    }
    return owners;
  }

  // How many different chunks the processors that share a tile need at the same step.
  int64_t chunks_at_once(size_t t) const {
    int64_t chunks = 1;
    for (const SequentialLoop& loop : candidate_.loops) {
      if (!loop.is_rotated || !shape_.tensors[t].has_index(loop.index)) continue;
      int64_t processors = 1;
      for (int level : rotating_levels(shape_, candidate_, loop.index)) {
        if (is_shared_along(t, static_cast<size_t>(level))) processors *= candidate_.levels[level].parts;
      }
      chunks *= std::min(loop.parts, processors);
    }
    return chunks;
  }

  // A copy from which a neighbour fetches in the next step has a second buffer.
  int64_t buffers_of(size_t t) const { return t > 0 && chunks_at_once(t) > 1 ? 2 : 1; }

  bool has_several_blocks() const {
    return std::any_of(views_.begin(), views_.end(),
                       [](const DimensionView& d) { return d.work != nullptr && d.work->size() > 1; });
  }

  // The elements of the largest chunk that is copied, because the processor does not own all of it.
  int64_t largest_copy(size_t t) const {
    if (std::any_of(views_.begin(), views_.end(), [](const DimensionView& d) { return d.work != nullptr; }))
      return is_in_blocks(shape_, candidate_, static_cast<int>(t)) ? largest_block() : foreign_blocks();
    if (!owns_face_) return largest_chunk();
    return longest_chunks().some_foreign;
  }

  int64_t largest_chunk() const {
    int64_t largest = 1;
    for (const DimensionView& d : views_) largest *= std::min(d.tile, d.chunk);
    return largest;
  }

  // Of the dimensions that are not dealt out: the largest product of chunks that are all owned, and of chunks of which
  // at least one is not.
  struct LongestChunks {
    int64_t all_owned = 1;
    int64_t some_foreign = 0;
  };

  LongestChunks longest_chunks() const {
    LongestChunks out;
    for (const DimensionView& d : views_) {
      if (d.work != nullptr) continue;
      out.some_foreign = std::max(out.some_foreign * std::min(d.tile, d.chunk), out.all_owned * d.longest_chunk(false));
      out.all_owned *= d.longest_chunk(true);
    }
    return out;
  }

  // For a tensor that is acquired block by block: the largest block, unless the processor owns all blocks.
  int64_t largest_block() const {
    int64_t largest = 1, tile = 1, owned = owns_face_ ? 1 : 0;
    for (const DimensionView& d : views_) {
      bool is_dealt = d.work != nullptr && !d.work->empty();
      largest *= is_dealt ? d.work->front().hi - d.work->front().lo : std::min(d.tile, d.chunk);
      tile *= d.tile;
      owned *= d.owned_of_tile();
    }
    return owned == tile ? 0 : largest;
  }

  // For the other tensors: all blocks are acquired together, and those that the processor owns are not copied.
  int64_t foreign_blocks() const {
    int64_t blocks = 1, owned = owns_face_ ? 1 : 0;
    for (const DimensionView& d : views_) {
      if (d.work == nullptr) continue;
      blocks *= d.tile;
      owned *= d.owned_of_work(true);
    }
    LongestChunks chunks = longest_chunks();
    return std::max(blocks * chunks.some_foreign, (blocks - owned) * chunks.all_owned);
  }

  // The messages of one visit of the tile: the pieces of other processors in every chunk. For a given format only the
  // average size of its pieces is used.
  int64_t messages_of(size_t t) const {
    if (shape_.tensors[t].given) return given_messages(t);
    int64_t pieces = 1, own = owns_face_ ? 1 : 0;
    for (size_t d = 0; d < views_.size(); ++d) {
      const DimensionView& view = views_[d];
      int index = shape_.tensors[t].indices[d];
      auto is_of_work = [&](const Cut& cut) { return candidate_.levels[cut.level].index == index; };
      auto cuts_of_work = static_cast<size_t>(std::count_if(cuts_[t][d].begin(), cuts_[t][d].end(), is_of_work));
      int64_t parts = nonempty_pieces(cuts_[t][d], cuts_of_work, view.tile);
      // The ends of chunks and of pieces, counted once where there is no sequential loop.
      pieces *= parts + view.chunks() - 1;
      if (view.owns_work) continue;
      own *= view.owned.length() == 0 ? 0 : ceil_div(view.owned.hi, view.chunk) - view.owned.lo / view.chunk;
    }
    return std::max<int64_t>(0, pieces - own);
  }

  int64_t given_messages(size_t t) const {
    int64_t tile = 1, owned = owns_face_ ? 1 : 0, chunks = 1;
    for (const DimensionView& d : views_) {
      tile *= d.tile;
      owned *= d.owned_of_tile();
      chunks *= d.chunks();
    }
    return messages_for(t, tile - owned, chunks);
  }

  // As if the elements of others lay in average pieces; in each chunk there is one at least.
  int64_t messages_for(size_t t, int64_t foreign, int64_t chunks) const {
    const ShapeTensor& tensor = shape_.tensors[t];
    double average = 1;
    if (tensor.given) {
      average = tensor.given->average_elements;
    } else {
      for (size_t d = 0; d < views_.size(); ++d)
        average *= static_cast<double>(shape_.extent_of(static_cast<int>(t), static_cast<int>(d)));
      average /= static_cast<double>(candidate_.processors());
    }
    double pieces = static_cast<double>(foreign) / std::max(1.0, average);
    return foreign == 0 ? 0 : std::max(static_cast<int64_t>(std::ceil(pieces)), chunks);
  }

  // Whether the output is made of partials, because processors add to the same elements.
  bool has_partials() const {
    const ShapeTensor& output = shape_.tensors[0];
    bool sums = std::any_of(candidate_.levels.begin(), candidate_.levels.end(), [&](const GridLevel& level) {
      return level.index != kNoIndex && !output.has_index(level.index);
    });
    return shape_.accumulates || sums || !output.is_simple();
  }

  // The rectangles of the accesses, each once.
  std::vector<Rect> rects_of(const ShapeTensor& tensor) const {
    std::vector<Rect> rects;
    std::vector<ShapeAccess> accesses = tensor.accesses;
    if (tensor.is_simple()) accesses = {{tensor.indices, std::vector<int64_t>(tensor.indices.size(), 0)}};
    for (const ShapeAccess& access : accesses) {
      Rect rect;
      for (size_t d = 0; d < access.indices.size(); ++d) {
        auto index = static_cast<size_t>(access.indices[d]);
        rect.lo.push_back(starts_[index] + access.offsets[d]);
        rect.hi.push_back(rect.lo.back() + lengths_[index]);
      }
      if (std::find(rects.begin(), rects.end(), rect) == rects.end()) rects.push_back(std::move(rect));
    }
    return rects;
  }

  // What a processor touches, owns and copies of these rectangles, if it has copies of `held`.
  Touched touched_of(const std::vector<Rect>& rects, const std::vector<Rect>& held) const {
    Touched touched;
    std::vector<Rect> copies;
    for (const Rect& rect : rects) {
      if (is_in_one_run(rect)) {
        touched.owned += rect.volume();
        continue;
      }
      for (const Rect& part : subtract(rect, copies)) {
        int64_t owned = owned_of(part), foreign = 0;
        for (const Rect& missing : subtract(part, held)) foreign += missing.volume() - owned_of(missing);
        touched.owned += owned;
        touched.foreign += foreign;
        touched.keeps = touched.keeps || owned + foreign < part.volume();
      }
      touched.copied += rect.volume();
      copies.push_back(rect);
    }
    return touched;
  }

  // The same over all steps of the sequential loops; `copied` is of the step with most. A step keeps what it needs of
  // an operand that the step before it had.
  Touched touched_in_steps(size_t t) {
    const ShapeTensor& tensor = shape_.tensors[t];
    size_t loops = candidate_.loops.size();  // up to the innermost one that changes what the tensor needs
    while (loops > 0 && !tensor.has_index(candidate_.loops[loops - 1].index)) --loops;
    Touched sum;
    bool keeps = false;
    std::vector<Rect> held;
    for_each_step(0, loops, [&] {
      std::vector<Rect> rects = rects_of(tensor);
      if (rects == held) return;
      Touched touched = touched_of(rects, t == 0 ? std::vector<Rect>{} : held);
      sum.owned += touched.owned;
      sum.foreign += touched.foreign;
      sum.copied = std::max(sum.copied, touched.copied);
      keeps = keeps || touched.keeps;
      held = std::move(rects);
    });
    if (keeps) sum.copied *= 2;
    return sum;
  }

  template <class F>
  void for_each_step(size_t loop, size_t loops, const F& visit) {
    if (loop == loops) return visit();
    int index = candidate_.loops[loop].index;
    int64_t start = starts_[index], length = lengths_[index];
    for (int64_t at = 0; at < length; at += chunks_[index]) {
      starts_[index] = start + at;
      lengths_[index] = std::min(chunks_[index], length - at);
      for_each_step(loop + 1, loops, visit);
    }
    starts_[index] = start;
    lengths_[index] = length;
  }

  int64_t owned_of(const Rect& rect) const {
    int64_t owned = owns_face_ ? 1 : 0;
    for (size_t d = 0; d < views_.size(); ++d) {
      owned *= views_[d].sum_over_runs([&](const Extent& run) {
        return Extent{std::max(run.lo, rect.lo[d]), std::min(run.hi, rect.hi[d])}.length();
      });
    }
    return owned;
  }

  bool is_in_one_run(const Rect& rect) const {
    bool is_in = owns_face_;
    for (size_t d = 0; is_in && d < views_.size(); ++d) {
      is_in = views_[d].sum_over_runs(
                  [&](const Extent& run) { return int64_t{run.lo <= rect.lo[d] && rect.hi[d] <= run.hi}; }) > 0;
    }
    return is_in;
  }

  const StatementShape& shape_;
  const Candidate& candidate_;
  std::vector<std::vector<std::vector<Cut>>> cuts_;  // by tensor and dimension
  std::vector<std::vector<Alike>> alike_;            // by level
  bool counts_crossing_ = false;
  std::vector<int64_t> tiles_, chunks_;              // by index
  std::vector<std::vector<std::vector<Run>>> work_;  // by level that deals out its index, and coordinate

  // Of the processor that is looked at.
  std::vector<int64_t> at_;       // by level
  std::vector<int64_t> lengths_;  // by index
  std::vector<int64_t> starts_;   // by index; 0 for one that is dealt out
  std::vector<DimensionView> views_;
  bool owns_face_ = true;

  std::optional<ReplicaCounts> replicas_;
  CandidateCost cost_;
  Wide moved_ = 0, crossing_ = 0, messages_ = 0;
};

}  // namespace

CandidateCost cost_of(const StatementShape& shape, const Candidate& candidate) {
  return *CostModel(shape, candidate).count({});
}

std::optional<CandidateCost> cost_unless(const StatementShape& shape, const Candidate& candidate,
                                         const StopCounting& stops) {
  return CostModel(shape, candidate).count(stops);
}

}  // namespace distal::core
