#include "data/npy_reader.h"

#include <fcntl.h>

#include <random>

#include "support/npy_files.h"

namespace distal::core {
namespace {

class NpyReaderTest : public NpyTest {
 protected:
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

TEST_F(NpyReaderTest, ReadsVersionsTwoAndThreeAndOtherSpellings) {
  std::string data = bytes_of<int32_t>({1, 2, 3});
  for (char major : {2, 3}) {
    NpyArray array = read_npy(write_bytes(file_v2(major, header_of("'<i4'", "False", "(3,)"), data)));
    EXPECT_EQ(values_of<int32_t>(array), (std::vector<int32_t>{1, 2, 3}));
  }
  std::string reordered = "{\"shape\":(3L , ), \"descr\" : \"<i4\",'fortran_order':False}";
  EXPECT_EQ(read_npy(write_bytes(file_v1(reordered, data))).shape, std::vector<int64_t>{3});
}

// The values of the elements of a rectangle, in the file's order.
std::vector<int64_t> rectangle(const NpyReader& file, const std::vector<int64_t>& lo, const std::vector<int64_t>& hi) {
  size_t count = 1;
  for (size_t d = 0; d < lo.size(); ++d) count *= static_cast<size_t>(hi[d] - lo[d]);
  std::vector<int64_t> out(count + 1, -1);  // with one that is not to be touched
  file.read(lo, hi, reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(out.back(), -1);
  out.pop_back();
  return out;
}

TEST_F(NpyReaderTest, ReadsRectanglesOfBothOrders) {
  // The element at (i, j, k) has the value 100 i + 10 j + k.
  std::vector<int64_t> by_rows, by_columns;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t k = 0; k < 4; ++k) by_rows.push_back(100 * i + 10 * j + k);
  for (int64_t k = 0; k < 4; ++k)
    for (int64_t j = 0; j < 3; ++j)
      for (int64_t i = 0; i < 2; ++i) by_columns.push_back(100 * i + 10 * j + k);
  NpyReader rows(write_bytes(file_v1(header_of("'<i8'", "False", "(2, 3, 4)"), bytes_of(by_rows))));
  EXPECT_EQ(rows.order(), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(rectangle(rows, {0, 0, 0}, {2, 3, 4}), by_rows);
  EXPECT_EQ(rectangle(rows, {0, 1, 1}, {2, 3, 3}), (std::vector<int64_t>{11, 12, 21, 22, 111, 112, 121, 122}));
  EXPECT_EQ(rectangle(rows, {1, 2, 0}, {2, 3, 4}), (std::vector<int64_t>{120, 121, 122, 123}));
  EXPECT_EQ(rectangle(rows, {0, 0, 3}, {2, 1, 4}), (std::vector<int64_t>{3, 103}));
  EXPECT_EQ(rectangle(rows, {1, 1, 1}, {2, 1, 4}), std::vector<int64_t>{});
  NpyReader columns(write_bytes(file_v1(header_of("'<i8'", "True", "(2, 3, 4)"), bytes_of(by_columns))));
  EXPECT_EQ(columns.order(), (std::vector<int>{2, 1, 0}));
  EXPECT_EQ(rectangle(columns, {0, 0, 0}, {2, 3, 4}), by_columns);
  EXPECT_EQ(rectangle(columns, {0, 1, 1}, {2, 3, 3}), (std::vector<int64_t>{11, 111, 21, 121, 12, 112, 22, 122}));
  EXPECT_EQ(rectangle(columns, {1, 2, 0}, {2, 3, 4}), (std::vector<int64_t>{120, 121, 122, 123}));
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      int64_t value = -1;
      columns.read_element(std::vector<int64_t>{i, j, 3}, &value);
      EXPECT_EQ(value, 100 * i + 10 * j + 3);
    }
  }
}

TEST_F(NpyReaderTest, ReadsElementsFarApart) {
  int64_t n = NpyReader::kKeptBytes / 8 + 1000;
  std::vector<int64_t> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = i * i;
  NpyReader file(write_bytes(file_v1(header_of("'<i8'", "False", "(" + std::to_string(n) + ",)"), bytes_of(values))));
  auto require = [&](int64_t i) {
    int64_t value = -1;
    file.read_element(std::vector<int64_t>{i}, &value);
    ASSERT_EQ(value, i * i);
  };
  for (int round = 0; round < 2; ++round) {
    for (int64_t i = 0; i < n; i += 100) require(i);  // more than it keeps
    require(n - 1);
  }
}

TEST_F(NpyReaderTest, DigestsTellFilesApart) {
  auto digest = [&](const std::string& order, const std::string& shape, const std::vector<int64_t>& values) {
    return NpyReader(write_bytes(file_v1(header_of("'<i8'", order, shape), bytes_of(values)))).digest();
  };
  uint64_t first = digest("False", "(2, 3)", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(digest("False", "(2, 3)", {1, 2, 3, 4, 5, 6}), first);
  EXPECT_NE(digest("False", "(2, 3)", {1, 2, 3, 4, 5, 7}), first);
  EXPECT_NE(digest("False", "(3, 2)", {1, 2, 3, 4, 5, 6}), first);
  EXPECT_NE(digest("True", "(2, 3)", {1, 2, 3, 4, 5, 6}), first);
  std::vector<int64_t> large(1 << 17);
  uint64_t zero = digest("False", "(131072,)", large);
  large[0] = 1;
  EXPECT_NE(digest("False", "(131072,)", large), zero);
}

TEST_F(NpyReaderTest, AFileThatIsCutWhileItIsReadIsRefused) {
  std::string file = write_bytes(file_v1(header_of("'<f8'", "False", "(2, 3)"), std::string(48, 'x')));
  NpyReader reader(file);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  std::vector<std::byte> out(48);
  EXPECT_EQ(error_of([&] {
              reader.read(std::vector<int64_t>{0, 0}, std::vector<int64_t>{2, 3}, out.data());
            }),
            "'" + file + "' cannot be read");
  EXPECT_EQ(error_of([&] {
              reader.read_element(std::vector<int64_t>{1, 2}, out.data());
            }),
            "'" + file + "' cannot be read");
}

TEST_F(NpyReaderTest, RefusesOtherTypesWithWhatIsLegal) {
  std::string data(8, '\0');
  EXPECT_PRED2(contains, refusal(file_v1(header_of("'>f8'", "False", "(1,)"), data)), "is big endian");
  for (const char* descr : {"<f2", "|b1", "<u8", "<U2", "|O", "<i2", "", "<", "f8", "<f88"}) {
    EXPECT_PRED2(contains, refusal(file_v1(header_of("'" + std::string(descr) + "'", "False", "(1,)"), data)),
                 "has elements of type '" + std::string(descr) + "'");
  }
  EXPECT_PRED2(contains, refusal(file_v1(header_of("[('x', '<f8')]", "False", "(1,)"), data)),
               "holds records, not numbers");
}

TEST_F(NpyReaderTest, RefusesWhatIsNotAnArray) {
  std::string file = "'" + path() + "' ";
  EXPECT_EQ(refusal(""), file + "is too short for a .npy file");
  EXPECT_EQ(refusal("hello, this is text"), file + "is not a .npy file");
  EXPECT_EQ(refusal(std::string("\x93NUMPY\x04\x00\x10\x00", 10)), file + "has format version 4.0");
  std::string missing = path("missing.npy");
  std::string folder = std::filesystem::path(path()).parent_path().string();
  EXPECT_EQ(error_of([&] { read_npy(missing); }), "'" + missing + "' does not exist");
  EXPECT_EQ(error_of([&] { read_npy(folder); }), "'" + folder + "' is not a regular file");
}

TEST_F(NpyReaderTest, AFileThatMayNotBeReadIsRefused) {
  std::string locked = write_bytes("x");
  std::filesystem::permissions(locked, std::filesystem::perms::none);
  UnprivilegedUser user;
  if (!user.may_enter(folder_)) GTEST_SKIP() << "only root may enter the folder of temporary files here";
  EXPECT_EQ(error_of([&] { read_npy(locked); }), "'" + locked + "' cannot be opened for reading");
}

TEST_F(NpyReaderTest, AFileThatIsShorterThanItSaysIsRefused) {
  // The kernel reports 4096 bytes for this file, which is shorter.
  std::string file = "/sys/kernel/mm/transparent_hugepage/use_zero_page";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "there is no such file here";
  EXPECT_EQ(error_of([&] { read_npy(file); }), "'" + file + "' cannot be read");
}

TEST_F(NpyReaderTest, RefusesMalformedHeaders) {
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

TEST_F(NpyReaderTest, NeverAllocatesMoreThanTheFileHolds) {
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

TEST_F(NpyReaderTest, EveryTruncationAndRandomDamageIsRefusedOrRead) {
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

}  // namespace
}  // namespace distal::core
