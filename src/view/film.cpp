#include "view/film.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "plan/exchange.h"
#include "plan/memory.h"
#include "view/work.h"

namespace distal::core {

namespace {

using Json = nlohmann::ordered_json;

// Counts the frames of a stage. A frame ends with a run of the leaf; transfers after the last run are one more frame.
class Frames : public PlanVisitor {
 public:
  explicit Frames(const StagePlan& stage) : stage_(stage) {}
  void leaf(const LeafStep& /*step*/) override {
    ++frame_;
    open_ = false;
  }
  void release(const ReleaseStep& step) override {
    open_ = open_ || std::any_of(step.transfers.begin(), step.transfers.end(),
                                 [&](const Transfer& t) { return moves(stage_, step, t); });
  }
  int64_t count() const { return frame_ + (open_ ? 1 : 0); }

 protected:
  const StagePlan& stage_;
  int64_t frame_ = 0;
  bool open_ = false;
};

// Counts the entries of each frame.
class EntryCounter : public Frames {
 public:
  using Frames::Frames;
  void fetch(const FetchStep& step) override {
    std::set<int64_t> sources;
    for (const Fetch& f : step.fetches) {
      sources.clear();
      for (const FetchPiece& p : f.pieces) sources.insert(p.source);
      add(1 + sources.size());
    }
  }
  void release(const ReleaseStep& step) override {
    Frames::release(step);
    add(step.transfers.size());
  }
  void leaf(const LeafStep& step) override {
    add(step.processors.size());
    Frames::leaf(step);
  }

  // The least n for which every n-th frame and the last one together have at most `most` entries.
  int64_t stride(int64_t most) const {
    for (int64_t n = 1;; ++n) {
      int64_t sum = 0;
      for (int64_t f = 0; f < count(); f += n) sum += at(f);
      if (sum + at(count() - 1) <= most || n >= count()) return n;
    }
  }

 private:
  void add(size_t entries) {
    entries_.resize(static_cast<size_t>(frame_) + 1);
    entries_.back() += static_cast<int64_t>(entries);
  }
  int64_t at(int64_t frame) const {
    bool is_counted = frame >= 0 && frame < static_cast<int64_t>(entries_.size());
    return is_counted ? entries_[static_cast<size_t>(frame)] : 0;
  }

  std::vector<int64_t> entries_;
};

// What one tensor moves in a frame and in the frames left out before it.
struct Moved {
  int64_t bytes = 0, messages = 0;
  std::string pattern;
};

const char* name_of(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::WriteHome: return "write";
    case Transfer::Kind::CombineHome: return "add";
    case Transfer::Kind::CombinePartial: return "add to partial";
    case Transfer::Kind::CombineParent: return "add to shared";
    case Transfer::Kind::Replicate: return "replicate";
  }
  throw InternalError("unknown transfer");
}

class FilmVisitor : public Frames {
 public:
  FilmVisitor(const Plan& plan, int stage, const PlanCost& cost, const DetailLimits& limits, BlockTable& blocks)
      : Frames(plan.stages[static_cast<size_t>(stage)]),
        plan_(plan),
        cost_(cost),
        limits_(limits),
        blocks_(blocks),
        work_(stage_),
        exchanged_(plan, units_of(plan, stage_)) {
    while (next_ < cost.steps.size() && cost.steps[next_].stage < stage) ++next_;
    EntryCounter counter(stage_);
    walk(plan, stage_, counter);
    frames_ = counter.count();
    stride_ = counter.stride(limits.entries);
    find_loops();
  }

  void fetch(const FetchStep& step) override {
    exchanged_.fetch(step);
    const AcquirePlan& a = *step.acquire;
    Pairs pairs;
    for (const Fetch& f : step.fetches) {
      std::vector<Rect>& copies = held_[a.acquire->id][f.place];
      copies.clear();
      for (size_t r : copied_rects_of(f)) copies.push_back(f.rects[r]);
      for (const FetchPiece& p : f.pieces) {
        if (moves(stage_, a.acquire->place_levels, p.source, f.place)) pairs[{p.source, f.place}].push_back(p.rect);
      }
    }
    add_move(a.tensor, a.acquire->id, "fetch", pairs, take_cost(pairs));
  }

  void release(const ReleaseStep& step) override {
    Frames::release(step);
    exchanged_.release(step);
    std::map<Transfer::Kind, Pairs> by_kind;
    bool any = false;
    for (const Transfer& t : step.transfers) {
      if (!moves(stage_, step, t)) continue;
      by_kind[t.kind][{t.source, t.destination}].push_back(t.rect);
      any = true;
    }
    std::string pattern = any ? take_cost() : "";
    int acquire = step.acquire ? step.acquire->acquire->id : -1;
    for (const auto& [kind, pairs] : by_kind) add_move(step.tensor, acquire, name_of(kind), pairs, pattern);
    if (!step.acquire) return;
    for (int64_t place : step.places) held_[acquire][place].clear();
  }

  void leaf(const LeafStep& step) override {
    if (is_kept()) {
      std::vector<int> work(static_cast<size_t>(stage_.machine.processors), -1);
      for (int64_t p : step.processors) work[static_cast<size_t>(p)] = work_.at(p, *step.values, blocks_);
      Json loops = Json::object();
      for (int v : loops_) loops[stage_.space.names[v]] = (*step.values)[v];
      close_frame(std::move(loops), std::move(work));
    }
    Frames::leaf(step);
  }

