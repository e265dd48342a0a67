#include "data/npy_reader.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "data/runs.h"
#include "support/error.h"

namespace distal::core {

namespace {

constexpr int64_t kBlockBytes = 4096;  // the size of the blocks that read_element keeps; a multiple of every element's
constexpr int64_t kSamples = 64;       // how many samples of kBlockBytes a digest has

File open_to_read(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) throw Error(fmt::format("'{}' does not exist", path));
  if (!std::filesystem::is_regular_file(path, failed)) refuse_npy(path, "is not a regular file");
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) refuse_npy(path, "cannot be opened for reading");
  return file;
}

// Reads the start of a file from front to back, and knows how many bytes are left. So a wrong header cannot cause a
// large allocation.
class HeaderReader {
 public:
  HeaderReader(const File& file, const std::string& path) : file_(file), path_(path), left_(file.size()) {}

  int64_t at() const { return at_; }
  int64_t left() const { return left_; }

  void read(void* to, int64_t bytes, const char* what) {
    if (bytes > left_) refuse_npy(path_, fmt::format("ends inside its {}", what));
    if (!file_.read(at_, to, bytes)) refuse_npy(path_, "cannot be read");
    at_ += bytes;
    left_ -= bytes;
  }

  std::string text() {
    std::array<char, kNpyMagic.size()> magic{};
    if (left_ < static_cast<int64_t>(magic.size())) refuse_npy(path_, "is too short for a .npy file");
    read(magic.data(), magic.size(), "first bytes");
    if (std::string_view(magic.data(), magic.size()) != kNpyMagic) refuse_npy(path_, "is not a .npy file");
    std::array<uint8_t, kNpyVersionBytes> version{};
    read(version.data(), version.size(), "version");
    if (version[0] < 1 || version[0] > 3) {
      refuse_npy(path_, fmt::format("has format version {}.{}", version[0], version[1]));
    }
    std::array<uint8_t, 4> length_bytes{};
    read(length_bytes.data(), version[0] == 1 ? 2 : 4, "header's length");
    int64_t length = 0;
    for (size_t i = 0; i < length_bytes.size(); ++i) length |= static_cast<int64_t>(length_bytes[i]) << (8 * i);
    if (length > left_) refuse_npy(path_, "ends inside its header");
    std::string text(static_cast<size_t>(length), '\0');
    read(text.data(), length, "header");
    return text;
  }

 private:
  const File& file_;
  const std::string& path_;
  int64_t at_ = 0, left_;
};

}  // namespace

NpyReader::NpyReader(std::string path) : path_(std::move(path)), file_(open_to_read(path_)) {
  HeaderReader start(file_, path_);
  header_ = parse_npy_header(start.text(), path_);
  order_ = header_.order();
  begin_ = start.at();
  int64_t bytes = header_.bytes();
  if (bytes < 0) refuse_npy(path_, "has a 'shape' that is larger than any file");
  if (bytes != start.left()) {
    refuse_npy(path_, fmt::format("has {} bytes of elements, but its header asks for {}", start.left(), bytes));
  }
}

void NpyReader::read_bytes(int64_t first, int64_t bytes, std::byte* to) const {
  if (!file_.read(begin_ + first, to, bytes)) refuse_npy(path_, "cannot be read");
}

void NpyReader::read(std::span<const int64_t> lo, std::span<const int64_t> hi, std::byte* to) const {
  int64_t size = size_of(header_.type);
  for_each_run(header_.shape, order_, lo, hi, [&](int64_t first, int64_t count) {
    read_bytes(first * size, count * size, to);
    to += count * size;
  });
}

const std::byte* NpyReader::block(int64_t number) const {
  auto found = kept_.find(number);
  if (found != kept_.end()) return found->second.data();
  if (static_cast<int64_t>(kept_.size()) >= kKeptBytes / kBlockBytes) kept_.clear();
  std::vector<std::byte> read(static_cast<size_t>(std::min(kBlockBytes, header_.bytes() - number * kBlockBytes)));
  read_bytes(number * kBlockBytes, static_cast<int64_t>(read.size()), read.data());
  return kept_.emplace(number, std::move(read)).first->second.data();
}

void NpyReader::read_element(std::span<const int64_t> at, void* to) const {
  int64_t element = 0, size = size_of(header_.type);
  for (int d : order_) element = element * header_.shape[static_cast<size_t>(d)] + at[static_cast<size_t>(d)];
  std::memcpy(to, block(element * size / kBlockBytes) + element * size % kBlockBytes, static_cast<size_t>(size));
}

uint64_t NpyReader::digest() const {
  std::string bytes = format_npy_header(header_.type, header_.shape) + (header_.fortran_order ? " by columns" : "");
  int64_t all = header_.bytes(), distance = std::max(kBlockBytes, all / kSamples);
  std::array<std::byte, kBlockBytes> sample{};
  for (int64_t at = 0; at < all; at += distance) {
    int64_t count = std::min(kBlockBytes, all - at);
    read_bytes(at, count, sample.data());
    bytes.append(reinterpret_cast<const char*>(sample.data()), static_cast<size_t>(count));
  }
  return std::hash<std::string>{}(bytes);
}

}  // namespace distal::core
