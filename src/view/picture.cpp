#include "view/picture.h"

#include <algorithm>

#include "plan/certificate.h"
#include "plan/exchange.h"
#include "plan/memory.h"
#include "view/work.h"

namespace distal::core {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kForm = 1;

// The extents of each level.
using Levels = std::vector<std::vector<int64_t>>;

Levels levels_of(const MachineShape& machine) {
  Levels out(static_cast<size_t>(machine.levels()));
  for (size_t d = 0; d < machine.extents.size(); ++d) {
    out[static_cast<size_t>(machine.level[d])].push_back(machine.extents[d]);
  }
  return out;
}

class PictureMaker {
 public:
  PictureMaker(const Plan& plan, const DetailLimits& limits) : plan_(plan), limits_(limits), cost_(count_cost(plan)) {
    limits_.entries /= std::max<int64_t>(1, static_cast<int64_t>(plan.stages.size()));
  }

  Json make(const std::string& title) {
    Json out{{"form", kForm}, {"title", title}, {"program", to_string(plan_.program->module)}};
    out["params"] = Json::object();
    for (const Param& p : plan_.program->module.params) out["params"][p.name] = plan_.params.at(p.name);
    out["processors"] = plan_.processors;
    Json tensors = Json::array(), statements = Json::array();
    for (size_t t = 0; t < plan_.tensors.size(); ++t) tensors.push_back(tensor(static_cast<int>(t)));
    std::vector<Certificate> proved = certificates(plan_);
    for (size_t s = 0; s < plan_.stages.size(); ++s) {
      statements.push_back(statement(static_cast<int>(s)));
      statements.back()["certificate"] = certificate(plan_.stages[s], proved[s]);
    }
    out["machines"] = machines_;
    blocks_.write_to(out);
    out["tensors"] = std::move(tensors);
    out["statements"] = std::move(statements);
    out["bytes_moved"] = cost_.bytes_moved;
    out["messages"] = cost_.messages;
    out["peak_bytes"] = memory_needs(plan_, Reach::own()).peak;
    return out;
  }

 private:
  size_t machine_number(const MachineShape& machine) {
    Levels levels = levels_of(machine);
    auto found = std::find(machines_.begin(), machines_.end(), levels);
    if (found == machines_.end()) found = machines_.insert(machines_.end(), std::move(levels));
    return static_cast<size_t>(found - machines_.begin());
  }

  Json tensor(int number) {
    const TensorPlan& t = plan_.tensors[static_cast<size_t>(number)];
    const MachineShape& machine = t.owners.machine();
    std::vector<int> pieces;
    for (int64_t p = 0; p < machine.processors; ++p) {
      pieces.push_back(t.owners.owns_any(p) ? blocks_.number_of(t.owners.piece_of(p)) : -1);
    }
    return {{"name", t.name},
            {"shape", t.owners.shape()},
            {"format", format_text(plan_.program->module.tensors[static_cast<size_t>(number)])},
            {"element_bytes", t.element_bytes},
            {"machine", machine_number(machine)},
            {"pieces", std::move(pieces)}};
  }

  Json statement(int number) {
    const StagePlan& stage = plan_.stages[static_cast<size_t>(number)];
    const Statement& written = stage.stage->source.statement;
    Json out{{"text", to_string(written)}, {"machine", machine_number(stage.machine)}};
    out["schedule"] = Json::array();
    for (const Command& c : stage.stage->source.schedule) out["schedule"].push_back(to_string(c));
    out["indices"] = indices(stage, written);
    out["accesses"] = Json::array({access(stage, written.lhs)});
    for (const Access& a : accesses(written.rhs)) {
      Json made = access(stage, a);
      auto& all = out["accesses"];
      if (std::find(all.begin() + 1, all.end(), made) == all.end()) all.push_back(std::move(made));
    }
    out["acquires"] = Json::array();
    for (const AcquirePlan& a : stage.acquires) {
      out["acquires"].push_back({{"tensor", a.tensor},
                                 {"at", a.acquire->at},
                                 {"privilege", to_string(a.acquire->privilege)},
                                 {"levels", a.acquire->place_levels}});
    }
    out.update(film_of(plan_, number, cost_, limits_, blocks_));
    return out;
  }

  Json certificate(const StagePlan& stage, const Certificate& c) const {
    Json out{{"unit", units_of(plan_, stage).size},
             {"exchanged_bytes", c.exchanged_bytes},
             {"lower_bound_bytes", c.lower_bound_bytes}};
    out["optimality"] = c.optimality ? Json(*c.optimality) : Json(nullptr);
    return out;
  }

  static Json indices(const StagePlan& stage, const Statement& written) {
    std::vector<IndexVar> summed = reduction_variables(written);
    Json out = Json::array();
    Work work(stage);
    for (int v : work.variables()) {
      const std::string& name = stage.space.names[v];
      bool sum = std::any_of(summed.begin(), summed.end(), [&](const IndexVar& s) { return s.name == name; });
      out.push_back({{"name", name}, {"extent", stage.space.extents[v]}, {"summed", sum}});
    }
    return out;
  }

  // The indices of an access are numbers in the statement's list of indices.
  Json access(const StagePlan& stage, const Access& a) const {
    std::vector<IndexVar> all = variables(stage.stage->source.statement);
    std::vector<int64_t> numbers;
    for (const IndexVar& v : a.indices) numbers.push_back(std::find(all.begin(), all.end(), v) - all.begin());
    return {{"tensor", plan_.tensor_index(a.tensor)}, {"indices", std::move(numbers)}};
  }

  const Plan& plan_;
  DetailLimits limits_;  // of each statement
  PlanCost cost_;
  BlockTable blocks_;
  std::vector<Levels> machines_;
};

}  // namespace

nlohmann::ordered_json picture_of(const Plan& plan, const std::string& title, const DetailLimits& limits) {
  return PictureMaker(plan, limits).make(title);
}

}  // namespace distal::core
