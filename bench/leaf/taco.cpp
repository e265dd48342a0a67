// The worker for TACO, built only if TACO_DIR is set. Its variants are `default`, TACO's own choice of loops, and
// `scheduled`: the last index of the result is innermost, so that the loop vectorizes, and the outermost loop is
// parallel.

#include <taco.h>
#include <taco/version.h>

#include <map>

#include "problem.h"
#include "serve.h"

namespace leaf {
namespace {

// A dense TACO tensor that uses the memory at `data`.
taco::Tensor<double> tensor_on(const std::string& name, const std::vector<int>& shape, double* data, int64_t size) {
  taco::Format format(std::vector<taco::ModeFormatPack>(shape.size(), taco::ModeFormat::Dense));
  taco::Tensor<double> tensor(name, shape, format);
  std::vector<taco::ModeIndex> modes;
  for (int n : shape) modes.push_back(taco::ModeIndex({taco::makeArray({n})}));
  auto storage = tensor.getStorage();
  storage.setIndex(taco::Index(format, modes));
  storage.setValues(taco::makeArray(data, static_cast<size_t>(size), taco::Array::UserOwns));
  tensor.setStorage(storage);
  return tensor;
}

class TacoProgram {
 public:
  TacoProgram(const Problem<double>& problem, bool scheduled) : problem_(problem), left_(problem.statement.left) {
    // TACO makes no parallel loop for a scalar result, so the result gets the first index; copy_result() sums it up.
    if (left_.indices.empty()) left_.indices = problem.statement.terms[0][0].indices.substr(0, 1);
    for (const Access& access : problem.statement.accesses()) {
      if (access.tensor != left_.tensor) operands_.try_emplace(access.tensor, operand(access));
    }
    taco::Format format(std::vector<taco::ModeFormatPack>(left_.indices.size(), taco::ModeFormat::Dense));
    result_ = taco::Tensor<double>(left_.tensor, shape(left_), format);
    define();
    if (scheduled) {
      result_.compile(schedule());
    } else {
      result_.compile();
    }
    result_.assemble();
  }

  // Defines the statement again, because TACO computes a statement only once.
  void run() {
    define();
    result_.compute();
  }

  void copy_result() const {
    const auto* data = static_cast<const double*>(result_.getStorage().getValues().getData());
    const Array<double>& out = problem_.result();
    if (problem_.statement.left.indices.empty()) {
      out[0] = 0;
      for (int64_t i = 0; i < elements(left_, problem_.extents); ++i) out[0] += data[i];
    } else {
      std::copy(data, data + out.size(), out.data());
    }
  }

 private:
  std::vector<int> shape(const Access& access) const {
    std::vector<int> out;
    for (char index : access.indices) out.push_back(static_cast<int>(problem_.extents.at(index)));
    return out;
  }

  taco::Tensor<double> operand(const Access& access) const {
    const Array<double>& array = problem_.arrays.at(access.tensor);
    return tensor_on(access.tensor, shape(access), array.data(), array.size());
  }

  std::vector<taco::IndexVar> variables(const Access& access) {
    std::vector<taco::IndexVar> out;
    for (char index : access.indices) out.push_back(variable(index));
    return out;
  }

  taco::IndexVar variable(char index) {
    return variables_.try_emplace(index, taco::IndexVar(std::string(1, index))).first->second;
  }

  taco::IndexExpr product(const std::vector<Access>& term) {
    taco::IndexExpr out = operands_.at(term[0].tensor)(variables(term[0]));
    for (size_t f = 1; f < term.size(); ++f) out = out * operands_.at(term[f].tensor)(variables(term[f]));
    return out;
  }

  void define() {
    const auto& terms = problem_.statement.terms;
    taco::IndexExpr sum = product(terms[0]);
    for (size_t t = 1; t < terms.size(); ++t) sum = sum + product(terms[t]);
    result_(variables(left_)) = sum;
  }

  taco::IndexStmt schedule() {
    std::string order;
    for (const Access& access : problem_.statement.accesses()) {
      for (char index : access.indices + left_.indices) {
        if (order.find(index) == std::string::npos) order += index;
      }
    }
    if (left_.indices.size() > 1) {
      order.erase(order.find(left_.indices.back()), 1);
      order += left_.indices.back();
    }
    std::vector<taco::IndexVar> loops;
    for (char index : order) loops.push_back(variable(index));
    taco::IndexStmt statement = result_.getAssignment().concretize();
    return statement.reorder(loops).parallelize(loops[0], taco::ParallelUnit::CPUThread,
                                                taco::OutputRaceStrategy::NoRaces);
  }

  const Problem<double>& problem_;
  Access left_;
  std::map<char, taco::IndexVar> variables_;
  std::map<std::string, taco::Tensor<double>> operands_;
  taco::Tensor<double> result_;
};

class PreparedTaco : public Prepared {
 public:
  explicit PreparedTaco(const Request& request) : problem_(request.statement, request.extents) {}

  double check(const std::string& variant) override {
    poison(problem_.result());
    program(variant).run();
    program(variant).copy_result();
    return largest_error(problem_);
  }

  Timing time(const std::string& variant, double seconds) override {
    TacoProgram& p = program(variant);
    return repeat(seconds, [&] { p.run(); });
  }

 private:
  TacoProgram& program(const std::string& variant) {
    auto& program = programs_[variant];
    if (!program) program = std::make_unique<TacoProgram>(problem_, variant == "scheduled");
    return *program;
  }

  Problem<double> problem_;
  std::map<std::string, std::unique_ptr<TacoProgram>> programs_;
};

std::unique_ptr<Prepared> prepare(const Request& request) {
  if (request.type != "double") throw Unsupported();
  return std::make_unique<PreparedTaco>(request);
}

}  // namespace
}  // namespace leaf

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  taco::taco_set_num_threads(std::atoi(argv[1]));
  leaf::Worker worker;
  worker.about = [] { return "TACO " TACO_VERSION_MAJOR "." TACO_VERSION_MINOR " " TACO_VERSION_GIT_SHORTHASH; };
  worker.prepare = leaf::prepare;
  leaf::Server(std::move(worker)).serve();
}
