#pragma once

#include <memory>
#include <string>

namespace distal::core {

// A shared library, loaded as long as a copy of this lives.
class SharedLibrary {
 public:
  // Loads it, by a path or by a name that the loader looks for; if that cannot be, false, and `error` says why.
  bool load(const std::string& name);
  void unload() { handle_.reset(); }
  bool loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }

  // The function of that name, also where the library puts "scipy_" before all its names, as PyPI's OpenBLAS does; null
  // if there is none.
  template <class Function>
  Function find(const std::string& name) const {
    return reinterpret_cast<Function>(symbol(name));
  }

 private:
  void* symbol(const std::string& name) const;

  std::shared_ptr<void> handle_;
  std::string error_;
};

}  // namespace distal::core
