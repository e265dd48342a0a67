// Generated CUDA kernels, compiled by the host's compiler against an emulation, on random boxes: all types, storage
// orders and strides. They must give what the interpreted leaf gives, to the bit, and touch nothing else.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cublas_v2.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "leaf/choose_leaf.h"
#include "leaf/emulation/kernels.h"
#include "leaf/emulation/memory.h"
#include "leaf/emulation/operands.h"
#include "leaf/gpu/gpu_leaf.h"
#include "leaf/gpu/kernel_source.h"
#include "leaf/gpu/support/device.h"
#include "leaf/leaf.h"
#include "leaf/nest.h"
#include "lower/compile.h"
#include "plan/workspace.h"
#include "property/generate.h"
#include "schedule/expand_precomputes.h"
#include "support/cache_folder.h"
#include "support/process.h"
#include "support/run.h"

namespace distal::core {
namespace {

constexpr size_t kSharedBytes = 48 << 10;  // of a block

using test::EmulatedKernels;
using test::GpuFunction;
using test::GuardedMemory;
using test::RandomOperand;

std::string cache() { return fmt::format("{}distal-gpu-test-{}", testing::TempDir(), geteuid()); }

const std::vector<ElementType> kTypes{ElementType::Float, ElementType::Double,       ElementType::Int32,
                                      ElementType::Int64, ElementType::ComplexFloat, ElementType::ComplexDouble};

template <class T>
void fill(T* data, int64_t elements, std::mt19937& random) {
  for (int64_t x = 0; x < elements; ++x)
    data[x] = static_cast<T>(static_cast<float>(static_cast<int>(random() % 7) - 3));
}

// A device of the emulation. Its scratch memory holds garbage, and may be too small for any kernel.
struct EmulatedDevice {
  CUstream_st stream;
  cublasContext blas;
  size_t bytes;
  GuardedMemory scratch;
  distal_gpu::Device device;

  explicit EmulatedDevice(std::mt19937& random)
      : stream{static_cast<unsigned>(random())}, bytes(some_size(random)), scratch(static_cast<int64_t>(bytes), false) {
    device.stream = &stream;
    device.blas = &blas;
    device.scratch = scratch.data();
    device.scratch_bytes = bytes;
    std::memset(scratch.data(), 0xff, bytes);
  }

