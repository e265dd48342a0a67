// The worker for kernels written by hand. Its only variant is hand. Usage: leaf_hand THREADS

#include <cstdlib>

#include "hand_kernels.h"
#include "serve.h"

namespace leaf {
namespace {

template <class T>
class PreparedHand : public Prepared {
 public:
  PreparedHand(const Request& request, const Blas& blas, int threads)
      : problem_(request.statement, request.extents),
        candidates_(hand_candidates(request.kernel, problem_, blas, threads)) {}

  // Checks all candidates, before time() chooses one of them.
  double check(const std::string&) override {
    if (candidates_.empty()) throw Unsupported();
    double worst = 0;
    for (const auto& candidate : candidates_.all()) {
      poison(problem_.result());
      candidate();
      worst = std::max(worst, largest_error(problem_));
    }
    return worst;
  }

  Timing time(const std::string&, double seconds) override { return candidates_.time(seconds); }

 private:
  Problem<T> problem_;
  FastestCandidate candidates_;
};

std::unique_ptr<Prepared> prepare(const Request& request, const Blas& blas, int threads) {
  if (request.type == "float") return std::make_unique<PreparedHand<float>>(request, blas, threads);
  return std::make_unique<PreparedHand<double>>(request, blas, threads);
}

}  // namespace
}  // namespace leaf

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int threads = std::atoi(argv[1]);
  leaf::Blas blas(1);
  leaf::Worker worker;
  worker.about = [&] { return blas.about() + ", called by plain threads"; };
  worker.prepare = [&](const leaf::Request& request) { return leaf::prepare(request, blas, threads); };
  leaf::Server(std::move(worker)).serve();
}
