// The worker for DISTAL, which uses only its public interface. Its variants are numbers of processors. All variants use
// the same arrays, bound as the caller's buffers.

#include <optional>

#include "distal_program.h"
#include "problem.h"
#include "serve.h"

namespace leaf {
namespace {

// Binds each processor's piece to its part of the array: a block of the distributed dimension, or the whole array.
template <class T>
void bind(DistalProgram& program, const Access& access, const Problem<T>& problem, int grid, char distributed) {
  distal::TensorHandle& tensor = program.tensor(access.tensor);
  const Array<T>& array = problem.arrays.at(access.tensor);
  std::vector<int64_t> strides;  // empty: a dense piece of any size
  if (grid > 1) {
    for (char index : access.indices) strides.push_back(stride(access, index, problem.extents));
  }
  int64_t block = (problem.extents.at(distributed) + grid - 1) / grid;
  int processors = access.indices.empty() ? 1 : grid;
  for (int p = 0; p < processors; ++p) {
    int64_t offset = p * block * stride(access, distributed, problem.extents);
    tensor.bind_elements(p, array.data() + offset, array.size() - offset, strides);
  }
}

template <class T>
class PreparedDistal : public Prepared {
 public:
  explicit PreparedDistal(const Request& request)
      : distributed_(request.distributed), problem_(request.statement, request.extents) {}

  double check(const std::string& variant) override {
    poison(problem_.result());
    program(variant).run();
    return largest_error(problem_);
  }

  Timing time(const std::string& variant, double seconds) override {
    DistalProgram& p = program(variant);
    return repeat(seconds, [&] { p.run(); });
  }

 private:
  // Compiles the program at its first use.
  DistalProgram& program(const std::string& variant) {
    auto [at, is_new] = programs_.try_emplace(variant);
    if (is_new) {
      int grid = std::stoi(variant);
      at->second.emplace(problem_.statement, problem_.extents, distal::ElementKindOf<T>::value, grid, distributed_);
      for (const Access& access : problem_.statement.accesses()) {
        bind(*at->second, access, problem_, grid, distributed_);
      }
    }
    return *at->second;
  }

  char distributed_;
  Problem<T> problem_;
  std::map<std::string, std::optional<DistalProgram>> programs_;  // destroyed before the arrays that they use
};

std::unique_ptr<Prepared> prepare(const Request& request) {
  if (request.type == "float") return std::make_unique<PreparedDistal<float>>(request);
  return std::make_unique<PreparedDistal<double>>(request);
}

// Measures start-up. `start EXTENTS STATEMENT` answers the seconds until the first result, and the best time of later
// runs. `resize EXTENTS` answers the same for other sizes, which must not be larger.
class StartUp {
 public:
  std::string handle(const std::string& word, std::istream& in) {
    std::string extents, statement;
    in >> extents;
    std::getline(in, statement);
    if (word == "start") return start(parse_extents(extents), Parser(statement).statement());
    if (word == "resize" && program_) return resize(parse_extents(extents));
    throw std::runtime_error("unknown request " + word);
  }

 private:
  std::string start(const Extents& extents, const Statement& statement) {
    program_.reset();
    problem_.emplace(statement, extents);
    poison(problem_->result());  // touches the pages, so that no run pays for them
    return first_and_later([&] {
      program_.emplace(statement, extents, distal::ElementKind::Double, 1, 'i');
      for (const Access& access : statement.accesses()) bind(*program_, access, *problem_, 1, 'i');
      program_->run();
    });
  }

  std::string resize(const Extents& extents) {
    return first_and_later([&] {
      program_->resize(extents);
      program_->run();
    });
  }

  std::string first_and_later(const std::function<void()>& first) const {
    double seconds = seconds_of(first);
    double later = repeat(0.02, [&] { program_->run(); }).best;
    return std::to_string(seconds) + " " + std::to_string(later);
  }

  std::optional<Problem<double>> problem_;
  std::optional<DistalProgram> program_;
};

}  // namespace
}  // namespace leaf

int main() {
  leaf::StartUp start_up;
  leaf::Worker worker;
  worker.about = [] { return std::string("DISTAL"); };
  worker.prepare = leaf::prepare;
  worker.other = [&](const std::string& word, std::istream& in) { return start_up.handle(word, in); };
  leaf::Server(std::move(worker)).serve();
}
