// A run of an emitted program: its tensors as regions, the parts of them that processors use, and launches.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grid.h"
#include "legion.h"
#include "mapper.h"
#include "npy.h"
#include "options.h"
#include "random.h"

namespace distal_legion {

constexpr FieldID kValue = 1;
enum : TaskID { kTop = 1, kPlace, kHold, kSave, kFirstLeaf };

// Sums of complex numbers, which Legion does not have.
template <class Real, ReductionOpID ID>
struct ComplexSum {
  using LHS = std::complex<Real>;
  using RHS = std::complex<Real>;
  static constexpr ReductionOpID kId = ID;
  static inline const RHS identity = RHS(0, 0);
  template <bool EXCLUSIVE>
  static void apply(LHS& to, RHS value) {
    Real parts[] = {value.real(), value.imag()};
    for (int i = 0; i < 2; ++i)
      SumReduction<Real>::template apply<EXCLUSIVE>(reinterpret_cast<Real*>(&to)[i], parts[i]);
  }
  template <bool EXCLUSIVE>
  static void fold(RHS& to, RHS value) {
    apply<EXCLUSIVE>(to, value);
  }
};

// The sum of an element type, and its number.
template <class T>
struct SumOf;
template <>
struct SumOf<float> {
  static constexpr ReductionOpID kId = LEGION_REDOP_SUM_FLOAT32;
};
template <>
struct SumOf<double> {
  static constexpr ReductionOpID kId = LEGION_REDOP_SUM_FLOAT64;
};
template <>
struct SumOf<std::int32_t> {
  static constexpr ReductionOpID kId = LEGION_REDOP_SUM_INT32;
};
template <>
struct SumOf<std::int64_t> {
  static constexpr ReductionOpID kId = LEGION_REDOP_SUM_INT64;
};
template <>
struct SumOf<std::complex<float>> : ComplexSum<float, 1> {};
template <>
struct SumOf<std::complex<double>> : ComplexSum<double, 2> {};

struct Tensor {
  const char* name = "";
  Coordinates shape;       // as the program says; a scalar has none
  std::vector<int> order;  // storage order, outermost first
  Home home;
  LogicalRegion region{};

  // Legion has no regions without dimensions: a scalar is a line of one element.
  bool is_scalar() const { return shape.empty(); }
  Coordinates region_shape() const { return is_scalar() ? Coordinates{1} : shape; }
};

// A tensor's element x lies at data[sum of x[d] * strides[d]].
struct Operand {
  void* data = nullptr;
  Int strides[LEGION_MAX_DIM] = {};
};

inline Domain domain_of(const Rectangle& r) {
  DomainPoint lo, hi;
  lo.dim = hi.dim = static_cast<int>(r.lo.size());
  for (size_t d = 0; d < r.lo.size(); ++d) {
    lo[static_cast<int>(d)] = r.lo[d];
    hi[static_cast<int>(d)] = r.hi[d] - 1;
  }
  return Domain(lo, hi);
}

inline Rectangle rectangle_of(const Domain& domain) {
  Rectangle out;
  for (int d = 0; d < domain.get_dim(); ++d) {
    out.lo.push_back(domain.lo()[d]);
    out.hi.push_back(domain.hi()[d] + 1);
  }
  return out;
}

template <class T, int N>
Operand operand_of(const PhysicalRegion& region, const Rect<N>& bounds) {
  Operand out;
  UnsafeFieldAccessor<T, N, coord_t, Realm::AffineAccessor<T, N, coord_t>> accessor(region, kValue);
  size_t strides[N];
  T* first = accessor.ptr(bounds, strides);
  for (int d = 0; d < N; ++d) {
    out.strides[d] = static_cast<Int>(strides[d]);
    first -= bounds.lo[d] * out.strides[d];
  }
  out.data = first;
  return out;
}

// The operand that a task got as a region; one without elements has no data.
template <class T>
Operand operand_of(const PhysicalRegion& region, Runtime* runtime, Rectangle* rectangle = nullptr) {
  Domain domain = runtime->get_index_space_domain(region.get_logical_region().get_index_space());
  if (rectangle) *rectangle = rectangle_of(domain);
  if (domain.empty()) return {};
  switch (domain.get_dim()) {
    case 1: return operand_of<T, 1>(region, Rect<1>(domain));
    case 2: return operand_of<T, 2>(region, Rect<2>(domain));
    case 3: return operand_of<T, 3>(region, Rect<3>(domain));
    case 4: return operand_of<T, 4>(region, Rect<4>(domain));
    case 5: return operand_of<T, 5>(region, Rect<5>(domain));
    default: return operand_of<T, 6>(region, Rect<6>(domain));
  }
}

// An operand's elements as index notation writes them.
template <class T>
class Elements {
 public:
  explicit Elements(const Operand& operand) : data_(static_cast<const T*>(operand.data)), strides_(operand.strides) {}
  template <class... Index>
  T operator()(Index... at) const {
    Int offset = 0, d = 0;
    ((offset += at * strides_[d++]), ...);
    return data_[offset];
  }

