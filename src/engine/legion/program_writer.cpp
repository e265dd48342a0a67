#include "engine/legion/program_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/legion/check_writer.h"
#include "engine/legion/names.h"
#include "engine/legion/program.h"
#include "engine/legion/statement_writer.h"
#include "lang/ranges.h"
#include "leaf/cpp_text.h"
#include "leaf/generate.h"
#include "leaf/gpu/gpu_leaf.h"
#include "support/text_writer.h"

namespace distal::core {

namespace {

constexpr size_t kMostDimensions = 6;  // of Legion as tools/legion.sh fetches it

void require_dimensions(size_t count, const std::string& what, const SourceSpan& span) {
  if (count <= kMostDimensions) return;
  throw Error(fmt::format("{} has {} dimensions; Legion allows at most {}", what, count, kMostDimensions), span, {},
              Error::Kind::Resources);
}

void require_memory(const Tensor& t) {
  if (t.memory != Memory::GPU_MEM || has_gpus(t.machine.value_or(Machine{}))) return;
  throw Error(fmt::format("tensor {} lives in gpu memory, but its processors are CPUs", t.name), t.span,
              "put it on a machine whose last grid says gpu", Error::Kind::Resources);
}

void require_sums(const Module& module, const Statement& statement) {
  std::map<std::string, IntExpr> extents = variable_extents(module, statement);
  for (const IndexVar& v : sums_beside_other_terms(statement)) {
    if (extents.at(v.name).evaluate(bind(module, {})) > 0) continue;
    throw Error(empty_sum_text(v), statement.span, {}, Error::Kind::Resources);
  }
}

class ProgramWriter {
 public:
  explicit ProgramWriter(const LegionSource& source)
      : source_(source), program_(*source.program), module_(program_.module) {}

  std::string run() {
    writer_.line("namespace " + source_.name + " {");
    writer_.line("");
    writer_.line(fmt::format("using T = {};", cpp_type(module_.type)));
    writer_.line("");
    if (uses_cpus(source_)) write_text();
    declare_params();
    find_grids();
    declare_tensors();
    write_set_params();
    if (uses_cpus(source_)) write_leaves();
    for (size_t s = 0; s < program_.stages.size(); ++s) write_stage(s);
    write_run();
    write_registration();
    writer_.line("}  // namespace " + source_.name);
    return writer_.text();
  }

 private:
  std::string text(const IntExpr& e) const { return names_.text(e); }

  std::string texts(const std::vector<IntExpr>& all) const {
    std::vector<std::string> out;
    for (const IntExpr& e : all) out.push_back(text(e));
    return fmt::format("{}", fmt::join(out, ", "));
  }

  void write_text() {
    writer_.line("// The text of the program. DISTAL's library, if it is found, makes the leaves from it.");
    writer_.line("static const char* const kText = R\"distal(" + to_string(module_) + ")distal\";");
    writer_.line("");
  }

  void declare_params() {
    std::vector<std::string> all;
    for (const Param& p : module_.params) all.push_back(names_.add(p.name));
    if (!all.empty()) writer_.line(fmt::format("static Int {};", fmt::join(all, ", ")));
  }

  // Declares every distinct grid: tensors and schedules may have grids of their own.
  void find_grids() {
    for (const Machine& m : module_.machines) grid_of(m);
    for (const Tensor& t : module_.tensors) grid_of(t.machine.value_or(Machine{}));
    for (const Stage& s : program_.stages) grid_of(s.machine);
    std::vector<std::string> all;
    for (const GridEntry& g : grids_) all.push_back(g.name);
    writer_.line(fmt::format("static Grid {};", fmt::join(all, ", ")));
  }

  // All levels of a machine as one grid. A machine without levels is one processor.
  const std::string& grid_of(const Machine& machine) {
    std::vector<IntExpr> extents;
    bool gpu = has_gpus(machine);
    for (const Grid& level : machine.levels) {
      extents.insert(extents.end(), level.extents.begin(), level.extents.end());
    }
    if (extents.empty()) extents.emplace_back(1);
    for (const GridEntry& g : grids_) {
      if (g.extents == extents && g.gpu == gpu) return g.name;
    }
    require_dimensions(extents.size(), "the machine " + to_string(machine), machine.span);
    std::string name =
        machine.name.empty() ? names_.fresh("grid_" + std::to_string(grids_.size() + 1)) : names_.fresh(machine.name);
    grids_.push_back({name, extents, gpu, to_string(machine)});
    return grids_.back().name;
  }

