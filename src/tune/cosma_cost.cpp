#include "tune/cosma_cost.h"

#include <algorithm>

#include "lang/block_cyclic.h"
#include "support/checked.h"

namespace distal::core {

namespace {

// The length of [0, length) that lies in block `index` of blocks of `block` elements.
int64_t block_length(int64_t length, int64_t block, int64_t index) {
  return std::clamp<int64_t>(length - index * block, 0, block);
}

// The block-cyclic distribution of i or j, n elements. Each round is a sequential part. In the last round some
// processors may have no block. The blocks of a processor are cut once more into pieces by another grid dimension.
class DealtIndex {
 public:
  DealtIndex(int64_t n, int64_t grid, int64_t parts, int64_t pieces)
      : n_(n),
        grid_(grid),
        dealt_(n, grid, ceil_div(n, grid * parts)),
        piece_(ceil_div(dealt_.piece_extent(n), pieces)) {}

  int64_t block() const { return dealt_.block; }
  int64_t piece() const { return piece_; }
  int64_t blocks() const { return dealt_.blocks(n_); }
  int64_t rounds() const { return dealt_.rounds(n_); }
  // The number of processors that have a block in a round.
  int64_t working_in(int64_t round) const { return std::min(grid_, blocks() - round * grid_); }

  // The number of elements of a processor. Processor 0 has the most.
  int64_t owned_by(int64_t processor) const {
    int64_t round = block() * grid_;
    return n_ / round * block() + block_length(n_ % round, block(), processor);
  }

  // The sum over all processors of their elements, counting at most `most` for each.
  Wide capped_sum(Wide most) const {
    int64_t whole = n_ / (block() * grid_);
    int64_t rest = n_ % (block() * grid_);
    int64_t with_one_more = rest / block();
    auto capped = [&](int64_t length) { return std::min(Wide{length}, most); };
    Wide sum = with_one_more * capped((whole + 1) * block());
    if (with_one_more == grid_) return sum;
    sum += capped(whole * block() + rest % block());
    return sum + (grid_ - with_one_more - 1) * capped(whole * block());
  }

  // The elements of the processors that have only one block.
  int64_t in_single_blocks() const {
    if (blocks() <= grid_) return n_;
    return std::max<int64_t>(0, 2 * grid_ - blocks()) * block();
  }

 private:
  int64_t n_, grid_;
  BlockCyclic dealt_;
  int64_t piece_;
};

// Sum over z < count of min(most, max(0, first - z * fall)).
Wide falling_sum(int64_t first, int64_t fall, int64_t most, int64_t count) {
  if (fall == 0) return Wide{std::min(first, most)} * count;
  int64_t capped = first < most ? 0 : std::min(count, (first - most) / fall + 1);
  int64_t positive = std::max(capped, std::min(count, ceil_div(first, fall)));
  int64_t falling = positive - capped;
  Wide sum_of_z = Wide{capped + positive - 1} * falling / 2;
  return Wide{capped} * most + Wide{falling} * first - sum_of_z * fall;
}

// The distribution of k: each layer of the grid (one z) computes one range. A layer owns gx blocks of C. If the sizes
// do not divide evenly, these blocks can extend beyond the layer's range; then the last layers fetch some of their C
// from the layer before.
struct Layers {
  Layers(const CosmaProblem& problem, const CosmaPlan& plan)
      : n(problem.nk),
        range(ceil_div(n, plan.gz)),
        chunk(ceil_div(range, plan.steps)),
        count(ceil_div(n, range)),
        block(ceil_div(n, plan.gx * plan.gz)),
        owned(block * plan.gx) {}

  int64_t length(int64_t z) const { return block_length(n, range, z); }
  int64_t last() const { return length(count - 1); }

  // The number of elements of a layer's range that the layer's first `blocks` processors along x own: summed over all
  // layers but the last, and in the last layer.
  Wide owned_before_last(int64_t blocks) const { return falling_sum(range, owned - range, blocks * block, count - 1); }
  Wide owned_in_last(int64_t blocks) const {
    return std::clamp<int64_t>(n - (count - 1) * owned, 0, std::min(blocks * block, last()));
  }

