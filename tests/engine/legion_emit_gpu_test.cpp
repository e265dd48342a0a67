// The Legion programs that are emitted for machines of GPUs.

#include <gtest/gtest.h>

#include "engine/legion/emit.h"
#include "lower/compile.h"
#include "support/golden.h"
#include "support/programs.h"

namespace distal::core {
namespace {

using test::expect_golden;

using Files = std::map<std::string, std::string>;

Files emitted(const std::string& name, const std::string& text) {
  return emit_legion({{name, compile(test::parse_text(text))}});
}

// The files of this program, without those in distal/ that all programs share.
std::string own_text(const Files& files) {
  std::string out;
  for (const auto& [file, text] : files) {
    if (file.rfind("distal/", 0) != 0) out += "==== " + file + "\n" + text;
  }
  return out;
}

std::string gpu_text(const std::string& name) {
  return test::read_text(std::string(DISTAL_SOURCE_DIR) + "/bench/gpu/" + name + ".distal");
}

Error refusal(const std::string& text) {
  try {
    emitted("refused", text);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was refused";
  return Error("");
}

TEST(LegionGpu, AProductOfMatrices) {
  expect_golden("legion/gpu_gemm.txt", own_text(emitted("gemm", gpu_text("gemm"))));
}

TEST(LegionGpu, Kernels) {
  expect_golden("legion/gpu_integers_1.txt", emitted("integers", gpu_text("integers")).at("integers_gpu_1.cu"));
  expect_golden("legion/gpu_complexes_1.txt", emitted("complexes", gpu_text("complexes")).at("complexes_gpu_1.cu"));
  expect_golden("legion/gpu_columns_1.txt", emitted("columns", gpu_text("columns")).at("columns_gpu_1.cu"));
}

// Values of params are arguments of a kernel, also where one is a factor of a product of matrices.
TEST(LegionGpu, ParamsMayBeNumbers) {
  const Files files = emitted("scaled",
                              "param n = 4, s = 3\nmachine M = Grid(1) gpu\ntensor A(n, n) : xy -> x\n"
                              "tensor B(n, n) : xy -> x\nA(i, j) = 2 * s * B(i, k) * B(k, j)\n");
  EXPECT_NE(files.at("scaled.cpp").find("run_on_gpu(call, scaled_gpu_1, ranges, operands, {s});"), std::string::npos);
  EXPECT_NE(files.at("scaled_gpu_1.cu").find("multiply(box, device, 2 * static_cast<double>(box.param[0]), status)"),
            std::string::npos);
}

TEST(LegionGpu, LoopsThatRunOverNoBoxStayLoops) {
  expect_golden("legion/gpu_collapsed_1.txt", emitted("collapsed", gpu_text("collapsed")).at("collapsed_gpu_1.cu"));
}

// An iteration past the end of a tile does nothing. The range of an index that is recovered by mod, or from the number
// of a tile, does not show that.
TEST(LegionGpu, LoopsWhoseEndsARangeForgetsStayLoops) {
  auto is_box = [](const std::string& schedule) {
    std::string text =
        "param n = 3, p = 4\nmachine M = Grid(p) gpu\ntensor A(n, n) : xy -> x on M\n"
        "tensor b(n) : x -> x on M\nb(k) = A(j, k)\nschedule\n" +
        schedule;
    return emitted("p", text).at("p.cpp").find("run_on_gpu(call, p_gpu_1, ranges, operands)") != std::string::npos;
  };
  EXPECT_TRUE(is_box("  distribute(k, ko, ki, M)\n"));
  EXPECT_TRUE(is_box("  divide(k, ko, ki, 2)\n  distribute(ki, kio, kii, M)\n  reorder({ko, kio})\n"));
  EXPECT_TRUE(is_box("  distribute(k, ko, ki, b)\n  rotate(j, {ko}, jr)\n"));
  EXPECT_FALSE(is_box("  collapse(k, j, f)\n  split(f, fo, fi, 2)\n  distribute(fi)\n  communicate(A, fo)\n"));
  EXPECT_FALSE(is_box("  split(k, ko, ki, 2)\n  divide(ko, a, c, 2)\n  split(c, d, e, 2)\n  distribute(d)\n"));
}

TEST(LegionGpu, OnlyProductsOfMatricesGoToCublas) {
  auto calls = [](const std::string& name, const std::string& text) {
    return emitted(name, text).at(name + "_gpu_1.cu").find("if (multiply(") != std::string::npos;
  };
  EXPECT_TRUE(calls("columns", gpu_text("columns")));
  EXPECT_TRUE(calls("batches", gpu_text("batches")));
  EXPECT_TRUE(calls("complexes", gpu_text("complexes")));
  EXPECT_FALSE(calls("integers", gpu_text("integers")));
  EXPECT_FALSE(calls("collapsed", gpu_text("collapsed")));
  std::string outer = "machine M = Grid(2) gpu\ntensor A(8, 8) : xy -> x\ntensor b(8) : x -> x\ntensor c(8) : x -> *\n";
  EXPECT_FALSE(calls("outer", outer + "A(i, j) = b(i) * c(j)\n"));
  EXPECT_FALSE(calls("vector", outer + "b(i) = A(i, j) * c(j)\n"));
}

TEST(LegionGpu, FilesForGpusAreEmittedOnlyForGpus) {
  Files cpu = emitted("cpu", "tensor A(4)\ntensor B(4)\nA(i) = B(i)\n");
  Files gpu = emitted("gpu", "machine M = Grid(2) gpu\ntensor A(4) : x -> x\ntensor B(4) : x -> x\nA(i) = B(i)\n");
  Files sums = emitted("sums", gpu_text("complexes"));
  for (const char* file : {"distal/gpu.h", "distal/gpu_devices.h", "distal/gpu_sums.h", "distal/device.h",
                           "distal/kernel.h", "distal/box.h", "distal/sums.h", "distal/cublas_calls.h",
                           "distal/product.h", "distal/packed_product.h", "distal/steps.h", "distal/workspaces.h"}) {
    EXPECT_EQ(cpu.count(file), 0U) << file;
    EXPECT_EQ(gpu.count(file), 1U) << file;
  }
  EXPECT_EQ(cpu.at("CMakeLists.txt").find("CUDA"), std::string::npos);
  EXPECT_NE(gpu.at("CMakeLists.txt").find("enable_language(CUDA)"), std::string::npos);
  EXPECT_EQ(gpu.at("CMakeLists.txt").find("distal_FOUND"), std::string::npos);  // no leaf on a CPU
  EXPECT_EQ(gpu.count("gpu_sums.cu"), 0U);
  EXPECT_EQ(sums.count("gpu_sums.cu"), 1U);
  // The error messages of the emitted program.
  EXPECT_NE(gpu.at("distal/gpu_devices.h").find("a GPU could not run a leaf: "), std::string::npos);
  EXPECT_NE(gpu.at("distal/gpu_devices.h").find("cuBLAS could not run a leaf: "), std::string::npos);
  EXPECT_NE(
      gpu.at("distal/program.h").find("the program runs on GPUs, but Legion was given none; start it with -ll:gpu N"),
      std::string::npos);
}

TEST(LegionGpu, CpuAndGpuLeavesInOneProgram) {
  Files files = emitted("copies", gpu_text("copies"));
  EXPECT_EQ(files.count("copies_nest_1.cpp"), 1U);
  EXPECT_EQ(files.count("copies_gpu_1.cu"), 0U);
  EXPECT_EQ(files.count("copies_nest_2.cpp"), 0U);
  EXPECT_EQ(files.count("copies_gpu_2.cu"), 1U);
  EXPECT_NE(files.at("CMakeLists.txt").find("distal_FOUND"), std::string::npos);
}

// A block of threads has workspaces of its own.
TEST(LegionGpu, Workspaces) {
  const Files files = emitted("workspaces", gpu_text("workspaces"));
  expect_golden("legion/gpu_workspaces_1.txt", files.at("workspaces_gpu_1.cu"));
  EXPECT_NE(files.at("workspaces.cpp").find("run_on_gpu(call, workspaces_gpu_1, extent, value, operands);"),
            std::string::npos);
  // The error message of the emitted program.
  EXPECT_NE(files.at("distal/gpu.h").find("the workspaces of a leaf do not fit into the "), std::string::npos);
  EXPECT_NE(files.at("distal/gpu.h").find(" MB of GPU memory that are kept for them; precompute less at a time"),
            std::string::npos);
}

TEST(LegionGpu, RefusesGpuMemoryWithoutGpus) {
  Error error = refusal("machine M = Grid(2)\ntensor A(8) : x -> x on M in gpu\ntensor B(8) : x -> x\nA(i) = B(i)\n");
  EXPECT_EQ(error.message(), "tensor A lives in gpu memory, but its processors are CPUs");
  EXPECT_EQ(error.help(), "put it on a machine whose last grid says gpu");
  EXPECT_EQ(error.kind(), Error::Kind::Resources);
}

}  // namespace
}  // namespace distal::core
