// A run of an emitted program: its tensors as regions, the parts of them that processors use, and its launches.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "data/random.h"
#include "grid.h"
#include "legion.h"
#include "mapper.h"
#include "npy.h"
#include "options.h"

namespace distal_gpu {
struct Device;
}

namespace distal_legion {

constexpr FieldID kValue = 1;
enum : TaskID { kTop = 1, kPlace, kHold, kSave, kFirstLeaf };

// Programs of one executable use the same task numbers. Registering and launching add the base of the current program.
constexpr TaskID kTasksOfProgram = 1000;
inline TaskID& task_base() {
  static TaskID base = 0;
  return base;
}

// The reduction of complex numbers, which Legion does not have.
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

// The id of an element type's reduction.
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

  // Legion has no regions without dimensions: a scalar is a region with one dimension and one element.
  bool is_scalar() const { return shape.empty(); }
  Coordinates region_shape() const { return is_scalar() ? Coordinates{1} : shape; }
};

// A tensor in memory: element x is data[sum of x[d] * strides[d]].
struct Operand {
  void* data = nullptr;
  Int strides[LEGION_MAX_DIM] = {};
};

// The operand whose element at x is that of `operand` at x + offset.
template <class T>
Operand moved_by(Operand operand, const Coordinates& offset) {
  T* data = static_cast<T*>(operand.data);
  for (size_t d = 0; data && d < offset.size(); ++d) data += offset[d] * operand.strides[d];
  operand.data = data;
  return operand;
}

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

// The operand in a task's region. An empty region has no data.
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

// Access to an operand's elements as in index notation: B(i, k).
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

// The arguments of a leaf: the coordinates of its processor, the values of the loops around it, its operands, and what
// it may use of its GPU, if it runs on one.
struct LeafCall {
  Coordinates at;
  std::vector<Int> loops;
  std::vector<Operand> operands;
  const distal_gpu::Device* device = nullptr;
};

// Turns the arguments and regions of a leaf's task into those of the leaf.
template <class T>
LeafCall leaf_call(const Task* task, const std::vector<PhysicalRegion>& regions, Runtime* runtime) {
  LeafCall call;
  for (int d = 0; d < task->index_point.get_dim(); ++d) call.at.push_back(task->index_point[d]);
  const Int* loops = static_cast<const Int*>(task->args);
  call.loops.assign(loops, loops + task->arglen / sizeof(Int));
  for (const PhysicalRegion& region : regions) call.operands.push_back(operand_of<T>(region, runtime));
  return call;
}

// The task of a leaf.
template <class T, void (*LEAF)(const LeafCall&)>
void leaf_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  LEAF(leaf_call<T>(task, regions, runtime));
}

// A tensor's shape, and the file to read or write; an empty name means no file.
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

// Fills a piece of a tensor with random data or from a file.
template <class T>
void place_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const auto& arguments = *static_cast<const PlaceArguments*>(task->args);
  Rectangle piece;
  Operand to = operand_of<T>(regions[0], runtime, &piece);
  if (piece.volume() == 0) return;
  NpyFile file;
  Coordinates shape = arguments.from.extents();
  if (arguments.from.file[0] != 0) open_npy<T>(arguments.from.file, shape, file);
  Rectangle rows = piece;  // the first element of every row
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

