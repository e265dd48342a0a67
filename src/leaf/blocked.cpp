#include "leaf/blocked.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "leaf/blocked_source.h"
#include "leaf/compile.h"
#include "leaf/product.h"
#include "support/checked.h"
#include "support/scratch.h"

namespace distal::core {

namespace {

int64_t extent_of(const Box& box, const std::vector<size_t>& axes) {
  int64_t out = 1;
  for (size_t a : axes) out *= box.axes[a].extent;
  return out;
}

// The axis of the smallest step in an operand last: it runs fastest.
void sort_by_step(const Box& box, size_t operand, std::vector<size_t>& axes) {
  std::sort(axes.begin(), axes.end(), [&](size_t a, size_t b) {
    return std::abs(box.axes[a].steps[operand]) > std::abs(box.axes[b].steps[operand]);
  });
}

bool is_in_line(const Box& box, size_t operand, const std::vector<size_t>& axes) {
  return axes.size() == 1 && box.axes[axes[0]].steps[operand] == 1;
}

bool has_unit_step(const Box& box, size_t operand, const std::vector<size_t>& axes) {
  return std::any_of(axes.begin(), axes.end(), [&](size_t a) { return box.axes[a].steps[operand] == 1; });
}

// Deals the axes out; nothing if an axis is in neither operand, or there is no sum that is theirs alone.
std::optional<Blocking> blocking_by(const Box& box, size_t left, size_t right) {
  Blocking out{left, right, {}, {}, {}, {}};
  for (size_t a = 0; a < box.axes.size(); ++a) {
    bool in_left = box.has(a, left), in_right = box.has(a, right), elsewhere = !box.is_sum(a);
    for (size_t o = 1; o < box.data.size(); ++o) elsewhere = elsewhere || (o != left && o != right && box.has(a, o));
    if (!in_left && !in_right) return std::nullopt;
    (in_left && in_right ? (elsewhere ? out.batch : out.sums) : in_left ? out.rows : out.columns).push_back(a);
  }
  if (out.sums.empty() || out.rows.empty() || out.columns.empty()) return std::nullopt;
  sort_by_step(box, 0, out.rows);
  sort_by_step(box, 0, out.columns);
  sort_by_step(box, left, out.sums);
  return out;
}

// Whether several blocks add to the same part of the output, the blocks of one sum aside.
bool adds_outside(const Box& box, const Blocking& b) {
  auto is_sum = [&](size_t a) { return box.is_sum(a); };
  return std::any_of(b.rows.begin(), b.rows.end(), is_sum) || std::any_of(b.columns.begin(), b.columns.end(), is_sum) ||
         std::any_of(b.batch.begin(), b.batch.end(), is_sum);
}

// Which share of the multiplications is wanted, and how little is spent beside them.
double quality(const Box& box, const Blocking& b, int64_t element_bytes) {
  int64_t lanes = kBlockedVector / element_bytes;
  int64_t rows = extent_of(box, b.rows), columns = extent_of(box, b.columns), sums = extent_of(box, b.sums);
  double used = static_cast<double>(columns) / static_cast<double>(ceil_div(columns, lanes) * lanes);
  used *= static_cast<double>(rows) / static_cast<double>(ceil_div(rows, kBlockedRows) * kBlockedRows);
  double packing = is_in_line(box, b.left, b.sums)      ? 0
                   : has_unit_step(box, b.left, b.sums) ? 4.0 / static_cast<double>(columns)
                                                        : 16.0 / static_cast<double>(columns);
  packing += 4.0 / static_cast<double>(rows);
  double finishing = (has_unit_step(box, 0, b.columns) ? 4.0 : 32.0) / static_cast<double>(sums);
  return used / (1 + packing + finishing);
}

// Below this the multipliers would wait for memory, or do work that nobody wants.
constexpr double kWorthwhile = 0.2;
constexpr int64_t kFewestRows = 4, kFewestSums = 4;

// Whether the axis that runs fastest goes from one element to the next.
bool goes_by_one(const Box& box, size_t operand, const std::vector<size_t>& axes) {
  return box.axes[axes.back()].steps[operand] == 1;
}

// How many steps of some axes lie one beside the other in an operand: those of the axis that runs fastest, or all of
// them if that has fewer than `least`, or does not go from one element to the next.
int64_t run_of(const Box& box, size_t operand, const std::vector<size_t>& axes, int64_t least) {
  int64_t fastest = box.axes[axes.back()].extent;
  return goes_by_one(box, operand, axes) && fastest >= least ? fastest : extent_of(box, axes);
}

// As many as there may be at once, so that pieces are about equal and end where runs do.
int64_t in_runs(int64_t most, int64_t all, int64_t run) {
  int64_t unit = run <= most ? run : 1, units = run <= most ? all / run : run;
  return ceil_div(units, ceil_div(units, most / unit)) * unit;
}

// The length of the piece that begins at `first`: no run's end is in the midst of it, if a run is longer than a piece.
int64_t piece(int64_t first, int64_t length, int64_t all, int64_t run) {
  int64_t end = length < run ? (first / run + 1) * run : all;
  return std::min(length, end - first);
}

// Offsets of all combinations of some axes from `first` on; the last axis runs fastest.
class Offsets {
 public:
  Offsets(const Box& box, const std::vector<size_t>& axes) : box_(box), axes_(axes) {}

