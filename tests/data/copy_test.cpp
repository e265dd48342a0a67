#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "store/view.h"
#include "support/non_temporal_copy.h"

namespace distal::core {

namespace {

std::vector<std::byte> numbered(size_t count) {
  std::vector<std::byte> out(count);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<std::byte>(i * 7 + i / 251);
  return out;
}

TEST(NonTemporalCopy, OfAnySizeToAnyPlaceTouchesNothingElse) {
  std::vector<std::byte> source = numbered(400);
  for (size_t to = 0; to < 70; to += 3) {
    for (size_t from : {0, 1, 8, 33}) {
      for (size_t bytes : {0, 1, 15, 16, 63, 64, 65, 127, 128, 200, 257}) {
        std::vector<std::byte> got(400, std::byte{0xee}), want = got;
        copy_non_temporal(got.data() + to, source.data() + from, bytes);
        std::memcpy(want.data() + to, source.data() + from, bytes);
        ASSERT_EQ(got, want) << bytes << " bytes from " << from << " to " << to;
      }
    }
  }
}

// Lines that are too short for non-temporal stores, and long ones, that begin anywhere in a cache line.
TEST(CopyRect, NonTemporalStoresCopyTheSame) {
  for (int64_t width : {31, 1031}) {
    Rect rect{{1, 2, 0}, {4, 7, width - 8}};
    auto size = static_cast<size_t>(5 * 9 * width);
    std::vector<double> source(size);
    std::iota(source.begin(), source.end(), 1.0);
    for (const Coordinates& strides : {Coordinates{9 * width, width, 1}, Coordinates{1, 5, 45}}) {
      View from{reinterpret_cast<std::byte*>(source.data()), 0, strides};
      std::vector<double> filled(size), non_temporal = filled;
      View to_filled{reinterpret_cast<std::byte*>(filled.data()), 0, {9 * width, width, 1}};
      View to_non_temporal{reinterpret_cast<std::byte*>(non_temporal.data()), 0, {9 * width, width, 1}};
      copy_rect(ElementType::Double, to_filled, from, rect);
      copy_rect(ElementType::Double, to_non_temporal, from, rect, StoreKind::NonTemporal);
      EXPECT_EQ(filled, non_temporal);
      EXPECT_EQ(filled[static_cast<size_t>(11 * width)], source[static_cast<size_t>(strides[0] + 2 * strides[1])]);
    }
  }
}

}  // namespace

}  // namespace distal::core
