#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/programs.h"

namespace distal::core::test {

// Compares a text with the file tests/golden/NAME. With DISTAL_UPDATE_GOLDEN=1 the file is written instead; look at
// the difference before keeping it.
inline void expect_golden(const std::string& name, const std::string& text) {
  std::filesystem::path path = std::filesystem::path(DISTAL_SOURCE_DIR) / "tests" / "golden" / name;
  if (const char* update = std::getenv("DISTAL_UPDATE_GOLDEN"); update && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  ASSERT_TRUE(std::filesystem::exists(path)) << "no golden text " << path << "; set DISTAL_UPDATE_GOLDEN=1 to write it";
  EXPECT_EQ(read_text(path.string()), text) << "differs from " << path;
}

}  // namespace distal::core::test