  void fill(size_t operand, int64_t first, int64_t count, int64_t* out) const {
    absl::InlinedVector<int64_t, 6> at(axes_.size());
    int64_t rest = first, offset = 0;
    for (size_t i = axes_.size(); i-- > 0;) {
      at[i] = rest % box_.axes[axes_[i]].extent;
      rest /= box_.axes[axes_[i]].extent;
      offset += at[i] * box_.axes[axes_[i]].steps[operand];
    }
    for (int64_t n = 0; n < count; ++n) {
      out[n] = offset;
      offset = next(operand, offset, at);
    }
  }

 private:
  int64_t next(size_t operand, int64_t offset, absl::InlinedVector<int64_t, 6>& at) const {
    for (size_t i = axes_.size(); i-- > 0;) {
      const Axis& a = box_.axes[axes_[i]];
      offset += a.steps[operand];
      if (++at[i] < a.extent) return offset;
      offset -= at[i] * a.steps[operand];
      at[i] = 0;
    }
    return offset;
  }

  const Box& box_;
  const std::vector<size_t>& axes_;
};

int64_t sum_of(std::span<const Box> boxes, const std::vector<size_t>& axes) {
  int64_t out = 0;
  for (const Box& box : boxes) out += extent_of(box, axes);
  return out;
}

// In bytes; the two may be memory of different owners.
int64_t bytes_between(const std::byte* from, const std::byte* to) {
  return reinterpret_cast<intptr_t>(to) - reinterpret_cast<intptr_t>(from);
}

// Whether two boxes differ in nothing but how long their sums are, and where the operands lie that are summed.
bool is_alike(const Box& box, const Box& next, const Blocking& blocking, int64_t element_bytes) {
  if (box.axes.size() != next.axes.size()) return false;
  for (size_t a = 0; a < box.axes.size(); ++a) {
    bool sum = std::find(blocking.sums.begin(), blocking.sums.end(), a) != blocking.sums.end();
    if (box.axes[a].steps != next.axes[a].steps || (!sum && box.axes[a].extent != next.axes[a].extent)) return false;
  }
  for (size_t o = 0; o < box.data.size(); ++o) {
    int64_t away = bytes_between(box.data[o], next.data[o]);
    if (o == blocking.left || o == blocking.right ? away % element_bytes != 0 : away != 0) return false;
  }
  return true;
}

// What a thread needs for its blocks, cut out of its scratch memory.
class Room {
 public:
  Room(size_t operands, int64_t sums, int64_t columns, int64_t run, int64_t element_bytes) {
    int64_t lanes = kBlockedVector / element_bytes, runs = ceil_div(columns, run);
    int64_t packed = sums * runs * ceil_div(std::min(run, columns), lanes) * lanes * element_bytes;
    int64_t line = sums * kBlockedRowsAtOnce * element_bytes;
    // By operand offsets of rows and columns, two of sums, and where their runs begin; each begins at a whole vector.
    auto tables = 2 * static_cast<int64_t>(operands) + 3;
    int64_t offsets = static_cast<int64_t>(operands) * (columns + kBlockedRowsAtOnce) + 3 * sums + 1;
    at_ = scratch(static_cast<size_t>(packed + line + offsets * 8 + (tables + 2) * kBlockedVector));
    packed_ = take(packed);
    line_ = take(line);
  }

