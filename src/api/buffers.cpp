#include "api/buffers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "support/checked.h"

namespace distal {

namespace {

// Whether the stride of each dimension exceeds what the dimensions with shorter strides span together.
bool are_nested(const core::Coordinates& extents, const core::Coordinates& strides) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // |stride| and extent
  for (size_t d = 0; d < strides.size(); ++d) {
    if (extents[d] > 1) steps.emplace_back(std::abs(strides[d]), extents[d]);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 1;
  for (const auto& [step, count] : steps) {
    if (step < reach) return false;
    reach += (count - 1) * step;
  }
  return true;
}

bool share_a_place(const core::Coordinates& extents, const core::Coordinates& strides) {
  if (are_nested(extents, strides)) return false;
  BufferReach all = reach_of(extents, strides);
  bool is_sparse = all.elements() / 64 > core::whole(extents).volume();  // then the list of offsets is the smaller one
  std::vector<bool> taken(is_sparse ? 0 : static_cast<size_t>(all.elements()));
  std::vector<int64_t> offsets;
  bool shared = false;
  core::for_each_point(core::whole(extents), [&](const core::Coordinates& at) {
    int64_t offset = -all.first;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
    if (is_sparse) return offsets.push_back(offset);
    shared = shared || taken[static_cast<size_t>(offset)];
    taken[static_cast<size_t>(offset)] = true;
  });
  std::sort(offsets.begin(), offsets.end());
  return shared || std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

// Strides that lead beyond any memory would overflow where offsets are computed.
void require_reach(const std::string& whose, const core::Coordinates& extents, const core::Coordinates& strides) {
  constexpr core::Int128 kMost = core::Int128{1} << 58;  // elements: with 16 bytes each, half of what 64 bits address
  core::Int128 reach = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    core::Int128 way = core::Int128{extents[d] - 1} * strides[d];
    reach += way < 0 ? -way : way;
  }
  if (reach <= kMost) return;
  throw Error(fmt::format("{} has strides ({}), which lead out of any memory", whose, fmt::join(strides, ", ")), {},
              "strides count in elements");
}

// Where a piece of this process lies.
struct Place {
  size_t tensor = 0;
  int64_t processor = 0;
  const std::byte* first = nullptr;  // element
  const std::byte *begin = nullptr, *end = nullptr;
  bool is_solid = false;  // there is nothing between its elements
};

std::vector<Place> places_of(const std::vector<std::shared_ptr<TensorState>>& tensors) {
  std::vector<Place> out;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const core::TensorPieces& pieces = tensors[t]->pieces();
    for (int64_t p = 0; p < pieces.owners().machine().processors; ++p) {
      if (pieces.bytes_here(p) == 0) continue;
      int64_t bytes = core::size_of(pieces.type());
      BufferReach reach = reach_of(pieces.owners().piece_of(p).extents, pieces.strides(p));
      const std::byte* first = pieces.data(p);
      Place place{t, p, first, first + reach.first * bytes, first + (reach.last + 1) * bytes};
      place.is_solid = place.end - place.begin == pieces.bytes_here(p);
      out.push_back(place);
    }
  }
  return out;
}

bool surely_overlap(const Place& a, const Place& b) {
  auto has = [](const Place& place, const std::byte* at) {
    return place.is_solid && at >= place.begin && at < place.end;
  };
  return a.first == b.first || has(a, b.first) || has(b, a.first);
}

}  // namespace

BufferReach reach_of(const core::Coordinates& extents, const core::Coordinates& strides) {
  BufferReach out;
  for (size_t d = 0; d < strides.size(); ++d) {
    int64_t way = (extents[d] - 1) * strides[d];
    (way < 0 ? out.first : out.last) += way;
  }
  return out;
}

void require_room(const std::string& tensor, const TensorState::Bound& b, const core::Coordinates& extents,
                  const core::Coordinates& strides) {
  std::string whose = fmt::format("{}: the buffer for processor {}", tensor, b.processor);
  require_reach(whose, extents, strides);
  BufferReach needed = reach_of(extents, strides);
  if (b.elements && needed.first < 0) {
    throw Error(fmt::format("{} is left by strides ({}): {} elements of its piece would lie before it", whose,
                            fmt::join(strides, ", "), -needed.first),
                {}, "with a pointer in place of a span, a buffer may begin in the middle");
  }
  if (b.elements && needed.last >= *b.elements) {
    throw Error(fmt::format("{} has {} elements, and its piece reaches over {}", whose, *b.elements, needed.last + 1));
  }
  if (share_a_place(extents, strides)) {
    throw Error(fmt::format("{} has strides ({}), with which two elements of its piece of ({}) would be one", whose,
                            fmt::join(strides, ", "), fmt::join(extents, ", ")),
                {}, "from column to column it is at least as far as there are rows in the piece, or the other way");
  }
}

void ApartCheck::require(const core::Plan& plan, const std::vector<std::shared_ptr<TensorState>>& tensors) {
  if (std::all_of(tensors.begin(), tensors.end(), [](const auto& t) { return t->bound.empty(); })) return;
  std::vector<int64_t> versions;
  for (const auto& t : tensors) versions.push_back(t->pieces().version());
  if (versions == versions_) return;
  std::set<size_t> written;
  for (const core::StagePlan& stage : plan.stages) written.insert(static_cast<size_t>(stage.output));
  std::vector<Place> places = places_of(tensors);
  for (const Place& a : places) {
    if (written.count(a.tensor) == 0) continue;
    for (const Place& b : places) {
      if (&a == &b || !surely_overlap(a, b)) continue;
      throw Error(fmt::format("tensor {} is written, and its piece of processor {} lies in the same memory as that of "
                              "processor {} of tensor {}",
                              plan.tensors[a.tensor].name, a.processor, b.processor, plan.tensors[b.tensor].name),
                  {}, "bind other memory to one of them");
    }
  }
  versions_ = std::move(versions);
}

}  // namespace distal
