// What sessions share, and what they refuse. The tests of the command line and of the library run whole programs.

#include "session/session.h"

#include <gtest/gtest.h>

#include <cstring>

#include "plan/cost.h"
#include "support/programs.h"

namespace distal::core {
namespace {

std::shared_ptr<PreparedProgram> shifted_sum() {
  return std::make_shared<PreparedProgram>(
      test::plan_text("machine M = Grid(3)\ntensor a(6) : x -> x on M\ntensor b(6) : x -> * on M\n"
                      "tensor c(6) : x -> 0 on M\na(i) = b(i) + c(i)\nschedule\n  distribute(i, io, ii, M)\n"
                      "  communicate({a, b, c}, io)\n"));
}

void fill(Session& session, const std::string& tensor, double first) {
  session.store().fill(session.plan().tensor_index(tensor), [&](std::span<const int64_t> at, void* element) {
    double value = first + static_cast<double>(at[0]);
    std::memcpy(element, &value, sizeof(value));
  });
}

std::vector<double> result_of(const Session& session) {
  std::vector<std::byte> bytes = session.gather(session.plan().tensor_index("a"));
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

TEST(Session, SharesAProgramWithOthersButNoData) {
  std::shared_ptr<PreparedProgram> program = shifted_sum();
  Session views(program, {.threads = 2}), copies(program, {.threads = 1, .own_memory = true});
  for (Session* session : {&views, &copies}) {
    session->place_pieces(0);
    fill(*session, "b", session == &views ? 10 : 20);
    fill(*session, "c", 1);
  }
  Cost cost = count_cost(program->plan());
  for (Session* session : {&views, &copies, &views}) {
    RunCounts counts = session->run();
    EXPECT_EQ(counts.bytes_moved, cost.bytes_moved);
    EXPECT_EQ(counts.messages, cost.messages);
  }
  EXPECT_EQ(result_of(views), (std::vector<double>{11, 13, 15, 17, 19, 21}));
  EXPECT_EQ(result_of(copies), (std::vector<double>{21, 23, 25, 27, 29, 31}));
  EXPECT_EQ(copies.peak_per_processor(), cost.peak_bytes_per_processor);
  EXPECT_LE(views.peak_per_processor(), cost.peak_bytes_per_processor);
}

TEST(Session, IsForItsProgramAndItsOptions) {
  std::shared_ptr<PreparedProgram> program = shifted_sum();
  Session session(program, {.threads = 2});
  EXPECT_TRUE(session.is_for(program, {.threads = 2}));
  EXPECT_FALSE(session.is_for(program, {.threads = 3}));
  EXPECT_FALSE(session.is_for(program, {.threads = 2, .own_memory = true}));
  EXPECT_FALSE(session.is_for(program, {.threads = 2, .leaf = LeafChoice::Strict}));
  EXPECT_FALSE(session.is_for(shifted_sum(), {.threads = 2}));
}

TEST(Session, RefusesWhatTheMachineHasNoMemoryFor) {
  Session session(shifted_sum(), {});
  try {
    session.place_pieces(int64_t{1} << 60);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), Error::Kind::Resources);
    EXPECT_EQ(e.message().rfind("the run needs ", 0), 0u) << e.message();
    EXPECT_NE(e.message().find("(1,152,921,504,606,84"), std::string::npos) << e.message();
  }
}

TEST(PreparedProgram, MakesEachThingOnce) {
  std::shared_ptr<PreparedProgram> program = shifted_sum();
  EXPECT_EQ(&program->needs(true), &program->needs(true));
  EXPECT_GT(program->needs(true).total, program->needs(false).total);
  EXPECT_EQ(&program->leaves(LeafChoice::Automatic), &program->leaves(LeafChoice::Automatic));
  EXPECT_NE(program->leaves(LeafChoice::Automatic)[0], program->leaves(LeafChoice::Interpreted)[0]);
}

}  // namespace
}  // namespace distal::core
