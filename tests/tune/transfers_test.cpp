#include "tune/transfers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/cost.h"
#include "schedule/redistribute.h"
#include "tune/random_statements.h"

namespace distal::core {
namespace {

using test::Random;

FindOptions least_bytes() { return {Goal::Bytes, {}, model_of_engine("mpi")}; }

FoundProgram find_in(const Module& module) { return find_what_is_left_out(module, bind(module, {}), least_bytes()); }

// A product on processors without a grid. About half of the operands lie on a line of them, cut by one dimension.
Module random_module(Random& random) {
  Module module = test::parse_text(test::random_statement(random, 4, 14, 2));
  Machine machine = free_machine(IntExpr(random.pick(2, 12)), Processor::CPU);
  machine.name = "M";
  module.machines = {machine};
  for (Tensor& tensor : module.tensors) {
    tensor.machine = machine;
    int64_t dimensions = static_cast<int64_t>(tensor.dimensions.size());
    if (dimensions == 0 || random.pick(0, 1) == 0) continue;
    LevelDistribution& level = tensor.distribution.emplace().levels.emplace_back();
    for (int64_t d = 0; d < dimensions; ++d) level.tensor_dimensions.push_back(fmt::format("d{}", d));
    std::string cut = level.tensor_dimensions[static_cast<size_t>(random.pick(0, dimensions - 1))];
    level.machine_dimensions.push_back({Partition{cut}, {}});
    if (random.pick(0, 2) == 0) level.cyclic.emplace(cut, IntExpr(random.pick(1, 3)));
  }
  return test::parse_text(to_string(module));
}

const Tensor& tensor_of(const Module& module, const std::string& name) { return *module.find_tensor(name); }

// The found program, with another format for one tensor.
Module with_format(const Module& module, const std::string& name, const std::string& format) {
  Module out = module;
  auto tensor = std::find_if(out.tensors.begin(), out.tensors.end(), [&](const Tensor& t) { return t.name == name; });
  Tensor given = *tensor;
  given.distribution = std::nullopt;
  given.machine = std::nullopt;
  *tensor = parse_format(format + " on M", "format", module, given);
  return out;
}

int64_t bytes_to_redistribute(const Module& module, const Tensor& to, Tensor from) {
  Module copy = module;
  from.name = "Before";
  copy.tensors = {to, from};
  copy.statements = {redistribution(to, from.name)};
  return count_cost(test::plan_text(to_string(copy))).bytes_moved;
}

// The bytes and messages of each tensor add up to those of the statement. The bytes that a change of format saves and
// needs are those that plans count.
TEST(Transfers, AreThoseOfThePlan) {
  Random random{std::mt19937(21)};
  int changes = 0, shared = 0;
  for (int round = 0; round < 300; ++round) {
    Module module = random_module(random);
    SCOPED_TRACE(to_string(module));
    FoundProgram found = find_in(module);
    if (found.statements.size() != 1) continue;
    SCOPED_TRACE(to_string(found.module));
    PlanCost counted = count_cost(test::plan_text(to_string(found.module)));
    for (const TensorTransfer& transfer : transfers_of(found.module, bind(module, {}), found.statements[0])) {
      ASSERT_EQ(transfer.bytes, counted.tensors[transfer.tensor].bytes) << transfer.tensor;
      ASSERT_EQ(cause_text(transfer).empty(), transfer.bytes == 0);
      shared += !transfer.shared.empty();
      if (!transfer.change) continue;
      ++changes;
      Module changed = with_format(found.module, transfer.tensor, transfer.change->format);
      PlanCost after = count_cost(test::plan_text(to_string(changed)));
      ASSERT_EQ(transfer.bytes - after.tensors[transfer.tensor].bytes, transfer.change->bytes_saved);
      const Tensor &to = tensor_of(changed, transfer.tensor), &from = tensor_of(found.module, transfer.tensor);
      ASSERT_EQ(bytes_to_redistribute(changed, to, from), transfer.change->bytes_needed);
    }
  }
  EXPECT_GT(changes, 50);
  EXPECT_GT(shared, 50);
}

TensorTransfer one(int64_t bytes, std::vector<SharedIndex> shared, std::optional<FormatChange> change = {}) {
  TensorTransfer transfer{"B", false, change.has_value(), bytes, 3};
  transfer.shared = std::move(shared);
  transfer.change = std::move(change);
  return transfer;
}

TEST(Transfers, InWords) {
  EXPECT_EQ(cause_text(one(0, {})), "");
  EXPECT_EQ(cause_text(one(64, {{"j", 4}, {"k", 2}})),
            "processors share tiles, because j is cut by 4 and k is cut by 2 and B has no such index");
  TensorTransfer output = one(64, {{"k", 2}});
  output.is_output = true;
  EXPECT_EQ(cause_text(output), "partial results are added, because k is cut by 2 and B has no such index");
  TensorTransfer given = one(64, {{"j", 4}}, FormatChange{"ij -> i", 64, 32});
  EXPECT_EQ(cause_text(given), "its format differs from the tiles of the work");
  EXPECT_EQ(change_text(given), "B : ij -> i would move 64 bytes less; to redistribute moves 32 once");
  given.change->bytes_saved = 40;
  EXPECT_EQ(cause_text(given),
            "processors share tiles, because j is cut by 4 and B has no such index; for 40 of them "
            "its format differs from the tiles of the work");
  EXPECT_EQ(change_text(one(64, {})), "");
}

}  // namespace
}  // namespace distal::core
