#include "leaf/gpu/kernel_source.h"

#include <fmt/format.h>

#include "leaf/gpu/box_source.h"
#include "leaf/gpu/nest_source.h"
#include "leaf/gpu/parts_source.h"

namespace distal::core {

std::string gpu_kernel_source(const Stage& stage, ElementType type, const StorageOrders& orders,
                              const std::string& function) {
  if (!leaf_of(stage).root.compute()) return gpu_parts_source(stage, type, function);
  return leaf_box(stage) ? gpu_box_source(stage, type, orders, function) : gpu_nest_source(stage, type, function);
}

void write_kernel_head(TextWriter& writer, const std::string& what, const std::vector<std::string>& headers) {
  writer.line("// " + what);
  for (const std::string& h : headers) writer.line(fmt::format("#include \"distal/{}\"", h));
  writer.line("");
  writer.line("namespace {");
  writer.line("");
  writer.line("using namespace distal_gpu;");
  writer.line("");
}

void write_kernel_types(TextWriter& writer, ElementType type) {
  const ElementTraits& traits = traits_of(type);
  writer.line(fmt::format("using T = {};", traits.cuda_type));
  writer.line(fmt::format("using C = {};", is_integer(type) ? traits.computing_type : traits.cuda_type));
}

}  // namespace distal::core