  void declare_tensors() {
    std::vector<std::string> all;
    for (const Tensor& t : module_.tensors) {
      require_dimensions(t.dimensions.size(), "tensor " + t.name, t.span);
      require_memory(t);
      // A tensor and a param may have the same name; each gets its own C++ name.
      tensors_[t.name] = names_.fresh(t.name);
      all.push_back(tensors_[t.name]);
    }
    writer_.line(fmt::format("static Tensor {};", fmt::join(all, ", ")));
    writer_.line("");
  }

  void write_set_params() {
    writer_.open("static void set_params(Settings& settings)");
    for (const Param& p : module_.params) {
      writer_.line(fmt::format("{} = settings.param(\"{}\", {});", names_[p.name], p.name, text(p.value)));
    }
    for (size_t g = 0; g < grids_.size(); ++g) {
      writer_.line(fmt::format("{} = Grid{{{}, {{{}}}, {}}};{}", grids_[g].name, g, texts(grids_[g].extents),
                               grids_[g].gpu ? "true" : "false",
                               grids_[g].text.empty() ? "" : "  // " + grids_[g].text));
    }
    for (const Tensor& t : module_.tensors) write_tensor(t);
    writer_.close();
    writer_.line("");
  }

  void write_leaves() {
    std::vector<std::string> all;
    for (const Param& p : module_.params) all.push_back(fmt::format("{{\"{}\", {}}}", p.name, names_[p.name]));
    writer_.line("#ifdef DISTAL_LEAVES");
    writer_.open("static const distal::Leaves& leaves()");
    writer_.line("static const std::vector<std::vector<std::string>> variables{");
    for (const Stage& s : program_.stages) {
      std::vector<std::string> quoted;
      for (const std::string& name : s.space.names) quoted.push_back("\"" + name + "\"");
      writer_.line(fmt::format("    {{{}}},", fmt::join(quoted, ", ")));
    }
    writer_.line("};");
    writer_.line("static PerRun<distal::Leaves> made;");
    writer_.line(fmt::format("return made.get([] {{ return distal::Leaves(kText, {{{}}}, \"{}\", variables); }});",
                             fmt::join(all, ", "), to_string(module_.type)));
    writer_.close();
    writer_.line("#endif");
    writer_.line("");
  }

  void write_tensor(const Tensor& t) {
    std::string format = format_text(t);
    if (!format.empty()) writer_.line(fmt::format("// {} : {}", t.name, format));
    writer_.line(fmt::format("{} = Tensor{{\"{}\", {{{}}}, {{{}}}, Home({}, {{{}}}, {{{}}})}};", tensors_[t.name],
                             t.name, texts(t.dimensions), fmt::join(t.order, ", "),
                             grid_of(t.machine.value_or(Machine{})), texts(t.dimensions),
                             fmt::join(roles_of(t), ", ")));
  }

  // One role per machine dimension. A tensor without a distribution lives on the first processor.
  std::vector<std::string> roles_of(const Tensor& t) const {
    std::vector<std::string> out;
    if (!t.distribution) {
      size_t count = 0;
      for (const Grid& level : t.machine.value_or(Machine{}).levels) count += level.extents.size();
      out.assign(std::max<size_t>(count, 1), "fixed(0)");
      return out;
    }
    for (const LevelDistribution& level : t.distribution->levels) {
      for (const MachineDimension& m : level.machine_dimensions) out.push_back(role_text(level, m));
    }
    return out;
  }

  std::string role_text(const LevelDistribution& level, const MachineDimension& m) const {
    if (const auto* fix = std::get_if<Fix>(&m.role)) return fmt::format("fixed({})", text(fix->face));
    const auto* partition = std::get_if<Partition>(&m.role);
    if (!partition) return "replicated()";
    size_t dimension = level.dimension_of(*partition);
    std::optional<IntExpr> block = level.block_of(*partition);
    return block ? fmt::format("cyclic({}, {})", dimension, text(*block)) : fmt::format("blocked({})", dimension);
  }

  void write_stage(size_t s) {
    const Stage& stage = program_.stages[s];
    require_sums(module_, stage.source.statement);
    StatementNames statement{s + 1, grid_of(stage.machine), tensors_, nest_name(source_, s), gpu_name(source_, s)};
    if (has_gpus(stage.machine)) {
      const GpuPlan plan = choose_gpu(stage, module_.type, storage_orders(stage, module_));
      statement.gpu_text = to_string(plan);
      statement.gpu_overwrites = plan.overwrites;
    }
    write_leaf(stage, statement, names_, writer_);
    write_statement(stage, statement, names_, writer_);
    write_check(module_, stage, statement, names_, writer_);
  }

