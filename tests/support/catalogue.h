#pragma once

#include <optional>
#include <string>
#include <vector>

#include "property/generate.h"
#include "property/random_choice.h"
#include "support/algorithm_texts.h"
#include "support/programs.h"
#include "tune/find.h"
#include "tune/random_statements.h"

namespace distal::core::test {

// A program to run on several processes, with its params, its element type and the seed of its data.
struct Sample {
  std::string name;
  std::string text;
  std::string settings;
  ElementType type = ElementType::Double;
  uint64_t seed = 1;
  bool exactly = true;  // the result must equal the reference exactly, because all sums are exact

  Plan plan() const {
    Module module = parse_text(text);
    module.type = type;
    return plan_module(module, settings_of(settings));
  }
};

// A copy of one element is written home while the next element is computed into the same memory.
inline const std::string kOneElementAtATime = R"(param n = 7
machine M = Grid(3, 3)
tensor A(n, n) : xy -> 1y on M
tensor B(n) : x -> x2 cyclic(x = 2) on M
B(k) = A(k, k)
schedule
  split(k, k0, k1, 2)
  rotate(k1, {k0}, k2)
  communicate(A, k2)
)";

// Every algorithm and kernel on square, flat and prime grids, and machines of several levels. The seed draws the sizes,
// which the grids rarely divide.
class Catalogue {
 public:
  explicit Catalogue(uint64_t seed) : seed_(seed), choice_(seed) {
    add_products();
    add_kernels();
    add_levels();
    add_found();
  }

  const std::vector<Sample>& samples() const { return samples_; }

 private:
  void add(const std::string& name, const std::string& text, const std::string& settings) {
    static const std::vector<ElementType> types{ElementType::Double, ElementType::Int64, ElementType::Float,
                                                ElementType::Double, ElementType::Int32, ElementType::ComplexDouble};
    samples_.push_back({name, text, settings, types[(samples_.size() + seed_) % types.size()], seed_});
  }

