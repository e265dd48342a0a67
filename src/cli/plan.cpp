#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/options.h"
#include "support/text.h"
#include "tune/cosma.h"

namespace distal::core {

int plan_cosma_command(const CliOptions& o) {
  ElementType type = o.type.empty() ? ElementType::Double : parse_type_option(o.type);
  CosmaProblem problem{o.ni, o.nj, o.nk, o.processors, o.bytes_per_processor, size_of(type)};
  CosmaPlan plan = plan_cosma(problem);
  std::string settings = fmt::format("ni={},nj={},nk={},gx={},gy={},gz={},steps={},seqi={},seqj={}", o.ni, o.nj, o.nk,
                                     plan.gx, plan.gy, plan.gz, plan.steps, plan.seqi, plan.seqj);
  if (o.json) {
    nlohmann::ordered_json json{{"set", settings},
                                {"gx", plan.gx},
                                {"gy", plan.gy},
                                {"gz", plan.gz},
                                {"steps", plan.steps},
                                {"seqi", plan.seqi},
                                {"seqj", plan.seqj},
                                {"used_processors", plan.used_processors},
                                {"idle_processors", plan.idle_processors},
                                {"bytes_moved", plan.bytes_moved},
                                {"memory_per_processor", plan.memory_per_processor}};
    std::cout << json.dump() << std::endl;
    return 0;
  }
  fmt::print("{}\n", settings);
  std::fflush(stdout);  // keeps the order if stdout and stderr go to one file
  fmt::print(stderr, "{} of {}, {} moved in all, {} at most on one processor\n", with_commas(plan.used_processors),
             counted(o.processors, "processor"), bytes_text(double(plan.bytes_moved)),
             bytes_text(double(plan.memory_per_processor)));
  return 0;
}

}  // namespace distal::core
