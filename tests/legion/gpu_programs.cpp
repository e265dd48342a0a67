// Writes random programs for GPUs, and what the reference computes for them: `gpu_programs FOLDER COUNT`. tools/gpu
// builds the programs here and compares what they compute on a machine with a GPU. FOLDER gets one .distal file per
// program, and for a program of integers FOLDER/expected/NAME/S.npy: the output of its statement S.

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>

#include "check/reference.h"
#include "data/npy_writer.h"
#include "data/random.h"
#include "engine/legion/build.h"
#include "engine/legion/emit.h"
#include "lang/parse.h"
#include "lang/validate.h"
#include "leaf/gpu/gpu_leaf.h"
#include "lower/compile.h"
#include "lower/with_values.h"
#include "property/generate.h"
#include "schedule/expand_precomputes.h"
#include "support/index_extents.h"

namespace distal::core {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFirstSeed = 7'000'000;  // different from the seeds of the tests

// A program's tensors as arrays in row-major order, which the reference reads.
class Arrays {
 public:
  Arrays(const Module& module, const Bindings& params) : type_(module.type) {
    for (const Tensor& t : module.tensors) {
      Array& a = arrays_[t.name];
      int64_t volume = 1;
      for (const IntExpr& e : t.dimensions) {
        a.shape.push_back(e.evaluate(params));
        volume *= a.shape.back();
      }
      with_element_type(type_, [&](auto zero) {
        for (int64_t i = 0; i < volume; ++i) {
          auto value = random_value<decltype(zero)>(tensor_seed(t.name, 1), i);
          const auto* bytes = reinterpret_cast<const std::byte*>(&value);
          a.data.insert(a.data.end(), bytes, bytes + sizeof(value));
        }
      });
    }
  }

  void evaluate(const Statement& statement) {
    const std::string& output = statement.lhs.tensor;
    ElementReader read = [&](const std::string& tensor, std::span<const int64_t> at) -> const void* {
      const Array& a = arrays_.at(tensor);
      int64_t index = 0;
      for (size_t d = 0; d < at.size(); ++d) index = index * a.shape[d] + at[d];
      return a.data.data() + index * size_of(type_);
    };
    auto extents = test::index_extents(statement, [&](const std::string& t) { return arrays_.at(t).shape; });
    arrays_.at(output).data = evaluate_statement(statement, type_, extents, read, arrays_.at(output).shape);
  }

  void save(const std::string& tensor, const std::string& file) const {
    const Array& a = arrays_.at(tensor);
    write_npy(file, type_, a.shape, ProcessGroup(), [&](const WriteNpyRect& write) {
      write(std::vector<int64_t>(a.shape.size(), 0), a.shape, a.data.data());
    });
  }

 private:
  struct Array {
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
  };

  ElementType type_;
  std::map<std::string, Array> arrays_;
};

// A random program whose machines are of GPUs. Throws an Error if it is not legal.
LegionSource random_source(const std::string& name, const std::string& text) {
  Module module = parse_module(text, name);
  validate(expand_precomputes(module), bind(module, {}));
  LegionSource out{name, compile(module)};
  emit_legion({out});
  return out;
}

bool runs_on_gpus(const Program& program) {
  return std::all_of(program.stages.begin(), program.stages.end(), [](const Stage& s) { return has_gpus(s.machine); });
}

void write_expected(const Program& program, const fs::path& folder) {
  if (!is_integer(program.module.type)) return;
  Bindings params = bind(program.module, {});
  Arrays arrays(program.module, params);
  fs::create_directories(folder);
  for (size_t s = 0; s < program.stages.size(); ++s) {
    const Statement statement = with_values(program.stages[s].source.statement, params);
    arrays.evaluate(statement);
    arrays.save(statement.lhs.tensor, folder / fmt::format("{}.npy", s));
  }
}

void write_programs(const fs::path& folder, size_t count) {
  size_t written = 0;
  for (uint64_t seed = kFirstSeed; written < count; ++seed) {
    std::string text = property::generate_program(seed).text, name = fmt::format("random_{}", seed);
    text = std::regex_replace(text, std::regex("(^|\n)(machine [^\n]*)"), "$1$2 gpu");
    try {
      LegionSource source = random_source(name, text);
      if (!runs_on_gpus(*source.program)) continue;
      write_expected(*source.program, folder / "expected" / name);
      write_files(folder, {{name + ".distal", text}});
      ++written;
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace distal::core

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: gpu_programs FOLDER COUNT\n");
    return 2;
  }
  distal::core::write_programs(argv[1], static_cast<size_t>(std::atoi(argv[2])));
  return 0;
}