 private:
  static size_t some_size(std::mt19937& random) {
    // With some of these, a product of several tensors is made in several steps, of which the last one is short.
    const size_t all[] = {64, 4096, 16'384, 65'536, size_t{1} << 20};
    return all[random() % std::size(all)];
  }
};

struct KernelCase {
  std::string name, declarations, statement;
  std::vector<std::string> params;
  std::vector<int64_t> sizes{1, 2, 3, 7, 31, 32, 33};
  size_t types = kTypes.size();  // the number of types that it is tested with, from Double on
};
void PrintTo(const KernelCase& c, std::ostream* out) { *out << c.statement; }

Module module_of(const KernelCase& tested, ElementType type) {
  const std::string params = fmt::format("param {} = 4\n", fmt::join(tested.params, " = 4, "));
  return test::TestRun::typed(test::parse_text(params + tested.declarations + tested.statement + "\n"), type);
}

// Plans a case's statement with random sizes.
Plan plan_case(const KernelCase& tested, ElementType type, std::mt19937& random) {
  std::string settings;
  for (const std::string& p : tested.params) {
    settings += fmt::format("{}{}={}", settings.empty() ? "" : ",", p, tested.sizes[random() % tested.sizes.size()]);
  }
  return test::plan_module(module_of(tested, type), test::settings_of(settings), PlanOptions{});
}

// The kernel of a case, for all values of its params.
std::string source_of(const KernelCase& tested, ElementType type, const std::string& function) {
  const auto program = compile(module_of(tested, type));
  const Stage& stage = program->stages[0];
  return gpu_kernel_source(stage, type, storage_orders(stage, program->module), function);
}

// The values of the params that stand in a case's statement as numbers.
std::vector<int64_t> params_of(const KernelCase& tested, const Plan& plan) {
  std::vector<int64_t> out;
  for (const std::string& name : params_as_numbers(module_of(tested, ElementType::Double).statements[0].statement)) {
    out.push_back(plan.params.at(name));
  }
  return out;
}

// With the address sanitizer, two types whose vectors differ: compiling takes long there.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kMostTypes = 2;
#else
constexpr size_t kMostTypes = 6;
#endif

class GpuKernels : public testing::TestWithParam<KernelCase> {
 protected:
  static Plan plan(ElementType type, std::mt19937& random) { return plan_case(GetParam(), type, random); }
};

// The ranges of the indices, or the extents and values of all variables. An operand begins at the lowest indices.
std::vector<int64_t> numbers_of(const StagePlan& stage, const std::vector<int64_t>& values, std::mt19937& random,
                                std::vector<int64_t>& lowest) {
  const Stage& program = *stage.stage;
  std::vector<int64_t> out;
  lowest.assign(stage.space.extents.size(), 0);
  std::optional<LeafBox> box = leaf_box(program);
  if (!box) {
    out = stage.space.extents;
    out.insert(out.end(), values.begin(), values.end());
    return out;
  }
  const Compute& compute = *leaf_of(program).root.compute();  // it has a box
  bool may_move =
      std::all_of(compute.terms.begin(), compute.terms.end(), [](const LeafTerm& t) { return t.only_at_zero.empty(); });
  for (int v : box->indices) {
    if (may_move) lowest[v] = static_cast<int64_t>(random() % 5);
    out.insert(out.end(), {lowest[v], stage.space.extents[v]});
  }
  return out;
}

template <class T>
void set_elements_to_zero(T* at, const std::vector<int64_t>& extents, const std::vector<int64_t>& strides,
                          size_t depth) {
  if (depth == extents.size()) {
    *at = T();
    return;
  }
  for (int64_t x = 0; x < extents[depth]; ++x) {
    set_elements_to_zero(at + x * strides[depth], extents, strides, depth + 1);
  }
}

// The memory of the operands and the device is the GPU's only while the kernel runs.
int run(GpuFunction* kernel, const std::vector<int64_t>& numbers, const std::vector<void*>& data,
        const std::vector<const int64_t*>& strides, const std::vector<std::unique_ptr<GuardedMemory>>& operands,
        const EmulatedDevice& device) {
  emulated_cuda::OnGpu on_gpu;
  for (const auto& o : operands) on_gpu.add(o->data(), o->bytes());
  on_gpu.add(device.scratch.data(), device.bytes);
  return kernel(numbers.data(), data.data(), strides.data(), device.device);
}

template <class T>
void check_run(const StagePlan& stage, ElementType type, GpuFunction* kernel, const std::vector<int64_t>& params,
               std::mt19937& random) {
  const std::vector<LeafAccess>& accesses = leaf_of(*stage.stage).accesses;
  LeafArguments arguments{std::vector<int64_t>(static_cast<size_t>(stage.space.size()), 0), {}};
  // Launch variables, and loops around the leaf.
  const std::vector<bool> known = known_before(stage.space, all_loops(leaf_of(*stage.stage).root));
  for (size_t v = 0; v < known.size(); ++v) {
    if (known[v]) arguments.values[v] = static_cast<int64_t>(random()) % std::max<int64_t>(stage.space.extents[v], 1);
  }
  std::vector<int64_t> lowest, numbers = numbers_of(stage, arguments.values, random, lowest);
  numbers.insert(numbers.end(), params.begin(), params.end());
  std::vector<std::unique_ptr<GuardedMemory>> memory;
  std::vector<RandomOperand> operands;
  std::vector<void*> data;
  std::vector<const int64_t*> strides;
  const bool at_end = random() % 2 == 0;
  const bool as_stored = random() % 2 == 0;
  // Perhaps no operand moves along an index of the last one.
  const std::vector<int>& last = accesses.back().indices;
  const int still = !last.empty() && random() % 2 == 0 ? last[random() % last.size()] : -1;
  for (const LeafAccess& a : accesses) {
    std::vector<int64_t> extents;
    std::vector<bool> stays;
    for (int v : a.indices) {
      extents.push_back(stage.space.extents[v]);
      stays.push_back(v == still);
    }
    if (as_stored) {
      operands.emplace_back(extents, stage.acquires[static_cast<size_t>(a.acquire)].order);
    } else {
      operands.emplace_back(extents, stays, &a == accesses.data(), random);
    }
  }
  for (size_t o = 0; o < operands.size(); ++o) {
    const RandomOperand& operand = operands[o];
    memory.push_back(std::make_unique<GuardedMemory>(operand.elements * static_cast<int64_t>(sizeof(T)), at_end));
    T* begin = reinterpret_cast<T*>(memory.back()->data());
    fill(begin, operand.elements, random);
    int64_t offset = operand.first;
    for (size_t d = 0; d < operand.strides.size(); ++d) offset -= lowest[accesses[o].indices[d]] * operand.strides[d];
    data.push_back(begin + offset);
    strides.push_back(operand.strides.data());
    View view{reinterpret_cast<std::byte*>(begin), operand.first, {}};
    view.strides.assign(operand.strides.begin(), operand.strides.end());
    arguments.operands.push_back(view);
  }
  const T* output = reinterpret_cast<const T*>(memory[0]->data());
  std::vector<T> want(output, output + operands[0].elements);
  arguments.operands[0].data = reinterpret_cast<std::byte*>(want.data());
  const Compute* compute = leaf_of(*stage.stage).root.compute();
  const bool overwrites = compute && compute->accumulate && overwrites_output(*stage.stage);
  auto set_to_zero = [&](T* begin) {
    std::vector<int64_t> extents;
    for (int v : accesses[0].indices) extents.push_back(stage.space.extents[v]);
    set_elements_to_zero(begin + operands[0].first, extents, operands[0].strides, 0);
  };
  if (overwrites) set_to_zero(want.data());
  const auto needed = static_cast<size_t>(workspace_bytes(stage, sizeof(T)));
  std::vector<std::byte> scratch(needed + 64);
  arguments.scratch = scratch.data();
  make_leaf(stage, type, LeafChoice::Interpreted)->run(arguments);
  // The sums of an empty box are zero.
  if (leaf_box(*stage.stage) && !leaf_box(*stage.stage)->indices.empty() && random() % 6 == 0) {
    const size_t index = random() % leaf_box(*stage.stage)->indices.size();
    numbers[index * 2 + 1] = 0;
    want.assign(output, output + operands[0].elements);
    const int v = leaf_box(*stage.stage)->indices[index];
    const auto& of_output = accesses[0].indices;
    if (overwrites && std::find(of_output.begin(), of_output.end(), v) == of_output.end()) set_to_zero(want.data());
  }
  EmulatedDevice device(random);
  const int status = run(kernel, numbers, data, strides, memory, device);
  if (needed > std::max(device.bytes, kSharedBytes)) {
    EXPECT_EQ(status, distal_gpu::kWorkspacesTooLarge);
    return;
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::vector<T>(output, output + operands[0].elements), want)
      << "extents " << fmt::format("{}", fmt::join(stage.space.extents, ", "));
}

TEST_P(GpuKernels, GiveWhatTheInterpreterGives) {
  test::CacheFolder folder(cache());
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string>{}(GetParam().name)));
  std::vector<ElementType> types = kTypes;
  std::rotate(types.begin(), types.begin() + 1, types.end());
  types.resize(std::min(GetParam().types, kMostTypes));
  std::vector<std::string> sources;
  for (size_t t = 0; t < types.size(); ++t)
    sources.push_back(source_of(GetParam(), types[t], fmt::format("leaf_{}", t)));
  const EmulatedKernels code(sources);
  for (size_t t = 0; t < types.size(); ++t) {
    SCOPED_TRACE(to_string(types[t]));
    for (int round = 0; round < 8 && !HasFailure(); ++round) {
      Plan p = plan(types[t], random);
      ASSERT_EQ(p.stages.size(), 1U);
      const std::vector<int64_t> params = params_of(GetParam(), p);
      GpuFunction* kernel = code.function(t);
      with_element_type(types[t],
                        [&](auto zero) { check_run<decltype(zero)>(p.stages[0], types[t], kernel, params, random); });
    }
  }
}

