// What a compiler calls where it instruments loads and stores for the thread sanitizer, and pointers that are not
// aligned for the undefined behaviour sanitizer. Kernels are compiled so, without the sanitizers' own libraries.

#include <cstddef>
#include <cstdint>

#include "leaf/emulation/memory.h"

using emulated_cuda::Use;
using emulated_cuda::use;

#define DISTAL_USES(BYTES)                                                   \
  void __tsan_read##BYTES(void* at) { use(Use::Read, at, BYTES); }           \
  void __tsan_write##BYTES(void* at) { use(Use::Write, at, BYTES); }         \
  void __tsan_unaligned_read##BYTES(void* at) { use(Use::Read, at, BYTES); } \
  void __tsan_unaligned_write##BYTES(void* at) { use(Use::Write, at, BYTES); }

extern "C" {
DISTAL_USES(1)
DISTAL_USES(2)
DISTAL_USES(4)
DISTAL_USES(8)
DISTAL_USES(16)
void __tsan_read_range(void* at, size_t bytes) { use(Use::Read, at, bytes); }
void __tsan_write_range(void* at, size_t bytes) { use(Use::Write, at, bytes); }
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#ifndef __SANITIZE_ADDRESS__
void __ubsan_handle_type_mismatch_v1(void*, uintptr_t) { emulated_cuda::use_unaligned(); }
#endif
}
