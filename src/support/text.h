#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace distal::core {

std::string with_commas(int64_t n);        // 1,048,576
std::string bytes_text(double bytes);      // 8.0 MiB
std::string bytes_in_full(int64_t bytes);  // 8.0 MiB (8,388,608 bytes)
std::string seconds_text(double seconds);  // 12.3 ms

// The text with a ? for every byte that a terminal could take for a command, or that is not UTF-8.
std::string printable(std::string_view text);

}  // namespace distal::core
