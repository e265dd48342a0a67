#pragma once

#include <string>
#include <vector>

#include "leaf/nest.h"
#include "support/text_writer.h"

namespace distal::core {

// The loops of an assignment. Loops that select the element of the output become threads, the others stay loops.
struct ThreadLoops {
  IterationSpace<int64_t> space;  // without extents, which are arguments of the kernel
  std::vector<int> threads, inner;
};
ThreadLoops thread_loops(const Compute& compute, IterationSpace<int64_t> space, const std::vector<int>& loops);

// Whether the element of the output depends on a loop.
bool selects_output(const Compute& compute, const IterationSpace<int64_t>& space, int loop);

// The text of CUDA kernels that run the loops of a leaf. Their arguments are the extents and the values of all
// variables, the tensors by access, and params.
class LoopsText {
 public:
  LoopsText(const Stage& stage, ElementType type, TextWriter& writer);

  // The stage's variables without extents.
  IterationSpace<int64_t> space() const { return {stage_.space.names, {}, stage_.space.derivations}; }
  std::string name(int v) const { return "v_" + stage_.space.names[static_cast<size_t>(v)]; }
  static std::string extent(int v);
  static std::string iterations(const std::vector<int>& loops);  // of all of them together

  // The struct of the arguments, which `more` lines end, and the lines that fill it.
  void declare_arguments(const std::vector<std::string>& more = {});
  void set_arguments();
  void begin_function(const std::string& function);

  // Declares the variables that are fixed while these loops run.
  void declare_fixed(const std::vector<int>& loops);
  // Declares loops by the number of their common iteration. The last one is the fastest.
  void declare_loops(const std::vector<int>& loops, const std::string& number, const std::string& rest);
  // Runs an assignment. `head` is the head of the loop over n, the iterations of all threads.
  void write_points(const Compute& compute, const ThreadLoops& loops, const std::string& head, bool atomically);

 private:
  void line(const std::string& text) { writer_.line(text); }
  void recover(const std::vector<Derivation>& derivations);
  std::string element(const LeafOperand& operand) const;
  void write_terms(const Compute& compute);

  const Stage& stage_;
  const Leaf& leaf_;
  ElementType type_;
  std::vector<std::string> params_;
  TextWriter& writer_;
};

}  // namespace distal::core
