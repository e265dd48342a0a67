// The verifier is given the steps of correct plans, in which one thing is broken.

#include "plan/verify.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/programs.h"
#include "support/run.h"

namespace distal::core {
namespace {

using test::plan_algorithm;
using test::plan_text;

// Passes every step to the verifier. A callback may change the step first, or drop it by returning false.
class Breaker : public PlanVisitor {
 public:
  Breaker(const Plan& plan, const MemoryNeeds& needs) : verifier_(make_verifier(plan, needs)) {}

  std::function<bool(FetchStep&)> on_fetch;
  std::function<bool(ReleaseStep&)> on_release;
  std::function<bool(LeafStep&)> on_leaf;

  void begin(const StagePlan& stage) override { verifier_->begin(stage); }
  void init(int tensor) override { verifier_->init(tensor); }
  void fetch(const FetchStep& step) override { forward(step, on_fetch, &PlanVisitor::fetch); }
  void release(const ReleaseStep& step) override { forward(step, on_release, &PlanVisitor::release); }
  void leaf(const LeafStep& step) override { forward(step, on_leaf, &PlanVisitor::leaf); }
  void end(const StagePlan& stage) override { verifier_->end(stage); }

 private:
  template <class Step>
  void forward(Step step, const std::function<bool(Step&)>& change, void (PlanVisitor::*visit)(const Step&)) {
    if (!change || change(step)) (verifier_.get()->*visit)(step);
  }
  std::unique_ptr<PlanVisitor> verifier_;
};

// Calls `change` for every step until it returns true, which means that it changed the step.
template <class Step>
std::function<bool(Step&)> once(std::function<bool(Step&)> change, bool* done) {
  return [change, done](Step& step) {
    if (!*done) *done = change(step);
    return true;
  };
}

// A correct plan whose steps are broken on the way to the verifier. Its functions return the verifier's error message.
class BrokenPlan {
 public:
  explicit BrokenPlan(Plan plan) : plan_(std::move(plan)), needs_(memory_needs(plan_, Reach::own())) {
    EXPECT_NO_THROW(verify(plan_, needs_)) << "the plan is wrong before the test breaks it";
  }

  MemoryNeeds& needs() { return needs_; }
  const Plan& plan() const { return plan_; }

  std::string with(const std::function<void(Breaker&)>& set_up) {
    Breaker breaker(plan_, needs_);
    set_up(breaker);
    return test::message_of<PlanError>([&] { walk(plan_, breaker); });
  }
  // `change` says whether it changed the step.
  std::string fetch(const std::function<bool(FetchStep&)>& change) {
    bool done = false;
    std::string text = with([&](Breaker& b) { b.on_fetch = once<FetchStep>(change, &done); });
    EXPECT_TRUE(done) << "nothing was broken";
    return text;
  }
  std::string release(const std::function<bool(ReleaseStep&)>& change) {
    bool done = false;
    std::string text = with([&](Breaker& b) { b.on_release = once<ReleaseStep>(change, &done); });
    EXPECT_TRUE(done) << "nothing was broken";
    return text;
  }
  std::string tensor_of(const FetchStep& s) const { return plan_.tensors[s.acquire->tensor].name; }

