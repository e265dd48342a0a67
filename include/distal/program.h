#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distal/kernel.h"

namespace distal {

// A program in a .distal file, as a kernel with its tensors and params by name:
//   Program summa = Program::load("algorithms/summa.distal", {{"ni", 512}, {"nj", 512}});
//   Tensor<double> B = summa.tensor<double>("B");
//   B.fill([](const std::vector<int64_t>& at) { return at[0] + at[1]; });
//   summa.run();
class Program {
 public:
  Program(const Program&) = default;             // the same program, also for std::move
  Program& operator=(const Program&) = default;  // the same

  // Reads a file. `params` are the values of params that differ from the defaults in the file; `type`, if given,
  // replaces its element type. What the file leaves out is found for these values, and kept. Throws an Error with the
  // place in the file if it is wrong.
  static Program load(const std::string& file, const std::map<std::string, int64_t>& params = {},
                      std::optional<ElementKind> type = std::nullopt, const FindOptions& find = {});
  // The same, of the text of such a file.
  static Program parse(const std::string& text, const std::map<std::string, int64_t>& params = {},
                       std::optional<ElementKind> type = std::nullopt, const FindOptions& find = {});

  // All statements of the program with their schedules. An MpiKernel takes it too.
  const Kernel& kernel() const;
  // Runs all statements with the current values of the params on the current data of the tensors.
  RunReport run(const RunOptions& options = {}) const { return kernel().run(options); }

  std::vector<std::string> tensors() const;            // the names, in the order of the file
  TensorHandle tensor(const std::string& name) const;  // throws an Error if there is none of this name
  std::vector<std::string> params() const;             // the names, in the order of the file
  Param param(const std::string& name) const;          // to set its value; throws an Error if there is none

  // The tensor, for access to its elements. Throws an Error if these are not of type T.
  template <class T>
  Tensor<T> tensor(const std::string& name) const {
    return Tensor<T>(tensor(name));
  }

 private:
  struct State;
  explicit Program(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace distal
