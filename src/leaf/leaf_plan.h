#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "leaf/box_kernel.h"

namespace distal::core {

struct LeafPlan;

// Parts that run one after the other, in loops around them: the producers of workspaces and their consumer.
struct PartsPlan {
  std::vector<LeafPlan> parts;
  bool operator==(const PartsPlan&) const;
};

// Point by point, without compiling. If there is `then`, only until `points` were computed.
struct InterpretedPlan {
  std::string why{};         // why the code cannot be compiled; empty if it can
  std::string no_library{};  // why no library does it, as BoxPass says it
  double points = 0;
  std::vector<LeafPlan> then;  // at most one
  bool operator==(const InterpretedPlan&) const;
};

// Generated code that runs the loops as scheduled.
struct NestPlan {
  bool strict = false;  // adds in the order of the loops
  std::string why{};    // why the order of the loops may not be changed
  bool operator==(const NestPlan&) const = default;
};

// Terms that are computed together over a box.
struct BoxPass {
  std::vector<int> terms;              // their numbers in the assignment
  std::vector<BoxKernelKind> kernels;  // a run takes the first one that takes its strides and extents
  BoxShape likely;                     // the shape that most runs have
  size_t expected = 0;                 // the first of the kernels that takes this shape
  std::string how{};                   // how that kernel computes it, in words
  std::string no_library{};  // why that kernel is not a library; empty if it is, or if there are several terms
  bool operator==(const BoxPass&) const = default;
};

// Kernels over a box, whose loops may run in any order.
struct BoxPlan {
  std::string substitute{};       // the kernel that substitute names; empty if the kernels were found
  std::vector<int> around{};      // loops around the box: substitute replaces the innermost loops only
  bool one_thread = false;        // BLAS adds in another order if a call is divided among threads
  std::vector<BoxPass> passes{};  // run one after the other
  std::vector<LeafPlan> others;   // at most one: for runs with strides that no kernel takes
  bool operator==(const BoxPlan&) const;
};

// The CUDA kernel of a leaf.
enum class GpuKernel {
  Teams,       // teams of threads add along an index of the sums, whose elements are neighbours in memory
  Neighbours,  // neighbouring threads have neighbouring outputs
  Points,      // one thread for each point of the output's loops
  Blocks,      // blocks of threads, each with workspaces of its own
};

// A product of several tensors: cuBLAS multiplies two of them, for some values of an index at a time.
struct GpuPlanSteps {
  std::string left, right;  // tensors
  std::string index;
  bool operator==(const GpuPlanSteps&) const = default;
};

// On a GPU: a CUDA kernel; for a product of matrices cuBLAS, where the strides and extents of a run allow it.
struct GpuPlan {
  GpuKernel kernel = GpuKernel::Neighbours;
  std::string along = {};                 // the index along which neighbouring threads run; empty if there is none
  std::optional<double> blas_scale = {};  // the scale of the product that cuBLAS adds; nothing if it is no such product
  std::optional<GpuPlanSteps> steps = {};  // a product of matrices first, where strides, extents and memory allow it
  bool overwrites = false;                 // whether the leaf overwrites the output; else it adds to the output
  std::string no_library = {};             // as BoxPass says it
  bool operator==(const GpuPlan&) const = default;
};

std::string to_string(const GpuPlan& plan);  // in words

// What carries out a leaf: plain data, without addresses. What depends on the strides of a run is decided by the lists
// of kernels in BoxPass.
struct LeafPlan {
  std::string assignment;  // its text; empty for parts
  std::variant<PartsPlan, InterpretedPlan, NestPlan, BoxPlan, GpuPlan> how;
  bool operator==(const LeafPlan&) const = default;
};

inline constexpr const char* kWithoutCompiler = "interpreted, as there is no C++ compiler";

// One line for each assignment: what carries it out, and why it is not a library.
std::string explanation(const LeafPlan& plan);

// The same, and below each line the kernels that the strides of a run choose from, and the likely shape of the box.
std::string to_string(const LeafPlan& plan);

}  // namespace distal::core