  void end(const StagePlan& /*stage*/) override {
    if (open_) close_frame(Json::object(), Json::array());
  }

  Json film() { return {{"frames_in_all", frames_}, {"every", stride_}, {"frames", std::move(out_)}}; }

 private:
  using Pairs = std::map<std::pair<int64_t, int64_t>, std::vector<Rect>>;  // by source and destination

  // The sequential loops outside the leaf.
  void find_loops() {
    std::vector<bool> recovered = recovered_variables(stage_.space.derivations, stage_.space.size());
    for (int v = 0; v < stage_.space.size(); ++v) {
      if (stage_.leaf_is_fixed[v] && stage_.machine_dimension[v] < 0 && !recovered[v]) loops_.push_back(v);
    }
  }

  bool is_kept() const { return frame_ % stride_ == 0 || frame_ + 1 == frames_; }

  static std::vector<size_t> copied_rects_of(const Fetch& fetch) { return copied_rects(fetch.rects, fetch.views); }

  // Adds the current step, which must move bytes, to the totals of the frame. Returns its pattern.
  std::string take_cost() {
    const StepCost& step = cost_.steps.at(next_++);
    Moved& moved = moved_[step.tensor];
    moved.bytes += step.bytes;
    moved.messages += step.messages;
    std::string pattern = to_string(step.pattern);
    moved.pattern = moved.pattern.empty() || moved.pattern == pattern ? pattern : to_string(Pattern::Mixed);
    return pattern;
  }
  std::string take_cost(const Pairs& pairs) { return pairs.empty() ? "" : take_cost(); }

  void add_move(int tensor, int acquire, const char* kind, const Pairs& pairs, const std::string& pattern) {
    if (pairs.empty() || !is_kept()) return;
    Json move{{"tensor", tensor}, {"acquire", acquire}, {"kind", kind}, {"pattern", pattern}};
    if (static_cast<int64_t>(pairs.size()) > limits_.messages_per_move) {
      move["groups"] = grouped(tensor, pairs);
    } else {
      std::vector<int64_t> messages;
      for (const auto& [pair, rects] : pairs) {
        for (int block : blocks_.numbers_of(rects)) messages.insert(messages.end(), {pair.first, pair.second, block});
      }
      move["messages"] = std::move(messages);
    }
    moves_.push_back(std::move(move));
  }

  // The bytes between groups of consecutive processors. The groups are so large that their pairs are few enough.
  Json grouped(int tensor, const Pairs& pairs) const {
    int64_t size = 1;
    auto groups = [&] { return (plan_.processors + size - 1) / size; };
    while (groups() * groups() > limits_.messages_per_move) size *= 2;
    std::map<std::pair<int64_t, int64_t>, int64_t> sums;
    for (const auto& [pair, rects] : pairs) {
      int64_t& bytes = sums[{pair.first / size, pair.second / size}];
      for (const Rect& r : rects) bytes += r.volume() * plan_.tensors[static_cast<size_t>(tensor)].element_bytes;
    }
    std::vector<int64_t> messages;
    for (const auto& [pair, bytes] : sums) messages.insert(messages.end(), {pair.first, pair.second, bytes});
    return {{"size", size}, {"messages", std::move(messages)}};
  }

  void close_frame(Json loops, Json work) {
    Json frame{{"frame", frame_}, {"loops", std::move(loops)}, {"work", std::move(work)}};
    frame["moves"] = std::exchange(moves_, Json::array());
    frame["held"] = Json::array();
    for (const auto& [acquire, places] : held_) {
      std::vector<int64_t> copies;
      for (const auto& [place, rects] : places) {
        if (rects.empty()) copies.insert(copies.end(), {place, -1});
        for (int block : blocks_.numbers_of(rects)) copies.insert(copies.end(), {place, block});
      }
      frame["held"].push_back({{"acquire", acquire}, {"copies", std::move(copies)}});
    }
    held_.clear();
    frame["moved"] = Json::object();
    for (const auto& [tensor, moved] : moved_) {
      frame["moved"][tensor] = {{"bytes", moved.bytes}, {"messages", moved.messages}, {"pattern", moved.pattern}};
    }
    moved_.clear();
    frame["exchanged_bytes"] = exchanged_.most();
    out_.push_back(std::move(frame));
  }

  const Plan& plan_;
  const PlanCost& cost_;
  const DetailLimits& limits_;
  BlockTable& blocks_;
  Work work_;
  ExchangeVisitor exchanged_;
  size_t next_ = 0;  // in the steps of the cost
  int64_t frames_ = 0, stride_ = 1;
  std::vector<int> loops_;
  Json out_ = Json::array(), moves_ = Json::array();
  // By acquire and place: the copies that changed since the last frame that was written.
  std::map<int, std::map<int64_t, std::vector<Rect>>> held_;
  std::map<std::string, Moved> moved_;
};

}  // namespace

nlohmann::ordered_json film_of(const Plan& plan, int stage, const PlanCost& cost, const DetailLimits& limits,
                               BlockTable& blocks) {
  FilmVisitor visitor(plan, stage, cost, limits, blocks);
  walk(plan, plan.stages[static_cast<size_t>(stage)], visitor);
  return visitor.film();
}

}  // namespace distal::core
