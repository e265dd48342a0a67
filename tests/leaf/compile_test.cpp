// The compiler and the cache of compiled leaves.

#include "leaf/compile.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "leaf/generate.h"
#include "support/cache.h"
#include "support/cache_folder.h"
#include "support/run.h"

namespace distal::core {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::ScopedVariable;

// A leaf that adds a number to the first element.
std::string source_of(int number) {
  return "#include <cstdint>\nextern \"C\" void leaf(const std::int64_t*, const std::int64_t*, void* const* data, "
         "const std::int64_t*, const std::int64_t* const*, const std::int64_t*, const std::int64_t*) { "
         "*static_cast<double*>(data[0]) += " +
         std::to_string(number) + "; }\n";
}

double result_of(const CompiledLeaf& leaf) {
  double x = 1;
  void* data[] = {&x};
  leaf.function<NestFunction>()(nullptr, nullptr, data, nullptr, nullptr, nullptr, nullptr);
  return x;
}

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(testing::TempDir()) + "distal-cache-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache"))
      out.push_back(entry.path().extension().string());
    std::sort(out.begin(), out.end());
    return out;
  }
  std::string path() const { return (folder_ / "cache").string(); }

  fs::path folder_;
};

TEST_F(Cache, TheSecondUseIsAHit) {
  ScopedVariable cache("DISTAL_CACHE", path());
  CompiledLeaf first = compile_leaf(source_of(41));
  EXPECT_FALSE(first.from_cache);
  EXPECT_EQ(result_of(first), 42);
  CompiledLeaf second = compile_leaf(source_of(41));
  EXPECT_TRUE(second.from_cache);
  EXPECT_EQ(result_of(second), 42);
  CompiledLeaf other = compile_leaf(source_of(1));
  EXPECT_FALSE(other.from_cache);
  EXPECT_EQ(result_of(other), 2);
  EXPECT_FALSE(compile_leaf(source_of(41), {.openmp = true}).from_cache) << "OpenMP changes the code";
  struct stat s {};
  ASSERT_EQ(stat(path().c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  // Only sources and libraries are left.
  EXPECT_EQ(files(), (std::vector<std::string>{".cpp", ".cpp", ".cpp", ".so", ".so", ".so"}));
}

TEST_F(Cache, ADamagedLibraryIsCompiledAgain) {
  ScopedVariable cache("DISTAL_CACHE", path());
  compile_leaf(source_of(5));
  for (const auto& entry : fs::directory_iterator(path())) {
    if (entry.path().extension() == ".so") std::ofstream(entry.path(), std::ios::trunc) << "not a library";
  }
  CompiledLeaf again = compile_leaf(source_of(5));
  EXPECT_FALSE(again.from_cache);
  EXPECT_EQ(result_of(again), 6);
}

TEST_F(Cache, AFolderThatOthersCanWriteIsRefused) {
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  ScopedVariable cache("DISTAL_CACHE", path());
  for (mode_t mode : {0777, 0770, 0702}) {
    ASSERT_EQ(chmod(path().c_str(), mode), 0);
    try {
      compile_leaf(source_of(3));
      FAIL() << "was not refused";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), Error::Kind::Resources);
      EXPECT_EQ(std::string(e.what()), "error: the cache folder " + path() +
                                           " can be written by others\n  help: code is loaded from there; set "
                                           "DISTAL_CACHE to a folder of your own, or chmod 700 it");
    }
  }
}

TEST_F(Cache, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  constexpr uid_t kSomebody = 12345;
  ASSERT_EQ(mkdir(path().c_str(), 0700), 0);
  ASSERT_EQ(chown(path().c_str(), kSomebody, kSomebody), 0);
  ScopedVariable cache("DISTAL_CACHE", path());
  EXPECT_EQ(test::message_of([] { compile_leaf(source_of(3)); }),
            "error: the cache folder " + path() +
                " can be written by others\n  help: code is loaded from there; set DISTAL_CACHE to a folder of your "
                "own, or chmod 700 it");
}

// A file cannot replace a folder that is not empty.
TEST_F(Cache, WhatCannotBeReplacedIsAnError) {
  ScopedVariable cache("DISTAL_CACHE", path());
  for (const char* extension : {".cpp", ".so"}) {
    compile_leaf(source_of(8));
    fs::path taken;
    for (const auto& entry : fs::directory_iterator(path())) {
      if (entry.path().extension() == extension) taken = entry.path();
    }
    fs::remove(taken);
    fs::create_directories(taken / "something");
    EXPECT_EQ(test::message_of([] { compile_leaf(source_of(8)); }), "error: cannot write " + taken.string());
    fs::remove_all(path());
  }
}

