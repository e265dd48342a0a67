#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace distal::core {

std::string with_commas(int64_t n);        // 1,048,576
std::string bytes_text(double bytes);      // 8.0 MiB
std::string bytes_in_full(int64_t bytes);  // 8.0 MiB (8,388,608 bytes)
std::string seconds_text(double seconds);  // 12.30 ms

// "1 message", "1,024 messages". The plural is the singular with an s, unless it is given.
std::string counted(int64_t n, std::string_view singular, std::string_view plural = {});

// The text with ? in place of every control character, which a terminal may obey, and of every byte that is not UTF-8.
std::string printable(std::string_view text);

// Where each character of a UTF-8 text begins.
std::vector<size_t> character_starts(std::string_view text);

}  // namespace distal::core
