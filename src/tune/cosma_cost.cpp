#include "tune/cosma_cost.h"

#include <algorithm>

#include "support/checked.h"

namespace distal::core {

namespace {

// The length of [0, length) that lies in block `index` of blocks of `block` elements.
int64_t block_length(int64_t length, int64_t block, int64_t index) {
  return std::clamp<int64_t>(length - index * block, 0, block);
}

// A side of the tiles of A: n elements in blocks that are dealt to a grid dimension in turn. Each turn is a sequential
// part, and the last one may leave processors without a block. What a processor is dealt, its blocks side by side, is
// cut once more into pieces by another grid dimension.
class Dealt {
 public:
  Dealt(int64_t n, int64_t grid, int64_t parts, int64_t pieces)
      : n_(n), grid_(grid), block_(ceil_div(n, grid * parts)), piece_(ceil_div(turns() * block_, pieces)) {}

  int64_t block() const { return block_; }
  int64_t piece() const { return piece_; }
  int64_t blocks() const { return ceil_div(n_, block_); }
  int64_t turns() const { return ceil_div(blocks(), grid_); }
  int64_t working_in(int64_t turn) const { return std::min(grid_, blocks() - turn * grid_); }

  // The elements of a processor; those of the first are the most.
  int64_t owned_by(int64_t processor) const {
    int64_t round = block_ * grid_;
    return n_ / round * block_ + block_length(n_ % round, block_, processor);
  }

  // The elements that processors have within their first `most`.
  Wide within(Wide most) const {
    int64_t whole = n_ / (block_ * grid_);
    int64_t rest = n_ % (block_ * grid_);
    int64_t with_one_more = rest / block_;
    auto capped = [&](int64_t length) { return std::min(Wide{length}, most); };
    Wide sum = with_one_more * capped((whole + 1) * block_);
    if (with_one_more == grid_) return sum;
    sum += capped(whole * block_ + rest % block_);
    return sum + (grid_ - with_one_more - 1) * capped(whole * block_);
  }

  // The elements of the processors that have one block only.
  int64_t in_single_blocks() const {
    if (blocks() <= grid_) return n_;
    return std::max<int64_t>(0, 2 * grid_ - blocks()) * block_;
  }

 private:
  int64_t n_, grid_, block_, piece_;
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

// k, in one range a layer of the grid. C is dealt to the layers in ranges that are a little longer where sizes do not
// divide, as each consists of gx blocks; so the last layers find some of it with the layer before.
struct Depth {
  Depth(const CosmaProblem& problem, const CosmaPlan& plan)
      : n(problem.nk),
        range(ceil_div(n, plan.gz)),
        chunk(ceil_div(range, plan.steps)),
        layers(ceil_div(n, range)),
        block(ceil_div(n, plan.gx * plan.gz)),
        dealt(block * plan.gx) {}

  int64_t length(int64_t z) const { return block_length(n, range, z); }
  int64_t last() const { return length(layers - 1); }

  // What the first `blocks` processors of x have of their own layer's range: in all layers but the last, and in it.
  Wide owned_before_last(int64_t blocks) const { return falling_sum(range, dealt - range, blocks * block, layers - 1); }
  Wide owned_in_last(int64_t blocks) const {
    return std::clamp<int64_t>(n - (layers - 1) * dealt, 0, std::min(blocks * block, last()));
  }

  int64_t n, range, chunk, layers;
  int64_t block;  // of C
  int64_t dealt;  // gx of them
};

// The whole of one way to run the program.
class Counted {
 public:
  Counted(const CosmaProblem& problem, const CosmaPlan& plan)
      : problem_(problem),
        plan_(plan),
        i_(problem.ni, plan.gx, plan.seqi, plan.gy),
        j_(problem.nj, plan.gy, plan.seqj, plan.gz),
        k_(problem, plan) {}

  // A processor at coordinate 0 owns most, and one at coordinate 1 never finds its first tile or panel at home; from
  // there on nothing grows. So the most loaded processor is among these.
  int64_t memory() const {
    int64_t most = 0;
    for (int64_t x = 0; x < std::min<int64_t>(2, plan_.gx); ++x)
      for (int64_t y = 0; y < std::min<int64_t>(2, plan_.gy); ++y)
        for (int64_t z = 0; z < std::min<int64_t>(2, plan_.gz); ++z) most = std::max(most, memory_at(place(x, y, z)));
    return most;
  }

  int64_t longest_step(int64_t memory) const {
    auto one = [](int64_t extent) { return std::min<int64_t>(1, extent - 1); };
    Place p = place(one(plan_.gx), one(plan_.gy), one(plan_.gz));
    int64_t rows = plan_.gy > 1 ? std::min(p.rows, i_.block()) : 0;
    int64_t columns = plan_.gx > 1 ? std::min(p.columns, j_.block()) : 0;
    if (!p.works() || rows + columns == 0) return k_.range;
    int64_t longest = floor_div(memory - home_at(p) - tile_at(p), rows + columns);
    return longest >= p.depth ? k_.range : longest;
  }

