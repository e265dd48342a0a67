#include "data/npy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <string_view>

#include "data/npy_header.h"

namespace distal::core {

static_assert(std::endian::native == std::endian::little,
              "the elements of a .npy file are read and written without conversion");

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionBytes = 2;
constexpr size_t kAlignment = 64;  // the elements of a written file start at a multiple of this

// The bytes of an array of this shape with elements of `size` bytes; -1 if the number overflows.
int64_t bytes_of(const std::vector<int64_t>& shape, int64_t size) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = size;
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

// Reads a file from front to back and knows how many bytes are left. So a wrong header cannot cause a large allocation.
class FileReader {
 public:
  explicit FileReader(const std::string& path) : path_(path) {
    std::error_code failed;
    if (!std::filesystem::exists(path, failed)) throw Error(fmt::format("'{}' does not exist", path));
    if (!std::filesystem::is_regular_file(path, failed)) refuse_npy(path, "is not a regular file");
    left_ = static_cast<int64_t>(std::filesystem::file_size(path, failed));
    in_.open(path, std::ios::binary);
    if (failed || !in_) refuse_npy(path, "cannot be opened for reading");
  }

  int64_t left() const { return left_; }

  void read(void* to, int64_t bytes, const char* what) {
    if (bytes > left_) refuse_npy(path_, fmt::format("ends inside its {}", what));
    if (bytes > 0 && !in_.read(static_cast<char*>(to), bytes)) refuse_npy(path_, "cannot be read");
    left_ -= bytes;
  }

 private:
  std::string path_;
  std::ifstream in_;
  int64_t left_ = 0;
};

std::string read_header_text(FileReader& file, const std::string& path) {
  std::array<char, kMagic.size()> magic{};
  if (file.left() < static_cast<int64_t>(magic.size())) refuse_npy(path, "is too short for a .npy file");
  file.read(magic.data(), magic.size(), "first bytes");
  if (std::string_view(magic.data(), magic.size()) != kMagic) refuse_npy(path, "is not a .npy file");
  std::array<uint8_t, kVersionBytes> version{};
  file.read(version.data(), version.size(), "version");
  if (version[0] < 1 || version[0] > 3) {
    refuse_npy(path, fmt::format("has format version {}.{}", version[0], version[1]));
  }
  std::array<uint8_t, 4> length_bytes{};
  file.read(length_bytes.data(), version[0] == 1 ? 2 : 4, "header's length");
  int64_t length = 0;
  for (size_t i = 0; i < length_bytes.size(); ++i) length |= static_cast<int64_t>(length_bytes[i]) << (8 * i);
  if (length > file.left()) refuse_npy(path, "ends inside its header");
  std::string text(static_cast<size_t>(length), '\0');
  file.read(text.data(), length, "header");
  return text;
}

std::vector<std::byte> fortran_to_c(const std::vector<std::byte>& from, const std::vector<int64_t>& shape,
                                    size_t size) {
  std::vector<std::byte> to(from.size());
  std::vector<size_t> stride(shape.size(), size);
  for (size_t d = 1; d < shape.size(); ++d) stride[d] = stride[d - 1] * static_cast<size_t>(shape[d - 1]);
  std::vector<int64_t> at(shape.size(), 0);
  size_t source = 0;
  for (size_t target = 0; target < to.size(); target += size) {
    std::memcpy(&to[target], &from[source], size);
    for (size_t d = shape.size(); d-- > 0;) {
      source += stride[d];
      if (++at[d] < shape[d]) break;
      source -= stride[d] * static_cast<size_t>(shape[d]);
      at[d] = 0;
    }
  }
  return to;
}

bool may(const std::filesystem::path& path, int mode) {
  return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

bool can_be_written(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::exists(path, failed)) {
    return !std::filesystem::is_directory(path, failed) && may(path, W_OK);
  }
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  return std::filesystem::is_directory(folder, failed) && may(folder, W_OK | X_OK);
}

// Reads the header, and checks that the file has exactly the elements that it asks for.
NpyHeader read_header(FileReader& file, const std::string& path) {
  NpyHeader header = parse_npy_header(read_header_text(file, path), path);
  int64_t bytes = bytes_of(header.shape, size_of(header.type));
  if (bytes < 0) refuse_npy(path, "has a 'shape' that is larger than any file");
  if (bytes != file.left()) {
    refuse_npy(path, fmt::format("has {} bytes of elements, but its header asks for {}", file.left(), bytes));
  }
  return header;
}

[[noreturn]] void refuse_to_write(const std::string& path) {
  throw Error(fmt::format("'{}' cannot be opened for writing", path), {},
              "name a file in a folder that you may write to");
}

}  // namespace

NpyArray read_npy_head(const std::string& path) {
  FileReader file(path);
  NpyHeader header = read_header(file, path);
  return {header.type, header.shape, {}};
}

NpyArray read_npy(const std::string& path) {
  FileReader file(path);
  NpyHeader header = read_header(file, path);
  int64_t bytes = file.left();
  try {
    NpyArray array{header.type, header.shape, std::vector<std::byte>(static_cast<size_t>(bytes))};
    file.read(array.data.data(), bytes, "elements");
    if (header.fortran_order && header.shape.size() > 1) {
      array.data = fortran_to_c(array.data, array.shape, static_cast<size_t>(size_of(array.type)));
    }
    return array;
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("'{}' needs {} bytes of memory, more than is available", path, bytes), {},
                "load a smaller array", Error::Kind::Resources);
  }
}

void require_writable(const std::string& path) {
  if (!can_be_written(path)) refuse_to_write(path);
}

void write_npy(const std::string& path, const NpyArray& array) {
  if (bytes_of(array.shape, size_of(array.type)) != static_cast<int64_t>(array.data.size())) {
    throw InternalError("write_npy: the data does not have the bytes of the shape");
  }
  std::string header = format_npy_header(array.type, array.shape);
  bool long_header = header.size() + kAlignment > 0xffff;
  size_t length_bytes = long_header ? 4 : 2;
  size_t start = kMagic.size() + kVersionBytes + length_bytes;
  size_t end = (start + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(end - start - 1, ' ');
  header += '\n';

  std::string prefix(kMagic);
  prefix += static_cast<char>(long_header ? 2 : 1);
  prefix += '\0';
  for (size_t i = 0; i < length_bytes; ++i) prefix += static_cast<char>((header.size() >> (8 * i)) & 0xff);

  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  if (!out) refuse_to_write(path);
  out << prefix << header;
  out.write(reinterpret_cast<const char*>(array.data.data()), static_cast<std::streamsize>(array.data.size()));
  out.close();
  if (!out) {
    throw Error(fmt::format("'{}' could not be written whole: {} bytes are needed", path, end + array.data.size()), {},
                "make room on the disk, or save elsewhere", Error::Kind::Resources);
  }
}

}  // namespace distal::core
