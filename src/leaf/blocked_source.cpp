#include "leaf/blocked_source.h"

#include <fmt/format.h>

#include "leaf/cpp_text.h"
#include "leaf/support_text.h"

namespace distal::core {

std::string blocked_source(ElementType type, int factors) {
  return fmt::format(
      "typedef {} T;\nenum {{ FACTORS = {} }};\n\n{}\nextern \"C\" void leaf(const Job* job) {{ multiply(*job); }}\n",
      plain_cpp_type(computing_type(type)), factors, leaf_support_text("register_blocks.h"));
}

}  // namespace distal::core
