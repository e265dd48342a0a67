// The entry point for libFuzzer, which makes inputs, keeps those that reach new code, and stops at the first failure.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(data, data + size);
  std::string wrong = distal::core::fuzz::fuzz_one(text);
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s\n--- of the program\n%s\n", wrong.c_str(), text.c_str());
  std::abort();
}
