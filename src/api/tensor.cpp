#include "distal/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "api/buffers.h"
#include "api/module_builder.h"
#include "api/state.h"
#include "data/npy_reader.h"
#include "data/npy_writer.h"
#include "distal/error.h"
#include "distal/kernel.h"
#include "store/huge_pages.h"
#include "store/slabs.h"
#include "support/available_memory.h"
#include "support/checked.h"
#include "support/text.h"

namespace distal {

namespace {

std::vector<std::shared_ptr<Param::State>> params_of(const TensorState& tensor) {
  std::vector<std::shared_ptr<Param::State>> out;
  for (const Int& n : numbers_of(tensor)) out.insert(out.end(), n.params().begin(), n.params().end());
  return out;
}

// The processors of its machine, for the current values of the params.
int64_t processors_of(const TensorState& tensor) {
  int64_t out = 1;
  const auto& distribution = tensor.format.distribution();
  if (!distribution) return out;
  for (const Grid& g : distribution->machine().levels()) {
    for (const Int& e : g.extents()) out *= e.value();
  }
  return out;
}

// A buffer of a processor that owns no element. It is not used.
bool is_of_nobody(const TensorState::Bound& b, const core::TensorPieces& pieces) {
  bool exists = b.processor >= 0 && b.processor < pieces.owners().machine().processors;
  return exists && !pieces.owners().owns_any(b.processor);
}

void require_piece(const TensorState& tensor, const TensorState::Bound& b, const core::TensorPieces& pieces) {
  int64_t processors = pieces.owners().machine().processors;
  if (b.processor >= 0 && b.processor < processors) return;
  throw Error(
      fmt::format("{}: a buffer is bound for processor {}, and the machine has {}", tensor.label(), b.processor,
                  core::counted(processors, "processor")),
      {}, processors == 1 ? "its number is 0" : fmt::format("their numbers are 0 to {}, row by row", processors - 1));
}

void bind_buffer(const TensorState& tensor, const TensorState::Bound& b, core::TensorPieces& pieces) {
  if (!b.data) throw Error(fmt::format("{}: the buffer for processor {} is null", tensor.label(), b.processor));
  core::HomePiece piece = pieces.owners().piece_of(b.processor);
  core::Coordinates strides(b.strides.begin(), b.strides.end());
  if (b.strides.empty()) strides = core::dense_strides(piece.extents, pieces.order());
  if (strides.size() != piece.extents.size()) {
    throw Error(fmt::format("{}: the buffer for processor {} has {}, and the tensor {}", tensor.label(), b.processor,
                            core::counted(static_cast<int64_t>(strides.size()), "stride"),
                            core::counted(static_cast<int64_t>(piece.extents.size()), "dimension")),
                {}, "give one stride, in elements, for each dimension, or none for a dense block");
  }
  require_room(tensor.label(), b, piece.extents, strides);
  pieces.bind(b.processor, static_cast<std::byte*>(b.data), strides);
}

core::Coordinates checked(const core::TensorPieces& pieces, const TensorState& tensor, const std::vector<int64_t>& at) {
  const core::Coordinates& shape = pieces.owners().shape();
  if (at.size() != shape.size()) {
    throw Error(fmt::format("{}({}) has {}, and the tensor {}", tensor.shown_name(), fmt::join(at, ", "),
                            core::counted(static_cast<int64_t>(at.size()), "coordinate"),
                            core::counted(static_cast<int64_t>(shape.size()), "dimension")));
  }
  bool inside = true;
  for (size_t d = 0; d < at.size() && inside; ++d) inside = at[d] >= 0 && at[d] < shape[d];
  if (!inside) {
    throw Error(fmt::format("{}({}) is outside of the tensor, whose shape is ({})", tensor.shown_name(),
                            fmt::join(at, ", "), fmt::join(shape, ", ")));
  }
  return core::Coordinates(at.begin(), at.end());
}

// Everything except the strides and the data.
PieceInfo describe(const core::Ownership& owners, int64_t processor) {
  PieceInfo info;
  info.processor = processor;
  for (const core::Rect& r : owners.rects_of(processor)) {
    info.rectangles.push_back({{r.lo.begin(), r.lo.end()}, {r.hi.begin(), r.hi.end()}});
  }
  core::HomePiece piece = owners.piece_of(processor);
  info.extents.assign(piece.extents.begin(), piece.extents.end());
  return info;
}

}  // namespace

std::string how_to_define(const TensorState& tensor) {
  std::string name = tensor.name.empty() ? "A" : tensor.shown_name();
  bool is_operand = name == "B" || name == "C";
  return fmt::format("define it first, for example {}(i, j) = {}", name,
                     is_operand ? "D(i, k) * E(k, j)" : "B(i, k) * C(k, j)");
}

// Called at every run of a kernel, so it compares only numbers.
bool TensorState::has_current_pieces() const {
  if (!pieces_) return false;
  for (size_t p = 0; p < params_.size(); ++p) {
    if (params_[p]->value != values_[p]) return false;
  }
  return true;
}

// The pieces for the current values of the params. Those without a caller's buffer have no memory yet.
std::shared_ptr<core::TensorPieces> TensorState::lay_out() const {
  require_kept_of_machine();
  CheckedTensor checked = check_tensor(*this);
  core::Ownership owners(checked.tensor, checked.params);
  auto made = std::make_shared<core::TensorPieces>(std::move(owners), type, checked.tensor.order);
  for (const Bound& b : bound) {
    if (is_of_nobody(b, *made)) continue;
    require_piece(*this, b, *made);
    if (keeps(b.processor)) bind_buffer(*this, b, *made);
  }
  return made;
}

std::vector<PieceInfo> TensorState::layout() const {
  std::vector<PieceInfo> out;
  CheckedTensor checked = check_tensor(*this);
  core::Ownership owners(checked.tensor, checked.params);
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    if (!keeps(p) || !owners.owns_any(p)) continue;
    PieceInfo info = describe(owners, p);
    core::Coordinates strides = core::dense_strides(owners.piece_of(p).extents, checked.tensor.order);
    info.strides.assign(strides.begin(), strides.end());
    out.push_back(std::move(info));
  }
  return out;
}

