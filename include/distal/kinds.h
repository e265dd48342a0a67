#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

// What programs choose from. The compiler uses the same enumerations.
namespace distal {

// The element types that a tensor can have.
enum class ElementKind { Float, Double, Int32, Int64, ComplexFloat, ComplexDouble };

// A kind of processor. Only the Legion engine uses GPUs: pass Kernel::text() to `distal run --engine legion`. A Kernel
// or MpiKernel on GPUs, or with a tensor in GPU memory, throws an Error of kind Resources when it runs or is made.
enum class Processor {
  CPU,  // threads of the host
  GPU   // a GPU, with the Legion engine
};

// A kind of memory.
enum class Memory {
  CPU_MEM,  // memory of the host
  GPU_MEM   // memory of a GPU, with the Legion engine
};

// How the threads of a parallel loop add to the same element of the output.
enum class OutputRace {
  None,       // they never do: the loop indexes the output
  Reduction,  // each thread has a private sum; the sums are added at the end of the loop
  Atomics     // every addition is atomic
};

// The ElementKind of a C++ type, in the member `value`.
template <class T>
struct ElementKindOf;
template <>
struct ElementKindOf<float> : std::integral_constant<ElementKind, ElementKind::Float> {};
template <>
struct ElementKindOf<double> : std::integral_constant<ElementKind, ElementKind::Double> {};
template <>
struct ElementKindOf<int32_t> : std::integral_constant<ElementKind, ElementKind::Int32> {};
template <>
struct ElementKindOf<int64_t> : std::integral_constant<ElementKind, ElementKind::Int64> {};
template <>
struct ElementKindOf<std::complex<float>> : std::integral_constant<ElementKind, ElementKind::ComplexFloat> {};
template <>
struct ElementKindOf<std::complex<double>> : std::integral_constant<ElementKind, ElementKind::ComplexDouble> {};

}  // namespace distal
