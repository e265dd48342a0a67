#include "leaf/shared_library.h"

#include <dlfcn.h>

namespace distal::core {

bool SharedLibrary::load(const std::string& name) {
  // Lazy binding, because a BLAS has thousands of functions, most of them LAPACK's.
  void* handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!handle) {
    error_ = dlerror();
    return false;
  }
  handle_ = std::shared_ptr<void>(handle, [](void* h) { dlclose(h); });
  return true;
}

void* SharedLibrary::symbol(const std::string& name) const {
  if (!handle_) return nullptr;
  void* plain = dlsym(handle_.get(), name.c_str());
  return plain ? plain : dlsym(handle_.get(), ("scipy_" + name).c_str());
}

}  // namespace distal::core
