#pragma once

#include <memory>
#include <string>

namespace distal::core {

// A shared library. It stays loaded as long as a copy of this object exists.
class SharedLibrary {
 public:
  // Loads the library at a path, or by a name that the loader searches for. Returns false on failure; `error` says why.
  bool load(const std::string& name);
  void unload() { handle_.reset(); }
  bool loaded() const { return handle_ != nullptr; }
  const std::string& error() const { return error_; }

  // The function with this name; null if there is none. Also finds it under the prefix "scipy_", which PyPI's OpenBLAS
  // adds.
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
