// The worker of what DISTAL is measured by in C++: direct calls of BLAS, and the limits of the machine. Its variants
// are blas, read, triad and peak. Usage: leaf_direct THREADS BYTES N...
//
// BYTES is how much memory read and triad go over, N are the sizes of matrix multiplication of which peak is the best.

#include <cstdlib>
#include <fstream>

#include "blas_forms.h"
#include "limits.h"
#include "serve.h"

namespace leaf {
namespace {

struct Machine {
  int threads;
  Blas blas;
  Limits limits;
};

template <class T>
class PreparedDirect : public Prepared {
 public:
  PreparedDirect(const Request& request, Machine& machine)
      : machine_(machine),
        problem_(request.statement, request.extents),
        form_(blas_form(request.kernel, problem_, machine.blas, machine.threads)) {}

  double check(const std::string& variant) override {
    if (variant != "blas") return 0;
    poison(problem_.result());
    form()();
    return largest_error(problem_);
  }

  Timing time(const std::string& variant, double seconds) override {
    if (variant == "read") return machine_.limits.read(seconds, problem_.bytes());
    if (variant == "triad") return machine_.limits.triad(seconds);
    if (variant == "peak") return machine_.limits.peak<T>(seconds);
    return repeat(seconds, form());
  }

 private:
  const Body& form() const {
    if (!form_) throw NoSuchForm();
    return form_;
  }

  Machine& machine_;
  Problem<T> problem_;
  Body form_;
};

std::unique_ptr<Prepared> prepare(const Request& request, Machine& machine) {
  if (request.type == "float") return std::make_unique<PreparedDirect<float>>(request, machine);
  return std::make_unique<PreparedDirect<double>>(request, machine);
}

// How many of this process's bytes lie on huge pages: the array of the limits is the only large one now.
std::string huge_pages() {
  std::ifstream in("/proc/self/smaps_rollup");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("AnonHugePages:")) return line.substr(line.find_first_of("0123456789"));
  }
  return "an unknown part";
}

}  // namespace
}  // namespace leaf

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int threads = std::atoi(argv[1]);
  int64_t bytes = std::atoll(argv[2]);
  std::vector<int64_t> sizes;
  for (int a = 3; a < argc; ++a) sizes.push_back(std::atoll(argv[a]));
  leaf::Blas blas(threads);
  leaf::Machine machine{threads, blas, leaf::Limits(blas, threads, bytes, sizes)};
  leaf::Worker worker;
  worker.about = [&] {
    return blas.about() + "; huge pages: " + leaf::huge_pages() + " of " + std::to_string(bytes / 1024) + " kB";
  };
  worker.prepare = [&](const leaf::Request& request) { return leaf::prepare(request, machine); };
  leaf::Server(std::move(worker)).serve();
}
