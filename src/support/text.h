#pragma once

#include <cstdint>
#include <string>

namespace distal::core {

std::string with_commas(int64_t n);        // 1,048,576
std::string bytes_text(double bytes);      // 8.0 MiB
std::string seconds_text(double seconds);  // 12.3 ms

}  // namespace distal::core