const std::string kTensors =
    "tensor s\ntensor x(a)\ntensor z(a)\ntensor y(b)\ntensor A(a, b)\ntensor B(a, c)\ntensor C(c, b)\ntensor T(a, b, "
    "c)\n"
    "tensor D(c, c)\ntensor U(a, b, c)\ntensor V(a, b, c)\ntensor W(a, b, c)\n";
const std::string kFourIndices =
    "tensor P(a, b, c, d)\ntensor Q(a, c, e, f)\ntensor R(e, f, b, d)\ntensor S(b, d) order(1, 0)\n"
    "tensor X(d, b) order(1, 0)\ntensor y(b)\n";

std::vector<KernelCase> kernel_cases() {
  return {
      KernelCase{"gemm", kTensors, "A(i, j) += 2 * B(i, k) * C(k, j)", {"a", "b", "c"}},
      KernelCase{"gemv", kTensors, "x(i) = A(i, j) * y(j)", {"a", "b", "c"}},
      KernelCase{"dot", kTensors, "s = A(i, j) * A(i, j)", {"a", "b", "c"}},
      KernelCase{"assigns", kTensors, "A(i, j) = x(i) * y(j) - 3", {"a", "b", "c"}},
      KernelCase{"terms", kTensors, "x(i) = A(i, j) * y(j) - z(i) + 2", {"a", "b", "c"}},
      KernelCase{"mttkrp", kTensors, "B(i, m) = T(i, j, k) * y(j) * D(k, m)", {"a", "b", "c"}},
      KernelCase{"ttv", kTensors, "y(j) += T(i, j, k) * x(i)", {"a", "b", "c"}},
      KernelCase{
          "fused", kTensors, "T(i, j, k) = U(i, j, k) * V(i, j, k) + W(i, j, k)", {"a", "b", "c"}, {1, 2, 7, 16}},
      KernelCase{"inner", kTensors, "s = T(i, j, k) * U(i, j, k)", {"a", "b", "c"}},
      KernelCase{"second_mode", kTensors, "B(i, m) += -T(i, l, k) * D(k, m) * y(l) * x(i)", {"a", "b", "c"}, {4, 7}, 2},
      KernelCase{"contraction",
                 kFourIndices,
                 "P(i, j, k, l) = Q(i, k, m, n) * R(m, n, j, l)",
                 {"a", "b", "c", "d", "e", "f"},
                 {1, 2, 3, 5},
                 4},
      KernelCase{"params", kTensors, "A(i, j) = -c * B(i, k) * C(k, j) * b", {"a", "b", "c"}, {2, 7, 32}, 4},
      KernelCase{"params_of_terms", kTensors, "x(i) += c * A(i, j) * y(j) - z(i) * b", {"a", "b", "c"}, {2, 7, 32}},
      KernelCase{"params_of_nests",
                 kTensors,
                 "machine M = Grid(3)\nx(i) += c * A(i, j) * y(j)\nschedule\n  collapse(i, j, f)\n"
                 "  divide(f, fo, fi, 3)\n  distribute(fo)\n  communicate({x, A, y}, fo)",
                 {"a", "b", "c"},
                 {2, 7, 32},
                 4},
      KernelCase{"turned", kFourIndices, "S(i, j) = X(j, i) - y(i)", {"a", "b", "c", "d", "e", "f"}},
      KernelCase{"workspace",
                 kTensors,
                 "A(i, j) = B(i, k) * C(k, j)\nschedule\n  reorder({i, k, j})\n"
                 "  precompute(B(i, k) * C(k, j), {j}, {jw}, Q)",
                 {"a", "b", "c"}},
      KernelCase{"workspace_of_a_tile",
                 kTensors,
                 "machine M = Grid(3)\nx(i) = A(i, j) * y(j) - 2 * z(i)\nschedule\n  distribute(i, io, ii, M)\n"
                 "  split(j, jo, ji, 4)\n  split(ii, iio, iii, 3)\n  reorder({iio, jo, iii, ji})\n"
                 "  precompute(A(i, j) * y(j), {iii}, {iw}, Q)",
                 {"a", "b", "c"}},
      KernelCase{"workspace_of_mttkrp",
                 kTensors,
                 "B(i, m) = c * T(i, j, k) * y(j) * D(k, m)\nschedule\n  split(j, jo, ji, 4)\n"
                 "  reorder({i, jo, ji, m, k})\n  precompute(T(i, j, k) * D(k, m), {ji, m}, {jw, mw}, Q)\n"
                 "  reorder({mw, jw})",
                 {"a", "b", "c"}},
      KernelCase{"workspaces_in_one_another",
                 kTensors,
                 "s += A(i, j) * C(k, j) * B(i, k)\nschedule\n  reorder({i, j, k})\n"
                 "  precompute(A(i, j) * C(k, j) * B(i, k), {}, {}, v)\n  precompute(C(k, j) * B(i, k), {}, {}, w)",
                 {"a", "b", "c"}},
      KernelCase{
          "workspace_in_gpu_memory",
          kTensors,
          "A(i, j) = B(i, k) * C(k, j) - z(i) * y(j)\nschedule\n  split(i, io, ii, 64)\n  reorder({io, k, ii, j})\n"
          "  precompute(B(i, k) * C(k, j), {ii, j}, {iw, jw}, Q)",
          {"a", "b", "c"},
          {97, 130},
          2},
      KernelCase{"workspace_of_a_collapsed_loop",
                 kTensors,
                 "A(i, j) = B(i, k) * C(k, j)\nschedule\n  collapse(i, j, f)\n  split(f, fo, fi, 8)\n"
                 "  reorder({fo, k, fi})\n  precompute(B(i, k) * C(k, j), {fi}, {fw}, Q)",
                 {"a", "b", "c"}},
      KernelCase{"workspace_of_a_rotated_loop",
                 kTensors,
                 "A(i, j) = B(i, k) * C(k, j)\nschedule\n  split(j, jo, ji, 3)\n  rotate(jo, i, jr)\n"
                 "  reorder({i, jr, ji, k})\n  precompute(B(i, k) * C(k, j), {jr, ji}, {jrw, jw}, Q)",
                 {"a", "b", "c"}},
      KernelCase{"workspace_in_a_collapsed_loop",
                 kTensors,
                 "x(i) += A(i, j) * C(k, j)\nschedule\n  collapse(i, j, f)\n  split(f, fo, fi, 5)\n"
                 "  reorder({fo, fi, k})\n  precompute(C(k, j), {}, {}, w)",
                 {"a", "b", "c"}},
      KernelCase{"workspace_in_a_rotated_loop",
                 kTensors,
                 "A(i, j) += B(i, k) * C(k, j)\nschedule\n  split(j, jo, ji, 3)\n  rotate(jo, i, jr)\n"
                 "  reorder({i, jr, ji, k})\n  precompute(B(i, k) * C(k, j), {ji}, {jw}, Q)",
                 {"a", "b", "c"}},
      KernelCase{"collapsed",
                 kTensors,
                 "machine M = Grid(3)\nx(i) += A(i, j) * y(j)\nschedule\n  collapse(i, j, f)\n"
                 "  divide(f, fo, fi, 3)\n  distribute(fo)\n  communicate({x, A, y}, fo)",
                 {"a", "b", "c"}}};
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuKernels, testing::ValuesIn(kernel_cases()),
                         [](const auto& tested) { return tested.param.name; });

