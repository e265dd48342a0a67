#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/advice.h"
#include "cli/found.h"
#include "cli/look_first.h"
#include "cli/options.h"
#include "engine/processes.h"
#include "leaf/choose_leaf.h"
#include "leaf/gpu/gpu_leaf.h"
#include "lower/compile.h"
#include "lower/place.h"
#include "plan/causes.h"
#include "plan/certificate.h"
#include "plan/cost.h"
#include "plan/memory.h"
#include "plan/messages.h"
#include "plan/print.h"
#include "schedule/schedule.h"
#include "support/text.h"
#include "tune/report.h"

namespace distal::core {

namespace {

constexpr size_t kMostRows = 40;
constexpr int64_t kMostPieces = 16;

std::string indented(const std::string& text, const std::string& by) {
  std::string out;
  bool at_start = true;
  for (char c : text) {
    if (at_start && c != '\n') out += by;
    out += c;
    at_start = c == '\n';
  }
  return out;
}

// The program with all that was left out, and why it was chosen.
std::string found_text(const LoadedModule& loaded) {
  if (loaded.found.empty() && loaded.left.empty()) return "";
  std::string out = fmt::format("{}\n{}\n", heading("Found"), indented(to_string(loaded.module), "  "));
  for (const FoundStatement& one : loaded.found) {
    out += indented(report_of(one, transfers_of(loaded.module, loaded.params, one)), "  ");
  }
  for (const std::string& left : loaded.left) out += fmt::format("  as written: {}\n", left);
  return out + "\n";
}

std::string nests_text(const Module& module) {
  std::string out;
  for (const ScheduledStatement& s : module.statements) {
    ScheduleTrace trace = apply_schedule(module, s);
    out += fmt::format("{}\n\n", to_string(s.statement));
    out += fmt::format("{}\n{}", heading("Loops"), indented(loop_nest_text(trace.stages[0]), "    "));
    for (size_t i = 0; i < s.schedule.size(); ++i) {
      out += fmt::format("  {}\n{}", to_string(s.schedule[i]), indented(loop_nest_text(trace.stages[i + 1]), "    "));
    }
    out += "\n";
  }
  return out;
}

std::string pieces_text(const TensorPlan& tensor) {
  std::string out;
  const MachineShape& machine = tensor.owners.machine();
  for (int64_t p = 0; p < std::min(machine.processors, kMostPieces); ++p) {
    std::vector<std::string> rects;
    for (const Rect& r : tensor.owners.rects_of(p)) {
      rects.push_back(to_string(r));
      if (rects.size() < 4) continue;
      rects.emplace_back("...");
      break;
    }
    if (!rects.empty()) out += fmt::format("    {} {}\n", machine.processor_name(p), fmt::join(rects, " "));
  }
  if (machine.processors > kMostPieces)
    out += fmt::format("    ... {}\n", counted(machine.processors - kMostPieces, "more processor"));
  return out;
}

std::string placement_text(const Plan& plan) {
  std::string out = heading("Placement") + "\n";
  for (size_t t = 0; t < plan.tensors.size(); ++t) {
    const Tensor& tensor = plan.program->module.tensors[t];
    std::string how = tensor.distribution ? to_string(*tensor.distribution) : "on the first processor";
    out += fmt::format("  {}({}) : {}\n", tensor.name, fmt::join(plan.tensors[t].owners.shape(), ", "), how);
    if (tensor.distribution) out += fmt::format("    {}\n", to_string(placement_of(tensor)));
    out += pieces_text(plan.tensors[t]);
  }
  return out + "\n";
}

// A row of the communication table: consecutive steps of the same cost.
struct Row {
  StepCost cost;
  int64_t last = 0;
};

std::vector<Row> rows_of(const PlanCost& cost) {
  std::vector<Row> rows;
  std::map<std::pair<int, std::string>, size_t> open;  // the last row of each tensor
  for (const StepCost& s : cost.steps) {
    auto [entry, fresh] = open.try_emplace({s.stage, s.tensor}, rows.size());
    if (!fresh) {
      Row& row = rows[entry->second];
      bool same = row.cost.at == s.at && row.cost.bytes == s.bytes && row.cost.messages == s.messages &&
                  row.cost.pattern == s.pattern && row.last + 1 == s.step;
      if (same) {
        row.last = s.step;
        continue;
      }
      entry->second = rows.size();
    }
    rows.push_back({s, s.step});
  }
  return rows;
}

std::string communication_text(const PlanCost& cost) {
  std::string out = heading("Communication") + "\n";
  std::vector<Row> rows = rows_of(cost);
  if (rows.empty()) return out + "  none\n\n";
  out += fmt::format("  {:<8} {:<8} {:>9} {:>15} {:>9}  {}\n", "tensor", "at", "steps", "bytes per step", "messages",
                     "pattern");
  for (size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    const Row& r = rows[i];
    std::string steps = r.last == r.cost.step ? std::to_string(r.last) : fmt::format("{}-{}", r.cost.step, r.last);
    out += fmt::format("  {:<8} {:<8} {:>9} {:>15} {:>9}  {}\n", r.cost.tensor, r.cost.at, steps,
                       with_commas(r.cost.bytes), with_commas(r.cost.messages), to_string(r.cost.pattern));
  }
  if (rows.size() > kMostRows) {
    out += fmt::format("  ... {}\n", counted(static_cast<int64_t>(rows.size() - kMostRows), "more row"));
  }
  return out + "\n";
}

std::string causes_text(const std::vector<Cause>& causes) {
  if (causes.empty()) return "";
  std::string out = "\n" + heading("Why it moves") + "\n", statement;
  for (const Cause& cause : causes) {
    if (cause.statement != statement) out += fmt::format("  {}\n", statement = cause.statement);
    out += fmt::format("    {}: {} bytes in {}: {}\n", cause.tensor, with_commas(cause.bytes),
                       counted(cause.messages, "message"), cause_text(cause));
  }
  return out;
}

nlohmann::ordered_json causes_json(const std::vector<Cause>& causes) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Cause& cause : causes) {
    nlohmann::ordered_json shared = nlohmann::ordered_json::array();
    for (const SharedIndex& one : cause.shared) {
      shared.push_back({{"index", one.index}, {"processors", one.processors}});
    }
    json.push_back({{"statement", cause.statement},
                    {"tensor", cause.tensor},
                    {"bytes", cause.bytes},
                    {"messages", cause.messages},
                    {"shared", shared},
                    {"reason", cause_text(cause)}});
  }
  return json;
}