 private:
  Plan plan_;
  MemoryNeeds needs_;
};

BrokenPlan summa() { return BrokenPlan(plan_algorithm("summa", "ni=8,nj=6,nk=12,gx=2,gy=2,chunk=3")); }
BrokenPlan cannon() { return BrokenPlan(plan_algorithm("cannon", "ni=9,nj=6,nk=12,gx=3,gy=3")); }
BrokenPlan johnson() { return BrokenPlan(plan_algorithm("johnson", "ni=8,nj=6,nk=4,gx=2,gy=2,gz=2")); }

// A cyclic vector is gathered into blocks: each processor acquires pieces of equal size from several sources.
BrokenPlan gathered() {
  return BrokenPlan(plan_text(R"(machine M = Grid(3)
tensor a(12) : x -> x on M
tensor b(12) : x -> x cyclic(x) on M
a(i) = b(i)
schedule
  distribute(i, io, ii, M)
  communicate({a, b}, io)
)"));
}

// Partial sums of a replicated output.
BrokenPlan replicated_sum() {
  return BrokenPlan(plan_text(R"(machine M = Grid(2, 3)
tensor a(6) : x -> x* on M
tensor B(6, 9) : xy -> xy on M
a(i) = B(i, j)
schedule
  distribute({i, j}, {io, jo}, {ii, ji}, M)
  communicate({a, B}, jo)
)"));
}

// Each processor computes rows of an output that is distributed by columns, and sends them to several owners.
BrokenPlan written_elsewhere() {
  return BrokenPlan(plan_text(R"(machine M = Grid(3)
tensor A(6, 6) : xy -> y on M
tensor B(6, 6) : xy -> x on M
A(i, j) = B(i, j)
schedule
  distribute(i, io, ii, M)
  communicate({A, B}, io)
)"));
}

// Each processor acquires every second block of rows at once.
BrokenPlan blocks() { return BrokenPlan(plan_algorithm("scalapack", "ni=8,nj=4,nk=4,gx=2,gy=2,block=2,chunk=4")); }

// A sum that is distributed at both levels.
BrokenPlan two_level_sum() {
  return BrokenPlan(plan_text(R"(machine M = Grid(2, 2) of Grid(3)
tensor a(4) : x -> x0, x -> 0 on M
tensor B(4, 12) : xy -> xy, xy -> y on M
a(i) = B(i, k)
schedule
  distribute({i, k}, {io, ko}, {ii, ki}, M[0])
  distribute(ki, kio, kii, M[1])
  communicate({a, B}, kio)
)"));
}

TEST(Verify, GoodPlansPass) {
  for (const std::string& name : test::algorithm_names()) {
    SCOPED_TRACE(name);
    std::string small = name == "contraction4" ? "ni=5,nj=4,nk=3,nl=6,nm=7,nn=2" : "";
    if (name == "mttkrp") small = "ni=7,nj=9,nk=8,nl=3";
    if (name == "ttm") small = "ni=7,nj=9,nk=8,nl=3";
    Plan plan = plan_algorithm(name, small);
    EXPECT_NO_THROW(verify(plan, memory_needs(plan, Reach::own())));
    EXPECT_NO_THROW(verify(plan, memory_needs(plan, Reach::all())));
  }
}

// A copy into a replicated tensor: each processor writes its own replica.
std::string copy_into_replicas() {
  return "machine M = Grid(2, 3)\ntensor A(7, 5) : xy -> x* on M\ntensor B(7, 5) : xy -> xy on M\n"
         "A(i, j) = B(i, j)\nschedule\n  distribute({i}, {io}, {ii}, x -> x* on M)\n  communicate({A, B}, io)\n";
}

TEST(Verify, AReplicaThatNobodyWrites) {
  Plan plan = plan_text(copy_into_replicas());
  ASSERT_EQ(plan.stages[0].everywhere, (std::vector<int>{1}));
  verify(plan, memory_needs(plan, Reach::own()));
  plan.stages[0].held[1] = 0;  // only the first column takes part, and the other replicas are never written
  EXPECT_THROW(verify(plan, memory_needs(plan, Reach::own())), PlanError);
}

TEST(Verify, AReplicaThatAllWrite) {
  Plan plan = plan_text(copy_into_replicas());
  plan.stages[0].everywhere.clear();  // all take part, and each sends what it wrote to all others
  EXPECT_THROW(verify(plan, memory_needs(plan, Reach::own())), PlanError);
}

// ---- acquires ----

TEST(Verify, APieceIsDropped) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.empty()) continue;
      f.pieces.pop_back();
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) needs B[0:4, 0:3], and 12 of its elements have no source");
}

TEST(Verify, APartOfAPieceIsDropped) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.empty()) continue;
      --f.pieces[0].rect.hi[0];
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) needs B[0:4, 0:3], and 3 of its elements have no source");
}

TEST(Verify, ABlockIsNotAcquired) {
  EXPECT_EQ(blocks().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.access_rects[0].counts[0] < 2) continue;
      f.access_rects[0].counts[0] = 1;
      return true;
    }
    return false;
  }),
            "the plan is wrong: processor (0, 0) touches B[4:6, 0:4] without having acquired it");
}

TEST(Verify, ABlockHasNoSource) {
  EXPECT_EQ(blocks().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.access_rects[0].counts[0] < 2) continue;
      std::erase_if(f.pieces, [](const FetchPiece& p) { return p.rect.lo[0] == 4; });
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 0) needs B[4:6, 0:4], and 8 of its elements have no source");
}

TEST(Verify, APieceIsBroughtTwice) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.empty()) continue;
      f.pieces.push_back(f.pieces[0]);
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) is brought elements of B twice");
}

