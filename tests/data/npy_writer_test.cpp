#include "data/npy_writer.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <barrier>
#include <csignal>
#include <exception>
#include <mutex>
#include <thread>

#include "support/npy_files.h"

namespace distal::core {
namespace {

using NpyWriterTest = NpyTest;

TEST_F(NpyWriterTest, RoundTripsEveryTypeAndRank) {
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

TEST_F(NpyWriterTest, WritesWhatNumpyWrites) {
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

TEST_F(NpyWriterTest, WritesVersionTwoForAHeaderOfMoreThan64KiB) {
  NpyArray array = numbered(ElementType::Float, std::vector<int64_t>(30000, 1));
  write_npy(path(), array);
  EXPECT_EQ(read_bytes()[6], 2);
  EXPECT_EQ(read_npy(path()), array);
}

TEST_F(NpyWriterTest, WritingWhereNothingCanBeWrittenIsAnError) {
  NpyArray array = numbered(ElementType::Double, {1});
  std::string folder = std::filesystem::path(path()).parent_path().string();
  for (const std::string& file :
       {path("no/such/folder/a.npy"), folder, folder + "/", std::string("/proc/1/nothing"), std::string("/dev/null")}) {
    std::string wanted = "'" + file + "' cannot be opened for writing";
    EXPECT_EQ(error_of([&] { write_npy(file, array); }), wanted);
  }
  for (const std::string& file : {path("no/such/folder/a.npy"), folder, folder + "/", folder + "/no/"}) {
    std::string wanted = "'" + file + "' cannot be opened for writing";
    EXPECT_EQ(error_of([&] { require_writable(file); }), wanted);
  }
}

TEST_F(NpyWriterTest, AskingWhetherAFileCanBeWrittenLeavesItAlone) {
  require_writable(path());
  EXPECT_FALSE(std::filesystem::exists(path()));
  write_bytes("kept");
  require_writable(path());
  EXPECT_EQ(read_bytes(), "kept");
}

TEST_F(NpyWriterTest, AFileThatMayNotBeWrittenIsRefused) {
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

TEST_F(NpyWriterTest, AFileBehindALinkIsReplacedWithItsPermissions) {
  std::ofstream(path("target.npy")) << "old";
  std::filesystem::permissions(path("target.npy"), static_cast<std::filesystem::perms>(0640));
  std::filesystem::create_symlink("target.npy", path());
  NpyArray array = numbered(ElementType::Float, {3, 4});
  write_npy(path(), array);
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_EQ(read_npy(path("target.npy")), array);
  EXPECT_EQ(std::filesystem::status(path("target.npy")).permissions(), static_cast<std::filesystem::perms>(0640));
  EXPECT_EQ(files().size(), 2U);
}

// While this object lives, this process can write no file of more than `bytes` bytes.
class LimitedFiles {
 public:
  explicit LimitedFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LimitedFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  LimitedFiles(const LimitedFiles&) = delete;
  LimitedFiles& operator=(const LimitedFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(NpyWriterTest, WhatCannotBeWrittenWholeLeavesTheOldFile) {
  NpyArray array = numbered(ElementType::Double, {100});
  std::string message = "'" + path() + "' could not be written whole: 928 bytes are needed";
  write_bytes("kept");
  {
    LimitedFiles limit(500);
    EXPECT_EQ(error_of([&] { write_npy(path(), array); }, Error::Kind::Resources), message);
  }
  auto write = [&] {
    write_npy(path(), array.type, array.shape, {}, [&](const WriteNpyRect& write_rect) {
      LimitedFiles limit(500);
      write_rect(std::vector<int64_t>{0}, array.shape, array.data.data());
    });
  };
  EXPECT_EQ(error_of(write, Error::Kind::Resources), message);
  EXPECT_EQ(read_bytes(), "kept");
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(NpyWriterTest, AFolderThatTakesTheNameMeanwhileIsKept) {
  NpyArray array = numbered(ElementType::Double, {1});
  auto write = [&] {
    write_npy(path(), array.type, array.shape, {},
              [&](const WriteNpyRect&) { std::filesystem::create_directories(path("a.npy/b")); });
  };
  EXPECT_EQ(error_of(write), "'" + path() + "' cannot be opened for writing");
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
}

// Threads that act as the processes of a group.
class Threads {
 public:
  explicit Threads(int count) : count_(count), all_(count) {}

  // Runs f(group, number) in each; returns the messages of their errors.
  std::vector<std::string> run(const std::function<void(const ProcessGroup&, int)>& f) {
    std::vector<std::string> messages(static_cast<size_t>(count_));
    std::vector<std::thread> threads;
    for (int number = 0; number < count_; ++number) {
      threads.emplace_back([&, number] {
        Member member(*this, number);
        messages[static_cast<size_t>(number)] = error_of([&] { f(member, number); }, expected_kind);
      });
    }
    for (std::thread& t : threads) t.join();
    return messages;
  }

  Error::Kind expected_kind = Error::Kind::Input;
  std::string said_for_name;  // what the others hear in place of the name of the temporary file

 private:
  class Member : public ProcessGroup {
   public:
    Member(Threads& threads, int number) : threads_(threads), number_(number) {}
    bool is_first() const override { return number_ == 0; }
    void agree(const std::function<void()>& f) const override {
      threads_.all_.arrive_and_wait();
      threads_.failed_ = nullptr;
      threads_.all_.arrive_and_wait();
      try {
        f();
      } catch (...) {
        std::lock_guard lock(threads_.mutex_);
        threads_.failed_ = std::current_exception();
      }
      threads_.all_.arrive_and_wait();
      if (threads_.failed_) std::rethrow_exception(threads_.failed_);
    }
    void broadcast(std::string& text) const override {
      if (is_first()) threads_.text_ = threads_.said_for_name.empty() ? text : threads_.said_for_name;
      threads_.all_.arrive_and_wait();
      text = threads_.text_;
      threads_.all_.arrive_and_wait();
    }

   private:
    Threads& threads_;
    int number_;
  };

  int count_;
  std::barrier<> all_;
  std::mutex mutex_;
  std::exception_ptr failed_;
  std::string text_;
};

// Each process writes a third of the columns.
void write_columns(const std::string& path, const NpyArray& array, const ProcessGroup& group, int number) {
  write_npy(path, array.type, array.shape, group, [&](const WriteNpyRect& write) {
    int64_t size = size_of(array.type), columns = array.shape[1] / 3;
    std::vector<int64_t> lo{0, number * columns}, hi{array.shape[0], (number + 1) * columns};
    std::vector<std::byte> part;
    for (int64_t i = 0; i < array.shape[0]; ++i) {
      const std::byte* row = array.data.data() + (i * array.shape[1] + lo[1]) * size;
      part.insert(part.end(), row, row + columns * size);
    }
    write(lo, hi, part.data());
  });
}

TEST_F(NpyWriterTest, EveryProcessWritesItsPart) {
  NpyArray array = numbered(ElementType::ComplexFloat, {7, 12});
  Threads processes(3);
  auto messages = processes.run([&](const ProcessGroup& group, int n) { write_columns(path(), array, group, n); });
  EXPECT_EQ(messages, std::vector<std::string>(3));
  EXPECT_EQ(read_npy(path()), array);
  EXPECT_EQ(files(), std::vector<std::string>{"a.npy"});
}

TEST_F(NpyWriterTest, AnErrorOfOneProcessIsOneOfAllAndLeavesNoFile) {
  NpyArray array = numbered(ElementType::ComplexFloat, {7, 12});
  Threads processes(3);
  auto fail_in = [&](int failing) {
    return processes.run([&](const ProcessGroup& group, int number) {
      write_npy(path(), array.type, array.shape, group, [&](const WriteNpyRect&) {
        if (number == failing) throw Error("no power");
      });
    });
  };
  for (int failing : {0, 1}) EXPECT_EQ(fail_in(failing), std::vector<std::string>(3, "no power"));
  EXPECT_EQ(files(), std::vector<std::string>{});

  auto write = [&](const std::string& file) {
    return processes.run([&](const ProcessGroup& group, int number) { write_columns(file, array, group, number); });
  };
  std::string nowhere = path("no/a.npy");
  EXPECT_EQ(write(nowhere), std::vector<std::string>(3, "'" + nowhere + "' cannot be opened for writing"));
  processes.said_for_name = path("elsewhere");
  EXPECT_EQ(write(path()),
            std::vector<std::string>(3, "'" + path() + "' cannot be opened for writing by every process"));
  EXPECT_EQ(files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace distal::core