  void* packed() const { return packed_; }
  void* line() const { return line_; }
  int64_t* offsets(int64_t n) { return reinterpret_cast<int64_t*>(take(n * 8)); }

 private:
  std::byte* take(int64_t bytes) {
    std::byte* out = at_;
    at_ += ceil_div(bytes, kBlockedVector) * kBlockedVector;
    return out;
  }

  std::byte *at_, *packed_ = nullptr, *line_ = nullptr;
};

// Carries out one matrix multiply of a box, block after block.
class BlockedRun {
 public:
  BlockedRun(std::span<const Box> boxes, const Blocking& blocking, int64_t element_bytes, BlockedFunction* function,
             const void* scale)
      : boxes_(boxes),
        box_(boxes[0]),
        blocking_(blocking),
        bytes_(element_bytes),
        function_(function),
        all_rows_(extent_of(box_, blocking.rows)),
        all_columns_(extent_of(box_, blocking.columns)),
        all_sums_(sum_of(boxes, blocking.sums)),
        sum_run_(boxes.size() > 1 ? 1 : run_of(box_, blocking.left, blocking.sums, 1)),
        column_run_(run_of(box_, 0, blocking.columns, 2 * kBlockedVector / element_bytes)),
        sums_(in_runs(kBlockedSums, all_sums_, sum_run_)),
        columns_(columns_at_once()),
        room_(box_.data.size(), sums_, columns_, column_run_, element_bytes) {
    job_.scale = scale;
    job_.packed = room_.packed();
    job_.line = room_.line();
    job_.left_by_one = goes_by_one(box_, blocking.left, blocking.sums);
    job_.right_by_column = is_in_line(box_, blocking.right, blocking.sums);
    for (size_t o = 0; o < box_.data.size(); ++o) {
      rows_.push_back(o == blocking.right ? nullptr : room_.offsets(kBlockedRowsAtOnce));
      column_.push_back(o == blocking.left ? nullptr : room_.offsets(columns_));
    }
    left_sum_ = room_.offsets(sums_);
    right_sum_ = room_.offsets(sums_);
    runs_ = room_.offsets(sums_ + 1);
    for (size_t o = 1; o < box_.data.size(); ++o) {
      if (o == blocking.left || o == blocking.right) continue;
      factors_.push_back(o);
      factor_row_.push_back(rows_[o]);
      factor_column_.push_back(column_[o]);
    }
    job_.left_row = rows_[blocking.left];
    job_.left_sum = left_sum_;
    job_.right_sum = right_sum_;
    job_.run = runs_;
    job_.right_column = column_[blocking.right];
    job_.output_row = rows_[0];
    job_.output_column = column_[0];
    job_.factor_row = factor_row_.data();
    job_.factor_column = factor_column_.data();
  }

  void multiply(const absl::InlinedVector<std::byte*, 4>& data, bool begin) {
    job_.left = data[blocking_.left];
    job_.right = data[blocking_.right];
    job_.output = data[0];
    absl::InlinedVector<const void*, 4> factors;
    for (size_t o : factors_) factors.push_back(data[o]);
    job_.factor = factors.data();
    for (int64_t k = 0; k < all_sums_; k += job_.sums) {
      job_.sums = piece(k, sums_, all_sums_, sum_run_);
      job_.begin = begin && k == 0;
      sums_from(k);
      for (int64_t c = 0; c < all_columns_; c += job_.columns) columns_from(c);
    }
  }