TEST(Verify, APieceIsBroughtInPlaceOfAnother) {
  BrokenPlan broken = gathered();
  std::string text = broken.fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.size() < 2) continue;
      f.pieces[1] = f.pieces[0];
      return true;
    }
    return false;
  });
  EXPECT_EQ(text, "the plan is wrong: (0) is brought elements of b twice");
}

TEST(Verify, TheSourceIsNotTheOwner) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.empty()) continue;
      f.pieces[0].source = 3;
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) is to get B[0:4, 0:3] from (1, 1), which does not have it");
}

TEST(Verify, TheNeighbourNeverHadIt) {
  BrokenPlan broken = cannon();
  EXPECT_EQ(broken.fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      for (FetchPiece& p : f.pieces) {
        if (p.from != FetchPiece::From::Neighbour) continue;
        p.source = (f.place + 5) % 9;
        return true;
      }
    }
    return false;
  }),
            "the plan is wrong: (0, 0) is to get B[0:3, 4:8] from (1, 2), which does not have it");
}

TEST(Verify, TheNeighbourHadItLongAgo) {
  // At the third step, the source had the tile at the first step but no longer at the second.
  BrokenPlan broken = BrokenPlan(plan_algorithm("cannon", "ni=8,nj=8,nk=8,gx=4,gy=4"));
  std::string text = broken.fetch([](FetchStep& s) {
    if (s.step != 2) return false;
    for (Fetch& f : s.fetches) {
      for (FetchPiece& p : f.pieces) {
        if (p.from != FetchPiece::From::Neighbour || p.source != 2) continue;
        p.source = 3;  // two to the right: it had the tile two steps ago
        return true;
      }
    }
    return false;
  });
  EXPECT_EQ(text, "the plan is wrong: (0, 1) is to get B[0:2, 6:8] from (0, 3), which does not have it");
}

TEST(Verify, NothingWasKept) {
  std::string text = summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      for (FetchPiece& p : f.pieces) {
        p.from = FetchPiece::From::Kept;
        p.source = f.place;
        return true;
      }
    }
    return false;
  });
  EXPECT_EQ(text, "the plan is wrong: (0, 1) is to get B[0:4, 0:3] from (0, 1), which does not have it");
}

TEST(Verify, AViewOfAnotherProcessorsPiece) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.views[0] >= 0 || f.pieces.empty()) continue;
      f.views[0] = f.pieces[0].source;
      f.pieces.clear();
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) uses B[0:4, 0:3] in place, which is not its own");
}

TEST(Verify, AViewOfElementsOutsideThePiece) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.views[0] >= 0 || f.pieces.empty()) continue;
      f.views[0] = f.place;
      f.pieces.clear();
      return true;
    }
    return false;
  }),
            "the plan is wrong: (0, 1) uses B[0:4, 0:3] in place, which is not its own");
}

TEST(Verify, ALeafTouchesWhatWasNotAcquired) {
  BrokenPlan broken = summa();
  EXPECT_EQ(broken.fetch([&](FetchStep& s) {
    if (s.step != 1 || broken.tensor_of(s) != "C") return false;
    std::erase_if(s.fetches, [](const Fetch& f) { return f.place == 2; });
    return true;
  }),
            "the plan is wrong: processor (1, 0) touches C[3:6, 0:3] without having acquired it");
}

TEST(Verify, ALeafTouchesMoreThanWasAcquired) {
  EXPECT_EQ(summa().fetch([](FetchStep& s) {
    for (Fetch& f : s.fetches) {
      if (f.pieces.empty()) continue;
      --f.rects[0].hi[1];
      --f.pieces[0].rect.hi[1];
      return true;
    }
    return false;
  }),
            "the plan is wrong: processor (0, 1) touches B[0:4, 0:3] without having acquired it");
}

// ---- deadlocks ----

TEST(Verify, OneBufferIsReadAndWrittenAtOnce) {
  BrokenPlan broken = cannon();
  for (auto& stage : broken.needs().buffers) {
    for (auto& acquire : stage) {
      for (auto& [place, need] : acquire) need.depth = 1;
    }
  }
  EXPECT_EQ(broken.with([](Breaker&) {}),
            "the plan is wrong: a cycle of waits goes through (0, 0): its only buffer is read and written in one step");
}