// The peak memory of a run on MPI ranks, with the full prefetch depth.
int64_t peak_on_ranks(const Plan& plan, const CliOptions& options) {
  if (options.nodes > options.ranks) {
    throw Error(
        fmt::format("--nodes {} is more than --ranks {}, but every node needs a rank", options.nodes, options.ranks));
  }
  std::vector<int> ranks = processes_of_processors(plan, options.ranks), nodes;
  for (int rank : ranks) nodes.push_back(static_cast<int>(int64_t{rank} * options.nodes / options.ranks));
  MemoryOptions memory = Reach::within(std::move(nodes));
  memory.processes = std::move(ranks);
  memory.prefetch_depth = kMaxPrefetchDepth;
  return needs_with_prefetch(plan, memory, [](const MemoryNeeds&) { return true; }).peak_per_processor;
}

std::string totals_text(const Cost& cost) {
  bool all_work = cost.processors_with_work == cost.processors;
  std::string with_work = all_work ? "" : fmt::format(", {} with work", with_commas(cost.processors_with_work));
  std::string out =
      fmt::format("{}\n  {:<28}{}{}\n", heading("Total"), "processors", with_commas(cost.processors), with_work);
  out += fmt::format("  {:<28}{:.4g}\n", "flops", cost.flops);
  out += fmt::format("  {:<28}{} in {}\n", "bytes moved", with_commas(cost.bytes_moved),
                     counted(cost.messages, "message"));
  for (size_t l = 0; l < cost.bytes_by_level.size() && cost.bytes_by_level.size() > 1; ++l) {
    out += fmt::format("    across level {:<13}{}\n", l, with_commas(cost.bytes_by_level[l]));
  }
  out += fmt::format("  {:<28}{} received, {} sent\n", "most on one processor", with_commas(cost.max_bytes_received),
                     with_commas(cost.max_bytes_sent));
  return out + fmt::format("  {:<28}{}\n", "peak bytes per processor", with_commas(cost.peak_bytes_per_processor));
}

std::string certificates_text(const std::vector<Certificate>& certificates) {
  std::string out = "\n" + heading("Certificate") + "\n";
  for (const Certificate& c : certificates) {
    out += fmt::format("  {}\n", c.statement);
    out += fmt::format("    {:<26}{} by processor {}\n", "exchanged bytes", with_commas(c.exchanged_bytes), c.busiest);
    out += fmt::format("    {:<26}{}\n", "lower bound", with_commas(c.lower_bound_bytes));
    out += fmt::format("    {:<26}{}\n", "optimality", c.optimality ? fmt::format("{:.4g}", *c.optimality) : "none");
    if (!c.bound.empty()) out += fmt::format("    bound\n{}", indented(c.bound, "      "));
  }
  return out;
}

// The last section, which a terminal shows.
std::string look_first_text(const std::vector<Remark>& remarks) {
  std::string out = "\n" + heading("Look first at") + "\n";
  for (const Remark& remark : remarks) out += fmt::format("  {:<15}{}\n", remark.where, notable(remark.what));
  return out;
}

nlohmann::ordered_json to_json(const Certificate& c) {
  nlohmann::ordered_json json{{"exchanged_bytes", c.exchanged_bytes}, {"lower_bound_bytes", c.lower_bound_bytes}};
  json["optimality"] = nullptr;
  if (c.optimality) json["optimality"] = *c.optimality;
  json["bound"] = c.bound;
  return json;
}