// The plan of a random program; nothing if it is wrong on purpose.
std::unique_ptr<Plan> random_plan(uint64_t seed) {
  try {
    const Module module = expand_precomputes(test::parse_text(property::generate_program(seed).text));
    return std::make_unique<Plan>(test::plan_module(module, {}, PlanOptions{.fold = false}));
  } catch (const Error&) {
    return nullptr;
  }
}

// Leaves with workspaces, and leaves that run over no box.
TEST(GpuKernelsOfRandomPrograms, GiveWhatTheInterpreterGives) {
  constexpr size_t kOfEach = 20;
  test::CacheFolder folder(cache());
  std::vector<std::unique_ptr<Plan>> plans;
  std::vector<std::pair<const StagePlan*, uint64_t>> leaves;
  std::vector<std::string> sources;
  size_t with_workspaces = 0, nests = 0;
  for (uint64_t seed = 0; with_workspaces < kOfEach || nests < kOfEach; ++seed) {
    plans.push_back(random_plan(seed));
    if (!plans.back()) continue;
    for (const StagePlan& stage : plans.back()->stages) {
      if (leaf_box(*stage.stage)) continue;
      size_t& count = leaf_of(*stage.stage).root.compute() ? nests : with_workspaces;
      if (count == kOfEach) continue;
      ++count;
      const ElementType type = plans.back()->program->module.type;
      sources.push_back(
          gpu_kernel_source(*stage.stage, type, storage_orders(stage), fmt::format("leaf_{}", leaves.size())));
      leaves.emplace_back(&stage, seed);
    }
  }
  const EmulatedKernels code(sources);
  std::mt19937 random(1);
  for (size_t l = 0; l < leaves.size(); ++l) {
    const auto& [stage, seed] = leaves[l];
    SCOPED_TRACE(fmt::format("program {}\n{}", seed, sources[l]));
    GpuFunction* kernel = code.function(l);
    const ElementType type = plans[seed]->program->module.type;
    for (int round = 0; round < 5 && !HasFailure(); ++round) {
      with_element_type(type, [&](auto zero) { check_run<decltype(zero)>(*stage, type, kernel, {}, random); });
    }
  }
}

