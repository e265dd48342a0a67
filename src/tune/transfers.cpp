#include "tune/transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "plan/ownership.h"
#include "support/text.h"
#include "tune/write_candidate.h"

namespace distal::core {

namespace {

// More ways than this to lay out a tensor are not compared.
constexpr int kMostFormats = 1024;

// The statement and the candidate with only one of the tensors. Tensors move independently of each other.
struct OneTensor {
  StatementShape shape;
  Candidate candidate;

  OneTensor(const FoundStatement& found, size_t tensor) : shape(found.shape), candidate(found.result.best.candidate) {
    shape.tensors = {shape.tensors[tensor]};
    candidate.roles = {candidate.roles[tensor]};
  }
};

int64_t common_length(const std::vector<Run>& a, const std::vector<Run>& b) {
  int64_t length = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    length += std::max<int64_t>(0, std::min(x->hi, y->hi) - std::max(x->lo, y->lo));
    x->hi < y->hi ? ++x : ++y;
  }
  return length;
}

// Goes through the formats of one copy that a tensor can have on the grid of a candidate.
class FormatChanger {
 public:
  FormatChanger(const Module& module, const Bindings& params, const FoundStatement& found, size_t tensor)
      : module_(module), params_(params), found_(found), one_(found, tensor), given_(*one_.shape.tensors[0].given) {
    one_.shape.tensors[0].given = nullptr;
    Candidate& candidate = one_.candidate;
    candidate.roles = {LevelRoles(candidate.levels.size(), kFace)};
  }

  // The best one, if it moves less than `bytes`.
  std::optional<FormatChange> find(int64_t bytes) {
    bytes_ = bytes;
    best_key_ = {bytes, 0};
    try_level(0);
    return best_;
  }

 private:
  void try_level(size_t level) {
    if (tried_ >= kMostFormats) return;
    if (level == one_.candidate.levels.size()) return try_format();
    const GridLevel& cut = one_.candidate.levels[level];
    const std::vector<int>& indices = one_.shape.tensors[0].indices;
    LevelRoles& roles = one_.candidate.roles[0];
    auto own = std::find(indices.begin(), indices.end(), cut.index);
    if (own != indices.end()) {
      roles[level] = static_cast<int>(own - indices.begin());
      return try_level(level + 1);
    }
    for (int role = kFace; role < static_cast<int>(indices.size()); ++role) {
      if (role != kFace && (cut.index == kNoIndex || !is_free(level, role))) continue;
      roles[level] = role;
      try_level(level + 1);
    }
    roles[level] = kFace;
  }

  // Whether this dimension of the tensor can be cut once more: a level of the machine cuts it at most once.
  bool is_free(size_t level, int role) const {
    if (!can_share(one_.shape, one_.candidate, 0, static_cast<int>(level), role)) return false;
    const std::vector<GridLevel>& levels = one_.candidate.levels;
    const std::vector<int>& indices = one_.shape.tensors[0].indices;
    for (size_t other = 0; other < levels.size(); ++other) {
      if (other == level || levels[other].machine_level != levels[level].machine_level) continue;
      bool is_cut_there =
          levels[other].index == indices[role] || (other < level && one_.candidate.roles[0][other] == role);
      if (is_cut_there) return false;
    }
    return true;
  }

  // The tiles of the work stay as they are, so cyclic shares must fill them.
  bool fits_tiles() const {
    return std::all_of(one_.candidate.levels.begin(), one_.candidate.levels.end(), [&](const GridLevel& level) {
      return level.index == kNoIndex || level.tile % tile_multiple(one_.shape, one_.candidate, level) == 0;
    });
  }

  void try_format() {
    ++tried_;
    if (!fits_tiles()) return;
    int64_t bytes = cost_of(one_.shape, one_.candidate).bytes_moved;
    if (bytes > std::get<0>(best_key_) || bytes >= bytes_) return;
    Distribution distribution = distribution_of(module_, found_.statement, one_.shape, one_.candidate, 0);
    int64_t needed = redistributed_bytes(distribution);
    if (best_ && std::tuple(bytes, needed) >= best_key_) return;
    best_key_ = {bytes, needed};
    best_ = FormatChange{to_string(distribution), bytes_ - bytes, needed};
  }