 private:
  // A whole number of the widest panels, as many as the cache holds.
  int64_t columns_at_once() const {
    int64_t panel = 4 * kBlockedVector / bytes_;
    int64_t most = std::max<int64_t>(1, kBlockedBytes / (sums_ * bytes_) / panel) * panel;
    return in_runs(most, all_columns_, column_run_);
  }

  // Where the operands are at each step of the sum, one box behind the other.
  void sums_from(int64_t first) {
    job_.runs = 0;
    int64_t begin = 0, end = 0;  // of a box
    for (const Box& box : boxes_) {
      begin = std::exchange(end, end + extent_of(box, blocking_.sums));
      int64_t from = std::max(begin, first), to = std::min(end, first + job_.sums);
      if (from < to) add_sums(box, from - begin, to - begin, from - first);
    }
    const int64_t* end_of_left = left_sum_ + job_.sums;
    auto jumps = [](int64_t a, int64_t b) { return b != a + 1; };
    job_.left_in_line = std::adjacent_find<const int64_t*>(left_sum_, end_of_left, jumps) == end_of_left;
  }

  // Some steps of one box, which come as the `at`-th and further ones.
  void add_sums(const Box& box, int64_t first, int64_t last, int64_t at) {
    fill_sums(box, blocking_.left, first, last, left_sum_ + at);
    fill_sums(box, blocking_.right, first, last, right_sum_ + at);
    int64_t run = job_.left_by_one ? box.axes[blocking_.sums.back()].extent : last;
    for (int64_t k = first; k < last;) {
      runs_[job_.runs++] = at + k - first;
      k = std::min(last, (k / run + 1) * run);
    }
    runs_[job_.runs] = at + last - first;
  }

  void fill_sums(const Box& box, size_t operand, int64_t first, int64_t last, int64_t* out) const {
    Offsets(box, blocking_.sums).fill(operand, first, last - first, out);
    int64_t away = bytes_between(box_.data[operand], box.data[operand]) / bytes_;
    for (int64_t k = 0; k < last - first; ++k) out[k] += away;
  }

  void columns_from(int64_t first) {
    job_.columns = piece(first, columns_, all_columns_, column_run_);
    job_.column_run = std::min(column_run_, job_.columns);
    Offsets offsets(box_, blocking_.columns);
    for (size_t o = 0; o < column_.size(); ++o) {
      if (column_[o]) offsets.fill(o, first, job_.columns, column_[o]);
    }
    job_.pack_only = 1;
    function_(&job_);
    job_.pack_only = 0;
    for (int64_t r = 0; r < all_rows_; r += kBlockedRowsAtOnce) rows_from(r);
  }

  void rows_from(int64_t first) {
    job_.rows = std::min(kBlockedRowsAtOnce, all_rows_ - first);
    Offsets offsets(box_, blocking_.rows);
    for (size_t o = 0; o < rows_.size(); ++o) {
      if (rows_[o]) offsets.fill(o, first, job_.rows, rows_[o]);
    }
    function_(&job_);
  }

  std::span<const Box> boxes_;  // with a sum each, one behind the other
  const Box& box_;              // the first of them
  const Blocking& blocking_;
  int64_t bytes_;
  BlockedFunction* function_;
  int64_t all_rows_, all_columns_, all_sums_;
  int64_t sum_run_, column_run_;  // what is in one piece
  int64_t sums_, columns_;        // at once
  Room room_;
  BlockedJob job_{};
  absl::InlinedVector<int64_t*, 4> rows_, column_;  // by operand
  int64_t *left_sum_, *right_sum_, *runs_;
  absl::InlinedVector<size_t, 4> factors_;
  absl::InlinedVector<const int64_t*, 4> factor_row_, factor_column_;
};

template <class T>
class BlockedKernel : public BoxKernel {
 public:
  BlockedKernel(const Product& product, ElementType type)
      : type_(type), factors_(product.factors), scale_(scale_as<T>(product)) {}