// An empty task: launching it makes Legion bring its data here.
inline void hold_task(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

// All elements of a region in row-major order.
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

// Finds a processor's part in the partition of a Chunk. `step` points to the step's Chunk::number.
class StepProjection : public ProjectionFunctor {
 public:
  using ProjectionFunctor::project;
  LogicalRegion project(LogicalPartition partition, const DomainPoint& at, const Domain& points, const void* step,
                        size_t) override {
    Int color = *static_cast<const Int*>(step);
    for (int d = 0; d < points.get_dim(); ++d) {
      color = color * (points.hi()[d] - points.lo()[d] + 1) + at[d] - points.lo()[d];
    }
    return runtime->get_logical_subregion_by_color(partition, DomainPoint(color));
  }
  bool is_functional() const override { return true; }
  unsigned get_depth() const override { return 0; }
};
constexpr ProjectionID kStepProjection = 1000;

// The part of a tensor that a processor uses, by its coordinates and the values of the loops around the launch.
using RectangleOf = std::function<Rectangle(const Coordinates& at, const Coordinates& step)>;

enum class Lifetime { Kept, Transient };

// One partition for many steps. Its colors are numbered step by step, and within a step in the order of the processors.
// Steps with the same parts share their colors.
struct Chunk {
  LogicalPartition partition{};
  std::vector<Int> number;  // by step: its number among the distinct steps
  std::vector<Int> bytes;   // by step: the bytes of all its parts
};

// The parts of a tensor that a launch uses: one per processor and step. Many steps share a partition: Legion compares
// partitions with one another, so there should be few.
struct Parts {
  const Tensor* tensor;
  LaunchDomain domain;
  Coordinates loops;  // the extents of the loops that the parts depend on
  RectangleOf rectangle;
  bool transient;                         // used by one launch only
  bool disjoint;                          // within one step
  mutable std::map<Int, Chunk> chunks{};  // made at their first use
};

struct Use {
  const Parts* parts;
  Coordinates step;
  PrivilegeMode privilege;
};
inline Use read(const Parts& parts, const Coordinates& step = {}) { return {&parts, step, LEGION_READ_ONLY}; }
inline Use write(const Parts& parts, bool overwrites, const Coordinates& step = {}) {
  return {&parts, step, overwrites ? LEGION_WRITE_DISCARD : LEGION_READ_WRITE};
}
inline Use reduce(const Parts& parts, const Coordinates& step = {}) { return {&parts, step, LEGION_REDUCE}; }

template <class T>
class Session {
 public:
  Session(Context ctx, Runtime* runtime, const Options& options) : ctx_(ctx), runtime_(runtime), options_(options) {
    fields_ = runtime->create_field_space(ctx);
    runtime->create_field_allocator(ctx, fields_).allocate_field(sizeof(T), kValue);
    for (bool gpu : {false, true}) in_flight_[gpu].capacity = options.memory > 0 ? options.memory : memory_in_all(gpu);
  }

  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Gives the tensors' memory back to Legion, for the next run of this process.
  ~Session() {
    finish();
    for (LogicalRegion region : regions_) {
      runtime_->destroy_logical_region(ctx_, region);
      runtime_->destroy_index_space(ctx_, region.get_index_space());
    }
    runtime_->destroy_field_space(ctx_, fields_);
  }

  const Options& options() const { return options_; }

  // ---- tensors ----

  void add(Tensor& tensor) {
    Rectangle all{Coordinates(tensor.region_shape().size(), 0), tensor.region_shape()};
    if (all.volume() == 0) fail(3, "a tensor has no elements, and the regions of Legion need some");
    IndexSpace space = runtime_->create_index_space(ctx_, domain_of(all));
    tensor.region = runtime_->create_logical_region(ctx_, space, fields_);
    regions_.push_back(tensor.region);
    in_flight_[tensor.home.grid().gpu].capacity -= all.volume() * static_cast<Int>(sizeof(T));
  }

  // Fills a tensor's pieces on their processors. A CPU of the same process fills those of a GPU. Only the first replica
  // is filled; the others are copies of it.
  void place(const Tensor& tensor) {
    auto file = options_.load.find(tensor.name);
    PlaceArguments arguments{FileArguments(tensor, file == options_.load.end() ? "" : file->second),
                             distal::core::tensor_seed(tensor.name, options_.seed)};
    for (size_t n = 0; n < tensor.home.most_pieces(); ++n) {
      launch_at_home(kPlace, tensor, n, true, LEGION_WRITE_DISCARD, UntypedBuffer(&arguments, sizeof(arguments)));
    }
    bring_home(tensor);
  }

  // Copies a tensor to its pieces on all processors of its distribution.
  void bring_home(const Tensor& tensor) {
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
    TaskLauncher launcher(task_base() + kSave, UntypedBuffer(&arguments, sizeof(arguments)));
    add_whole(launcher, tensor);
    runtime_->execute_task(ctx_, launcher).get_void_result();
  }

  // ---- launches ----

  // The parts of a tensor for a launch domain, at all steps of the loops. Partitions are made at their first use.
  Parts parts(const Tensor& tensor, const LaunchDomain& domain, Lifetime lifetime, const Coordinates& loops,
              const RectangleOf& rectangle, bool disjoint = false) {
    return {&tensor, domain, loops, rectangle, lifetime == Lifetime::Transient, disjoint};
  }

  // Launches one task per processor. First waits until at most kMostInFlight launches are in flight and their copies
  // fit into memory.
  void launch(TaskID task, const LaunchDomain& domain, std::vector<Int> loops, const std::vector<Use>& uses) {
    UntypedBuffer arguments(loops.data(), loops.size() * sizeof(Int));
    IndexLauncher launcher(task_base() + task, space_of(domain.points), arguments, ArgumentMap());
    launcher.tag = LaunchTag{domain.grid->id}.tag();
    Int bytes = 0;
    for (const Use& use : uses) bytes += add_use(launcher, use);
    tasks_ += domain.points.volume();
    InFlight& in_flight = in_flight_[domain.grid->gpu];
    in_flight.launches.emplace_back(bytes, FutureMap());
    in_flight.bytes += bytes;
    while (in_flight.launches.size() > 1 &&
           (in_flight.bytes > in_flight.capacity || in_flight.launches.size() > kMostInFlight)) {
      in_flight.wait_for_oldest();
    }
    in_flight.launches.back().second = runtime_->execute_index_space(ctx_, launcher);
  }

  // Waits until all launches are done.
  void finish() {
    for (InFlight& in_flight : in_flight_) {
      in_flight.launches.clear();
      in_flight.bytes = 0;
    }
    runtime_->issue_execution_fence(ctx_).get_void_result();
  }

  // Runs one task on whole tensors, such as a check.
  template <class Result>
  Result run_whole(TaskID task, const std::vector<const Tensor*>& tensors) {
    TaskLauncher launcher(task_base() + task, UntypedBuffer());
    for (const Tensor* t : tensors) add_whole(launcher, *t);
    return runtime_->execute_task(ctx_, launcher).template get_result<Result>();
  }

  // The number of leaf tasks launched so far.
  Int tasks() const { return tasks_; }

  bool is_first_process() const { return runtime_->get_shard_id(ctx_, true) == 0; }

 private:
  static constexpr size_t kMostInFlight = 64;
  static constexpr Int kPartsInChunk = 4096;

  // The launches on processors of one kind that may not be done yet.
  struct InFlight {
    Int capacity = 0;  // bytes available for copies
    Int bytes = 0;
    std::deque<std::pair<Int, FutureMap>> launches;

    void wait_for_oldest() {
      launches.front().second.wait_all_results();
      bytes -= launches.front().first;
      launches.pop_front();
    }
  };

  // Clips a rectangle to a shape. The part of a processor without work may reach past the end.
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

  IndexSpace space_of(const Rectangle& points) {
    IndexSpace& made = spaces_[points];
    if (!made.exists()) made = runtime_->create_index_space(ctx_, domain_of(points));
    return made;
  }

  void launch_at_home(TaskID task, const Tensor& tensor, size_t piece, bool first_only, PrivilegeMode privilege,
                      UntypedBuffer arguments) {
    LaunchDomain domain(tensor.home.grid());
    auto at_home = [&](const Coordinates& at, const Coordinates&) { return tensor.home.piece(at, piece, first_only); };
    Parts home = parts(tensor, domain, Lifetime::Kept, {}, at_home, first_only);
    IndexLauncher launcher(task_base() + task, space_of(domain.points), arguments, ArgumentMap());
    launcher.tag = LaunchTag{domain.grid->id, task == kPlace}.tag();
    add_use(launcher, {&home, {}, privilege});
    runtime_->execute_index_space(ctx_, launcher);
  }

  // Adds a region requirement. Returns the bytes of all its parts.
  Int add_use(IndexLauncher& launcher, const Use& use) {
    const Parts& parts = *use.parts;
    const Tensor& tensor = *parts.tensor;
    Int step = number_in(parts.loops, use.step), steps = steps_in_chunk(parts);
    const Chunk& chunk = chunk_of(parts, step / steps);
    auto at = static_cast<size_t>(step % steps);
    ProjectionID projection = steps == 1 ? 0 : kStepProjection;
    MappingTagID tag = layout_of(tensor, parts.transient).tag();
    if (use.privilege == LEGION_REDUCE) {
      launcher.add_region_requirement(
          RegionRequirement(chunk.partition, projection, SumOf<T>::kId, LEGION_EXCLUSIVE, tensor.region, tag));
    } else {
      launcher.add_region_requirement(
          RegionRequirement(chunk.partition, projection, use.privilege, LEGION_EXCLUSIVE, tensor.region, tag));
    }
    RegionRequirement& need = launcher.region_requirements.back();
    need.add_field(kValue);
    if (projection != 0) need.set_projection_args(&chunk.number[at], sizeof(Int));
    return chunk.bytes[at];
  }

  // ---- partitions ----

  static Int steps_in_chunk(const Parts& parts) {
    return min(volume(parts.loops), max(1, kPartsInChunk / parts.domain.points.volume()));
  }

  const Chunk& chunk_of(const Parts& parts, Int n) {
    auto [found, is_new] = parts.chunks.try_emplace(n);
    if (is_new) found->second = make_chunk(parts, n);
    return found->second;
  }

  Chunk make_chunk(const Parts& parts, Int n) {
    Int steps = steps_in_chunk(parts), first = n * steps, last = min(first + steps, volume(parts.loops));
    Chunk out;
    std::map<std::vector<Rectangle>, Int> numbers;
    std::vector<Rectangle> all;
    for (Int step = first; step < last; ++step) {
      std::vector<Rectangle> one = rectangles(parts, point_in(parts.loops, step));
      Int bytes = 0;
      for (const Rectangle& r : one) bytes += r.volume() * static_cast<Int>(sizeof(T));
      auto [found, is_new] = numbers.try_emplace(one, static_cast<Int>(numbers.size()));
      if (is_new) all.insert(all.end(), one.begin(), one.end());
      out.number.push_back(found->second);
      out.bytes.push_back(bytes);
    }
    Rectangle colors = steps == 1 ? parts.domain.points : Rectangle{{0}, {static_cast<Int>(all.size())}};
    out.partition = partition_of(*parts.tensor, colors, all, parts.disjoint && steps == 1);
    return out;
  }

  static std::vector<Rectangle> rectangles(const Parts& parts, const Coordinates& step) {
    std::vector<Rectangle> out;
    for_each_point(parts.domain.points, [&](const Coordinates& at) {
      Rectangle r = parts.rectangle(at, step);
      if (r.lo.empty()) r = {{0}, {1}};  // a scalar
      clip(r, parts.tensor->region_shape());
      out.push_back(std::move(r));
    });
    return out;
  }

  // Equal partitions are made once.
  LogicalPartition partition_of(const Tensor& tensor, const Rectangle& colors, const std::vector<Rectangle>& all,
                                bool disjoint) {
    LogicalPartition& made = partitions_[{tensor.region, colors, disjoint, all}];
    if (made.exists()) return made;
    std::map<DomainPoint, Domain> domains;
    auto next = all.begin();
    for_each_point(colors, [&](const Coordinates& color) { domains[point_of(color)] = domain_of(*next++); });
    IndexPartition partition = runtime_->create_partition_by_domain(
        ctx_, tensor.region.get_index_space(), domains, space_of(colors), false,
        disjoint ? LEGION_DISJOINT_INCOMPLETE_KIND : LEGION_ALIASED_INCOMPLETE_KIND);
    return made = runtime_->get_logical_partition(ctx_, tensor.region, partition);
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
  std::vector<LogicalRegion> regions_;
  InFlight in_flight_[2];  // on CPUs, on GPUs
  Int tasks_ = 0;
  std::map<Rectangle, IndexSpace> spaces_;
  std::map<std::tuple<LogicalRegion, Rectangle, bool, std::vector<Rectangle>>, LogicalPartition> partitions_;
};

}  // namespace distal_legion