int64_t TensorState::missing_bytes(const core::TensorPieces& pieces) const {
  int64_t bytes = 0;
  for (int64_t p = 0; p < pieces.owners().machine().processors; ++p) {
    if (!keeps(p) || pieces.has_piece(p) || !pieces.owners().owns_any(p)) continue;
    bytes = core::checked_add(bytes, pieces.owners().piece_of(p).volume() * core::size_of(type));
  }
  return bytes;
}

int64_t TensorState::missing_bytes() const { return has_current_pieces() ? 0 : missing_bytes(*lay_out()); }

// Compares the need with the free memory first: if it ran out, the system would end the process.
void TensorState::require_memory_for(int64_t bytes) const {
  constexpr int64_t kWorthAsking = 64 << 20;
  if (bytes < kWorthAsking) return;
  int64_t have = core::available_memory();
  if (bytes <= have) return;
  throw Error(fmt::format("{} needs {} for the pieces of this process, and it has {}", label(),
                          core::bytes_in_full(bytes), core::bytes_in_full(have)),
              {}, "choose smaller sizes, or more nodes", Error::Kind::Resources);
}

std::shared_ptr<core::TensorPieces> TensorState::shared_pieces() {
  if (has_current_pieces()) return pieces_;
  pieces_ = nullptr;  // also where a buffer is refused below
  memory_ = nullptr;
  params_ = params_of(*this);
  std::shared_ptr<core::TensorPieces> made = lay_out();
  require_memory_for(missing_bytes(*made));
  place_in_shared_memory(*made);
  allocator_ = std::make_unique<core::Allocator>(made->owners().machine().processors);
  made->allocate_cleared(*allocator_, [this](int64_t p) { return keeps(p); });
  values_.clear();
  for (const auto& p : params_) values_.push_back(p->value);
  pieces_ = std::move(made);
  return pieces_;
}

// The pieces that this process keeps were chosen for a machine of kept_of_ processors.
void TensorState::require_kept_of_machine() const {
  int64_t processors = processors_of(*this);
  if (is_whole() || processors == kept_of_) return;
  throw Error(fmt::format("{} is spread over ranks as {} processors, and its machine has {} now", label(), kept_of_,
                          processors),
              {}, "after such a change call processors() of its kernel first");
}

// Shared memory begins as zeros. Without it, or with a buffer of the caller, pieces lie in other memory.
void TensorState::place_in_shared_memory(core::TensorPieces& pieces) {
  auto is_ours = [&](int64_t p) { return keeps(p); };
  bool binds = std::any_of(bound.begin(), bound.end(), [&](const Bound& b) { return keeps(b.processor); });
  core::PieceOffsets offsets = core::piece_offsets(pieces.owners(), type, is_ours);
  memory_ = share_ && !binds ? core::SharedMemory::make(offsets.end) : nullptr;
  is_shared_ = memory_ != nullptr;
  if (is_shared_) pieces.attach(offsets, memory_->data(), true);
}

// Whether a piece still lies in the shared memory.
bool TensorState::uses_memory() const {
  for (int64_t p = 0; p < pieces_->owners().machine().processors; ++p) {
    if (!pieces_->has_piece(p)) continue;
    std::ptrdiff_t at = pieces_->data(p) - memory_->data();
    if (at >= 0 && at < memory_->bytes()) return true;
  }
  return false;
}

