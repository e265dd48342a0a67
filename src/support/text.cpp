#include "support/text.h"

#include <fmt/format.h>

#include <array>

namespace distal::core {

namespace {

// The number of bytes of the text's first character; 0 if that is a control character or not valid UTF-8.
size_t visible_length(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(0) < 0x80) return byte(0) >= ' ' && byte(0) != 0x7F ? 1 : 0;
  size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) < 0xC2 || byte(0) > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  bool control = byte(0) == 0xC2 && byte(1) < 0xA0;
  return control ? 0 : length;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t length = visible_length(text);
    out += length > 0 ? text.substr(0, length) : "?";
    text.remove_prefix(length > 0 ? length : 1);
  }
  return out;
}

std::vector<size_t> character_starts(std::string_view text) {
  std::vector<size_t> out;
  for (size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) out.push_back(i);
  }
  return out;
}

std::string with_commas(int64_t n) {
  std::string digits = std::to_string(n);
  int first = n < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string counted(int64_t n, std::string_view singular, std::string_view plural) {
  if (n != 1 && !plural.empty()) return fmt::format("{} {}", with_commas(n), plural);
  return fmt::format("{} {}{}", with_commas(n), singular, n == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 6> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string bytes_in_full(int64_t bytes) {
  return fmt::format("{} ({})", bytes_text(static_cast<double>(bytes)), counted(bytes, "byte"));
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace distal::core
