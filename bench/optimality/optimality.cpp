// Prints how far the best candidates of the search are from the certificate's lower bound, for all numbers of
// processors from 2 to MOST: the table of docs/optimality.md. Usage: bench_optimality MOST
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "bound/lower_bound.h"
#include "tune/free_formats.h"
#include "tune/search.h"

namespace distal::core {
namespace {

struct Kernel {
  std::string name;
  StatementShape shape;
};

Kernel kernel(const std::string& name, const std::vector<std::pair<std::string, int64_t>>& indices,
              const std::vector<std::pair<std::string, std::string>>& tensors) {
  Kernel out{name, {}};
  std::string letters;
  for (const auto& [index, extent] : indices) {
    out.shape.indices.push_back(index);
    out.shape.extents.push_back(extent);
    letters += index;
  }
  for (const auto& [tensor, access] : tensors) {
    ShapeTensor one{tensor, {}, 8};
    for (char index : access) one.indices.push_back(static_cast<int>(letters.find(index)));
    out.shape.tensors.push_back(std::move(one));
  }
  return out;
}

Kernel gemm(const std::string& name, int64_t ni, int64_t nj, int64_t nk) {
  return kernel(name, {{"i", ni}, {"j", nj}, {"k", nk}}, {{"A", "ij"}, {"B", "ik"}, {"C", "kj"}});
}

std::vector<Kernel> kernels() {
  return {gemm("GEMM 4096 x 4096 x 4096", 4096, 4096, 4096),
          gemm("GEMM 65536 x 1024 x 1024", 65536, 1024, 1024),
          gemm("GEMM 1024 x 1024 x 65536", 1024, 1024, 65536),
          gemm("GEMM 16384 x 16384 x 512", 16384, 16384, 512),
          kernel("TTV 1024^3", {{"i", 1024}, {"j", 1024}, {"k", 1024}}, {{"A", "ij"}, {"B", "ijk"}, {"c", "k"}}),
          kernel("TTM 1024^3, rank 64", {{"i", 1024}, {"j", 1024}, {"l", 64}, {"k", 1024}},
                 {{"A", "ijl"}, {"B", "ijk"}, {"C", "kl"}}),
          kernel("MTTKRP 1024^3, rank 64", {{"i", 1024}, {"l", 64}, {"j", 1024}, {"k", 1024}},
                 {{"A", "il"}, {"B", "ijk"}, {"C", "jl"}, {"D", "kl"}}),
          kernel("4-index contraction 64^6", {{"i", 64}, {"j", 64}, {"k", 64}, {"l", 64}, {"m", 64}, {"n", 64}},
                 {{"A", "ijkl"}, {"B", "ikmn"}, {"C", "mnjl"}})};
}

// The elements of each tensor that the processor with these coordinates owns.
std::vector<int64_t> owned(const StatementShape& shape, const Candidate& candidate, const std::vector<int64_t>& at) {
  std::vector<int64_t> out;
  for (size_t t = 0; t < shape.tensors.size(); ++t) {
    int64_t volume = 1;
    for (size_t l = 0; l < at.size(); ++l) {
      if (candidate.roles[t][l] == kFace && at[l] > 0) volume = 0;
    }
    for (size_t d = 0; d < shape.tensors[t].indices.size(); ++d) {
      int64_t lo = 0, hi = shape.extents[shape.tensors[t].indices[d]];
      for (const Cut& cut : cuts_of(shape, candidate, static_cast<int>(t), static_cast<int>(d))) {
        lo += at[cut.level] * cut.stride;
        hi = std::min(hi, lo + cut.stride);
      }
      volume *= std::max<int64_t>(0, hi - lo);
    }
    out.push_back(volume);
  }
  return out;
}

int64_t bound_of(const StatementShape& shape, const Candidate& candidate, int64_t processors) {
  BoxProblem problem;
  problem.element_bytes = 8;
  for (size_t i = 0; i < shape.indices.size(); ++i) problem.indices.push_back({shape.indices[i], shape.extents[i]});
  for (const ShapeTensor& tensor : shape.tensors) problem.arrays.push_back({tensor.name, {tensor.indices}});
  std::map<std::vector<int64_t>, int64_t> groups;
  std::vector<int64_t> at(candidate.levels.size(), 0);
  for (int64_t p = 0; p < candidate.processors(); ++p) {
    int64_t rest = p;
    for (size_t l = at.size(); l-- > 0; rest /= candidate.levels[l].parts) at[l] = rest % candidate.levels[l].parts;
    ++groups[owned(shape, candidate, at)];
  }
  int64_t idle = processors - candidate.processors();
  if (idle > 0) groups[std::vector<int64_t>(shape.tensors.size(), 0)] += idle;
  for (const auto& [own, count] : groups) problem.groups.push_back({count, own});
  return lower_bound(problem).bytes;
}

// What COSMA's grid exchanges in the formats of the search: the exact divisors of P whose tiles are nearest to a cube.
int64_t cosma_rule(const StatementShape& shape, int64_t processors) {
  double points = 1;
  for (int64_t extent : shape.extents) points *= static_cast<double>(extent);
  double ideal = std::cbrt(points / static_cast<double>(processors)), nearest = -1;
  std::vector<int64_t> best;
  for (int64_t x = 1; x <= processors; ++x) {
    for (int64_t y = 1; processors % x == 0 && y <= processors / x; ++y) {
      if (processors / x % y != 0) continue;
      std::vector<int64_t> parts{x, y, processors / x / y};
      double distance = 0;
      for (size_t i = 0; i < 3; ++i) {
        distance += std::abs(static_cast<double>(shape.extents[i]) / static_cast<double>(parts[i]) - ideal);
      }
      if (nearest >= 0 && distance >= nearest) continue;
      nearest = distance;
      best = parts;
    }
  }
  return cost_of(shape, with_free_formats(shape, levels_of(best))).exchanged_bytes;
}

std::string quantile(std::vector<double> sorted, double q) {
  if (sorted.empty()) return "-";
  std::sort(sorted.begin(), sorted.end());
  auto at = static_cast<size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5);
  return fmt::format("{:.3f}", sorted[at]);
}

void print_row(const Kernel& k, int64_t from, int64_t to, bool is_gemm) {
  std::vector<double> ratios;
  int64_t worse_than_cosma = 0, unsure = 0;
  double worst = 0;
  int64_t worst_at = 0;
  for (int64_t processors = from; processors <= to; ++processors) {
    StatementShape shape = k.shape;
    shape.processors = processors;
    SearchOptions options;
    options.processors = processors;
    options.goal = Goal::Bytes;
    options.model = model_of_engine("mpi");
    SearchResult found = search(shape, options);
    unsure += !found.is_least;
    int64_t bound = bound_of(shape, found.best.candidate, processors);
    if (is_gemm && found.best.cost.exchanged_bytes > cosma_rule(shape, processors)) ++worse_than_cosma;
    if (bound == 0) continue;
    ratios.push_back(static_cast<double>(found.best.cost.exchanged_bytes) / static_cast<double>(bound));
    if (ratios.back() > worst) {
      worst = ratios.back();
      worst_at = processors;
    }
  }
  fmt::print("| {} | {} to {} | {} | {} | {} | {} | {} |\n", k.name, from, to, quantile(ratios, 0.5),
             quantile(ratios, 0.9), ratios.empty() ? "-" : fmt::format("{:.3f} at {}", worst, worst_at),
             is_gemm ? std::to_string(worse_than_cosma) : "", unsure);
  std::fflush(stdout);
}

}  // namespace
}  // namespace distal::core

int main(int argc, char** argv) {
  using namespace distal::core;
  int64_t most = argc > 1 ? std::atoll(argv[1]) : 1024;
  fmt::print(
      "| statement | processors | median | 90 % are below | worst | more than COSMA's rule | not proved least |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n");
  std::vector<Kernel> all = kernels();
  for (size_t i = 0; i < all.size(); ++i) {
    print_row(all[i], 2, std::min<int64_t>(255, most), i < 4);
    if (most > 255) print_row(all[i], 256, most, i < 4);
  }
  return 0;
}
