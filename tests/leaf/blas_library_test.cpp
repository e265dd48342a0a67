// Loading a BLAS. Most tests load fake libraries, so that they do not depend on the machine.

#include "leaf/blas_library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "leaf/blas.h"
#include "support/cache.h"
#include "support/cache_folder.h"
#include "support/environment.h"
#include "support/error.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::message_of;

// Unsets an environment variable while it lives.
class UnsetVariable {
 public:
  explicit UnsetVariable(const char* name) : restore_(name, "") { unsetenv(name); }

 private:
  ScopedVariable restore_;
};

int threads_of(const SharedLibrary& library) {
  auto* threads = library.find<int (*)()>("openblas_get_num_threads");
  return threads ? threads() : 0;
}

bool has_variable(const char* name) { return std::getenv(name) != nullptr; }

TEST(Blas, Multiplies) {
  std::vector<double> a{1, 2, 3, 4}, b{5, 6, 7, 8}, c(4, 1);
  blas::gemm(CblasNoTrans, CblasTrans, 2, 2, 2, a.data(), 2, b.data(), 2, c.data(), 2, 1.0, 1.0);
  EXPECT_EQ(c, (std::vector<double>{18, 24, 40, 54}));
  using Complex = std::complex<float>;
  std::vector<Complex> x{{0, 1}, {2, 0}}, y{{0, 1}, {1, 1}};
  EXPECT_EQ(blas::dot(2, x.data(), 1, y.data(), 1), Complex(1, 2)) << "nothing is conjugated";
}

// Calls every function, to find wrong declarations.
template <class T>
void compute_with_all() {
  const Cblas<T>& f = blas::functions<T>();
  const T one = 1, two = 2;
  auto scale = CblasScalar<T>::of(two), keep = CblasScalar<T>::of(one);
  std::vector<T> a{1, 2, 3, 4}, x{1, 2}, y{1, 1}, c(4, 1);
  f.gemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, scale, a.data(), 2, a.data(), 2, keep, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{15, 21, 31, 45}));
  c.assign(4, 1);
  f.syrk(CblasRowMajor, CblasUpper, CblasNoTrans, 2, 2, scale, a.data(), 2, keep, c.data(), 2);
  EXPECT_EQ(c, (std::vector<T>{11, 23, 1, 51}));
  f.gemv(CblasRowMajor, CblasNoTrans, 2, 2, scale, a.data(), 2, x.data(), 1, keep, y.data(), 1);
  EXPECT_EQ(y, (std::vector<T>{11, 23}));
  f.axpy(2, scale, x.data(), 1, y.data(), 1);
  EXPECT_EQ(y, (std::vector<T>{13, 27}));
  f.ger(CblasRowMajor, 2, 2, scale, x.data(), 1, x.data(), 1, a.data(), 2);
  EXPECT_EQ(a, (std::vector<T>{3, 6, 7, 12}));
  EXPECT_EQ(blas::dot(2, x.data(), 1, x.data(), 1), T(5));
}

TEST(Blas, HasAllFunctionsOfAllTypes) {
  compute_with_all<float>();
  compute_with_all<double>();
  compute_with_all<std::complex<float>>();
  compute_with_all<std::complex<double>>();
}

TEST(Blas, HasOneThread) {
  int threads = threads_of(blas_library().library);
  if (threads == 0) GTEST_SKIP() << "only OpenBLAS can be asked, and this is " << blas_description();
  EXPECT_EQ(threads, 1);
}

TEST(Blas, HasKernelsAsGoodAsTheCpu) {
  std::string kernels = kernels_of(blas_library().library);
  if (kernels.empty()) GTEST_SKIP() << "only OpenBLAS can be asked, and this is " << blas_description();
  if (has_variable("OPENBLAS_CORETYPE")) GTEST_SKIP() << "the environment chooses the kernels";
  EXPECT_GE(simd_width_of_kernels(kernels), simd_width_of_cpu()) << blas_description();
  EXPECT_NE(blas_description().find(kernels + " kernels"), std::string::npos) << blas_description();
}

TEST(LoadBlas, DistalChoosesTheKernelsOfAnOldOpenblas) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description,
            "OpenBLAS 9.8.7, SkylakeX kernels (chosen by DISTAL; default: Prescott)");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx2).description,
            "OpenBLAS 9.8.7, Haswell kernels (chosen by DISTAL; default: Prescott)");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Narrow).description, "OpenBLAS 9.8.7, Prescott kernels");
  EXPECT_FALSE(has_variable("OPENBLAS_CORETYPE")) << "the environment is as it was";
}

// The first load writes the library's default kernels to the cache, and the second load reads them from there.
TEST(LoadBlas, TheDefaultKernelsAreCached) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  std::filesystem::path folder = testing::TempDir() + "/distal-kernels";
  std::filesystem::remove_all(folder);
  test::CacheFolder cache(folder);
  load_blas(FAKE_OPENBLAS, SimdWidth::Avx512);
  auto file = std::filesystem::directory_iterator(folder)->path();
  EXPECT_EQ(read_text(file), "Prescott\n");
  write_atomically(file, "Atom\n");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description,
            "OpenBLAS 9.8.7, SkylakeX kernels (chosen by DISTAL; default: Atom)");
  for (const char* broken : {"", "Nonsense\n"}) {
    write_atomically(file, broken);
    EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description,
              "OpenBLAS 9.8.7, SkylakeX kernels (chosen by DISTAL; default: Prescott)");
  }
}