TEST_F(Cache, ACompilerThatMakesNoLibrary) {
  ScopedVariable cache("DISTAL_CACHE", path());
  std::string script = (folder_ / "c++").string();
  // Writes a text to the file after -o.
  std::ofstream(script) << "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho no library > \"$2\"\n";
  ASSERT_EQ(chmod(script.c_str(), 0700), 0);
  ScopedVariable compiler("DISTAL_CXX", script);
  std::string text = test::message_of([] { compile_leaf(source_of(3)); });
  EXPECT_EQ(text.rfind("error: cannot load " + path() + "/leaf-", 0), 0u) << text;
}

TEST_F(Cache, AFileInPlaceOfTheFolderIsRefused) {
  std::ofstream(path()) << "a file";
  ScopedVariable cache("DISTAL_CACHE", path());
  EXPECT_EQ(
      test::message_of([] { compile_leaf(source_of(3)); }),
      "error: cannot make the cache folder " + path() + "\n  help: set DISTAL_CACHE to a folder that can be written");
}

TEST_F(Cache, ALinkInPlaceOfTheFolderIsRefused) {
  fs::create_directory(folder_ / "elsewhere");
  fs::create_directory_symlink(folder_ / "elsewhere", path());
  ScopedVariable cache("DISTAL_CACHE", path());
  EXPECT_EQ(
      test::message_of([] { compile_leaf(source_of(3)); }),
      "error: cannot make the cache folder " + path() + "\n  help: set DISTAL_CACHE to a folder that can be written");
}

TEST_F(Cache, NoCompiler) {
  ScopedVariable cache("DISTAL_CACHE", path());
  ScopedVariable compiler("DISTAL_CXX", "/nonexistent/c++");
  try {
    compile_leaf(source_of(3));
    FAIL() << "was not refused";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::Resources);
    EXPECT_EQ(
        std::string(e.what()),
        "error: DISTAL_CXX is `/nonexistent/c++`, and there is no such program\n  help: name a C++ compiler, as in "
        "DISTAL_CXX=g++, or unset it for the system's");
  }
  EXPECT_EQ(leaf_compiler(), "");
  ScopedVariable path("PATH", "/nonexistent"), none("DISTAL_CXX", "");
  EXPECT_EQ(test::message_of([] { compile_leaf(source_of(3)); }),
            "error: no C++ compiler was found to compile a leaf\n  help: install g++, or run with --leaf interpreted");
}

TEST_F(Cache, ACompilerThatFails) {
  ScopedVariable cache("DISTAL_CACHE", path());
  ScopedVariable compiler("DISTAL_CXX", "/bin/false");
  EXPECT_EQ(
      test::message_of([] { compile_leaf(source_of(3)); }),
      "error: /bin/false could not compile a leaf (status 1)\n  help: run with --leaf interpreted to go without a "
      "compiler");
  EXPECT_TRUE(files().empty());
}

TEST_F(Cache, SeveralProcessesAtOnce) {
  ScopedVariable cache("DISTAL_CACHE", path());
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = false;
      try {
        right = result_of(compile_leaf(source_of(7))) == 8;
      } catch (...) {  // the exit status tells the parent
      }
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(compile_leaf(source_of(7)).from_cache);
  EXPECT_EQ(files(), (std::vector<std::string>{".cpp", ".so"}));
}

TEST(CacheFolderName, FollowsTheEnvironment) {
  ScopedVariable none("DISTAL_CACHE", "");
  ScopedVariable home("HOME", "/home/somebody");
  {
    ScopedVariable xdg("XDG_CACHE_HOME", "/somewhere");
    EXPECT_EQ(cache_folder(), "/somewhere/distal");
  }
  ScopedVariable xdg("XDG_CACHE_HOME", "");
  EXPECT_EQ(cache_folder(), "/home/somebody/.cache/distal");
  ScopedVariable own("DISTAL_CACHE", "/own");
  EXPECT_EQ(cache_folder(), "/own");
}

}  // namespace
}  // namespace distal::core