  // Random sizes, as "ni=17,nj=3" for the names ni and nj. Some have fewer elements than there are processors.
  std::string sizes(const std::vector<std::string>& names, int64_t most) {
    std::string out;
    for (const std::string& name : names) {
      int64_t size = choice_.chance(15) ? choice_.between(1, 3) : choice_.between(most / 3, most);
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, size);
    }
    return out;
  }

  void add_algorithm(const std::string& name, const std::vector<std::string>& names, int64_t most,
                     const std::string& grid) {
    add(name, algorithm_text(name), sizes(names, most) + "," + grid);
  }

  void add_products() {
    const std::vector<std::string> names{"ni", "nj", "nk"};
    for (const std::string& grid : planes()) {
      for (const char* name : {"cannon", "pumma"}) add_algorithm(name, names, 30, grid);
      add_algorithm("summa", names, 30, grid + fmt::format(",chunk={}", choice_.between(3, 12)));
      add_algorithm("scalapack", names, 30,
                    grid + fmt::format(",block={},chunk={}", choice_.between(1, 5), choice_.between(3, 12)));
    }
    for (const std::string& grid : cubes()) {
      add_algorithm("johnson", names, 24, grid);
      add_algorithm("cosma", names, 24, grid + ",steps=3");
      add_algorithm("cosma", names, 24, grid + ",steps=2,seqi=2,seqj=3");
    }
    for (const char* grid : {"g=2,c=1", "g=2,c=2", "g=4,c=4", "g=3,c=2"}) add_algorithm("solomonik", names, 24, grid);
    // Schedules as they are found for 4, 6 and 9 processors with little memory.
    for (const char* grid : {"gx=2,gy=1,gz=2,steps=4", "gx=3,gy=1,gz=2,steps=2", "gx=3,gy=1,gz=3,steps=2,seqi=2"}) {
      add("cosma as found", algorithm_text("cosma"), fmt::format("ni=37,nj=23,nk=29,{}", grid));
    }
  }

  void add_kernels() {
    for (const std::string& grid : planes()) {
      add_algorithm("ttv", {"ni", "nj", "nk"}, 12, grid);
      add_algorithm("innerprod", {"ni", "nj", "nk"}, 12, grid);
      add_algorithm("contraction4", {"ni", "nj", "nk", "nl", "nm", "nn"}, 6, grid);
      add_algorithm("matvec", {"ni", "nj"}, 30, grid);
    }
    for (const char* grid : {"gx=2", "gx=3", "gx=7"}) add_algorithm("ttm", {"ni", "nj", "nk", "nl"}, 9, grid);
    for (const std::string& grid : cubes()) add_algorithm("mttkrp", {"ni", "nj", "nk", "nl"}, 9, grid);
    add("ttv on a line", kTtvOnALine, sizes({"n"}, 14));
    add("ttv on a cube", kTtvOnACube, sizes({"n"}, 14));
    add("ttm on a plane", kTtmOnAPlane, sizes({"n"}, 14));
    add("ttm on a cube", kTtmOnACube, sizes({"n"}, 14));
    add("mttkrp on a line", kMttkrpOnALine, sizes({"n"}, 14));
    add("mttkrp on a plane", kMttkrpOnAPlane, sizes({"n"}, 14));
    add("matvec by rows", kMatvecByRows, sizes({"n"}, 40));
    add("matvec by columns", kMatvecByColumns, sizes({"n"}, 40));
    add("one element at a time", kOneElementAtATime, sizes({"n"}, 40));
    for (const char* grid : {"g=2,h=3", "g=3,h=2", "g=5,h=1"}) {
      add("batched gemm", kBatchedGemm, sizes({"nb", "ni", "nj", "nk"}, 11) + "," + grid);
    }
  }

  void add_levels() {
    const std::vector<std::string> names{"ni", "nj", "nk"};
    for (const char* grid : {"g=3,h=2", "g=2,h=3", "g=1,h=4"}) {
      add("cannon between nodes", kTwoLevelCannon, sizes(names, 24) + "," + grid);
    }
    for (const char* grid : {"g=2,h=2", "g=1,h=3", "g=3,h=1"}) {
      add("cannon in cannon", kCannonInCannon, sizes({"n"}, 24) + "," + grid);
    }
    for (const std::string& how : {kSharedByNode, kEachItsOwn}) {
      add("summa on two levels", kTwoLevelSumma + how, sizes(names, 24) + ",chunk=5");
    }
    for (const char* how : {"  communicate({A, B, C}, ko)\n  distribute(ki, kio, kii, M[1])\n",
                            "  distribute(ki, kio, kii, M[1])\n  communicate({A, B, C}, kio)\n",
                            "  communicate(A, ko)\n  distribute(ki, kio, kii, M[1])\n  communicate({B, C}, kio)\n"}) {
      add("a reduction at both levels", kReductionAtBothLevels + how, sizes(names, 24));
    }
    add("a sum at three levels", kSumAtThreeLevels, sizes({"n"}, 60));
  }

  // Random programs that leave out their schedule, and some of their grid and formats; and then some of the formats
  // that were found, so that these are found for a given schedule.
  void add_found() {
    constexpr int64_t kPrograms = 12;
    Random random{std::mt19937(seed_)};
    for (int64_t n = 0; n < kPrograms; ++n) {
      Module module = parse_text(random_program(random, n % 3 == 0 ? 0 : 5));
      FindOptions options{n % 2 == 0 ? Goal::Bytes : Goal::Time, {}, model_of_engine("mpi")};
      Bindings params = distal::core::bind(module, {});
      add_found_with_steps(n, options, random);
      module = find_what_is_left_out(module, params, options).module;
      add("found program", to_string(module), "");
      for (Tensor& tensor : module.tensors) {
        if (tensor.machine && random.pick(0, 1) == 0) tensor.distribution.reset();
      }
      add("found formats", to_string(find_what_is_left_out(module, params, options).module), "");
    }
  }

  // Also with so little memory that processors go through their tiles in steps.
  void add_found_with_steps(int64_t n, const FindOptions& options, Random& random) {
    std::string text = n % 3 == 0   ? random_blocks(random)
                       : n % 3 == 1 ? RandomAccesses(random).program()
                                    : random_program(random, 3);
    Module module = parse_text(text);
    FoundProgram found = find_with_steps(module, distal::core::bind(module, {}), options, random);
    add("found program with steps", to_string(found.module), "");
  }

  static const std::vector<std::string>& planes() {
    static const std::vector<std::string> all{"gx=2,gy=2", "gx=3,gy=2", "gx=1,gy=5", "gx=4,gy=3", "gx=3,gy=3"};
    return all;
  }
  static const std::vector<std::string>& cubes() {
    static const std::vector<std::string> all{"gx=2,gy=2,gz=2", "gx=3,gy=1,gz=2", "gx=1,gy=2,gz=3"};
    return all;
  }

  uint64_t seed_;
  property::Choice choice_;
  std::vector<Sample> samples_;
};

// A random program, or nothing where the generated program is not legal. Most have integer elements.
inline std::optional<Sample> random_sample(uint64_t seed) {
  Sample out{fmt::format("random program of seed {}", seed), property::generate_program(seed).text, "",
             seed % 3 == 0 ? ElementType::Int32 : ElementType::Int64, seed};
  try {
    if (seed % 4 == 0) out.type = parse_text(out.text).type;
    out.exactly = is_integer(out.type);
    out.plan();
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

}  // namespace distal::core::test
