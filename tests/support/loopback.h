#pragma once

#include <array>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/transport.h"
#include "property/random_choice.h"
#include "support/expected.h"

namespace distal::core::test {

// Carries the messages of several "processes" of one process, in an order of its own. Some sends are complete at once,
// as small ones of MPI are, and some only when they were received, as large ones are.
class LoopbackHub {
 public:
  // By processor its process, and by process its node.
  LoopbackHub(std::vector<int> processes, std::vector<int> nodes, ElementType type, uint64_t seed)
      : processes_(std::move(processes)), type_(type), choice_(seed), thread_([this] { work(); }) {
    std::map<int, int> sizes;
    for (int node : nodes) ++sizes[node];
    for (auto [node, size] : sizes) meetings_[node] = std::make_unique<std::barrier<>>(size);
    nodes_ = std::move(nodes);
  }

  ~LoopbackHub() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    more_.notify_one();
    thread_.join();
  }

  int process_of(int64_t processor) const { return processes_[static_cast<size_t>(processor)]; }
  // How many messages the processor that sent most of them sent.
  int64_t most_sent() {
    std::lock_guard lock(mutex_);
    int64_t most = 0;
    for (const auto& [processor, count] : sent_) most = std::max(most, count);
    return most;
  }
  void meet(int process) { meetings_.at(nodes_[static_cast<size_t>(process)])->arrive_and_wait(); }

  void send(Message message, Transport::Done done) {
    bool at_once = false;
    {
      std::lock_guard lock(mutex_);
      ++sent_[message.source];
      at_once = choice_.chance(50);
    }
    if (!at_once) return post({std::move(message), {}, std::move(done)}, kSent);
    auto packed = std::make_unique<std::vector<std::byte>>(packed_bytes(message));
    int64_t used = 0;
    for (MessagePart& part : message.parts) {
      View to = dense_view(packed->data() + used, part.rect, rows_first(part.rect));
      copy_rect(type_, to, part.view, part.rect);
      used += part.rect.volume() * size_of(type_);
      part.view = to;
    }
    post({std::move(message), std::move(packed), [](int64_t) {}}, kSent);
    done(0);
  }
  void receive(Message message, Transport::Done done) { post({std::move(message), {}, std::move(done)}, kReceived); }

 private:
  static constexpr size_t kSent = 0, kReceived = 1;
  struct Posted {
    Message message;
    std::unique_ptr<std::vector<std::byte>> packed;  // what was sent at once
    Transport::Done done;
  };
  using Both = std::array<std::optional<Posted>, 2>;

  static std::vector<int> rows_first(const Rect& rect) {
    std::vector<int> order(rect.dimensions());
    std::iota(order.begin(), order.end(), 0);
    return order;
  }

  size_t packed_bytes(const Message& message) const {
    int64_t bytes = 0;
    for (const MessagePart& part : message.parts) bytes += part.rect.volume() * size_of(type_);
    return static_cast<size_t>(bytes);
  }

  void post(Posted posted, size_t side) {
    std::tuple key{process_of(posted.message.source), process_of(posted.message.destination), posted.message.number};
    std::lock_guard lock(mutex_);
    Both& both = pending_[key];
    both[side] = std::move(posted);
    if (!both[kSent] || !both[kReceived]) return;
    ready_.push_back(std::move(both));
    pending_.erase(key);
    more_.notify_one();
  }

  void work() {
    while (true) {
      Both both;
      bool late = false;
      {
        std::unique_lock lock(mutex_);
        more_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
        if (ready_.empty()) return;
        std::swap(ready_[static_cast<size_t>(choice_.below(static_cast<int64_t>(ready_.size())))], ready_.back());
        both = std::move(ready_.back());
        ready_.pop_back();
        late = choice_.chance(25);
      }
      // Time for the others to do what they must not do yet.
      if (late) std::this_thread::sleep_for(std::chrono::microseconds(200));
      deliver(both);
    }
  }

  void deliver(Both& both) {
    const Message &from = both[kSent]->message, &to = both[kReceived]->message;
    int64_t bytes = 0;
    require_equal("parts of a message", static_cast<int64_t>(to.parts.size()), static_cast<int64_t>(from.parts.size()));
    for (size_t i = 0; i < to.parts.size(); ++i) {
      if (to.parts[i].rect != from.parts[i].rect) throw Wrong("the ends of a message have different rectangles");
      copy_rect(type_, to.parts[i].view, from.parts[i].view, to.parts[i].rect);
      bytes += to.parts[i].rect.volume() * size_of(type_);
    }
    both[kSent]->done(0);
    both[kReceived]->done(bytes);
  }

  std::vector<int> processes_, nodes_;
  ElementType type_;
  std::map<int, std::unique_ptr<std::barrier<>>> meetings_;  // by node

  std::mutex mutex_;
  std::condition_variable more_;
  property::Choice choice_;
  std::map<std::tuple<int, int, int64_t>, Both> pending_;
  std::vector<Both> ready_;
  std::map<int64_t, int64_t> sent_;  // messages by processor
  bool stopping_ = false;
  std::thread thread_;  // last: it uses all of the above
};

// What one of the processes sees.
class Loopback : public Transport {
 public:
  Loopback(LoopbackHub& hub, int process) : hub_(hub), process_(process) {}

  bool is_here(int64_t processor) const override { return hub_.process_of(processor) == process_; }
  int64_t next_number(int64_t source, int64_t destination) override {
    return numbers_[{hub_.process_of(source), hub_.process_of(destination)}]++;
  }
  void send(const Message& message, Done done) override { hub_.send(message, std::move(done)); }
  void receive(const Message& message, Done done) override { hub_.receive(message, std::move(done)); }
  void meet() override { hub_.meet(process_); }
  void fail(const std::exception_ptr& why) override { std::rethrow_exception(why); }
  void computes(bool) override {}

 private:
  LoopbackHub& hub_;
  int process_;
  std::map<std::pair<int, int>, int64_t> numbers_;
};

}  // namespace distal::core::test
