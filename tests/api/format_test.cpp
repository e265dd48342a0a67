// A format that breaks a rule is refused at the first use of the tensor, whichever call that is.

#include <gtest/gtest.h>

#include "api/errors.h"

namespace distal {
namespace {

// What every use of such a tensor throws.
std::string error_of_all_uses(const std::vector<Int>& shape, const Format& format) {
  std::vector<double> buffer(64);
  auto after = [&](const auto& use) {
    Tensor<double> A("A", shape, format);
    return error_of([&] { use(A); });
  };
  std::string error = after([](auto& A) { A.pieces(); });
  std::string file = ::testing::TempDir() + "no_such_format.npy";
  Tensor<double>("B", shape).save(file);
  EXPECT_EQ(after([](auto& A) { A.fill([](const auto&) { return 1.0; }); }), error);
  EXPECT_EQ(after([&](auto& A) { A.at(std::vector<int64_t>(shape.size(), 0)); }), error);
  EXPECT_EQ(after([&](auto& A) { A.bind(0, buffer.data()); }), error);
  EXPECT_EQ(after([&](auto& A) { A.bind(0, std::span<double>(buffer)); }), error);
  EXPECT_EQ(after([&](auto& A) { A.load(file); }), error);
  EXPECT_EQ(after([&](auto& A) { A.save(file); }), error);
  EXPECT_EQ(after([&](auto& A) { A.copy_from(Tensor<double>("B", shape)); }), error);
  return error;
}

const Machine kLine(Grid(2), "M");

TEST(ApiFormats, StorageOrders) {
  std::string help = "\n  help: name each of the dimensions 0 to 1 once, outermost first";
  for (const std::vector<int>& order : std::vector<std::vector<int>>{{0}, {0, 1, 2}, {0, 7}, {1, 1}, {-1, 0}}) {
    EXPECT_EQ(error_of_all_uses({4, 4}, Format({Dense, Dense}, order)),
              "error: tensor A: the order of A is not a permutation of its 2 dimensions" + help);
  }
}

TEST(ApiFormats, RolesAndFaces) {
  EXPECT_EQ(error_of_all_uses({4, 4}, Format({Dense, Dense}, Distribution(kLine, {0, 1}))),
            "error: tensor A: the distribution has 2 roles, but M = Grid(2) has 1 dimension\n"
            "  help: give one role for each machine dimension");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution(kLine, {Face{5}}))),
            "error: tensor A: face 5 of A is outside machine dimension 0, which has extent 2\n"
            "  help: the faces are 0 to 1");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution(kLine, {3}))),
            "error: tensor A: the distribution cuts dimension 3 of A, which has 1 dimension\n"
            "  help: dimensions are counted from 0");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution(Machine(Grid(2, 2), "P"), {0, 0}))),
            "error: tensor A: dimension 0 is partitioned by two machine dimensions\n"
            "  help: a tensor dimension may be cut along one machine dimension only");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution::hierarchical(kLine, {}))),
            "error: tensor A: A has 0 distributions, but its machine M = Grid(2) has 1 level\n"
            "  help: give one list of roles for each level of the machine");
}

TEST(ApiFormats, CyclicDimensions) {
  auto error = [](int dimension, const Int& block, int level) {
    return error_of_all_uses({4, 4}, Format({Dense, Dense}, Distribution(kLine, {0}).cyclic(dimension, block, level)));
  };
  EXPECT_EQ(error(0, 0, 0), "error: tensor A: the cyclic block of dimension 0 is 0; it must be at least 1");
  EXPECT_EQ(error(0, 1, 2), "error: tensor A: cyclic: there is no level 2; the distribution has 1");
  EXPECT_EQ(error(2, 1, 0),
            "error: tensor A: the distribution cuts dimension 2 of A, which has 2 dimensions\n"
            "  help: dimensions are counted from 0");
  EXPECT_EQ(error(1, 1, 0),
            "error: tensor A: `cyclic` of dimension 1, which no machine dimension partitions\n"
            "  help: the partitioned dimensions are: `x`");
  Distribution twice = Distribution(kLine, {0}).cyclic(0, 2).cyclic(0, 3);
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, twice)),
            "error: tensor A: cyclic gives the block of dimension 0 twice");
}

TEST(ApiFormats, ModesAndSizes) {
  EXPECT_EQ(error_of_all_uses({2, 2, 2}, Format({Dense}, Distribution(kLine, {0}))),
            "error: tensor A: the format has 1 mode, and the tensor 3 dimensions\n"
            "  help: give one of them for each dimension, as in {Dense, Dense}");
  Param none("none", -1);
  EXPECT_EQ(error_of([&] { Tensor<double>("A", {none}).pieces(); }),
            "error: tensor A: dimension 0 of A is none = -1; it must be at least 0");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution(Machine(Grid(none), "N"), {0}))),
            "error: machine N: extent 0 of the grid is none = -1; it must be at least 1");
  EXPECT_EQ(error_of_all_uses({4}, Format({Dense}, Distribution(Machine(std::vector<Grid>{}, "N"), {}))),
            "error: machine N: a machine needs at least one level");
}

}  // namespace
}  // namespace distal