TEST(LoadBlas, ACacheThatCannotBeWrittenDoesNoHarm) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  ScopedVariable cache("DISTAL_CACHE", "/proc/nowhere");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description,
            "OpenBLAS 9.8.7, SkylakeX kernels (chosen by DISTAL; default: Prescott)");
}

TEST(LoadBlas, TheUsersKernelsStay) {
  ScopedVariable core("OPENBLAS_CORETYPE", "Nehalem");
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description, "OpenBLAS 9.8.7, Nehalem kernels");
}

// A library that this process has loaded already cannot be loaded again with other kernels.
TEST(LoadBlas, WhatIsLoadedAlreadyStays) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  SharedLibrary before;
  ASSERT_TRUE(before.load(FAKE_OPENBLAS)) << before.error();
  EXPECT_EQ(load_blas(FAKE_OPENBLAS, SimdWidth::Avx512).description, "OpenBLAS 9.8.7, Prescott kernels");
}

TEST(LoadBlas, NoPoolOfThreadsIsStarted) {
  ScopedVariable threads("OPENBLAS_NUM_THREADS", "7");
  EXPECT_EQ(threads_of(load_blas(FAKE_OPENBLAS).library), 1);
  EXPECT_STREQ(std::getenv("OPENBLAS_NUM_THREADS"), "7") << "the environment is as it was";
}

TEST(LoadBlas, NamesMayHaveThePrefixOfPyPI) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  EXPECT_EQ(load_blas(FAKE_SCIPY, SimdWidth::Narrow).description, "OpenBLAS 9.8.7, Prescott kernels");
}

TEST(LoadBlas, RefusesUnusableLibraries) {
  std::string missing = message_of([] { load_blas("/nowhere/libblas.so"); });
  EXPECT_NE(missing.find("cannot load a BLAS: /nowhere/libblas.so"), std::string::npos) << missing;
  EXPECT_NE(missing.find("set DISTAL_BLAS to a shared library with CBLAS"), std::string::npos) << missing;
  std::string other = message_of([] { load_blas("libm.so.6"); });
  EXPECT_NE(other.find("libm.so.6 is not a BLAS with the CBLAS interface: it has no function cblas_sgemm"),
            std::string::npos)
      << other;
  std::string wide = message_of([] { load_blas(FAKE_WIDE); });
  EXPECT_NE(wide.find(" uses 64-bit sizes, but DISTAL needs a BLAS with 32-bit sizes"), std::string::npos) << wide;
  try {
    load_blas("/nowhere/libblas.so");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::Resources);
  }
}

TEST(LoadBlas, TheEnvironmentChoosesTheLibrary) {
  {
    ScopedVariable chosen("DISTAL_BLAS", "libmine.so");
    EXPECT_EQ(blas_names(), std::vector<std::string>{"libmine.so"});
  }
  UnsetVariable chosen("DISTAL_BLAS");
  EXPECT_NE(blas_names().at(0), "");
  ScopedVariable empty("DISTAL_BLAS", "");
  EXPECT_NE(blas_names().at(0), "") << "empty counts as unset";
}

TEST(LoadBlas, TheFallbackComesAfterTheOneOfTheBuild) {
  UnsetVariable chosen("DISTAL_BLAS");
  std::vector<std::string> before = blas_names();
  ASSERT_EQ(before.size(), 1u);
  set_fallback_blas("libmine.so");
  EXPECT_EQ(blas_names(), (std::vector<std::string>{before[0], "libmine.so"}));
  set_fallback_blas("");
  EXPECT_EQ(blas_names(), before);
}

TEST(LoadBlas, TheFirstThatIsThereIsLoaded) {
  UnsetVariable core("OPENBLAS_CORETYPE");
  EXPECT_NE(load_first_blas({"libnowhere.so", FAKE_SCIPY}).description.find("OpenBLAS 9.8.7"), std::string::npos);
  std::string missing = message_of([] { load_first_blas({"libnowhere.so", "/nowhere/libblas.so"}); });
  EXPECT_NE(missing.find("cannot load a BLAS: libnowhere.so"), std::string::npos) << missing;
  std::string wide = message_of([] { load_first_blas({FAKE_WIDE, FAKE_SCIPY}); });
  EXPECT_NE(wide.find("uses 64-bit sizes"), std::string::npos) << "one that is there is not passed over: " << wide;
}

TEST(Kernels, BetterOnesAreFound) {
  EXPECT_EQ(better_kernels("Prescott", SimdWidth::Avx512), "SkylakeX");
  EXPECT_EQ(better_kernels("Haswell", SimdWidth::Avx512), "SkylakeX");
  EXPECT_EQ(better_kernels("ZEN", SimdWidth::Avx512), "SkylakeX") << "in upper or lower case";
  EXPECT_EQ(better_kernels("Sandybridge", SimdWidth::Avx2), "Haswell");
  EXPECT_EQ(better_kernels("Nehalem", SimdWidth::Avx), "Sandybridge");
}

TEST(Kernels, GoodOnesStay) {
  EXPECT_EQ(better_kernels("SkylakeX", SimdWidth::Avx512), "");
  EXPECT_EQ(better_kernels("Zen", SimdWidth::Avx2), "");
  EXPECT_EQ(better_kernels("Prescott", SimdWidth::Narrow), "");
  EXPECT_EQ(better_kernels("of a CPU to come", SimdWidth::Avx512), "");
  EXPECT_EQ(better_kernels("", SimdWidth::Avx512), "") << "no OpenBLAS";
}

}  // namespace
}  // namespace distal::core
