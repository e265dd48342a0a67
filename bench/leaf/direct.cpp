// The worker for direct calls of BLAS and for the limits of the machine. Its variants are blas, read, triad and peak.
// Usage: leaf_direct THREADS BYTES N...
//
// read and triad use at most BYTES of memory. peak is the best GEMM of the sizes N.

#include <cstdlib>
#include <fstream>
#include <optional>

#include "blas_kernels.h"
#include "limits.h"
#include "serve.h"

namespace leaf {
namespace {

struct Machine {
  int threads;
  Blas blas;
  int64_t bytes;               // the most memory that read and triad use
  std::vector<int64_t> sizes;  // the matrix sizes of peak
};

template <class T>
class PreparedDirect : public Prepared {
 public:
  PreparedDirect(const Request& request, Machine& machine)
      : machine_(machine),
        problem_(request.statement, request.extents),
        body_(blas_implementation(request.kernel, problem_, machine.blas, machine.threads)) {}

  double check(const std::string& variant) override {
    if (variant != "blas") return 0;
    poison(problem_.result());
    body()();
    return largest_error(problem_);
  }

  Timing time(const std::string& variant, double seconds) override {
    if (variant == "read") return bandwidth().read(seconds);
    if (variant == "triad") return bandwidth().triad(seconds);
    if (variant == "peak") return peak<T>(machine_.blas, machine_.sizes, seconds);
    return repeat(seconds, body());
  }

 private:
  const Body& body() const {
    if (!body_) throw Unsupported();
    return body_;
  }

  // Measures with as many bytes as the kernel has, so that one pass takes as long. The memory is allocated anew for
  // each kernel, because the system may reclaim idle memory and return it in small pages.
  Bandwidth& bandwidth() {
    int64_t bytes = std::min(machine_.bytes, static_cast<int64_t>(problem_.bytes()));
    if (!bandwidth_) bandwidth_.emplace(machine_.threads, bytes);
    return *bandwidth_;
  }

  Machine& machine_;
  Problem<T> problem_;
  Body body_;
  std::optional<Bandwidth> bandwidth_;  // made at the first use
};

std::unique_ptr<Prepared> prepare(const Request& request, Machine& machine) {
  if (request.type == "float") return std::make_unique<PreparedDirect<float>>(request, machine);
  return std::make_unique<PreparedDirect<double>>(request, machine);
}

// The bytes of a large array that lie on huge pages, as text.
std::string huge_pages(int threads, int64_t bytes) {
  Bandwidth array(threads, bytes);
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
  leaf::Machine machine{threads, blas, bytes, sizes};
  leaf::Worker worker;
  worker.about = [&] {
    return blas.about() + "; huge pages: " + leaf::huge_pages(threads, bytes) + " of " + std::to_string(bytes / 1024) +
           " kB";
  };
  worker.prepare = [&](const leaf::Request& request) { return leaf::prepare(request, machine); };
  leaf::Server(std::move(worker)).serve();
}