  int64_t n, range, chunk, count;
  int64_t block;  // of C, on one processor
  int64_t owned;  // of C, in one layer: gx blocks
};

// Computes the costs of one plan.
class CostModel {
 public:
  CostModel(const CosmaProblem& problem, const CosmaPlan& plan)
      : problem_(problem),
        plan_(plan),
        i_(problem.ni, plan.gx, plan.seqi, plan.gy),
        j_(problem.nj, plan.gy, plan.seqj, plan.gz),
        k_(problem, plan) {}

  // In each dimension, the processor at coordinate 0 owns most, and the one at coordinate 1 never owns its first tile
  // or panel. Processors at higher coordinates hold no more than that one. So it is enough to look at coordinates 0
  // and 1.
  int64_t memory() const {
    int64_t most = 0;
    for (int64_t x = 0; x < std::min<int64_t>(2, plan_.gx); ++x)
      for (int64_t y = 0; y < std::min<int64_t>(2, plan_.gy); ++y)
        for (int64_t z = 0; z < std::min<int64_t>(2, plan_.gz); ++z)
          most = std::max(most, memory_of(processor(x, y, z)));
    return most;
  }

  int64_t longest_step(int64_t memory) const {
    auto one = [](int64_t extent) { return std::min<int64_t>(1, extent - 1); };
    Processor p = processor(one(plan_.gx), one(plan_.gy), one(plan_.gz));
    int64_t rows = plan_.gy > 1 ? std::min(p.rows, i_.block()) : 0;
    int64_t columns = plan_.gx > 1 ? std::min(p.columns, j_.block()) : 0;
    if (!p.works() || rows + columns == 0) return k_.range;
    int64_t longest = floor_div(memory - home_elements(p) - tile_copy(p), rows + columns);
    return longest >= p.depth ? k_.range : longest;
  }

  int64_t work() const { return i_.owned_by(0) * j_.owned_by(0) * k_.range; }

  // An operand is loaded once, and again in each sequential part if the processor held another part of it in between.
  Wide io() const {
    bool several = plan_.steps > 1;
    Wide loads_of_b = plan_.gy > 1 && several ? plan_.seqj : 1;
    Wide loads_of_c = plan_.gx > 1 && (several || plan_.seqj > 1) ? plan_.seqi : 1;
    Wide rows = i_.owned_by(0), columns = j_.owned_by(0);
    return rows * columns + (loads_of_b * rows + loads_of_c * columns) * k_.range;
  }

  Wide moved() const {
    bool several_in_last = k_.last() > k_.chunk;
    Wide before_last = k_.n - k_.last();
    return a_moved() + b_moved(before_last, k_.range > k_.chunk) + b_moved(k_.last(), several_in_last) +
           c_moved(before_last, k_.range > k_.chunk, [&](int64_t w) { return k_.owned_before_last(w); }) +
           c_moved(k_.last(), several_in_last, [&](int64_t w) { return k_.owned_in_last(w); });
  }

 private:
  // The coordinates of a processor, and the extents of i, j and k that it computes.
  struct Processor {
    int64_t x, y, z;
    int64_t rows, columns, depth;
    bool works() const { return rows > 0 && columns > 0 && depth > 0; }
  };
  Processor processor(int64_t x, int64_t y, int64_t z) const {
    return {x, y, z, i_.owned_by(x), j_.owned_by(y), k_.length(z)};
  }

  // The first element of k in the processor's piece of C.
  int64_t c_begin(const Processor& p) const { return (p.z * plan_.gx + p.x) * k_.block; }

  // The elements of a processor's home pieces.
  int64_t home_elements(const Processor& p) const {
    return p.rows * block_length(p.columns, j_.piece(), p.z) + block_length(p.rows, i_.piece(), p.y) * p.depth +
           std::clamp<int64_t>(k_.n - c_begin(p), 0, k_.block) * p.columns;
  }