  // The bytes that processors would own and do not own now.
  int64_t redistributed_bytes(const Distribution& distribution) const {
    Tensor tensor = *module_.find_tensor(one_.shape.tensors[0].name);
    tensor.machine = machine_of(one_.candidate, "");
    tensor.distribution = distribution;
    Ownership owners(tensor, params_);
    int64_t elements = 0;
    for (int64_t p = 0; p < owners.machine().processors; ++p) {
      if (!owners.owns_any(p)) continue;
      HomePiece piece = owners.piece_of(p);
      int64_t common = given_.owns_scalar[static_cast<size_t>(p)] ? 1 : 0;
      for (size_t d = 0; d < piece.runs.size(); ++d) {
        common *= common_length(*piece.runs[d], given_.runs[static_cast<size_t>(p)][d]);
      }
      elements += piece.volume() - common;
    }
    return elements * one_.shape.tensors[0].element_bytes;
  }

  const Module& module_;
  const Bindings& params_;
  const FoundStatement& found_;
  OneTensor one_;  // with a free format
  const GivenPieces& given_;
  int64_t bytes_ = 0;
  int tried_ = 0;
  std::tuple<int64_t, int64_t> best_key_;
  std::optional<FormatChange> best_;
};

std::vector<SharedIndex> shared_indices(const FoundStatement& found, size_t tensor) {
  std::vector<SharedIndex> out;
  for (const GridLevel& level : found.result.best.candidate.levels) {
    if (level.index == kNoIndex || level.parts == 1 || found.shape.tensors[tensor].has_index(level.index)) continue;
    const std::string& index = found.shape.indices[level.index];
    auto known = std::find_if(out.begin(), out.end(), [&](const SharedIndex& other) { return other.index == index; });
    if (known == out.end()) {
      out.push_back({index, level.parts});
    } else {
      known->processors *= level.parts;
    }
  }
  return out;
}

}  // namespace

std::vector<TensorTransfer> transfers_of(const Module& module, const Bindings& params, const FoundStatement& found) {
  std::vector<TensorTransfer> out;
  for (size_t t = 0; t < found.shape.tensors.size(); ++t) {
    OneTensor one(found, t);
    CandidateCost cost = cost_of(one.shape, one.candidate);
    TensorTransfer transfer{found.shape.tensors[t].name, t == 0, one.shape.tensors[0].given != nullptr,
                            cost.bytes_moved, cost.messages};
    if (cost.bytes_moved > 0) transfer.shared = shared_indices(found, t);
    transfer.copies_replicas = t == 0 && found.shape.has_replicas();
    bool is_changeable = !transfer.copies_replicas && !found.shape.tensors[t].is_old_output;
    if (cost.bytes_moved > 0 && transfer.is_given && is_changeable) {
      transfer.change = FormatChanger(module, params, found, t).find(cost.bytes_moved);
    }
    out.push_back(std::move(transfer));
  }
  return out;
}

std::string cause_text(const TensorTransfer& transfer) {
  if (transfer.bytes == 0) return "";
  if (transfer.copies_replicas) {
    Cause cause{"", transfer.tensor, transfer.is_output};
    cause.copies_replicas = true;
    cause.shared = transfer.shared;
    return cause_text(cause);
  }
  std::vector<std::string> causes;
  int64_t by_format = transfer.change ? transfer.change->bytes_saved : 0;
  if (transfer.bytes > by_format && !transfer.shared.empty()) {
    causes.push_back(cause_text(transfer.tensor, transfer.is_output, transfer.shared));
  }
  if (causes.empty() || by_format > 0) causes.push_back(cause_text(transfer.tensor, transfer.is_output, {}));
  std::string out = causes.front();
  if (causes.size() > 1) out += fmt::format("; for {} of them {}", with_commas(by_format), causes.back());
  return out;
}

std::string change_text(const TensorTransfer& transfer) {
  if (!transfer.change) return "";
  return fmt::format("{} : {} would move {} bytes less; to redistribute moves {} once", transfer.tensor,
                     transfer.change->format, with_commas(transfer.change->bytes_saved),
                     with_commas(transfer.change->bytes_needed));
}

}  // namespace distal::core
