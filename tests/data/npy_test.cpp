#include "data/npy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace distal::core {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

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

  // The message and help with which the bytes are refused; "" if they are accepted.
  std::string refusal(const std::string& bytes) const {
    try {
      read_npy(write_bytes(bytes));
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), Error::Kind::Input);
      EXPECT_PRED2(contains, error.message(), path());
      EXPECT_EQ(error.help(),
                "a legal .npy file has format version 1 to 3 and little-endian elements: float32 (f4), "
                "float64 (f8), int32 (i4), int64 (i8), complex64 (c8) or complex128 (c16)");
      return error.message();
    }
  }

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

TEST_F(NpyTest, ConvertsFortranOrderToCOrder) {
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
  EXPECT_PRED2(contains, refusal(file_v1(header_of("[('x', '<f8')]", "False", "(1,)"), data)),
               "holds records, not numbers");
}

TEST_F(NpyTest, RefusesWhatIsNotAnArray) {
  std::string file = "'" + path() + "' ";
  EXPECT_EQ(refusal(""), file + "is too short for a .npy file");
  EXPECT_EQ(refusal("hello, this is text"), file + "is not a .npy file");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x04\x00\x10\x00", 10)), file + "has format version 4.0");
  std::string missing = path("missing.npy");
  std::string folder = std::filesystem::path(path()).parent_path().string();
  EXPECT_EQ(error_of([&] { read_npy(missing); }), "'" + missing + "' does not exist");
  EXPECT_EQ(error_of([&] { read_npy(folder); }), "'" + folder + "' is not a regular file");
}

TEST_F(NpyTest, AFileThatMayNotBeReadIsRefused) {
  std::string locked = write_bytes("x");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  UnprivilegedUser user;
  if (!user.may_enter(folder_)) GTEST_SKIP() << "only root may enter the folder of temporary files here";
  EXPECT_EQ(error_of([&] { read_npy(locked); }), "'" + locked + "' cannot be opened for reading");
}

TEST_F(NpyTest, AFileThatIsShorterThanItSaysIsRefused) {
  // The kernel reports 4096 bytes for this file, which is shorter.
  std::string file = "/sys/kernel/mm/transparent_hugepage/use_zero_page";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "there is no such file here";
  EXPECT_EQ(error_of([&] { read_npy(file); }), "'" + file + "' cannot be read");
}

TEST_F(NpyTest, RefusesMalformedHeaders) {
  std::string data(8, '\0');
  std::string file = "'" + path() + "' ";
  std::string start = "{'descr': '<f8', 'fortran_order': False, 'shape': ";
  for (const auto& [header, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "has a malformed header: '{' is missing at byte 0 of it"},
           {"{", "has a malformed header: no string at byte 1 of it"},
           {"{}", "has no 'descr' in its header"},
           {"}", "has a malformed header: '{' is missing at byte 0 of it"},
           {"{'descr': '<f8'}", "has no 'fortran_order' in its header"},
           {"{'descr': '<f8', 'fortran_order': False}", "has no 'shape' in its header"},
           {"{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
            "has a malformed header: 'fortran_order' is neither True nor False"},
           {"{'descr': '<f8", "has a malformed header: a string in it does not end"},
           {start + "(1,)} x", "has text after its header's dictionary"},
           {start + "1}", "has a malformed header: '(' is missing at byte 50 of it"},
           {start + "(1", "has a malformed header: ')' is missing at byte 52 of it"},
           {start + "(-1,)}", "has a malformed header: a number of its 'shape' is not a size"},
           {start + "(x,)}", "has a malformed header: a number of its 'shape' is not a size"},
           {start + "(99999999999999999999,)}", "has a malformed header: a number of its 'shape' is not a size"},
           {start + "(1,), 'more': 1}", "has a header with an unknown key"},
       }) {
    EXPECT_EQ(refusal(file_v1(header, data)), file + reason) << header;
  }
}

TEST_F(NpyTest, NeverAllocatesMoreThanTheFileHolds) {
  std::string data(8, '\0');
  for (const char* shape : {"(4611686018427387904, 4611686018427387904)", "(1152921504606846975,)",
                            "(9223372036854775807, 3)", "(3,)", "()"}) {
    std::string header = header_of("'<f8'", "True", shape);
    EXPECT_EQ(refusal(file_v1(header, data)).empty(), std::string(shape) == "()") << shape;
  }
  EXPECT_PRED2(contains, refusal(file_v1(header_of("'<f8'", "False", "(9223372036854775807, 3)"), data)),
               "has a 'shape' that is larger than any file");
  EXPECT_PRED2(contains, refusal(file_v1(header_of("'<f8'", "False", "(4, 4)"), data)),
               "has 8 bytes of elements, but its header asks for 128");
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
    refusal(damaged);  // may be refused or accepted, but must not crash or throw another exception
  }
}

TEST_F(NpyTest, WritingWhereNothingCanBeWrittenIsAnError) {
  NpyArray array = numbered(ElementType::Double, {1});
  std::string folder = std::filesystem::path(path()).parent_path().string();
  for (const std::string& file : {path("no/such/folder/a.npy"), folder, folder + "/", std::string("/proc/1/nothing")}) {
    std::string wanted = "'" + file + "' cannot be opened for writing";
    EXPECT_EQ(error_of([&] { write_npy(file, array); }), wanted);
  }
  for (const std::string& file : {path("no/such/folder/a.npy"), folder, folder + "/", folder + "/no/"}) {
    std::string wanted = "'" + file + "' cannot be opened for writing";
    EXPECT_EQ(error_of([&] { require_writable(file); }), wanted);
  }
}

TEST_F(NpyTest, AskingWhetherAFileCanBeWrittenLeavesItAlone) {
  require_writable(path());
  EXPECT_FALSE(std::filesystem::exists(path()));
  write_bytes("kept");
  require_writable(path());
  EXPECT_EQ(read_bytes(), "kept");
}

TEST_F(NpyTest, AFileThatMayNotBeWrittenIsRefused) {
  write_bytes("kept");
  std::filesystem::permissions(path(), std::filesystem::perms::owner_read);
  std::filesystem::permissions(folder_, static_cast<std::filesystem::perms>(0555));
  UnprivilegedUser user;
  if (!user.may_enter(folder_)) GTEST_SKIP() << "only root may enter the folder of temporary files here";
  for (const std::string& file : {path(), path("new.npy")}) {
    std::string wanted = "'" + file + "' cannot be opened for writing";
    EXPECT_EQ(error_of([&] { require_writable(file); }), wanted);
    EXPECT_EQ(error_of([&] { write_npy(file, numbered(ElementType::Double, {1})); }), wanted);
  }
}

TEST_F(NpyTest, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no such device here";
  EXPECT_EQ(error_of([&] { write_npy("/dev/full", numbered(ElementType::Double, {1})); }, Error::Kind::Resources),
            "'/dev/full' could not be written whole: 136 bytes are needed");
}

}  // namespace
}  // namespace distal::core
