#pragma once

#include <cstdint>
#include <filesystem>

namespace distal::core {

// The bytes that a process may still take: what the machine has left, and what the job or container that it is in is
// allowed. Files of the system are looked for under `root`.
int64_t available_memory(const std::filesystem::path& root = "/");

// The most memory that this process has had, as the system counts it.
int64_t resident_bytes();

}  // namespace distal::core