TEST(Verify, OneBufferIsEnoughWithoutNeighbours) {
  Plan plan = plan_algorithm("cannon", "ni=9,nj=6,nk=12,gx=3,gy=3", PlanOptions{false});
  MemoryNeeds needs = memory_needs(plan, Reach::own());
  for (const auto& acquire : needs.buffers[0]) {
    for (const auto& [place, need] : acquire) EXPECT_EQ(need.depth, 1);
  }
  EXPECT_NO_THROW(verify(plan, needs));
}

// ---- memory ----

TEST(Verify, ABufferIsTooSmall) {
  BrokenPlan broken = cannon();
  for (auto& acquire : broken.needs().buffers[0]) {
    for (auto& [place, need] : acquire) need.bytes = std::min<int64_t>(need.bytes, 40);
  }
  EXPECT_EQ(broken.with([](Breaker&) {}), "the plan is wrong: (1, 0) acquires 96 bytes of B, and its buffer has 40");
}

TEST(Verify, MemoryStaysWithinTheCap) {
  Plan plan = plan_algorithm("cannon", "ni=9,nj=6,nk=12,gx=3,gy=3");
  for (Reach reach : {Reach::own(), Reach::all()}) {
    MemoryNeeds needs = memory_needs(plan, reach);
    int64_t peak = needs.peak_per_processor, total = needs.total;
    EXPECT_NO_THROW(verify(plan, needs, {peak, total}));
    EXPECT_EQ(test::message_of<PlanError>([&] {
                verify(plan, needs, {peak - 1, total});
              }),
              "the plan is wrong: processor 0 holds " + std::to_string(peak) + " bytes, and the cap is " +
                  std::to_string(peak - 1));
    EXPECT_EQ(test::message_of<PlanError>([&] {
                verify(plan, needs, {peak, total - 1});
              }),
              "the plan is wrong: all processors hold " + std::to_string(total) + " bytes, and the cap is " +
                  std::to_string(total - 1));
  }
}

// ---- written pieces ----

TEST(Verify, AWrittenPieceGoesToANonOwner) {
  EXPECT_EQ(written_elsewhere().release([](ReleaseStep& s) {
    s.transfers[1].destination = 2;
    return true;
  }),
            "the plan is wrong: A[0:2, 2:4] is sent to (2), which does not own it");
}

TEST(Verify, AWrittenPieceIsLost) {
  EXPECT_EQ(written_elsewhere().release([](ReleaseStep& s) {
    s.transfers.erase(s.transfers.begin() + 1);
    return true;
  }),
            "the plan is wrong: (0) sends 8 of the 12 elements of A that it has");
}

TEST(Verify, AWrittenPieceIsSentInPlaceOfAnother) {
  std::string text = written_elsewhere().release([](ReleaseStep& s) {
    s.transfers[1] = s.transfers[0];
    return true;
  });
  EXPECT_EQ(text, "the plan is wrong: (0) sends elements of A twice");
}

TEST(Verify, APieceIsSentByAProcessorWithoutIt) {
  EXPECT_EQ(written_elsewhere().release([](ReleaseStep& s) {
    s.transfers[1].source = 2;
    return true;
  }),
            "the plan is wrong: (2) is to send A[0:2, 2:4], which it does not have");
}

TEST(Verify, AReleaseIsDropped) {
  std::string text = written_elsewhere().with([](Breaker& b) { b.on_release = [](ReleaseStep&) { return false; }; });
  EXPECT_EQ(text, "the plan is wrong: 0 of the 36 elements of A are written");
}

TEST(Verify, OnePlaceIsLeftOutOfARelease) {
  EXPECT_EQ(written_elsewhere().release([](ReleaseStep& s) {
    s.places.pop_back();
    return true;
  }),
            "the plan is wrong: 24 of the 36 elements of A are written");
}

TEST(Verify, AReleaseWithoutItsAcquire) {
  EXPECT_EQ(summa()
                .release([](ReleaseStep& s) {
                  s.acquire = nullptr;
                  return true;
                })
                .substr(0, 18),
            "the plan is wrong:");
}

