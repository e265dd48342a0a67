// The pieces of a process.

#include <gtest/gtest.h>

#include "store/tensor_store.h"
#include "support/programs.h"

namespace distal::core {
namespace {

// Three processors that each have a replica of T. The last two are in this process; it can read the piece of the first.
struct Replicas {
  Plan plan = test::plan_text("tensor T(4) : x -> * on Grid(3)\ntensor B(4)\nT(i) = B(i)\n");
  TensorPieces pieces{plan.tensors[0].owners, ElementType::Double, plan.tensors[0].order};
  std::vector<double> memory[3] = {std::vector<double>(4, 1), std::vector<double>(4, 2), std::vector<double>(4, 2)};

  Replicas() {
    for (int64_t p = 0; p < 3; ++p) pieces.attach(p, reinterpret_cast<std::byte*>(memory[p].data()), p > 0);
  }
};

TEST(Pieces, ReplicasOfThisProcessAreCompared) {
  Replicas r;
  EXPECT_EQ(r.pieces.differing_replica(), "");
  r.memory[2][3] = 5;
  EXPECT_EQ(r.pieces.differing_replica(), "[3:4] on processor (2)");
}

TEST(Pieces, ThoseOfThisProcessAreCounted) {
  Replicas r;
  EXPECT_EQ(r.pieces.bytes_here(0), 0);
  EXPECT_EQ(r.pieces.bytes_here(1), 32);
}

TEST(Pieces, LargeOnesInOneBlockAreNotAPowerOfTwoApart) {
  auto offsets_for = [](const std::string& size) {
    Plan plan = test::plan_text("tensor T(" + size + ") : x -> x on Grid(3)\ntensor B(" + size + ")\nT(i) = B(i)\n");
    return piece_offsets(
        plan.tensors[0].owners, ElementType::Double, [](int64_t p) { return p != 1; }, 128);
  };
  PieceOffsets large = offsets_for("1572864"), small = offsets_for("12");
  int64_t bytes = 4 << 20;
  EXPECT_EQ(large.of, (std::vector<int64_t>{128, -1, 128 + bytes + kLargePiecePadding}));
  EXPECT_EQ(large.end, 128 + 2 * (bytes + kLargePiecePadding));
  EXPECT_EQ(small.of, (std::vector<int64_t>{128, -1, 192}));
  EXPECT_EQ(small.end, 256);
}

}  // namespace
}  // namespace distal::core