 private:
  const T* data_;
  const Int* strides_;
};

template <class T>
T& element(const Operand& operand, const Coordinates& at) {
  T* out = static_cast<T*>(operand.data);
  for (size_t d = 0; d < at.size(); ++d) out += at[d] * operand.strides[d];
  return *out;
}

// What a leaf is given: the coordinates of its processor, the loops around it, and its operands.
struct LeafCall {
  Coordinates at;
  std::vector<Int> loops;
  std::vector<Operand> operands;
};

// The task of a leaf: the regions become operands.
template <class T, void (*LEAF)(const LeafCall&)>
void leaf_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  LeafCall call;
  for (int d = 0; d < task->index_point.get_dim(); ++d) call.at.push_back(task->index_point[d]);
  const Int* loops = static_cast<const Int*>(task->args);
  call.loops.assign(loops, loops + task->arglen / sizeof(Int));
  for (const PhysicalRegion& region : regions) call.operands.push_back(operand_of<T>(region, runtime));
  LEAF(call);
}

// A tensor's shape, and a file to read or write, if its name is not empty.
struct FileArguments {
  char file[1024];
  int dimensions;
  Int shape[LEGION_MAX_DIM];

  FileArguments(const Tensor& tensor, const std::string& name) : file{}, dimensions(int(tensor.shape.size())), shape{} {
    if (name.size() >= sizeof(file)) fail(2, "the name of a file is too long: " + name);
    std::memcpy(file, name.c_str(), name.size() + 1);
    std::copy(tensor.shape.begin(), tensor.shape.end(), shape);
  }
  Coordinates extents() const { return {shape, shape + dimensions}; }
};

struct PlaceArguments {
  FileArguments from;
  std::uint64_t seed;
};

// Fills a piece of a tensor with random data, or with a file's.
template <class T>
void place_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const auto& arguments = *static_cast<const PlaceArguments*>(task->args);
  Rectangle piece;
  Operand to = operand_of<T>(regions[0], runtime, &piece);
  if (piece.volume() == 0) return;
  NpyFile file;
  Coordinates shape = arguments.from.extents();
  if (arguments.from.file[0] != 0) open_npy<T>(arguments.from.file, shape, file);
  Rectangle rows = piece;  // without their last dimension
  Int count = piece.hi.back() - piece.lo.back();
  rows.hi.back() = rows.lo.back() + 1;
  std::vector<T> row(static_cast<size_t>(count));
  for_each_point(rows, [&](const Coordinates& at) {
    Int first = 0;
    for (size_t d = 0; d < at.size(); ++d) first = first * (shape.empty() ? 1 : shape[d]) + at[d];
    if (file.file) {
      std::fseek(file.file, file.start + static_cast<long>(first * static_cast<Int>(sizeof(T))), SEEK_SET);
      if (std::fread(row.data(), sizeof(T), row.size(), file.file) != row.size()) fail(2, "a .npy file ends too soon");
    } else {
      for (Int i = 0; i < count; ++i) row[i] = distal::core::random_value<T>(arguments.seed, first + i);
    }
    T* out = &element<T>(to, at);
    for (Int i = 0; i < count; ++i) out[i * to.strides[at.size() - 1]] = row[i];
  });
}

// That its data lies here is all that this task is for.
inline void hold_task(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

// Brings whole tensors together.
template <class T>
std::vector<T> gathered(const PhysicalRegion& region, Runtime* runtime) {
  Rectangle all;
  Operand from = operand_of<T>(region, runtime, &all);
  std::vector<T> out;
  out.reserve(static_cast<size_t>(all.volume()));
  for_each_point(all, [&](const Coordinates& at) { out.push_back(element<T>(from, at)); });
  return out;
}

template <class T>
void save_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const auto& to = *static_cast<const FileArguments*>(task->args);
  write_npy(to.file, to.extents(), gathered<T>(regions[0], runtime));
}

// Parts of a tensor, one a processor.
struct Parts {
  const Tensor* tensor = nullptr;
  LogicalPartition partition{};
  Int bytes = 0;           // of all parts together
  bool transient = false;  // used by one launch only
};

struct Use {
  Parts parts;
  PrivilegeMode privilege;
};
inline Use read(const Parts& parts) { return {parts, LEGION_READ_ONLY}; }
inline Use write(const Parts& parts, bool whole) { return {parts, whole ? LEGION_WRITE_DISCARD : LEGION_READ_WRITE}; }
inline Use reduce(const Parts& parts) { return {parts, LEGION_REDUCE}; }

enum class Lifetime { Kept, Transient };