  // The elements of a processor's copy of a tile of A.
  int64_t tile_copy(const Processor& p) const {
    return std::min(p.rows, i_.block()) * largest_remote_chunk(p.columns, j_.block(), p.z * j_.piece(), j_.piece());
  }

  // The elements of a processor's copies of panels of B and C.
  int64_t panel_copies(const Processor& p) const {
    int64_t b = largest_remote_chunk(p.rows, i_.block(), p.y * i_.piece(), i_.piece()) * std::min(p.depth, k_.chunk);
    int64_t c = largest_remote_chunk(p.depth, k_.chunk, c_begin(p) - p.z * k_.range, k_.block);
    return b + c * std::min(p.columns, j_.block());
  }

  int64_t memory_of(const Processor& p) const {
    return home_elements(p) + (p.works() ? tile_copy(p) + panel_copies(p) : 0);
  }

  // The length of the largest chunk of [0, length) that does not lie within [begin, begin + owned); 0 if all chunks do.
  static int64_t largest_remote_chunk(int64_t length, int64_t chunk, int64_t begin, int64_t owned) {
    int64_t whole = length / chunk;
    int64_t first_local = ceil_div(begin, chunk);
    int64_t local = std::max<int64_t>(0, std::min(whole, (begin + owned) / chunk) - first_local);
    if (local < whole) return chunk;
    bool is_rest_local = whole * chunk >= begin && length <= begin + owned;
    return is_rest_local ? 0 : length % chunk;
  }

  // Every layer adds to all of A, and owns a part of each tile.
  Wide a_moved() const {
    return problem_.ni * (Wide{k_.count} * problem_.nj - j_.capped_sum(Wide{k_.count} * j_.piece()));
  }

  // B for `depth` elements of k. In a round of j, every working processor loads all rows that it does not own.
  Wide b_moved(Wide depth, bool several_chunks) const {
    auto rows_in = [&](int64_t round) {
      int64_t working = j_.working_in(round);
      return Wide{working} * problem_.ni - i_.capped_sum(Wide{working} * i_.piece());
    };
    Wide rows = rows_in(0);
    if (several_chunks && j_.rounds() > 1) rows = (j_.rounds() - 1) * rows + rows_in(j_.rounds() - 1);
    return depth * rows;
  }

  // C for `depth` elements of k. `owned(n)` says how much of them the first n processors of the x dimension own.
  template <class Owned>
  Wide c_moved(Wide depth, bool several_chunks, Owned&& owned) const {
    auto loaded_in = [&](int64_t round) {
      int64_t working = i_.working_in(round);
      return working * depth - owned(working);
    };
    Wide once = loaded_in(0);
    Wide every_round = i_.rounds() == 1 ? once : (i_.rounds() - 1) * once + loaded_in(i_.rounds() - 1);
    Wide kept = several_chunks ? 0 : j_.in_single_blocks();
    return kept * once + (problem_.nj - kept) * every_round;
  }

  const CosmaProblem& problem_;
  const CosmaPlan& plan_;
  DealtIndex i_, j_;
  Layers k_;
};

}  // namespace

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan) {
  CostModel model(problem, plan);
  return {model.memory(), model.work(), model.moved(), model.io()};
}

int64_t cosma_memory(const CosmaProblem& problem, const CosmaPlan& plan) { return CostModel(problem, plan).memory(); }
Wide cosma_io(const CosmaProblem& problem, const CosmaPlan& plan) { return CostModel(problem, plan).io(); }

int64_t cosma_longest_step(const CosmaProblem& problem, const CosmaPlan& plan, int64_t memory_elements) {
  return CostModel(problem, plan).longest_step(memory_elements);
}

int64_t nonempty_parts(int64_t n, int64_t parts) { return ceil_div(n, ceil_div(n, parts)); }

}  // namespace distal::core
