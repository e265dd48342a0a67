#include "cli/legion_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/found.h"
#include "cli/prepared_run.h"
#include "cli/saved_check.h"
#include "data/npy_writer.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "engine/legion/launch.h"
#include "leaf/gpu/gpu_leaf.h"
#include "lower/compile.h"
#include "plan/cost.h"
#include "support/available_memory.h"
#include "support/cache.h"
#include "support/cores.h"
#include "support/process.h"
#include "support/text.h"

namespace distal::core {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kLegionBytes = 64 << 20;                // memory for Legion itself
constexpr int64_t kMostSpareGpuBytes = int64_t{8} << 30;  // for copies of later steps

// A folder for the files that DISTAL and the Legion program exchange. The destructor removes it.
class ExchangeFolder {
 public:
  ExchangeFolder() : path_(unique_name(safe_cache_folder() / "run")) { fs::create_directories(path_); }
  ~ExchangeFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  ExchangeFolder(const ExchangeFolder&) = delete;
  ExchangeFolder& operator=(const ExchangeFolder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }
  std::string path() const { return path_; }

 private:
  fs::path path_;
};

bool uses_gpus(const Plan& plan) {
  return std::any_of(plan.stages.begin(), plan.stages.end(),
                     [](const StagePlan& s) { return has_gpus(s.stage->machine); });
}

// Whether all data is in the memory of GPUs: then the host needs no more for large tensors than for small ones.
bool is_all_on_gpus(const Plan& plan) {
  const std::vector<Tensor>& tensors = plan.program->module.tensors;
  return std::all_of(plan.stages.begin(), plan.stages.end(),
                     [](const StagePlan& s) { return has_gpus(s.stage->machine); }) &&
         std::all_of(tensors.begin(), tensors.end(), [](const Tensor& t) { return t.machine && has_gpus(*t.machine); });
}

// The number of GPUs that the driver shows.
int gpu_count() {
  int count = 0;
  while (fs::exists(fmt::format("/dev/nvidia{}", count))) ++count;
  return count;
}

void refuse_option(bool given, const std::string& option) {
  if (given) throw Error(fmt::format("the legion engine does not support {}", option));
}

class LegionRun {
 public:
  LegionRun(const CliOptions& options, const LoadedModule& loaded)
      : options_(options),
        loaded_(loaded),
        ranks_(std::max(1, options.ranks)),
        settings_(find_legion()),
        inputs_(options, loaded),
        plan_(inputs_.program->plan()) {
    refuse_option(options.leaf != "auto", "--leaf");
    refuse_option(options.strict_order, "--strict-order");
    refuse_option(options.own_memory, "--own-memory");
    const MemoryNeeds& needs = inputs_.program->needs(true);
    peak_ = needs.peak_per_processor;
    gpu_bytes_ = needs.total + std::min(needs.total, kMostSpareGpuBytes) + kLegionBytes;
    const int64_t on_host = is_all_on_gpus(plan_) ? 0 : needs.total;
    require_memory(on_host + kLegionBytes, available_memory());
    bytes_ = std::min(2 * on_host + kLegionBytes, available_memory());
  }

  int run() {
    std::string name = legion_name(fs::path(options_.file).stem().string());
    show_progress(options_, "building for Legion");
    LegionLaunch launch = launch_of(build_legion(emit_legion({{name, compile(loaded_.module)}}), name, settings_));
    show_progress(options_, "running on Legion");
    int status = run_process(legion_command(launch, settings_),
                             {legion_environment(launch, settings_), {}, exchange_.file("report")});
    show_progress(options_, "");
    if (status != 0) {
      throw Error(fmt::format("the Legion program ended with status {}", status), {}, "see its output above",
                  Error::Kind::Resources);
    }
    return conclude();
  }

 private:
  LegionLaunch launch_of(const std::string& executable) const {
    LegionLaunch out;
    out.executable = executable;
    out.ranks = ranks_;
    out.cores = usable_cores();
    out.bytes = bytes_;
    auto share = static_cast<int>(ceil_div(std::min<int64_t>(plan_.processors, 64), ranks_));
    out.cpus = options_.threads > 0 ? options_.threads : std::min(share, std::max(1, out.cores / ranks_));
    if (uses_gpus(plan_)) out.gpus = gpu_count();
    out.gpu_bytes = gpu_bytes_;
    out.arguments = {
        "--json",  "--no-check",    "--reps", std::to_string(options_.reps), "--seed", std::to_string(options_.seed),
        "--after", exchange_.path()};
    for (const Param& p : loaded_.module.params) {
      out.arguments.insert(out.arguments.end(), {"--set", fmt::format("{}={}", p.name, loaded_.params.at(p.name))});
    }
    for (const auto& [tensor, file] : parse_files(options_.load, "--load", loaded_.module)) {
      out.arguments.insert(out.arguments.end(), {"--load", tensor + "=" + in_row_order(tensor)});
    }
    for (const std::string& word : options_.save) out.arguments.insert(out.arguments.end(), {"--save", word});
    return out;
  }

  // Copies a NumPy file. The emitted program reads only row-major files with a version 1.0 header, as write_npy writes.
  std::string in_row_order(const std::string& tensor) const {
    std::string copy = exchange_.file("load_" + tensor + ".npy");
    int index = plan_.tensor_index(tensor);
    Rect all = whole(plan_.tensors[index].owners.shape());
    std::vector<std::byte> elements = inputs_.data.whole(index);
    write_npy(copy, loaded_.module.type, {all.hi.begin(), all.hi.end()}, ProcessGroup(),
              [&](const WriteNpyRect& write) { write(all.lo, all.hi, elements.data()); });
    return copy;
  }

  int conclude() {
    RunReport report;
    report.found = found_notes(options_, loaded_);
    report.engine = options_.engine;
    report.backend = ranks_ == 1 ? "Legion" : fmt::format("Legion in {} processes", ranks_);
    report.plan = &plan_;
    nlohmann::json output = nlohmann::json::parse(read_text(exchange_.file("report")));
    report.seconds = output["seconds"].get<std::vector<double>>();
    std::sort(report.seconds.begin(), report.seconds.end());
    report.leaves = output["leaves"].get<std::vector<std::string>>();
    report.tasks = output["tasks"].get<int64_t>();
    if (!options_.no_check) {
      report.check = check_saved(plan_, inputs_.data, exchange_.path(), samples(options_), options_.seed);
    }
    Cost cost = count_cost(plan_);
    report.bytes_moved = cost.bytes_moved;
    report.messages = cost.messages;
    report.peak_bytes_per_processor = peak_;
    show_text(options_, report_text(report, options_));
    return report.ok() ? 0 : 1;
  }

  const CliOptions& options_;
  const LoadedModule& loaded_;
  int ranks_;
  LegionSettings settings_;
  RunInputs inputs_;
  const Plan& plan_;
  ExchangeFolder exchange_;
  int64_t bytes_ = 0, gpu_bytes_ = 0, peak_ = 0;
};

}  // namespace

int run_on_legion(const CliOptions& options, const LoadedModule& loaded) { return LegionRun(options, loaded).run(); }

}  // namespace distal::core
