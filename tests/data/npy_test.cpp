#include "data/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace distal::core {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class NpyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              (std::string("distal_npy_") + info->name() + "_" + std::to_string(static_cast<long>(::getpid())));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "a.npy") const { return (folder_ / name).string(); }

  std::string write_bytes(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

  std::string read_bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  // The message and help with which the bytes are refused; "" if they are accepted.
  std::string refusal(const std::string& bytes) const {
    try {
      read_npy(write_bytes(bytes));
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::Input);
      EXPECT_PRED2(contains, error.message(), path());
      EXPECT_PRED2(contains, error.help(), "float64 (f8)");
      return error.message();
    }
  }

 private:
  std::filesystem::path folder_;
};

std::string file_v1(const std::string& header, const std::string& data) {
  std::string bytes = std::string("\x93NUMPY\x01", 7) + '\0';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  return bytes + header + data;
}

std::string file_v2(char major, const std::string& header, const std::string& data) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0';
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return bytes + header + data;
}

std::string header_of(const std::string& descr, const std::string& fortran, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

template <class T>
std::vector<T> values_of(const NpyArray& array) {
  std::vector<T> values(array.data.size() / sizeof(T));
  std::memcpy(values.data(), array.data.data(), array.data.size());
  return values;
}

NpyArray numbered(ElementType type, const std::vector<int64_t>& shape) {
  NpyArray array{type, shape, {}};
  int64_t bytes = size_of(type);
  for (int64_t extent : shape) bytes *= extent;
  for (int64_t i = 0; i < bytes; ++i) array.data.push_back(static_cast<std::byte>(i * 7 + 1));
  return array;
}

TEST_F(NpyTest, RoundTripsEveryTypeAndRank) {
  for (ElementType type : {ElementType::Float, ElementType::Double, ElementType::Int32, ElementType::Int64,
                           ElementType::ComplexFloat, ElementType::ComplexDouble}) {
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {1}, {5}, {3, 4}, {2, 3, 4}, {2, 1, 3, 1, 2, 2}, {0}, {3, 0, 2}}) {
      NpyArray array = numbered(type, shape);
      write_npy(path(), array);
      EXPECT_EQ(read_npy(path()), array) << to_string(type) << " of rank " << shape.size();
    }
  }
}

TEST_F(NpyTest, WritesWhatNumpyWrites) {
  write_npy(path(), numbered(ElementType::Double, {3, 4}));
  std::string bytes = read_bytes();
  std::string dictionary = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
  ASSERT_EQ(bytes.size(), 128U + 96U);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, dictionary.size()), dictionary);
  EXPECT_EQ(bytes[127], '\n');
  write_npy(path(), numbered(ElementType::Int32, {3}));
  EXPECT_PRED2(contains, read_bytes(), "'<i4', 'fortran_order': False, 'shape': (3,), }");
  write_npy(path(), numbered(ElementType::Int32, {}));
  EXPECT_PRED2(contains, read_bytes(), "'shape': (), }");
}

TEST_F(NpyTest, WritesVersionTwoForAHeaderOfMoreThan64KiB) {
  NpyArray array = numbered(ElementType::Float, std::vector<int64_t>(30000, 1));
  write_npy(path(), array);
  EXPECT_EQ(read_bytes()[6], 2);
  EXPECT_EQ(read_npy(path()), array);
}

TEST_F(NpyTest, ReadsVersionsTwoAndThreeAndOtherSpellings) {
  std::string data = bytes_of<int32_t>({1, 2, 3});
  for (char major : {2, 3}) {
    NpyArray array = read_npy(write_bytes(file_v2(major, header_of("'<i4'", "False", "(3,)"), data)));
    EXPECT_EQ(values_of<int32_t>(array), (std::vector<int32_t>{1, 2, 3}));
  }
  std::string reordered = "{\"shape\":(3L , ), \"descr\" : \"<i4\",'fortran_order':False}";
  EXPECT_EQ(read_npy(write_bytes(file_v1(reordered, data))).shape, std::vector<int64_t>{3});
}

