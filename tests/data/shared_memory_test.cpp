#include "store/shared_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace distal::core {
namespace {

TEST(SharedMemory, BeginsAtZeroAndIsSharedByAllThatOpenIt) {
  for (int64_t bytes : {1, 5000, 3 << 20}) {
    std::unique_ptr<SharedMemory> made = SharedMemory::make(bytes);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->bytes(), bytes);
    EXPECT_TRUE(std::all_of(made->data(), made->data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    std::unique_ptr<SharedMemory> opened = SharedMemory::open(made->name(), bytes, made->id());
    ASSERT_TRUE(opened);
    EXPECT_NE(opened->data(), made->data());
    made->data()[bytes - 1] = std::byte{7};
    EXPECT_EQ(opened->data()[bytes - 1], std::byte{7});
    made = nullptr;  // the memory lives while it is open elsewhere
    EXPECT_EQ(opened->data()[bytes - 1], std::byte{7});
  }
}

TEST(SharedMemory, IsNotMistakenForAnother) {
  std::unique_ptr<SharedMemory> one = SharedMemory::make(10), other = SharedMemory::make(10);
  EXPECT_NE(one->id(), other->id());
  EXPECT_FALSE(SharedMemory::open(one->name(), 10, other->id()));
  EXPECT_FALSE(SharedMemory::open("/proc/self/fd/99999", 10, one->id()));
  EXPECT_FALSE(SharedMemory::open("", 10, one->id()));
}

TEST(SharedMemory, IsNotMadeWithoutMemory) { EXPECT_FALSE(SharedMemory::make(int64_t{1} << 50)); }

}  // namespace
}  // namespace distal::core
