// Where tasks run and where their data lies: a point of a grid runs on the processor with its number, and its data is
// in that processor's memory, each tensor in its own storage order.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "grid.h"
#include "legion.h"
#include "mappers/default_mapper.h"
#include "options.h"

namespace distal_legion {

using namespace Legion;

// The grids of the program that runs, by id.
inline std::vector<const Grid*>& grids() {
  static std::vector<const Grid*> all;
  return all;
}

// The mapping tag of a launch over a grid: its id. And the tag of a launch whose points are dealt out to all CPUs.
struct LaunchTag {
  int grid = 0;

  MappingTagID tag() const { return static_cast<MappingTagID>(grid) + 1; }
  static LaunchTag of(MappingTagID tag) { return {static_cast<int>(tag) - 1}; }
};
constexpr MappingTagID kOnCpus = 0;

// The mapping tag of a region requirement: the storage order of its tensor, outermost dimension first, and whether the
// copy is useless after the task.
struct Layout {
  std::vector<int> order;
  bool transient = false;

  MappingTagID tag() const {
    MappingTagID out = transient ? 1 : 0, digit = 2;
    for (int d : order) {
      out += digit * static_cast<MappingTagID>(d);
      digit *= 8;
    }
    return out;
  }
  static Layout of(MappingTagID tag, int dimensions) {
    Layout out{{}, tag % 2 == 1};
    tag /= 2;
    for (int d = 0; d < dimensions; ++d, tag /= 8) out.order.push_back(static_cast<int>(tag % 8));
    return out;
  }
};

constexpr ShardingID kShardingOnCpus = 999;
constexpr ShardingID kFirstSharding = 1000;  // one per grid

// All processors of one kind, in the order of their processes.
inline std::vector<Processor>& processors(bool gpu) {
  static std::vector<Processor> cpus, gpus;
  return gpu ? gpus : cpus;
}

inline size_t number_of(const Grid& grid, const DomainPoint& point) {
  Coordinates at(grid.extents.size());
  for (size_t d = 0; d < at.size(); ++d) at[d] = point[static_cast<int>(d)];
  return static_cast<size_t>(grid.number(at));
}

inline Processor processor_of(const Grid& grid, const DomainPoint& point) {
  const std::vector<Processor>& all = processors(grid.gpu);
  return all[number_of(grid, point) % all.size()];
}

inline Processor cpu_of(const DomainPoint& point) {
  const std::vector<Processor>& all = processors(false);
  return all[static_cast<size_t>(point[0]) % all.size()];
}

// With several processes, each process issues the launches of the points that it runs.
class GridSharding : public ShardingFunctor {
 public:
  explicit GridSharding(int grid) : grid_(grid) {}
  ShardID shard(const DomainPoint& point, const Domain&, const size_t shards) override {
    return processor_of(*grids()[grid_], point).address_space() % shards;
  }

 private:
  int grid_;
};

class CpuSharding : public ShardingFunctor {
 public:
  ShardID shard(const DomainPoint& point, const Domain&, const size_t shards) override {
    return cpu_of(point).address_space() % shards;
  }
};

class GridMapper : public Mapping::DefaultMapper {
 public:
  GridMapper(Mapping::MapperRuntime* runtime, Machine machine, Processor local)
      : DefaultMapper(runtime, machine, local, "distal") {}

  void select_task_options(const Mapping::MapperContext ctx, const Task& task, TaskOptions& out) override {
    DefaultMapper::select_task_options(ctx, task, out);
    if (task.get_depth() == 0) out.replicate = total_nodes > 1;
    out.map_locally = false;
  }

  // No auto tracing: it ignores the argument of a projection, the step, so it would replay a launch with the data of
  // another step.
  void configure_context(const Mapping::MapperContext ctx, const Task& task, ContextConfigOutput& out) override {
    DefaultMapper::configure_context(ctx, task, out);
    out.auto_tracing_enabled = false;
  }

  void slice_task(const Mapping::MapperContext, const Task& task, const SliceTaskInput& in,
                  SliceTaskOutput& out) override {
    auto processor_for = [&](const DomainPoint& point) {
      return task.tag == kOnCpus ? cpu_of(point)
                                 : processor_of(*grids()[static_cast<size_t>(LaunchTag::of(task.tag).grid)], point);
    };
    for (Domain::DomainPointIterator point(in.domain); point; point++) {
      Processor processor = processor_for(point.p);
      out.slices.emplace_back(Domain(point.p, point.p), processor, false, false);
    }
  }

  void select_sharding_functor(const Mapping::MapperContext ctx, const Task& task, const SelectShardingFunctorInput& in,
                               SelectShardingFunctorOutput& out) override {
    if (!task.is_index_space) return DefaultMapper::select_sharding_functor(ctx, task, in, out);
    out.chosen_functor =
        task.tag == kOnCpus ? kShardingOnCpus : kFirstSharding + static_cast<ShardingID>(LaunchTag::of(task.tag).grid);
  }

  void map_task(const Mapping::MapperContext ctx, const Task& task, const MapTaskInput& in,
                MapTaskOutput& out) override {
    if (task.get_depth() == 0) return DefaultMapper::map_task(ctx, task, in, out);
    std::vector<VariantID> variants;
    runtime->find_valid_variants(ctx, task.task_id, variants, task.target_proc.kind());
    out.chosen_variant = variants.at(0);
    out.target_procs.assign(1, task.target_proc);
    for (size_t r = 0; r < task.regions.size(); ++r) map_region(ctx, task, r, out);
  }