TEST_F(NpyTest, BringsFortranOrderIntoCOrder) {
  // In memory, column by column: the element at (i, j) has the value 10 i + j.
  std::string data = bytes_of<double>({0, 10, 1, 11, 2, 12});
  NpyArray matrix = read_npy(write_bytes(file_v1(header_of("'<f8'", "True", "(2, 3)"), data)));
  EXPECT_EQ(values_of<double>(matrix), (std::vector<double>{0, 1, 2, 10, 11, 12}));

  std::vector<int64_t> cube;
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t i = 0; i < 2; ++i) cube.push_back(100 * i + 10 * j + k);
  NpyArray array = read_npy(write_bytes(file_v1(header_of("'<i8'", "True", "(2, 3, 4)"), bytes_of(cube))));
  std::vector<int64_t> values = values_of<int64_t>(array);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k) EXPECT_EQ(values[static_cast<size_t>((i * 3 + j) * 4 + k)], 100 * i + 10 * j + k);
}

TEST_F(NpyTest, RefusesOtherTypesWithWhatIsLegal) {
  std::string data(8, '\0');
  EXPECT_PRED2(contains, refusal(file_v1(header_of("'>f8'", "False", "(1,)"), data)), "is big endian");
  for (const char* descr : {"<f2", "|b1", "<u8", "<U2", "|O", "<i2", "", "<", "f8", "<f88"}) {
    EXPECT_PRED2(contains, refusal(file_v1(header_of("'" + std::string(descr) + "'", "False", "(1,)"), data)),
                 "has elements of type '" + std::string(descr) + "'");
  }
  EXPECT_PRED2(contains, refusal(file_v1(header_of("[('x', '<f8')]", "False", "(1,)"), data)), "holds records");
}

TEST_F(NpyTest, RefusesWhatIsNotAnArray) {
  EXPECT_PRED2(contains, refusal(""), "too short");
  EXPECT_PRED2(contains, refusal("hello, this is text"), "is not a .npy file");
  EXPECT_PRED2(contains, refusal(std::string("\x93NUMPY\x04\x00\x10\x00", 10)), "has format version 4.0");
  EXPECT_THROW(read_npy(path("missing.npy")), Error);
  EXPECT_THROW(read_npy(std::filesystem::path(path()).parent_path().string()), Error);
}

TEST_F(NpyTest, RefusesMalformedHeaders) {
  std::string data(8, '\0');
  for (const char* header :
       {"", "{", "{}", "}", "{'descr': '<f8'}", "{'descr': '<f8', 'fortran_order': False}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", "{'descr': '<f8",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 1}", "{'descr': '<f8', 'fortran_order': False, 'shape': (1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (x,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}"}) {
    EXPECT_NE(refusal(file_v1(header, data)), "") << header;
  }
}

TEST_F(NpyTest, NeverAllocatesOnTheWordOfAHeader) {
  std::string data(8, '\0');
  for (const char* shape : {"(4611686018427387904, 4611686018427387904)", "(1152921504606846975,)",
                            "(9223372036854775807, 3)", "(3,)", "()"}) {
    std::string header = header_of("'<f8'", "True", shape);
    EXPECT_EQ(refusal(file_v1(header, data)).empty(), std::string(shape) == "()") << shape;
  }
  EXPECT_PRED2(contains, refusal(file_v1(header_of("'<f8'", "False", "(4, 4)"), data)),
               "has 8 bytes of elements where its header asks for 128");
  EXPECT_PRED2(contains, refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)), "ends inside its header");
}

TEST_F(NpyTest, EveryTruncationAndRandomDamageIsRefusedOrRead) {
  std::string whole = file_v1(header_of("'<f8'", "True", "(2, 3)"), std::string(48, 'x'));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_NE(refusal(whole.substr(0, size)), "") << size;
  EXPECT_NE(refusal(whole + "y"), "");

  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    for (int hits = 0; hits < 3; ++hits) damaged[random() % (whole.size() - 48)] = static_cast<char>(random());
    refusal(damaged);  // either answer is fine; a crash or another exception is not
  }
}

TEST_F(NpyTest, WritingWhereNothingCanBeWrittenIsAnError) {
  EXPECT_THROW(write_npy(path("no/such/folder/a.npy"), numbered(ElementType::Double, {1})), Error);
}

}  // namespace
}  // namespace distal::core
