#pragma once

#include <cstdint>
#include <filesystem>

namespace distal::core {

// The bytes that this process may still allocate: the machine's free memory, limited by the control groups of the job
// or container. Tests pass a `root` other than / for the system's files.
int64_t available_memory(const std::filesystem::path& root = "/");

// The peak resident memory of this process, at most a millisecond ago: small kernels run in less time than the system
// needs to count it.
int64_t resident_bytes();

}  // namespace distal::core