TEST(Verify, APlaceReleasesWhatItNeverHad) {
  // Six rows in blocks of two leave the last processor without any.
  BrokenPlan broken(plan_text(R"(machine M = Grid(4)
tensor A(6) : x -> x on M
tensor B(6) : x -> 0 on M
A(i) = B(i)
schedule
  distribute(i, io, ii, M)
  communicate({A, B}, io)
)"));
  EXPECT_EQ(broken.release([](ReleaseStep& s) {
    s.places.push_back(3);
    return true;
  }),
            "the plan is wrong: (3) releases what it does not have");
}

// ---- partials ----

TEST(Verify, APartialIsLost) {
  EXPECT_EQ(johnson().release([](ReleaseStep& s) {
    s.transfers.erase(s.transfers.begin());
    return true;
  }),
            "the plan is wrong: (0, 0, 1) sends 0 of the 12 elements of A that it has");
}

TEST(Verify, APartialIsSentTwice) {
  EXPECT_EQ(johnson().release([](ReleaseStep& s) {
    s.transfers.push_back(s.transfers[0]);
    return true;
  }),
            "the plan is wrong: (0, 0, 1) sends 24 of the 12 elements of A that it has");
}

TEST(Verify, APartialGoesToANonOwner) {
  EXPECT_EQ(johnson().release([](ReleaseStep& s) {
    s.transfers[0].destination = 2;
    return true;
  }),
            "the plan is wrong: A[0:4, 0:3] is sent to (0, 1, 0), which does not own it");
}

TEST(Verify, AReleaseOfPartialsIsDropped) {
  std::string text = johnson().with([](Breaker& b) { b.on_release = [](ReleaseStep&) { return false; }; });
  EXPECT_EQ(text, "the plan is wrong: (0, 0, 0) never sends its piece of A home");
}

// The processor owns a replica of the output, but its partial is a separate buffer.
TEST(Verify, APartialOfAReplicaIsLost) {
  BrokenPlan broken = replicated_sum();
  std::string text = broken.release([](ReleaseStep& s) {
    if (!s.acquire || s.transfers.empty()) return false;
    s.transfers.erase(s.transfers.begin());
    return true;
  });
  EXPECT_EQ(text, "the plan is wrong: (0, 1) sends 0 of the 3 elements of a that it has");
}

TEST(Verify, AReplicaIsCopiedFromANonOwner) {
  std::string text = written_elsewhere().with([](Breaker& b) {
    b.on_release = [](ReleaseStep& s) {
      s.transfers.push_back({Rect{{0, 0}, {2, 2}}, 2, 0, Transfer::Kind::Replicate});
      return true;
    };
  });
  EXPECT_EQ(text, "the plan is wrong: a replica of A is copied from (2), which has none");
}

TEST(Verify, AReplicaIsNotBroughtUpToDate) {
  BrokenPlan broken = replicated_sum();
  EXPECT_EQ(broken.release([](ReleaseStep& s) {
    if (s.acquire) return false;
    s.transfers.pop_back();
    return true;
  }),
            "the plan is wrong: the replica of a on (1, 2) gets 0 of 3 elements");
  EXPECT_EQ(broken.with([](Breaker& b) { b.on_release = [](ReleaseStep& s) { return s.acquire != nullptr; }; }),
            "the plan is wrong: the replicas of a are not brought up to date");
}

TEST(Verify, AReplicaIsCopiedFromOneThatIsNotUpToDate) {
  EXPECT_EQ(replicated_sum().release([](ReleaseStep& s) {
    if (s.acquire) return false;
    s.transfers[1].source = 1;
    return true;
  }),
            "the plan is wrong: a replica of a is copied from (0, 1), which is not the first");
}

TEST(Verify, APartialIsCombinedAtAFurtherReplica) {
  EXPECT_EQ(replicated_sum().release([](ReleaseStep& s) {
    s.transfers[0].destination = 2;
    return true;
  }),
            "the plan is wrong: a[0:3] is combined at (0, 2), which is not its first owner");
}

// The first processor of each row writes, and copies along the row.
BrokenPlan replicated_write() {
  return BrokenPlan(plan_text(R"(machine M = Grid(2, 3)
tensor a(6) : x -> x* on M
tensor b(6) : x -> 0x on M
a(i) = 2 * b(i)
schedule
  distribute(i, io, ii, a)
  communicate({a, b}, io)
)"));
}

TEST(Verify, AWrittenReplicaIsForgotten) {
  EXPECT_EQ(replicated_write().release([](ReleaseStep& s) {
    s.transfers.pop_back();
    return true;
  }),
            "the plan is wrong: the replica of a on (1, 2) gets 0 of 3 elements");
}

TEST(Verify, AWrittenReplicaIsCopiedTooEarly) {
  EXPECT_EQ(replicated_write().release([](ReleaseStep& s) {
    s.transfers[0].source = 2;
    return true;
  }),
            "the plan is wrong: a replica of a is copied from (0, 2), which has none");
}

TEST(Verify, APartialGoesToAProcessorWithoutOne) {
  // It is sent to a processor of another row, which has no partial for it.
  EXPECT_EQ(two_level_sum().release([](ReleaseStep& s) {
    for (Transfer& t : s.transfers) {
      if (t.kind != Transfer::Kind::CombinePartial) continue;
      t.destination = 6;
      return true;
    }
    return false;
  }),
            "the plan is wrong: a[0:2] is to be added to the copy on (1, 0 | 0), which has none at that time");
}

TEST(Verify, APartialComesTooLate) {
  // The first partial of a node is sent home before the others are added to it.
  EXPECT_EQ(two_level_sum().release([](ReleaseStep& s) {
    std::stable_partition(s.transfers.begin(), s.transfers.end(),
                          [](const Transfer& t) { return t.kind != Transfer::Kind::CombinePartial; });
    return true;
  }),
            "the plan is wrong: a[0:2] is to be added to the copy on (0, 1 | 0), which has none at that time");
}

TEST(Verify, APartialMissesTheSharedCopy) {
  BrokenPlan broken(plan_text(R"(machine M = Grid(2) of Grid(3)
tensor a(4) : x -> x, x -> 0 on M
tensor B(4, 12) : xy -> x, xy -> y on M
a(i) = B(i, k)
schedule
  distribute(i, io, ii, M[0])
  communicate({a, B}, io)
  distribute(k, ko, ki, M[1])
)"));
  EXPECT_EQ(broken.release([](ReleaseStep& s) {
    for (Transfer& t : s.transfers) {
      if (t.kind != Transfer::Kind::CombineParent) continue;
      t.destination = 3;
      return true;
    }
    return false;
  }),
            "the plan is wrong: a[0:2] is to be added to the copy on (1 | 0), which has none at that time");
}

// ---- too many steps ----

std::string steps_error(const std::string& schedule) {
  return test::message_of([&] { plan_text(test::tiled_gemm(schedule), "ni=1000,nj=1000,nk=1000"); });
}

TEST(Steps, TheMissingCommunicateIsNamed) {
  EXPECT_EQ(
      steps_error("  reorder({k, i, j})\n  distribute(j, M)\n  communicate({A, B}, i)\n"),
      R"(t.distal:6:1: error: the plan has 1,000,000,000 steps, because C, which no communicate names, is communicated at loop j; at most 10,000,000 are planned
  A(i, j) = B(i, k) * C(k, j)
  ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  help: say communicate(C, k), which makes 2,000 steps)");
}

// Further out, a cyclic output would be a partial. So A is communicated block by block, which makes too many steps.
TEST(Steps, AnOutputOfTooManyBlocks) {
  std::string text =
      test::message_of([] { plan_algorithm("scalapack", "ni=32768,nj=32768,nk=32768,gx=4,gy=4,block=64,chunk=512"); });
  EXPECT_NE(
      text.find(
          "the plan has 16,777,216 steps, because A is communicated at loop j_round; at most 10,000,000 are planned"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("help: say communicate(A, i_round), which makes 131,072 steps, or cut the loops into larger blocks"),
      std::string::npos)
      << text;
}

TEST(Steps, ACommunicateTooFarIn) {
  EXPECT_EQ(
      steps_error("  distribute({i, j}, {io, jo}, {ii, ji}, M)\n  communicate({A, C}, jo)\n  communicate(B, k)\n"),
      R"(t.distal:6:1: error: the plan has 1,000,000,000 steps, because B is communicated at loop k; at most 10,000,000 are planned
  A(i, j) = B(i, k) * C(k, j)
  ^~~~~~~~~~~~~~~~~~~~~~~~~~~
  help: say communicate(B, ii), which makes 2,000 steps)");
}

TEST(Steps, NoScheduleOnOneProcessorIsFine) {
  // All tensors are at home, so the leaf has all loops.
  Plan plan =
      plan_text("param n = 2000\ntensor A(n, n)\ntensor B(n, n)\ntensor C(n, n)\nA(i, j) = B(i, k) * C(k, j)\n");
  EXPECT_EQ(plan.stages[0].leaf_loops.size(), 3u);
}

TEST(Steps, LoopsAboveTheLaunch) {
  std::string text = steps_error("  reorder({k, i, j})\n  distribute(j, M)\n  communicate({A, B, C}, j)\n");
  EXPECT_NE(text.find("at most 10,000,000 are planned"), std::string::npos) << text;
}

}  // namespace
}  // namespace distal::core
