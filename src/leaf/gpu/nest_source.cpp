#include "leaf/gpu/nest_source.h"

#include <fmt/format.h>

#include "leaf/cpp_text.h"
#include "leaf/gpu/kernel_source.h"
#include "leaf/gpu/loops_text.h"

namespace distal::core {

std::string gpu_nest_source(const Stage& stage, ElementType type, const std::string& function) {
  const LeafPart& root = leaf_of(stage).root;
  const Compute& compute = *root.compute();
  TextWriter writer;
  LoopsText text(stage, type, writer);
  const ThreadLoops loops = thread_loops(compute, text.space(), root.loops);
  write_kernel_head(writer, assignment_text(compute.assignment), {"kernel.h"});
  write_kernel_types(writer, type);
  writer.line("");
  text.declare_arguments();
  writer.open("__global__ void compute(const Arguments a, Int elements)");
  text.declare_fixed(root.loops);
  // Two threads may still compute the same element, since a collapsed loop can combine a loop of the output with one of
  // a sum. So sums are added atomically.
  text.write_points(compute, loops, "for (Int n = number_of_thread(); n < elements; n += count_of_threads())", true);
  writer.close();
  writer.line("");
  writer.line("}  // namespace");
  writer.line("");
  text.begin_function(function);
  text.set_arguments();
  writer.line(fmt::format("const Int elements = {};", LoopsText::iterations(loops.threads)));
  writer.line("if (elements > 0) launch(compute, elements, device.stream, a, elements);");
  writer.line("return 0;");
  writer.close();
  return writer.text();
}

}  // namespace distal::core
