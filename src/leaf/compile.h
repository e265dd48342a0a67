#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace distal::core {

// A loaded leaf; the library stays loaded as long as a copy of this lives.
struct CompiledLeaf {
  void* symbol = nullptr;
  std::shared_ptr<void> library;
  bool from_cache = false;

  template <class Function>
  Function* function() const {
    return reinterpret_cast<Function*>(symbol);
  }
};

struct CompileOptions {
  bool openmp = false;       // the text uses threads of OpenMP's
  bool reassociate = false;  // sums may be added in another order than the text's
};

// Compiles C++ text that defines `leaf`, or takes it from the cache: a folder of the user's own, keyed by the text, the
// compiler and the processor. Several processes may do so at once. An Error of kind Resources if there is no compiler.
CompiledLeaf compile_leaf(const std::string& source, CompileOptions options = {});

// The compiler that leaves are compiled with: $DISTAL_CXX, or else c++ or g++ or clang++ on the path; empty if none.
std::string leaf_compiler();

}  // namespace distal::core
