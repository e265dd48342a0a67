#include "data/npy_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "data/file.h"
#include "data/npy_header.h"
#include "data/runs.h"
#include "support/cache.h"
#include "support/error.h"
#include "support/unfinished_file.h"

namespace distal::core {

namespace fs = std::filesystem;

namespace {

constexpr size_t kAlignment = 64;  // the elements start at a multiple of this
constexpr int kMode = 0666;        // without what the user's mask forbids

bool may(const fs::path& path, int mode) { return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0; }

bool can_be_written(const fs::path& path) {
  std::error_code failed;
  if (!path.has_filename()) return false;
  if (fs::exists(path, failed) && (!fs::is_regular_file(path, failed) || !may(path, W_OK))) return false;
  fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return fs::is_directory(folder, failed) && may(folder, W_OK | X_OK);
}

// The file that a symbolic link stands for; from any working folder.
std::string behind_links(const std::string& path) {
  std::error_code failed;
  fs::path found = fs::canonical(path, failed);
  return failed ? fs::absolute(path, failed) : found;
}

// The bytes before the elements.
std::string head_of(ElementType type, const std::vector<int64_t>& shape) {
  std::string header = format_npy_header(type, shape);
  bool long_header = header.size() + kAlignment > 0xffff;
  size_t length_bytes = long_header ? 4 : 2;
  size_t start = kNpyMagic.size() + kNpyVersionBytes + length_bytes;
  size_t end = (start + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(end - start - 1, ' ');
  header += '\n';

  std::string head(kNpyMagic);
  head += static_cast<char>(long_header ? 2 : 1);
  head += '\0';
  for (size_t i = 0; i < length_bytes; ++i) head += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return head + header;
}

[[noreturn]] void refuse_to_write(const std::string& path) {
  throw Error(fmt::format("'{}' cannot be opened for writing", path), {},
              "name a regular file in a folder that you may write to");
}

// A file under a temporary name beside the final one. One process makes it, with its header and its size; others join
// it.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& path, ElementType type, const std::vector<int64_t>& shape)
      : path_(path), header_{type, false, shape}, order_(header_.order()), head_(head_of(type, shape)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (is_maker_) unlink(name_.c_str());
  }

  const std::string& name() const { return name_; }

  void make() {
    require_writable(path_);
    name_ = unique_name(behind_links(path_));
    file_ = File(open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
    if (!file_.is_open()) refuse_to_write(path_);
    is_maker_ = true;
    unfinished_ = UnfinishedFile(name_);
    auto head_bytes = static_cast<int64_t>(head_.size());
    bool fits = file_.set_size(head_bytes + header_.bytes()) && file_.write(0, head_.data(), head_bytes);
    if (!fits) refuse_full();
  }

  void join(const std::string& name) {
    file_ = File(open(name.c_str(), O_WRONLY | O_CLOEXEC));
    if (file_.is_open()) return;
    throw Error(fmt::format("'{}' cannot be opened for writing by every process", path_), {},
                "name a file in a folder that all nodes share");
  }

  void write(std::span<const int64_t> lo, std::span<const int64_t> hi, const std::byte* from) {
    auto begin = static_cast<int64_t>(head_.size()), size = size_of(header_.type);
    for_each_run(header_.shape, order_, lo, hi, [&](int64_t first, int64_t count) {
      if (!file_.write(begin + first * size, from, count * size)) refuse_full();
      from += count * size;
    });
  }

  void close() {
    if (!file_.close()) refuse_full();
  }

  // Renames the finished file to its final name.
  void publish() {
    std::string path = behind_links(path_);
    std::error_code failed;
    // If there was a file of this name, the new one gets its permissions.
    if (fs::exists(path, failed)) fs::permissions(name_, fs::status(path, failed).permissions(), failed);
    fs::rename(name_, path, failed);
    if (failed) refuse_to_write(path_);
    is_maker_ = false;
    unfinished_.finish();
  }

 private:
  [[noreturn]] void refuse_full() const {
    throw Error(fmt::format("'{}' could not be written whole: {} bytes are needed", path_,
                            static_cast<int64_t>(head_.size()) + header_.bytes()),
                {}, "make room on the disk, or save elsewhere", Error::Kind::Resources);
  }

  std::string path_, name_;
  bool is_maker_ = false;
  UnfinishedFile unfinished_;
  NpyHeader header_;
  std::vector<int> order_;
  std::string head_;  // the bytes before the elements
  File file_;
};

}  // namespace

void require_writable(const std::string& path) {
  if (!can_be_written(behind_links(path))) refuse_to_write(path);
}

void write_npy(const std::string& path, ElementType type, const std::vector<int64_t>& shape, const ProcessGroup& group,
               const std::function<void(const WriteNpyRect& write)>& write_part) {
  TemporaryFile file(path, type, shape);
  group.agree([&] {
    if (group.is_first()) file.make();
  });
  std::string name = file.name();
  group.broadcast(name);
  group.agree([&] {
    if (!group.is_first()) file.join(name);
    write_part([&](auto lo, auto hi, const std::byte* from) { file.write(lo, hi, from); });
    file.close();
  });
  group.agree([&] {
    if (group.is_first()) file.publish();
  });
}

}  // namespace distal::core