template <class T>
class Session {
 public:
  Session(Context ctx, Runtime* runtime, const Options& options) : ctx_(ctx), runtime_(runtime), options_(options) {
    fields_ = runtime->create_field_space(ctx);
    runtime->create_field_allocator(ctx, fields_).allocate_field(sizeof(T), kValue);
    for (bool gpu : {false, true}) flights_[gpu].room = options.memory > 0 ? options.memory : memory_in_all(gpu);
  }

  const Options& options() const { return options_; }

  // ---- tensors ----

  void add(Tensor& tensor) {
    Rectangle all{Coordinates(tensor.region_shape().size(), 0), tensor.region_shape()};
    IndexSpace space = runtime_->create_index_space(ctx_, domain_of(all));
    tensor.region = runtime_->create_logical_region(ctx_, space, fields_);
    flights_[tensor.home.grid().gpu].room -= all.volume() * static_cast<Int>(sizeof(T));
  }

  // Fills a tensor where its distribution puts it; replicas take theirs from the first, and GPUs from the CPUs beside.
  void place(const Tensor& tensor) {
    auto file = options_.load.find(tensor.name);
    PlaceArguments arguments{FileArguments(tensor, file == options_.load.end() ? "" : file->second),
                             distal::core::tensor_seed(tensor.name, options_.seed)};
    for (size_t n = 0; n < tensor.home.most_pieces(); ++n) {
      launch_at_home(kPlace, tensor, n, true, LEGION_WRITE_DISCARD, UntypedBuffer(&arguments, sizeof(arguments)));
    }
    settle(tensor);
  }

  // Every processor that a tensor's distribution names has its pieces from here on.
  void settle(const Tensor& tensor) {
    for (size_t n = 0; n < tensor.home.most_pieces(); ++n) {
      launch_at_home(kHold, tensor, n, false, LEGION_READ_ONLY, UntypedBuffer());
    }
  }

  void zero(const Tensor& tensor) {
    T value{};
    runtime_->fill_field(ctx_, tensor.region, tensor.region, kValue, &value, sizeof(value));
  }

  void copy(const Tensor& from, const Tensor& to) {
    CopyLauncher launcher;
    launcher.add_copy_requirements(RegionRequirement(from.region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, from.region),
                                   RegionRequirement(to.region, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, to.region));
    launcher.add_src_field(0, kValue);
    launcher.add_dst_field(0, kValue);
    runtime_->issue_copy_operation(ctx_, launcher);
  }

  void save(const Tensor& tensor, const std::string& file) {
    FileArguments arguments(tensor, file);
    TaskLauncher launcher(kSave, UntypedBuffer(&arguments, sizeof(arguments)));
    add_whole(launcher, tensor);
    runtime_->execute_task(ctx_, launcher).get_void_result();
  }

  // ---- launches ----

  // The part of every processor that takes part, by its coordinates. Equal ones are made once.
  using RectangleOf = std::function<Rectangle(const Coordinates&)>;
  Parts parts(const Tensor& tensor, const Places& places, Lifetime lifetime, const RectangleOf& rectangle,
              bool disjoint = false) {
    Parts out{&tensor, {}, 0, lifetime == Lifetime::Transient};
    std::vector<Rectangle> key;
    std::map<DomainPoint, Domain> domains;
    for_each_point(places.points, [&](const Coordinates& at) {
      Rectangle r = rectangle(at);
      if (r.lo.empty()) r = {{0}, {1}};  // a scalar
      clip(r, tensor.region_shape());
      out.bytes += r.volume() * static_cast<Int>(sizeof(T));
      domains[point_of(at)] = domain_of(r);
      key.push_back(std::move(r));
    });
    LogicalPartition& made = partitions_[{tensor.region, places.grid->id, places.points, disjoint, key}];
    if (!made.exists()) {
      IndexPartition partition = runtime_->create_partition_by_domain(
          ctx_, tensor.region.get_index_space(), domains, colors(places), false,
          disjoint ? LEGION_DISJOINT_INCOMPLETE_KIND : LEGION_ALIASED_INCOMPLETE_KIND);
      made = runtime_->get_logical_partition(ctx_, tensor.region, partition);
    }
    out.partition = made;
    return out;
  }

  // One task a processor. What is in flight at once stays within the memory that there is for copies.
  void launch(TaskID task, const Places& places, std::vector<Int> loops, const std::vector<Use>& uses) {
    IndexLauncher launcher(task, colors(places), UntypedBuffer(loops.data(), loops.size() * sizeof(Int)),
                           ArgumentMap());
    launcher.tag = Target{places.grid->id}.tag();
    Int bytes = 0;
    for (const Use& use : uses) {
      add_use(launcher, use);
      bytes += use.parts.bytes;
    }
    tasks_ += places.points.volume();
    Flights& flights = flights_[places.grid->gpu];
    flights.flying.emplace_back(bytes, FutureMap());
    flights.bytes += bytes;
    while (flights.flying.size() > 1 && (flights.bytes > flights.room || flights.flying.size() > kMostInFlight)) {
      flights.land();
    }
    flights.flying.back().second = runtime_->execute_index_space(ctx_, launcher);
  }

