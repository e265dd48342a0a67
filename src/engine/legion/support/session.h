// A run of an emitted program: its tensors as regions, the parts of them that processors use, and its launches.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "check.h"
#include "data_tasks.h"
#include "legion.h"
#include "mapper.h"
#include "operand.h"
#include "options.h"
#include "parts.h"

namespace distal_gpu {
struct Device;
}

namespace distal_legion {

enum : TaskID { kTop = 1, kPlace, kHold, kCreate, kSave, kCopy, kFirstLeaf };

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
    IndexSpace space = runtime_->create_index_space(ctx_, domain_of(all));
    tensor.region = runtime_->create_logical_region(ctx_, space, fields_);
    regions_.push_back(tensor.region);
    in_flight_[tensor.home.grid().gpu].capacity -= all.volume() * static_cast<Int>(sizeof(T));
  }

  // Fills a tensor's pieces on their processors. Only the first replica is filled; the others are copies of it.
  void place(const Tensor& tensor) {
    auto file = options_.load.find(tensor.name);
    PlaceArguments arguments{FileArguments(tensor, file == options_.load.end() ? "" : file->second),
                             distal::core::tensor_seed(tensor.name, options_.seed)};
    written_.erase(tensor.region);
    launch_at_home(kPlace, {{&tensor, LEGION_WRITE_DISCARD}}, true, UntypedBuffer(&arguments, sizeof(arguments)));
    bring_home(tensor);
  }

  // Copies a tensor to its pieces on all processors of its distribution, unless the last launch wrote them there.
  void bring_home(const Tensor& tensor) {
    auto written = written_.find(tensor.region);
    if (written != written_.end() && written->second.grid && written->second == home_of(tensor)) return;
    launch_at_home(kHold, {{&tensor, LEGION_READ_ONLY}}, false, UntypedBuffer());
  }

  void zero(const Tensor& tensor) {
    T value{};
    runtime_->fill_field(ctx_, tensor.region, tensor.region, kValue, &value, sizeof(value));
  }

  // Copies a tensor to one that lives where it does.
  void copy(const Tensor& from, const Tensor& to) {
    launch_at_home(kCopy, {{&from, LEGION_READ_ONLY}, {&to, LEGION_WRITE_DISCARD}}, true, UntypedBuffer());
  }

  // Writes a tensor to a file: every processor writes its pieces.
  void save(const Tensor& tensor, const std::string& file) {
    FileArguments arguments(tensor, file);
    UntypedBuffer buffer(&arguments, sizeof(arguments));
    IndexLauncher launcher(task_base() + kCreate, space_of({{0}, {1}}), buffer, ArgumentMap());
    launcher.tag = kOnCpus;
    runtime_->execute_index_space(ctx_, launcher).wait_all_results();
    launch_at_home(kSave, {{&tensor, LEGION_READ_ONLY}}, true, buffer);
    finish();
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
    for (const Use& use : uses) note_write(use);
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

  // Compares `samples` elements of an output with their definition, or all for 0 samples, on all CPUs.
  void check(TaskID task, const CheckSpace& space, Int samples, Difference& found) {
    auto cpus = static_cast<Int>(processors(false).size());
    Int room = max(kLeastElements, in_flight_[false].capacity / 4 / static_cast<Int>(sizeof(T)));  // in elements
    BoxLimits limits{kMostPoints, max(kLeastElements, min(kMostElements, room / (2 * cpus)))};
    std::vector<Rectangle> boxes = boxes_to_check(space, samples, options_.seed, limits);
    CheckSum sum{&space, &boxes, 0, {}, &found};
    FutureMap before;
    size_t checked_until = 0;
    for (size_t first = 0, last = 0; first < boxes.size(); first = last) {
      for (Int used = 0; last < boxes.size() && last - first < kMostBoxes && (used < room || last == first); ++last) {
        used += space.elements_used(boxes[last]);
      }
      FutureMap now = launch_check(task, space, {boxes.begin() + first, boxes.begin() + last});
      if (first > 0) sum.add(before, first - checked_until);
      checked_until = first;
      before = now;
    }
    sum.add(before, boxes.size() - checked_until);
  }

  // The number of leaf tasks launched so far.
  Int tasks() const { return tasks_; }

  bool is_first_process() const { return runtime_->get_shard_id(ctx_, true) == 0; }

 private:
  static constexpr size_t kMostInFlight = 64;
  static constexpr Int kPartsInChunk = 4096;
  // Limits of one task of a check, and of one launch.
  static constexpr Int kMostPoints = Int{1} << 24, kMostElements = Int{1} << 22, kLeastElements = Int{1} << 12;
  static constexpr size_t kMostBoxes = 256;

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

  // Processors, and one rectangle of a tensor for each.
  struct Pieces {
    const Grid* grid = nullptr;
    Rectangle points;
    std::vector<Rectangle> all;

    bool operator==(const Pieces& other) const {
      return grid == other.grid && std::tie(points.lo, points.hi) == std::tie(other.points.lo, other.points.hi) &&
             std::equal(all.begin(), all.end(), other.all.begin(), other.all.end(),
                        [](const Rectangle& a, const Rectangle& b) { return a.lo == b.lo && a.hi == b.hi; });
    }
  };

  // Remembers where a launch leaves what it writes, if all steps of it write the same parts.
  void note_write(const Use& use) {
    if (use.privilege == LEGION_READ_ONLY) return;
    const Parts& parts = *use.parts;
    Pieces& written = written_[parts.tensor->region];
    written = {};
    if (use.privilege == LEGION_REDUCE || !parts.loops.empty()) return;
    written = {parts.domain.grid, parts.domain.points, rectangles(parts, {})};
  }

  // The pieces of a tensor, if no processor has several.
  Pieces home_of(const Tensor& tensor) const {
    const Home& home = tensor.home;
    if (home.most_pieces() > 1) return {};
    LaunchDomain domain(home.grid());
    Parts parts{&tensor, domain,
                {},      [&](const Coordinates& at, const Coordinates&) { return home.piece(at, 0, false); },
                false,   false};
    return {domain.grid, domain.points, rectangles(parts, {})};
  }

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

  // Launches a task for every piece of tensors that live in the same places, on its processor.
  void launch_at_home(TaskID task, const std::vector<std::pair<const Tensor*, PrivilegeMode>>& tensors, bool first_only,
                      UntypedBuffer arguments) {
    const Home& home = tensors[0].first->home;
    LaunchDomain domain(home.grid());
    for (size_t n = 0; n < home.most_pieces(); ++n) {
      IndexLauncher launcher(task_base() + task, space_of(domain.points), arguments, ArgumentMap());
      launcher.tag = LaunchTag{domain.grid->id}.tag();
      for (auto [tensor, privilege] : tensors) {
        Parts pieces = parts(
            *tensor, domain, Lifetime::Kept, {},
            [&](const Coordinates& at, const Coordinates&) { return home.piece(at, n, first_only); }, first_only);
        add_use(launcher, {&pieces, {}, privilege});
      }
      runtime_->execute_index_space(ctx_, launcher);
    }
  }

  // ---- checks ----

  // Launches one task per box. Each gets a copy of just the elements that it reads.
  FutureMap launch_check(TaskID task, const CheckSpace& space, const std::vector<Rectangle>& boxes) {
    std::vector<Int> arguments{static_cast<Int>(space.extents.size())};
    for (const Rectangle& box : boxes) {
      arguments.push_back(space.is_complete(box) ? 1 : 0);
      arguments.insert(arguments.end(), box.lo.begin(), box.lo.end());
      arguments.insert(arguments.end(), box.hi.begin(), box.hi.end());
    }
    IndexSpace points = space_of({{0}, {static_cast<Int>(boxes.size())}});
    IndexLauncher launcher(task_base() + task, points, UntypedBuffer(arguments.data(), arguments.size() * sizeof(Int)),
                           ArgumentMap());
    launcher.tag = kOnCpus;
    std::vector<IndexPartition> partitions;
    for (const CheckAccess& a : space.accesses) {
      std::map<DomainPoint, Domain> domains;
      for (size_t b = 0; b < boxes.size(); ++b) {
        domains[DomainPoint(static_cast<coord_t>(b))] = domain_of(a.rectangle(boxes[b]));
      }
      partitions.push_back(runtime_->create_partition_by_domain(ctx_, a.tensor->region.get_index_space(), domains,
                                                                points, false, LEGION_ALIASED_INCOMPLETE_KIND));
      launcher.add_region_requirement(
          RegionRequirement(runtime_->get_logical_partition(ctx_, a.tensor->region, partitions.back()), 0,
                            LEGION_READ_ONLY, LEGION_EXCLUSIVE, a.tensor->region, layout_of(*a.tensor, true).tag()));
      launcher.region_requirements.back().add_field(kValue);
    }
    FutureMap out = runtime_->execute_index_space(ctx_, launcher);
    for (IndexPartition p : partitions) runtime_->destroy_index_partition(ctx_, p);
    return out;
  }

  // Adds up what the boxes of a check have found, in their order. The boxes of one element follow one another.
  struct CheckSum {
    const CheckSpace* space;
    const std::vector<Rectangle>* boxes;
    size_t next;
    Expected<T> expected;
    Difference* found;

    void add(const FutureMap& results, size_t count) {
      for (size_t n = 0; n < count; ++n, ++next) {
        auto part = results.template get_result<Checked<T>>(DomainPoint(static_cast<coord_t>(n)));
        found->largest = std::max(found->largest, part.difference.largest);
        found->wrong += part.difference.wrong;
        found->checked += part.difference.checked;
        if (space->is_complete((*boxes)[next])) continue;
        expected.add(part.expected);
        if (next + 1 < boxes->size() && of_same_element((*boxes)[next], (*boxes)[next + 1])) continue;
        compare(part.value, expected, *found);
        expected = {};
      }
    }
    bool of_same_element(const Rectangle& a, const Rectangle& b) const {
      return std::equal(a.lo.begin(), a.lo.begin() + static_cast<std::ptrdiff_t>(space->outputs), b.lo.begin());
    }
  };

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
  std::map<LogicalRegion, Pieces> written_;  // by tensor: where its last launch wrote it; without a grid elsewhere
  std::map<Rectangle, IndexSpace> spaces_;
  std::map<std::tuple<LogicalRegion, Rectangle, bool, std::vector<Rectangle>>, LogicalPartition> partitions_;
};

}  // namespace distal_legion
