#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/npy_reader.h"
#include "data/npy_writer.h"

namespace distal::core {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class F>
std::string error_of(const F& f, Error::Kind kind = Error::Kind::Input) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.message();
  }
  return "";
}

// An array in memory; its elements are in the order in which they lie in the file.
struct NpyArray {
  ElementType type = ElementType::Double;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
  bool operator==(const NpyArray&) const = default;
};

inline NpyArray read_npy(const std::string& path) {
  NpyReader file(path);
  int64_t bytes = size_of(file.type());
  for (int64_t extent : file.shape()) bytes *= extent;
  NpyArray array{file.type(), file.shape(), std::vector<std::byte>(static_cast<size_t>(bytes))};
  file.read(std::vector<int64_t>(file.shape().size(), 0), file.shape(), array.data.data());
  return array;
}

inline void write_npy(const std::string& path, const NpyArray& array, const ProcessGroup& group = {}) {
  write_npy(path, array.type, array.shape, group, [&](const WriteNpyRect& write) {
    write(std::vector<int64_t>(array.shape.size(), 0), array.shape, array.data.data());
  });
}

template <class T>
std::vector<T> values_of(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

// All bytes are different from their neighbours.
inline NpyArray numbered(ElementType type, const std::vector<int64_t>& shape) {
  NpyArray array{type, shape, {}};
  int64_t bytes = size_of(type);
  for (int64_t extent : shape) bytes *= extent;
  for (int64_t i = 0; i < bytes; ++i) array.data.push_back(static_cast<std::byte>(i * 7 + 1));
  return array;
}

// Root may read and write every file. While this object lives, a test that runs as root runs as user `nobody`.
class UnprivilegedUser {
 public:
  UnprivilegedUser() : user_(geteuid()) {
    if (user_ == 0) {
      EXPECT_EQ(seteuid(kNobody), 0);
    }
  }
  ~UnprivilegedUser() {
    if (user_ == 0) {
      EXPECT_EQ(seteuid(user_), 0);
    }
  }
  UnprivilegedUser(const UnprivilegedUser&) = delete;
  UnprivilegedUser& operator=(const UnprivilegedUser&) = delete;

  bool may_enter(const std::filesystem::path& folder) const {
    return faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) == 0;
  }

 private:
  static constexpr uid_t kNobody = 65534;
  uid_t user_;
};

// A folder of its own for each test.
class NpyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("distal_npy_") + info->name() + "_" + std::to_string(static_cast<long>(::getpid())));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }

  std::string path(const std::string& name = "a.npy") const { return (folder_ / name).string(); }

  std::string write_bytes(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  std::string read_bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The names of all files in the folder.
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) out.push_back(entry.path().filename());
    return out;
  }

  std::filesystem::path folder_;
};

}  // namespace distal::core