// The pieces of other processors stay as they are. An empty buffer or a null pointer withdraws the buffer of a
// processor that the machine no longer has.
void TensorState::bind(const Bound& buffer) {
  auto is_for_the_same = [&](const Bound& b) { return b.processor == buffer.processor; };
  if (!has_current_pieces()) check_tensor(*this);
  bool is_gone = buffer.processor < 0 || buffer.processor >= processors_of(*this);
  if (is_gone && (buffer.elements == 0 || !buffer.data) && std::erase_if(bound, is_for_the_same) > 0) return;
  if (has_current_pieces() && !is_of_nobody(buffer, *pieces_)) {
    require_piece(*this, buffer, *pieces_);
    if (!keeps(buffer.processor)) {
      throw Error(fmt::format("{}: processor {} is another rank's", label(), buffer.processor));
    }
    bind_buffer(*this, buffer, *pieces_);
    is_shared_ = false;
    if (memory_ && !uses_memory()) memory_ = nullptr;
  }
  std::erase_if(bound, is_for_the_same);
  bound.push_back(buffer);
}

// Other threads may use the buffers meanwhile: their contents do not change.
void TensorState::used() {
  if (bound.empty()) return;
  int64_t version = pieces_->version();
  bool again = used_.exchange(version) == version;
  if (!again || settled_.exchange(version) == version) return;
  for (const Bound& b : bound) {
    if (!keeps(b.processor) || !pieces_->has_piece(b.processor)) continue;
    BufferReach reach = reach_of(pieces_->owners().piece_of(b.processor).extents, pieces_->strides(b.processor));
    int64_t bytes = reach.elements() * core::size_of(type);
    std::byte* begin = pieces_->data(b.processor) + reach.first * core::size_of(type);
    if (bytes >= core::kMinHugePageBytes) core::collapse_to_huge_pages(begin, bytes);
  }
}

bool TensorState::has_all_elements() {
  const core::Ownership& owners = pieces().owners();
  for (int64_t p = 0; p < owners.machine().processors; ++p) {
    if (owners.owns_any(p) && !keeps(p)) return false;
  }
  return true;
}

void require_whole(const TensorState& tensor, const std::string& help) {
  if (!tensor.is_whole()) throw Error(fmt::format("{} is spread over ranks", tensor.label()), {}, help);
}

void TensorState::keep_only(const std::vector<bool>& processors, bool share) {
  share_ = share;
  kept_of_ = processors_of(*this);
  if (kept_ == processors) return;
  if (has_current_pieces() && !is_whole()) {
    throw Error(
        fmt::format("{} is spread over the ranks in another way, by another kernel", label()), {},
        "kernels that share a tensor need machines of equally many processors, which communicate at the same levels");
  }
  kept_ = processors;
  if (!has_current_pieces()) return;
  for (int64_t p = 0; p < pieces_->owners().machine().processors; ++p) {
    if (!keeps(p)) pieces_->drop(p);
  }
}

core::TensorPieces& TensorState::pieces() { return *shared_pieces(); }

void TensorState::take_over(TensorState& other) {
  pieces_ = other.shared_pieces();
  allocator_ = std::move(other.allocator_);
  params_ = other.params_;
  values_ = other.values_;
  format = other.format;
  bound.clear();
  ++times_redistributed;
}

void TensorState::require_format(const char* call) const {
  if (!has_free_format()) return;
  throw Error(fmt::format("{}: its format is left out, and {} needs one", label(), call), {},
              "compile the statement that uses it first, or give it a format");
}

void TensorState::settle(const Format& found) {
  require_whole(*this, "a format is found before a kernel spreads the tensor; give it one");
  std::shared_ptr<core::TensorPieces> filled = has_current_pieces() ? pieces_ : nullptr;
  pieces_ = nullptr;
  format = found;
  ++times_redistributed;
  if (!filled) return;
  constexpr int64_t kFirst = 0;  // the processor that has the elements while the format is free
  int64_t bytes = core::size_of(type);
  int64_t step = dimensions.empty() ? 0 : filled->strides(kFirst).back() * bytes;
  pieces().fill([&](std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride) {
    const std::byte* from = filled->element(kFirst, core::Coordinates(at.begin(), at.end()));
    for (int64_t i = 0; i < count; ++i) std::memcpy(memory + i * stride * bytes, from + i * step, bytes);
  });
}

TensorHandle::TensorHandle(ElementKind type, std::string name, std::vector<Int> dimensions, Format format)
    : state_(std::make_shared<TensorState>()) {
  state_->type = type;
  state_->name = std::move(name);
  state_->dimensions = std::move(dimensions);
  state_->format = std::move(format);
}

