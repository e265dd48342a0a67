#include "leaf/gpu/parts_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "leaf/cpp_text.h"
#include "leaf/gpu/kernel_source.h"
#include "leaf/gpu/loops_text.h"
#include "leaf/gpu/window.h"

namespace distal::core {

namespace {

// The part that computes the output: the last one.
const Compute& output_of(const LeafPart& part) {
  return part.compute() ? *part.compute() : output_of(part.parts()->back());
}

class PartsWriter {
 public:
  PartsWriter(const Stage& stage, ElementType type, const std::string& function)
      : stage_(stage),
        leaf_(leaf_of(stage)),
        type_(type),
        function_(function),
        text_(stage, type, writer_),
        around_(thread_loops(output_of(leaf_.root), text_.space(), leaf_.root.loops)),
        windows_(leaf_.workspaces.size()) {
    find_windows(leaf_.root, text_.space());
  }

  std::string run() {
    write_kernel_head(writer_, to_string(stage_.source.statement), {"workspaces.h"});
    write_kernel_types(writer_, type_);
    line("");
    text_.declare_arguments(workspace_arguments());
    write_kernel();
    line("");
    line("}  // namespace");
    line("");
    write_start();
    return writer_.text();
  }

 private:
  void line(const std::string& text) { writer_.line(text); }

  std::string names(const std::vector<int>& variables) const {
    std::vector<std::string> out;
    for (int v : variables) out.push_back(stage_.space.names[static_cast<size_t>(v)]);
    return fmt::format("{}", fmt::join(out, ", "));
  }

  void find_windows(const LeafPart& nest, const IterationSpace<int64_t>& space) {
    if (!nest.parts()) return;
    for (const LeafPart& part : *nest.parts()) {
      const IterationSpace<int64_t> inner = space_of_part(space, *nest.parts(), part);
      if (part.fills) {
        const auto w = static_cast<size_t>(*part.fills);
        windows_[w] = windows_of(
            leaf_.workspaces[w], inner, [&](int v) { return text_.name(v); }, LoopsText::extent);
      }
      find_windows(part, inner);
    }
  }

  std::vector<std::string> workspace_arguments() const {
    std::vector<std::string> out;
    for (size_t w = 0; w < leaf_.workspaces.size(); ++w) {
      const Workspace& workspace = leaf_.workspaces[w];
      out.push_back(fmt::format("Workspace<{}> w{};  // {}({})", workspace.indices.size(), w, workspace.name,
                                names(workspace.indices)));
    }
    out.emplace_back("BlockMemory memory;");
    return out;
  }

  // ---- the kernel ----

  void write_kernel() {
    line(around_.threads.empty()
             ? "// One block runs all iterations."
             : fmt::format("// Blocks share the iterations of ({}). Each has workspaces of its own.",
                           names(around_.threads)));
    writer_.open("__global__ void compute(const Arguments a, Int iterations)");
    text_.declare_fixed(all_loops(leaf_.root));
    line("T* const memory = a.memory.of_block<T>();");
    writer_.open("for (Int m = blockIdx.x; m < iterations; m += gridDim.x)");
    text_.declare_loops(around_.threads, "m", "around");
    write_parts(leaf_.root, around_.inner, text_.space());
    writer_.close();
    writer_.close();
  }

  // Parts one after another, in the loops around them. All threads of the block go the same way.
  void write_parts(const LeafPart& nest, const std::vector<int>& loops, const IterationSpace<int64_t>& space) {
    for (int v : loops) {
      writer_.open(fmt::format("for (Int {0} = 0; {0} < {1}; ++{0})", text_.name(v), LoopsText::extent(v)));
    }
    for (const LeafPart& part : *nest.parts()) {
      const IterationSpace<int64_t> inner = space_of_part(space, *nest.parts(), part);
      if (part.fills) start_workspace(static_cast<size_t>(*part.fills));
      if (part.compute()) {
        write_part(*part.compute(), part.loops, inner);
      } else {
        write_parts(part, part.loops, inner);
      }
    }
    for (size_t l = 0; l < loops.size(); ++l) writer_.close();
  }

  // A workspace is addressed by the indices of the whole tensor, and begins where its producer does.
  void start_workspace(size_t w) {
    std::string first;
    for (size_t d = 0; d < windows_[w].size(); ++d) {
      const std::string& lowest = windows_[w][d].lowest;
      if (lowest != "0") first += fmt::format(" - {} * a.w{}.stride[{}]", lowest, w, d);
    }
    line(fmt::format("T* const w{0} = memory + (a.w{0}.begin{1});", w, first));
    line(fmt::format("clear(memory + a.w{0}.begin, a.w{0}.volume);", w));
    line("__syncthreads();");
  }

  void write_part(const Compute& compute, const std::vector<int>& all, const IterationSpace<int64_t>& space) {
    line("// " + assignment_text(compute.assignment));
    const ThreadLoops loops = thread_loops(compute, space, all);
    text_.write_points(
        compute, loops,
        fmt::format("for (Int n = threadIdx.x; n < {}; n += blockDim.x)", LoopsText::iterations(loops.threads)),
        may_collide(compute, loops));
    line("__syncthreads();");
  }

  // Whether two threads, also of different blocks, may add to the same element at once. They do not if the element
  // determines the iterations of all loops that threads share.
  bool may_collide(const Compute& compute, const ThreadLoops& loops) const {
    std::vector<int> shared = loops.threads, all;
    if (compute.operands[0].number == 0) shared.insert(shared.begin(), around_.threads.begin(), around_.threads.end());
    all = shared;
    all.insert(all.end(), loops.inner.begin(), loops.inner.end());
    const std::vector<int> determined =
        loops_to_share(loops.space, make_leaf_nest(loops.space, all), compute.operands[0].indices);
    return !std::all_of(shared.begin(), shared.end(),
                        [&](int v) { return std::find(determined.begin(), determined.end(), v) != determined.end(); });
  }

  // ---- the function ----

  void write_start() {
    text_.begin_function(function_);
    text_.set_arguments();
    line("Int elements = 0;");
    for (size_t w = 0; w < windows_.size(); ++w) {
      std::vector<std::string> extents;
      for (const Window& window : windows_[w]) extents.push_back(window.extent);
      line(fmt::format("a.w{}.append(elements, {{{}}});", w, fmt::join(extents, ", ")));
    }
    line(
        fmt::format("return run_blocks<T>(compute, a, {}, elements, device);", LoopsText::iterations(around_.threads)));
    writer_.close();
  }

  const Stage& stage_;
  const Leaf& leaf_;
  ElementType type_;
  const std::string& function_;
  TextWriter writer_;
  LoopsText text_;
  ThreadLoops around_;
  std::vector<std::vector<Window>> windows_;  // by workspace
};

}  // namespace

std::string gpu_parts_source(const Stage& stage, ElementType type, const std::string& function) {
  return PartsWriter(stage, type, function).run();
}

}  // namespace distal::core