  int64_t work() const { return i_.owned_by(0) * j_.owned_by(0) * k_.range; }

  // An operand comes once, and again in each sequential part in between which the processor held something else of it.
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
  // Where a processor is, and how much of i, j and k is its work.
  struct Place {
    int64_t x, y, z;
    int64_t rows, columns, depth;
    bool works() const { return rows > 0 && columns > 0 && depth > 0; }
  };
  Place place(int64_t x, int64_t y, int64_t z) const { return {x, y, z, i_.owned_by(x), j_.owned_by(y), k_.length(z)}; }

  int64_t c_begins(const Place& p) const { return (p.z * plan_.gx + p.x) * k_.block; }

  int64_t home_at(const Place& p) const {
    return p.rows * block_length(p.columns, j_.piece(), p.z) + block_length(p.rows, i_.piece(), p.y) * p.depth +
           std::clamp<int64_t>(k_.n - c_begins(p), 0, k_.block) * p.columns;
  }

  int64_t tile_at(const Place& p) const {
    return std::min(p.rows, i_.block()) * largest_away(p.columns, j_.block(), p.z * j_.piece(), j_.piece());
  }

  int64_t panels_at(const Place& p) const {
    int64_t b = largest_away(p.rows, i_.block(), p.y * i_.piece(), i_.piece()) * std::min(p.depth, k_.chunk);
    int64_t c = largest_away(p.depth, k_.chunk, c_begins(p) - p.z * k_.range, k_.block);
    return b + c * std::min(p.columns, j_.block());
  }

  int64_t memory_at(const Place& p) const { return home_at(p) + (p.works() ? tile_at(p) + panels_at(p) : 0); }

  // Of [0, length) in chunks, the largest chunk that does not lie within [begin, begin + owned): 0 if all do.
  static int64_t largest_away(int64_t length, int64_t chunk, int64_t begin, int64_t owned) {
    int64_t whole = length / chunk;
    int64_t first_at_home = ceil_div(begin, chunk);
    int64_t at_home = std::max<int64_t>(0, std::min(whole, (begin + owned) / chunk) - first_at_home);
    if (at_home < whole) return chunk;
    bool rest_at_home = whole * chunk >= begin && length <= begin + owned;
    return rest_at_home ? 0 : length % chunk;
  }

  // Every layer adds to all of A, and a part of each tile is at home in the layer.
  Wide a_moved() const {
    return problem_.ni * (Wide{k_.layers} * problem_.nj - j_.within(Wide{k_.layers} * j_.piece()));
  }

  // B for `depth` elements of k. In a turn of j, every processor that works takes all rows but those it owns.
  Wide b_moved(Wide depth, bool several_chunks) const {
    auto rows_in = [&](int64_t turn) {
      int64_t working = j_.working_in(turn);
      return Wide{working} * problem_.ni - i_.within(Wide{working} * i_.piece());
    };
    Wide rows = rows_in(0);
    if (several_chunks && j_.turns() > 1) rows = (j_.turns() - 1) * rows + rows_in(j_.turns() - 1);
    return depth * rows;
  }

  // C for `depth` elements of k, of which the first processors of the x dimension own what `owned` says.
  template <class Owned>
  Wide c_moved(Wide depth, bool several_chunks, Owned&& owned) const {
    auto taken_in = [&](int64_t turn) {
      int64_t working = i_.working_in(turn);
      return working * depth - owned(working);
    };
    Wide once = taken_in(0);
    Wide every_turn = i_.turns() == 1 ? once : (i_.turns() - 1) * once + taken_in(i_.turns() - 1);
    Wide kept = several_chunks ? 0 : j_.in_single_blocks();
    return kept * once + (problem_.nj - kept) * every_turn;
  }

  const CosmaProblem& problem_;
  const CosmaPlan& plan_;
  Dealt i_, j_;
  Depth k_;
};

}  // namespace

CosmaCost cosma_cost(const CosmaProblem& problem, const CosmaPlan& plan) {
  Counted counted(problem, plan);
  return {counted.memory(), counted.work(), counted.moved(), counted.io()};
}

int64_t cosma_memory(const CosmaProblem& problem, const CosmaPlan& plan) { return Counted(problem, plan).memory(); }
Wide cosma_io(const CosmaProblem& problem, const CosmaPlan& plan) { return Counted(problem, plan).io(); }

int64_t cosma_longest_step(const CosmaProblem& problem, const CosmaPlan& plan, int64_t memory_elements) {
  return Counted(problem, plan).longest_step(memory_elements);
}

int64_t nonempty_parts(int64_t n, int64_t parts) { return ceil_div(n, ceil_div(n, parts)); }

}  // namespace distal::core