const std::string& TensorHandle::name() const { return state_->name; }

ElementKind TensorHandle::type() const { return state_->type; }

std::vector<int64_t> TensorHandle::shape() const {
  std::vector<int64_t> out;
  for (const Int& e : state_->dimensions) out.push_back(e.value());
  return out;
}

Schedule& TensorHandle::schedule() {
  std::optional<Definition>& definition = state_->definition;
  if (definition && !definition->schedule) definition->schedule.emplace();
  return state_->schedule;
}

bool TensorHandle::has_format() const { return !state_->has_free_format(); }

Kernel TensorHandle::compile() const { return Kernel({*this}); }

Kernel TensorHandle::compile(const FindOptions& find) const { return Kernel({*this}, find); }

std::vector<PieceInfo> TensorHandle::pieces() {
  state_->require_format("pieces");
  core::TensorPieces& pieces = state_->pieces();
  std::vector<PieceInfo> out;
  for (int64_t p = 0; p < pieces.owners().machine().processors; ++p) {
    if (!pieces.has_piece(p)) continue;
    PieceInfo info = describe(pieces.owners(), p);
    const core::Coordinates& strides = pieces.strides(p);
    info.strides.assign(strides.begin(), strides.end());
    info.data = pieces.data(p);
    out.push_back(std::move(info));
  }
  return out;
}

std::vector<PieceInfo> TensorHandle::layout() const {
  state_->require_format("layout");
  return state_->layout();
}

void TensorHandle::bind(int64_t processor, void* data, std::vector<int64_t> strides) {
  state_->require_format("bind");
  state_->bind({processor, data, std::move(strides), std::nullopt});
}

void TensorHandle::bind_elements(int64_t processor, void* data, int64_t elements, std::vector<int64_t> strides) {
  state_->require_format("bind");
  state_->bind({processor, data, std::move(strides), elements});
}

void TensorHandle::load(const std::string& npy_file) {
  core::NpyReader file(npy_file);
  core::TensorPieces& pieces = state_->pieces();
  if (file.shape() != shape()) {
    throw Error(fmt::format("{}: the file's shape is ({}), the tensor's is ({})", npy_file,
                            fmt::join(file.shape(), ", "), fmt::join(shape(), ", ")));
  }
  if (file.type() != pieces.type()) {
    throw Error(fmt::format("{}: the file holds {}, the tensor {}", npy_file, core::to_string(file.type()),
                            core::to_string(pieces.type())));
  }
  core::load_pieces(pieces, file.order(), [&](auto lo, auto hi, std::byte* to) { file.read(lo, hi, to); });
}

void TensorHandle::save(const std::string& npy_file) {
  if (!state_->has_all_elements()) {
    require_whole(*state_, "write it from all ranks: distal::save(tensor, file, communicator) of distal/mpi.h");
  }
  core::TensorPieces& pieces = state_->pieces();
  core::write_npy(npy_file, pieces.type(), shape(), core::ProcessGroup(),
                  [&](const core::WriteNpyRect& write) { core::save_pieces(pieces, write); });
}

void TensorHandle::require_type(ElementKind type) const {
  if (state_->type == type) return;
  throw Error(fmt::format("{} has elements of type {}, not {}", state_->label(), core::to_string(state_->type),
                          core::to_string(type)));
}

void* TensorHandle::element(const std::vector<int64_t>& at) const {
  core::TensorPieces& pieces = state_->pieces();
  core::Coordinates point = checked(pieces, *state_, at);
  for (int64_t p : pieces.owners().processors_of(pieces.owners().colour_of(point))) {
    if (pieces.has_piece(p)) return pieces.element(p, point);
  }
  throw Error(fmt::format("{}({}) is on another rank", state_->shown_name(), fmt::join(at, ", ")));
}

void TensorHandle::for_each_replica(const std::vector<int64_t>& at, const std::function<void(void*)>& f) const {
  core::TensorPieces& pieces = state_->pieces();
  core::Coordinates point = checked(pieces, *state_, at);
  for (int64_t p : pieces.owners().processors_of(pieces.owners().colour_of(point))) {
    if (pieces.has_piece(p)) f(pieces.element(p, point));
  }
}

void TensorHandle::fill_elements(const std::function<void(const std::vector<int64_t>& at, void* element)>& f) {
  core::TensorPieces& pieces = state_->pieces();
  int64_t size = core::size_of(pieces.type());
  pieces.fill([&](std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride) {
    std::vector<int64_t> point(at.begin(), at.end());
    for (int64_t i = 0; i < count; ++i) {
      f(point, memory + i * stride * size);
      if (!point.empty()) ++point.back();
    }
  });
}

}  // namespace distal
