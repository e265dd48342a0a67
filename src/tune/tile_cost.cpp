#include "tune/tile_cost.h"

#include <algorithm>
#include <cmath>

#include "support/checked.h"

namespace distal::core {

namespace {

// The number of nonempty pieces into which the cuts from number `first` on divide [0, length).
int64_t nonempty_pieces(const std::vector<Cut>& cuts, size_t first, int64_t length) {
  if (length <= 0) return 0;
  if (first == cuts.size()) return 1;
  int64_t stride = cuts[first].stride;
  int64_t rest = nonempty_pieces(cuts, first + 1, length % stride);
  int64_t whole = length / stride;
  return whole > 0 ? whole * nonempty_pieces(cuts, first + 1, stride) + rest : rest;
}

}  // namespace

TileCost::TileCost(const ProcessorView& view)
    : view_(view),
      shape_(view.shape()),
      candidate_(view.candidate()),
      tensor_(view.tensor()),
      number_(static_cast<int>(view.tensor_number())) {}

// A loop over another index repeats the chunks of all loops inside of it, and the blocks of a tensor that is acquired
// block by block. If there is one chunk only, the processor still has it.
int64_t TileCost::visits() const {
  const std::vector<int>& indices = tensor_.indices;
  int64_t times = 1;
  bool changes = is_in_blocks(shape_, candidate_, number_) && has_several_blocks();
  for (auto loop = candidate_.loops.rbegin(); loop != candidate_.loops.rend(); ++loop) {
    int64_t count = ceil_div(view_.length(loop->index), view_.chunk(loop->index));
    bool is_own = std::find(indices.begin(), indices.end(), loop->index) != indices.end();
    if (is_own) changes = changes || count > 1;
    if (!is_own && changes) times *= count;
  }
  return times;
}

// The owners send the chunk on, and then the receivers do. Without sequential loops all pieces are on their way at
// once, and no owner is waited for.
int64_t TileCost::rounds_of_tree() const {
  if (candidate_.loops.empty()) return 1;
  double receivers = 1;
  for (size_t l = 0; l < candidate_.levels.size(); ++l) {
    if (is_shared_along(l)) receivers *= static_cast<double>(candidate_.levels[l].parts);
  }
  double at_once = receivers / (owners_of_chunk(receivers) * static_cast<double>(chunks_at_once()));
  int64_t rounds = 1;
  for (double reached = 2; reached < at_once; reached *= 2) ++rounds;
  return rounds;
}

bool TileCost::is_shared_along(size_t level) const {
  const GridLevel& l = candidate_.levels[level];
  return l.index != kNoIndex && !tensor_.has_index(l.index);
}

int64_t TileCost::parts_of_loop(int index) const {
  auto over = [&](const SequentialLoop& loop) { return loop.index == index; };
  auto found = std::find_if(candidate_.loops.begin(), candidate_.loops.end(), over);
  return found == candidate_.loops.end() ? 1 : found->parts;
}

// How many processors own the pieces of one chunk. Of a given format only the average size of its pieces is used.
double TileCost::owners_of_chunk(double receivers) const {
  double owners = 1;
  if (tensor_.given) {
    for (const DimensionView& d : view_.dimensions()) owners *= static_cast<double>(std::min(d.tile, d.chunk));
    return std::clamp(owners / std::max(1.0, tensor_.given->average_elements), 1.0, receivers);
  }
  for (size_t l = 0; l < candidate_.levels.size(); ++l) {
    int dimension = candidate_.roles[number_][l];
    if (!is_shared_along(l) || dimension == kFace) continue;
    int64_t parts = candidate_.levels[l].parts;
    owners *= static_cast<double>(std::max<int64_t>(1, parts / parts_of_loop(tensor_.indices[dimension])));
  }
  return owners;
}

// How many different chunks the processors that share a tile need at the same step.
int64_t TileCost::chunks_at_once() const {
  int64_t chunks = 1;
  for (const SequentialLoop& loop : candidate_.loops) {
    if (!loop.is_rotated || !tensor_.has_index(loop.index)) continue;
    int64_t processors = 1;
    for (int level : rotating_levels(shape_, candidate_, loop.index)) {
      if (is_shared_along(static_cast<size_t>(level))) processors *= candidate_.levels[level].parts;
    }
    chunks *= std::min(loop.parts, processors);
  }
  return chunks;
}

int64_t TileCost::buffers() const { return number_ > 0 && chunks_at_once() > 1 ? 2 : 1; }

bool TileCost::has_several_blocks() const {
  return std::any_of(view_.dimensions().begin(), view_.dimensions().end(),
                     [](const DimensionView& d) { return d.work != nullptr && d.work->size() > 1; });
}

int64_t TileCost::largest_copy() const {
  if (std::any_of(view_.dimensions().begin(), view_.dimensions().end(),
                  [](const DimensionView& d) { return d.work != nullptr; }))
    return is_in_blocks(shape_, candidate_, number_) ? largest_block() : foreign_blocks();
  if (!view_.owns_face()) return largest_chunk();
  return longest_chunks().some_foreign;
}

int64_t TileCost::largest_chunk() const {
  int64_t largest = 1;
  for (const DimensionView& d : view_.dimensions()) largest *= std::min(d.tile, d.chunk);
  return largest;
}

TileCost::LongestChunks TileCost::longest_chunks() const {
  LongestChunks out;
  for (const DimensionView& d : view_.dimensions()) {
    if (d.work != nullptr) continue;
    out.some_foreign = std::max(out.some_foreign * std::min(d.tile, d.chunk), out.all_owned * d.longest_chunk(false));
    out.all_owned *= d.longest_chunk(true);
  }
  return out;
}

// For a tensor that is acquired block by block: the largest block, with the longest chunks of the other dimensions.
int64_t TileCost::largest_block() const {
  int64_t block = 1;
  bool owns_blocks = view_.owns_face();
  for (const DimensionView& d : view_.dimensions()) {
    if (d.work == nullptr) continue;
    block *= d.work->empty() ? 0 : d.work->front().hi - d.work->front().lo;
    owns_blocks = owns_blocks && d.owned_of_work(true) == d.tile;
  }
  LongestChunks chunks = longest_chunks();
  return block * (owns_blocks ? chunks.some_foreign : std::max(chunks.some_foreign, chunks.all_owned));
}

// For the other tensors: all blocks are acquired together, and those that the processor owns are not copied.
int64_t TileCost::foreign_blocks() const {
  int64_t blocks = 1, owned = view_.owns_face() ? 1 : 0;
  for (const DimensionView& d : view_.dimensions()) {
    if (d.work == nullptr) continue;
    blocks *= d.tile;
    owned *= d.owned_of_work(true);
  }
  LongestChunks chunks = longest_chunks();
  return std::max(blocks * chunks.some_foreign, (blocks - owned) * chunks.all_owned);
}

// The pieces of other processors in every chunk. For a given format only the average size of its pieces is used.
int64_t TileCost::messages() const {
  if (tensor_.given) return given_messages();
  int64_t pieces = 1, own = view_.owns_face() ? 1 : 0;
  for (size_t d = 0; d < view_.dimensions().size(); ++d) {
    const DimensionView& view = view_.dimensions()[d];
    int index = tensor_.indices[d];
    auto is_of_work = [&](const Cut& cut) { return candidate_.levels[cut.level].index == index; };
    auto cuts_of_work = static_cast<size_t>(std::count_if(view_.cuts(d).begin(), view_.cuts(d).end(), is_of_work));
    int64_t parts = nonempty_pieces(view_.cuts(d), cuts_of_work, view.tile);
    // The ends of chunks and of pieces, counted once where there is no sequential loop.
    pieces *= parts + view.chunks() - 1;
    if (view.owns_work) continue;
    own *= view.owned.length() == 0 ? 0 : ceil_div(view.owned.hi, view.chunk) - view.owned.lo / view.chunk;
  }
  return std::max<int64_t>(0, pieces - own);
}

int64_t TileCost::given_messages() const {
  int64_t chunks = 1;
  for (const DimensionView& d : view_.dimensions()) chunks *= d.chunks();
  return estimated_messages(view_, view_.tile_volume() - view_.owned_of_tile(), chunks);
}

int64_t estimated_messages(const ProcessorView& view, int64_t foreign, int64_t chunks) {
  const ShapeTensor& tensor = view.tensor();
  double average = 1;
  if (tensor.given) {
    average = tensor.given->average_elements;
  } else {
    for (size_t d = 0; d < view.dimensions().size(); ++d)
      average *=
          static_cast<double>(view.shape().extent_of(static_cast<int>(view.tensor_number()), static_cast<int>(d)));
    average /= static_cast<double>(view.candidate().processors());
  }
  double pieces = static_cast<double>(foreign) / std::max(1.0, average);
  return foreign == 0 ? 0 : std::max(static_cast<int64_t>(std::ceil(pieces)), chunks);
}

}  // namespace distal::core