 private:
  // A transient copy is not tracked as valid, and is the first to be freed when memory is short.
  void map_region(const Mapping::MapperContext ctx, const Task& task, size_t r, MapTaskOutput& out) {
    const RegionRequirement& need = task.regions[r];
    Layout layout = Layout::of(need.tag, need.region.get_dim());
    out.chosen_instances[r].push_back(need.privilege == LEGION_REDUCE ? partial_of(ctx, task, need, layout)
                                                                      : instance_of(ctx, task, need, layout));
    if (layout.transient && need.privilege == LEGION_READ_ONLY) {
      out.untracked_valid_regions.insert(static_cast<unsigned>(r));
    }
  }

  Mapping::PhysicalInstance instance_of(const Mapping::MapperContext ctx, const Task& task,
                                        const RegionRequirement& need, const Layout& layout) {
    Memory memory = memory_of(task.target_proc);
    LayoutConstraintSet constraints = constraints_of(memory, need, layout);
    Mapping::PhysicalInstance out;
    bool created = false;
    size_t bytes = 0;
    GCPriority priority = layout.transient ? LEGION_GC_FIRST_PRIORITY : 0;
    if (!runtime->find_or_create_physical_instance(ctx, memory, constraints, {need.region}, out, created, true,
                                                   priority, false, &bytes)) {
      out_of_memory(memory, bytes);
    }
    return out;
  }

  // A partial per processor, so that no processor waits for another. It is kept from launch to launch.
  Mapping::PhysicalInstance partial_of(const Mapping::MapperContext ctx, const Task& task,
                                       const RegionRequirement& need, const Layout& layout) {
    Mapping::PhysicalInstance& kept = partials_[{task.target_proc, need.region, need.redop}];
    if (kept.exists() && runtime->acquire_instance(ctx, kept)) return kept;
    Memory memory = memory_of(task.target_proc);
    LayoutConstraintSet constraints = constraints_of(memory, need, layout);
    size_t bytes = 0;
    if (!runtime->create_physical_instance(ctx, memory, constraints, {need.region}, kept, true, 0, false, &bytes)) {
      out_of_memory(memory, bytes);
    }
    return kept;
  }

  static LayoutConstraintSet constraints_of(Memory memory, const RegionRequirement& need, const Layout& layout) {
    LayoutConstraintSet out;
    if (need.privilege == LEGION_REDUCE) {
      out.add_constraint(SpecializedConstraint(LEGION_AFFINE_REDUCTION_SPECIALIZE, need.redop));
    } else {
      out.add_constraint(SpecializedConstraint(LEGION_AFFINE_SPECIALIZE));
    }
    std::vector<DimensionKind> order;  // Legion's order begins with the fastest dimension
    for (auto d = layout.order.rbegin(); d != layout.order.rend(); ++d) {
      order.push_back(static_cast<DimensionKind>(static_cast<int>(LEGION_DIM_X) + *d));
    }
    order.push_back(LEGION_DIM_F);
    out.add_constraint(OrderingConstraint(order, true)).add_constraint(MemoryConstraint(memory.kind()));
    out.add_constraint(
        FieldConstraint(std::vector<FieldID>(need.privilege_fields.begin(), need.privilege_fields.end()), false));
    return out;
  }

  // The processor's own memory: of the memories of the right kind that it can access, the one with the highest
  // bandwidth. A GPU may also see the memories of other GPUs.
  Memory memory_of(Processor processor) {
    auto found = memories_.find(processor);
    if (found != memories_.end()) return found->second;
    Memory::Kind kind = processor.kind() == Processor::TOC_PROC ? Memory::GPU_FB_MEM : Memory::SYSTEM_MEM;
    std::vector<Machine::ProcessorMemoryAffinity> all;
    machine.get_proc_mem_affinity(all, processor);
    Machine::ProcessorMemoryAffinity best{};
    for (const auto& one : all) {
      if (one.m.kind() == kind && (!best.m.exists() || one.bandwidth > best.bandwidth)) best = one;
    }
    return memories_[processor] = best.m;
  }

  [[noreturn]] static void out_of_memory(Memory memory, size_t bytes) {
    bool gpu = memory.kind() == Memory::GPU_FB_MEM;
    fail(3, "a copy of " + std::to_string(bytes) + " bytes does not fit into Legion's memory of " +
                std::to_string(memory.capacity()) + " bytes; give it more with " + (gpu ? "-ll:fsize" : "-ll:csize") +
                " MEGABYTES");
  }

  std::map<std::tuple<Processor, LogicalRegion, ReductionOpID>, Mapping::PhysicalInstance> partials_;
  std::map<Processor, Memory> memories_;
};

inline void register_mappers(Machine machine, Runtime* runtime, const std::set<Processor>& local) {
  for (bool gpu : {false, true}) {
    Machine::ProcessorQuery query(machine);
    query.only_kind(gpu ? Processor::TOC_PROC : Processor::LOC_PROC);
    std::vector<Processor>& all = processors(gpu);
    all.assign(query.begin(), query.end());
    std::sort(all.begin(), all.end());
  }
  for (Processor p : local)
    runtime->replace_default_mapper(new GridMapper(runtime->get_mapper_runtime(), machine, p), p);
}

}  // namespace distal_legion
