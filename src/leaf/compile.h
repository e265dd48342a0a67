#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace distal::core {

// A loaded leaf. Its library stays loaded as long as a copy of this object exists.
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
  bool openmp = false;       // the text uses OpenMP threads
  bool reassociate = false;  // sums may be added in another order than in the text
};

// Compiles C++ text that defines `leaf`, or loads it from the cache: a folder of the user, keyed by the text, the
// flags, the compiler and the CPU. Several processes may do so at once. Throws an Error of kind Resources if there is
// no compiler or it fails.
CompiledLeaf compile_leaf(const std::string& source, CompileOptions options = {});

// The path of the compiler for leaves: $DISTAL_CXX, or else c++, g++ or clang++ on the path; empty if there is none.
std::string leaf_compiler();

// False where leaves must do without a compiler: there is none, and $DISTAL_CXX asks for none. With a wrong DISTAL_CXX
// compile_leaf says what is wrong.
bool can_compile_leaves();

}  // namespace distal::core