// That of the machine, or the one that `tools/gpu nvcc` fetched.
std::string nvcc() {
  const std::string found = on_path("nvcc");
  if (!found.empty()) return found;
  for (const char* path : {"/usr/local/cuda/bin/nvcc", DISTAL_SOURCE_DIR "/build/nvcc/nvidia/cu13/bin/nvcc"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return "";
}

// Every kernel, in one of the types. The first one is a nest, which includes least.
TEST(GpuSources, AreCudaForNvcc) {
  if (nvcc().empty()) {
    GTEST_SKIP()
        << "there is no nvcc here: only the host's compiler reads the generated CUDA; `tools/gpu nvcc` fetches "
           "one from PyPI";
  }
  std::vector<KernelCase> cases = kernel_cases();
  std::rotate(cases.begin(), cases.end() - 1, cases.end());
  const std::filesystem::path folder = fmt::format("{}distal-nvcc-test-{}", testing::TempDir(), getpid());
  test::write_gpu_headers(folder.string());
  std::vector<std::string> sources;
  for (size_t k = 0; k < cases.size(); ++k) {
    sources.push_back(source_of(cases[k], kTypes[k % kTypes.size()], fmt::format("leaf_{}", k)));
  }
  std::ofstream(folder / "all.cu") << test::joined_gpu_sources(sources);
  EXPECT_EQ(
      run_process({nvcc(), "-std=c++17", "-arch=sm_90", "-ptx", "-o", (folder / "all.ptx").string(), "-Xcompiler",
                   "-idirafter," DISTAL_SOURCE_DIR "/tests/leaf/cublas_declarations", (folder / "all.cu").string()}),
      0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace distal::core
