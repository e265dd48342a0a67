#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/job.h"
#include "cli/mpi_start.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "plan/cost.h"
#include "schedule/redistribute.h"

namespace distal::core {

namespace {

const Tensor& find_tensor(const Module& module, const std::string& name) {
  if (const Tensor* tensor = module.find_tensor(name)) return *tensor;
  refuse_unknown_tensor(module, name);
}

std::string free_name(const Module& module, std::string name) {
  while (module.find_machine(name) != nullptr || module.find_tensor(name) != nullptr) name += "_";
  return name;
}

// The program that moves the tensor: the old and the new tensor, and one statement.
LoadedModule redistribution_module(const CliOptions& options, LoadedModule loaded) {
  Tensor from = find_tensor(loaded.module, options.tensor);
  Tensor to = parse_format(options.format, "format", loaded.module, from);
  loaded.module.statements.clear();
  loaded.module.tensors = {to};
  validate(loaded.module, loaded.params);  // before the renaming, so that errors show the user's name
  to.name = free_name(loaded.module, from.name + "_redistributed");
  loaded.module.tensors = {to, from};
  loaded.module.statements = {redistribution(to, from.name)};
  validate(loaded.module, loaded.params);
  return loaded;
}

// Requires that --load or --save names only the tensor that is redistributed.
void require_tensor(const CliOptions& options, const std::vector<std::string>& words, const std::string& option) {
  for (const std::string& word : words) {
    if (word.substr(0, word.find('=')) == options.tensor) continue;
    throw Error(fmt::format("{} {}: only {} is redistributed", option, word, options.tensor), {},
                fmt::format("write {} {}=FILE", option, options.tensor));
  }
}

std::string described(const Tensor& tensor) {
  std::string format = format_text(tensor);
  return tensor.distribution ? format : format.empty() ? "the first processor" : "the first processor, " + format;
}

std::string pattern_of(const PreparedRun& run, const std::string& tensor) {
  return count_cost(run.plan()).tensors.at(tensor).pattern;
}

std::string summary(const PreparedRun& run, const Tensor& from, const Tensor& to) {
  int source = run.plan().tensor_index(from.name);
  std::string shape = fmt::format("{}", fmt::join(run.plan().tensors[source].owners.shape(), ", "));
  std::string out = heading(shape.empty() ? from.name : fmt::format("{}({})", from.name, shape)) + "\n";
  out += fmt::format("  from      {}\n  to        {}\n", described(from), described(to));
  RunReport report = run.report();
  out += report.ran_text() + report.moved_text();
  out += fmt::format("  pattern   {}\n", pattern_of(run, from.name));
  return out + report.memory_text() + report.time_text() + report.check_text();
}

nlohmann::ordered_json to_json(const PreparedRun& run, const Tensor& from, const Tensor& to) {
  nlohmann::ordered_json out{{"tensor", from.name}, {"from", described(from)}, {"to", described(to)}};
  out.update(run.report().json());
  out["pattern"] = pattern_of(run, from.name);
  return out;
}

}  // namespace

Job redistribute_job(const CliOptions& options, LoadedModule program) {
  require_tensor(options, options.load, "--load");
  require_tensor(options, options.save, "--save");
  Job job{redistribution_module(options, std::move(program)), {}, {}};
  Tensor to = job.loaded.module.tensors[0], from = job.loaded.module.tensors[1];
  for (const auto& [tensor, file] : parse_files(options.save, "--save", job.loaded.module)) job.saved[to.name] = file;
  job.results = [json = options.json, to, from](const PreparedRun& run) {
    return json ? to_json(run, from, to).dump() + "\n" : summary(run, from, to);
  };
  return job;
}

int redistribute_command(const CliOptions& options, const RunOnMpi& run_on_mpi) {
  if (options.explain) return explain(options, redistribution_module(options, load_found(options)));
  if (options.engine == "mpi") return run_on_mpi ? run_on_mpi(options) : start_on_mpi(options);
  if (options.engine == "threads") return run_on_threads(options, job_of(options, load_found(options)));
  throw Error(fmt::format("redistribute has no engine {}; its engines are threads and mpi", options.engine));
}

}  // namespace distal::core