// The figures of the whole program at the top, and a list with those of each statement.
void add_certificates(const std::vector<Certificate>& certificates, nlohmann::ordered_json& json) {
  json.update(to_json(worst(certificates)));
  json["certificates"] = nlohmann::ordered_json::array();
  for (const Certificate& c : certificates) {
    nlohmann::ordered_json entry{{"statement", c.statement}, {"processors", c.processors}};
    entry.update(to_json(c));
    json["certificates"].push_back(std::move(entry));
  }
}

// Exact below 2^63; JSON has no integers beyond.
nlohmann::ordered_json to_json(Int128 count) {
  if (count <= std::numeric_limits<int64_t>::max()) return static_cast<int64_t>(count);
  return static_cast<double>(count);
}

nlohmann::ordered_json to_json(const PlanCost& cost) {
  nlohmann::ordered_json tensors;
  for (const auto& [name, t] : cost.tensors) {
    tensors[name] = {{"bytes", t.bytes}, {"messages", t.messages}, {"pattern", t.pattern}};
  }
  return {{"processors", cost.processors},
          {"processors_with_work", cost.processors_with_work},
          {"flops", to_json(cost.exact_flops)},
          {"bytes_moved", cost.bytes_moved},
          {"bytes_by_level", cost.bytes_by_level},
          {"messages", cost.messages},
          {"max_bytes_received", cost.max_bytes_received},
          {"max_bytes_sent", cost.max_bytes_sent},
          {"peak_bytes_per_processor", cost.peak_bytes_per_processor},
          {"tensors", tensors}};
}

// On the processors of the stage.
LeafPlan planned_leaf(const StagePlan& stage, ElementType type) {
  bool gpu = has_gpus(stage.stage->machine);
  return choose_leaf(stage, type, LeafChoice::Automatic, gpu ? Processor::GPU : Processor::CPU);
}

std::string leaves_text(const Plan& plan, ElementType type) {
  std::string out = heading("Leaves") + "\n";
  for (const StagePlan& s : plan.stages) out += indented(explanation(planned_leaf(s, type)), "  ");
  return out + "\n";
}

std::string text_of(const Plan& plan, const PlanCost& cost, const LoadedModule& loaded, bool says_where_to_look) {
  std::vector<Certificate> proved = certificates(plan);
  std::string out = found_text(loaded) + nests_text(plan.program->module) + placement_text(plan);
  out += fmt::format("{}\n{}\n", heading("Program"), indented(to_string(*plan.program), "  "));
  out += leaves_text(plan, loaded.module.type) + communication_text(cost) + totals_text(cost);
  out += undistributed_text(plan) + causes_text(causes_of(plan, cost)) + certificates_text(proved);
  return says_where_to_look ? out + look_first_text(remarks_on(cost, proved)) : out;
}

int dump_pass(const std::string& wanted, const LoadedModule& loaded) {
  auto program = compile(loaded.module, [&](const std::string& pass, const std::string& text) {
    if (pass == wanted) fmt::print("{}", text);
  });
  if (wanted == "plan" || wanted == "leaf" || wanted == "messages") {
    Plan plan = make_plan(program, loaded.params);
    if (wanted == "plan") fmt::print("{}", to_string(plan));
    if (wanted == "messages") fmt::print("{}", messages_text(plan));
    for (const StagePlan& s : plan.stages) {
      if (wanted != "leaf") continue;
      LeafPlan leaf = planned_leaf(s, loaded.module.type);
      fmt::print("{}{}", indented(to_string(leaf), "// "), leaf_sources(s, loaded.module.type, leaf));
    }
  }
  return 0;
}

}  // namespace

int explain_command(const CliOptions& options) { return explain(options, load_found(options)); }

int explain(const CliOptions& options, const LoadedModule& loaded) {
  if (!options.dump.empty()) return dump_pass(options.dump, loaded);
  std::shared_ptr<PreparedProgram> prepared = prepare(options, loaded);
  const Plan& plan = prepared->plan();
  show_progress(options, "counting the communication");
  PlanCost cost = count_cost(plan);
  show_progress(options, "");
  if (options.ranks > 0) cost.peak_bytes_per_processor = peak_on_ranks(plan, options);
  if (options.json) {
    nlohmann::ordered_json json = to_json(cost);
    json["transfers"] = causes_json(causes_of(plan, cost));
    add_certificates(certificates(plan), json);
    json.update(found_json(loaded));
    std::cout << json.dump() << std::endl;
    return 0;
  }
  show_text(options, text_of(plan, cost, loaded, options.terminal.has_value()));
  return 0;
}

std::shared_ptr<PreparedProgram> checked_program(const CliOptions& options) {
  std::shared_ptr<PreparedProgram> prepared = prepare(options, load_found(options));
  prepared->needs(true);
  return prepared;
}

int check_command(const CliOptions& options) {
  checked_program(options);
  fmt::print("{}: OK\n", options.file);
  return 0;
}

}  // namespace distal::core