  void write_run() {
    writer_.open("static void run(Context context, Runtime* runtime, const Options& options)");
    writer_.line(fmt::format("run_all<T>(context, runtime, options, {{{}}},", fmt::join(addresses(), ", ")));
    std::vector<std::string> all;
    for (size_t s = 0; s < program_.stages.size(); ++s) {
      const Statement& statement = program_.stages[s].source.statement;
      all.push_back(
          fmt::format("{{\"{0}\", statement_{1}, &{2}, {3}, kFirstLeaf + {4}, check_space_{1}, leaf_text_{1}}}",
                      to_string(statement), s + 1, tensors_[statement.lhs.tensor],
                      accumulates(statement.op) ? "true" : "false", 2 * s + 1));
    }
    writer_.line(fmt::format("           {{{}}});", fmt::join(all, ",\n              ")));
    writer_.close();
    writer_.line("");
  }

  std::vector<std::string> addresses() const {
    std::vector<std::string> out;
    for (const Tensor& t : module_.tensors) out.push_back("&" + tensors_.at(t.name));
    return out;
  }

  void write_registration() {
    std::vector<std::string> all;
    for (const GridEntry& g : grids_) all.push_back("&" + g.name);
    writer_.line(fmt::format("static std::vector<const Grid*> all_grids() {{ return {{{}}}; }}", fmt::join(all, ", ")));
    writer_.line("");
    writer_.open("static void register_tasks()");
    writer_.line(uses_gpus(source_) ? "register_gpu_data_tasks<T>();" : "register_data_tasks<T>();");
    for (size_t s = 0; s < program_.stages.size(); ++s) {
      writer_.line(fmt::format("{}<T, leaf_{}>(kFirstLeaf + {}, \"{}\");",
                               gpu_name(source_, s).empty() ? "register_leaf" : "register_gpu_leaf", s + 1, 2 * s,
                               to_string(program_.stages[s].source.statement)));
      writer_.line(fmt::format("register_check<T, check_{}>(kFirstLeaf + {});", s + 1, 2 * s + 1));
    }
    writer_.close();
    writer_.line("");
    writer_.line(fmt::format("static const Program program{{\"{}\", set_params, all_grids, register_tasks, run}};",
                             source_.name));
    writer_.line("");
  }

  struct GridEntry {
    std::string name;
    std::vector<IntExpr> extents;
    bool gpu;
    std::string text;
  };

  const LegionSource& source_;
  const Program& program_;
  const Module& module_;
  CppNames names_;
  TensorNames tensors_;
  std::vector<GridEntry> grids_;
  TextWriter writer_;
};

}  // namespace

std::string write_legion_program(const LegionSource& source) { return ProgramWriter(source).run(); }

bool uses_gpus(const LegionSource& source) {
  const Module& module = source.program->module;
  const auto& stages = source.program->stages;
  return std::any_of(module.machines.begin(), module.machines.end(), has_gpus) ||
         std::any_of(module.tensors.begin(), module.tensors.end(),
                     [](const Tensor& t) { return t.machine && has_gpus(*t.machine); }) ||
         std::any_of(stages.begin(), stages.end(), [](const Stage& s) { return has_gpus(s.machine); });
}

bool uses_cpus(const LegionSource& source) {
  const auto& stages = source.program->stages;
  return std::any_of(stages.begin(), stages.end(), [](const Stage& s) { return !has_gpus(s.machine); });
}

std::string gpu_name(const LegionSource& source, size_t statement) {
  return has_gpus(source.program->stages[statement].machine) ? fmt::format("{}_gpu_{}", source.name, statement + 1)
                                                             : "";
}

std::string nest_name(const LegionSource& source, size_t statement) {
  if (has_gpus(source.program->stages[statement].machine)) return "";
  const Stage& stage = source.program->stages[statement];
  // The text of a nest has sizes as arguments, but no numbers of its right side.
  if (has_params_as_numbers(stage.source.statement)) return "";
  return leaf_of(stage).root.compute() ? fmt::format("{}_nest_{}", source.name, statement + 1) : "";
}

std::string write_nest(const LegionSource& source, size_t statement) {
  // The text has sizes as arguments, so any params will do.
  Plan plan = make_plan(source.program, bind(source.program->module, {}), kLegionPlan);
  return generate_source(whole_leaf(plan.stages[statement]), source.program->module.type, nest_name(source, statement));
}

}  // namespace distal::core
