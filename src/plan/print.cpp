#include "plan/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/walk.h"

namespace distal::core {

namespace {

const char* name_of(FetchPiece::From from) {
  switch (from) {
    case FetchPiece::From::Home: return "home";
    case FetchPiece::From::Kept: return "kept";
    case FetchPiece::From::Neighbour: return "neighbour";
  }
  throw InternalError("unknown source");
}

const char* name_of(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::WriteHome: return "write home";
    case Transfer::Kind::CombineHome: return "add home";
    case Transfer::Kind::CombinePartial: return "add to partial";
    case Transfer::Kind::CombineParent: return "add to shared";
    case Transfer::Kind::Replicate: return "replicate";
  }
  throw InternalError("unknown transfer");
}

class Printer : public PlanVisitor {
 public:
  explicit Printer(const Plan& plan) : plan_(plan) {}

  void begin(const StagePlan& stage) override { stage_ = &stage; }

  void fetch(const FetchStep& step) override {
    for (const Fetch& f : step.fetches) {
      for (const FetchPiece& p : f.pieces) {
        out +=
            fmt::format("step {} {} {}{} <- {} {}\n", step.step, name(f.place),
                        plan_.tensors[step.acquire->tensor].name, to_string(p.rect), name(p.source), name_of(p.from));
      }
    }
  }

  void release(const ReleaseStep& step) override {
    for (const Transfer& t : step.transfers) {
      out += fmt::format("step {} {} {}{} -> {} {}\n", step.step, name(t.source), plan_.tensors[step.tensor].name,
                         to_string(t.rect), name(t.destination), name_of(t.kind));
    }
  }

  void leaf(const LeafStep& step) override {
    std::vector<std::string> names;
    for (int64_t p : step.processors) names.push_back(name(p));
    out += fmt::format("leaf on {}\n", fmt::join(names, " "));
  }

  std::string out;

 private:
  std::string name(int64_t p) const { return stage_->machine.processor_name(p); }
  const Plan& plan_;
  const StagePlan* stage_ = nullptr;
};

}  // namespace

std::string to_string(const Plan& plan) {
  Printer printer(plan);
  walk(plan, printer);
  return std::move(printer.out);
}

}  // namespace distal::core