  bool takes(const Box& box) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    return blocking && pays(box, *blocking, sizeof(T));
  }

  void prepare(const Box&) const override { code(); }
  std::string source(const Box&) const override { return blocked_source(type_, factors_ - 2); }

  void run(const Box& box, bool begin) const override { run_joined({&box, 1}, begin); }

  // Where both do not fit, there would be as many pieces of the sum as without joining.
  bool joins(const Box& box, const Box& next) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    return blocking && is_alike(box, next, *blocking, sizeof(T)) &&
           extent_of(box, blocking->sums) + extent_of(next, blocking->sums) <= kBlockedSums;
  }

  void run_joined(std::span<const Box> boxes, bool begin) const override {
    const Box& box = boxes[0];
    std::optional<Blocking> blocking = best_blocking(boxes, sizeof(T));
    // Only where a block makes its part of the output in whole can it begin it.
    bool in_block = begin && !adds_outside(box, *blocking);
    if (begin && !in_block) clear_output(box, sizeof(T));
    BlockedRun multiply(boxes, *blocking, sizeof(T), code().template function<BlockedFunction>(), &scale_);
    absl::InlinedVector<Axis, 6> batch;
    for (size_t a : blocking->batch) batch.push_back(box.axes[a]);
    for_each(batch, box.data, sizeof(T), [&](const auto& data) { multiply.multiply(data, in_block); });
  }

  std::string explain(const Box& box, const std::vector<std::string>& operands) const override {
    std::optional<Blocking> blocking = best_blocking(box, sizeof(T));
    std::vector<std::string> others;
    for (size_t o = 1; o < operands.size(); ++o) {
      if (o != blocking->left && o != blocking->right) others.push_back(operands[o]);
    }
    std::string out =
        fmt::format("{} times {} in register blocks", operands[blocking->left], operands[blocking->right]);
    if (others.empty()) return out;
    return fmt::format("{}, each block times {} as it is added, nothing kept in between", out,
                       fmt::join(others, " * "));
  }

  std::string description() const override {
    return code().from_cache ? "register blocks (cached)" : "register blocks (compiled)";
  }

 private:
  const CompiledLeaf& code() const {
    std::call_once(once_, [&] { code_ = compile_leaf(source({})); });
    return code_;
  }

  ElementType type_;
  int factors_;
  T scale_;
  mutable std::once_flag once_;
  mutable CompiledLeaf code_;
};

}  // namespace

std::optional<Blocking> best_blocking(std::span<const Box> boxes, int64_t element_bytes) {
  const Box& box = boxes[0];
  std::optional<Blocking> best;
  double best_quality = 0;
  for (size_t left = 1; left < box.data.size(); ++left) {
    for (size_t right = 1; right < box.data.size(); ++right) {
      if (left == right) continue;
      std::optional<Blocking> found = blocking_by(box, left, right);
      double q = found ? quality(box, *found, element_bytes) : 0;
      auto fits = [&](const Box& other) { return is_alike(box, other, *found, element_bytes); };
      if (q <= best_quality || !std::all_of(boxes.begin() + 1, boxes.end(), fits)) continue;
      best_quality = q;
      best = std::move(found);
    }
  }
  return best;
}

bool pays(const Box& box, const Blocking& blocking, int64_t element_bytes) {
  return extent_of(box, blocking.rows) >= kFewestRows && extent_of(box, blocking.sums) >= kFewestSums &&
         quality(box, blocking, element_bytes) >= kWorthwhile;
}

std::unique_ptr<BoxKernel> make_blocked_kernel(const LeafTerm& term, ElementType type) {
  std::optional<Product> product = product_of(term, type);
  if (!product || product->factors < 2) return nullptr;
  return with_element_type(type, [&](auto zero) -> std::unique_ptr<BoxKernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>) {
      return std::make_unique<BlockedKernel<T>>(*product, type);
    } else {
      return nullptr;
    }
  });
}

}  // namespace distal::core