  // All that was launched is done.
  void finish() {
    for (Flights& flights : flights_) {
      flights.flying.clear();
      flights.bytes = 0;
    }
    runtime_->issue_execution_fence(ctx_).get_void_result();
  }

  // A task that sees tensors whole, such as a check.
  template <class Result>
  Result run_whole(TaskID task, const std::vector<const Tensor*>& tensors) {
    TaskLauncher launcher(task, UntypedBuffer());
    for (const Tensor* t : tensors) add_whole(launcher, *t);
    return runtime_->execute_task(ctx_, launcher).template get_result<Result>();
  }

  // How many tasks of leaves were launched.
  Int tasks() const { return tasks_; }

  bool is_first_process() const { return runtime_->get_shard_id(ctx_, true) == 0; }

 private:
  static constexpr size_t kMostInFlight = 64;

  // What was launched and may not be done, on processors of one kind.
  struct Flights {
    Int room = 0;  // bytes that there are for copies
    Int bytes = 0;
    std::deque<std::pair<Int, FutureMap>> flying;

    void land() {
      flying.front().second.wait_all_results();
      bytes -= flying.front().first;
      flying.pop_front();
    }
  };

  // Where a processor has nothing to do, its part may reach past the end.
  static void clip(Rectangle& r, const Coordinates& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
      r.lo[d] = max(r.lo[d], 0);
      r.hi[d] = min(r.hi[d], shape[d]);
    }
    if (r.volume() == 0) r.lo = r.hi = Coordinates(shape.size(), 0);
  }

  static DomainPoint point_of(const Coordinates& at) { return domain_of({at, at}).lo(); }

  static Int memory_in_all(bool gpu) {
    Int out = 0;
    Machine::MemoryQuery query(Machine::get_machine());
    query.only_kind(gpu ? Memory::GPU_FB_MEM : Memory::SYSTEM_MEM);
    for (Memory m : query) out += static_cast<Int>(m.capacity());
    return out;
  }

  IndexSpace colors(const Places& places) {
    IndexSpace& made = colors_[{places.grid->id, places.points}];
    if (!made.exists()) made = runtime_->create_index_space(ctx_, domain_of(places.points));
    return made;
  }

  void launch_at_home(TaskID task, const Tensor& tensor, size_t piece, bool first_only, PrivilegeMode privilege,
                      UntypedBuffer arguments) {
    Places places(tensor.home.grid());
    auto at_home = [&](const Coordinates& at) { return tensor.home.piece(at, piece, first_only); };
    Parts home = parts(tensor, places, Lifetime::Kept, at_home, first_only);
    IndexLauncher launcher(task, colors(places), arguments, ArgumentMap());
    launcher.tag = Target{places.grid->id, task == kPlace}.tag();
    add_use(launcher, {home, privilege});
    runtime_->execute_index_space(ctx_, launcher);
  }

  void add_use(IndexLauncher& launcher, const Use& use) {
    const Tensor& tensor = *use.parts.tensor;
    MappingTagID tag = layout_of(tensor, use.parts.transient).tag();
    if (use.privilege == LEGION_REDUCE) {
      launcher.add_region_requirement(
          RegionRequirement(use.parts.partition, 0, SumOf<T>::kId, LEGION_EXCLUSIVE, tensor.region, tag));
    } else {
      launcher.add_region_requirement(
          RegionRequirement(use.parts.partition, 0, use.privilege, LEGION_EXCLUSIVE, tensor.region, tag));
    }
    launcher.region_requirements.back().add_field(kValue);
  }

  void add_whole(TaskLauncher& launcher, const Tensor& tensor) {
    launcher.add_region_requirement(RegionRequirement(tensor.region, LEGION_READ_ONLY, LEGION_EXCLUSIVE, tensor.region,
                                                      layout_of(tensor, true).tag()));
    launcher.region_requirements.back().add_field(kValue);
  }

  static Layout layout_of(const Tensor& tensor, bool transient) {
    return {tensor.is_scalar() ? std::vector<int>{0} : tensor.order, transient};
  }

  Context ctx_;
  Runtime* runtime_;
  const Options& options_;
  FieldSpace fields_;
  Flights flights_[2];  // on CPUs, on GPUs
  Int tasks_ = 0;
  std::map<std::pair<int, Rectangle>, IndexSpace> colors_;
  std::map<std::tuple<LogicalRegion, int, Rectangle, bool, std::vector<Rectangle>>, LogicalPartition> partitions_;
};

}  // namespace distal_legion
