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

// Delivers the messages between simulated processes, which are threads of one process, in a random order. Some sends
// complete at once, like small MPI messages; the others complete when they are received, like large ones.
class LoopbackHub {
 public:
  // The process of each processor, and the node of each process.
  LoopbackHub(std::vector<int> processes, std::vector<int> nodes, ElementType type, uint64_t seed)
      : processes_(std::move(processes)), type_(type), choice_(seed), thread_([this] { work(); }) {
    std::map<int, int> sizes;
    for (int node : nodes) ++sizes[node];
    for (auto [node, size] : sizes) barriers_[node] = std::make_unique<std::barrier<>>(size);
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
  // The largest number of messages that one processor sent.
  int64_t most_sent() {
    std::lock_guard lock(mutex_);
    int64_t most = 0;
    for (const auto& [processor, count] : sent_) most = std::max(most, count);
    return most;
  }
  void barrier(int process) { barriers_.at(nodes_[static_cast<size_t>(process)])->arrive_and_wait(); }

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
  struct Request {
    Message message;
    std::unique_ptr<std::vector<std::byte>> packed;  // the copy of a message whose send completed at once
    Transport::Done done;
  };
  using RequestPair = std::array<std::optional<Request>, 2>;

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

  void post(Request request, size_t side) {
    std::tuple key{process_of(request.message.source), process_of(request.message.destination), request.message.number};
    std::lock_guard lock(mutex_);
    RequestPair& pair = pending_[key];
    pair[side] = std::move(request);
    if (!pair[kSent] || !pair[kReceived]) return;
    ready_.push_back(std::move(pair));
    pending_.erase(key);
    more_.notify_one();
  }

  void work() {
    while (true) {
      RequestPair pair;
      bool late = false;
      {
        std::unique_lock lock(mutex_);
        more_.wait(lock, [&] { return stopping_ || !ready_.empty(); });
        if (ready_.empty()) return;
        std::swap(ready_[static_cast<size_t>(choice_.below(static_cast<int64_t>(ready_.size())))], ready_.back());
        pair = std::move(ready_.back());
        ready_.pop_back();
        late = choice_.chance(25);
      }
      // A late delivery: processes that do not wait for the message as they must would go on meanwhile.
      if (late) std::this_thread::sleep_for(std::chrono::microseconds(200));
      deliver(pair);
    }
  }

  void deliver(RequestPair& pair) {
    const Message &from = pair[kSent]->message, &to = pair[kReceived]->message;
    int64_t bytes = 0;
    require_equal("parts of a message", static_cast<int64_t>(to.parts.size()), static_cast<int64_t>(from.parts.size()));
    for (size_t i = 0; i < to.parts.size(); ++i) {
      if (to.parts[i].rect != from.parts[i].rect)
        throw TestFailure("sender and receiver of a message have different rectangles");
      copy_rect(type_, to.parts[i].view, from.parts[i].view, to.parts[i].rect);
      bytes += to.parts[i].rect.volume() * size_of(type_);
    }
    pair[kSent]->done(0);
    pair[kReceived]->done(bytes);
  }

  std::vector<int> processes_, nodes_;
  ElementType type_;
  std::map<int, std::unique_ptr<std::barrier<>>> barriers_;  // by node

  std::mutex mutex_;
  std::condition_variable more_;
  property::Choice choice_;
  std::map<std::tuple<int, int, int64_t>, RequestPair> pending_;
  std::vector<RequestPair> ready_;
  std::map<int64_t, int64_t> sent_;  // messages by processor
  bool stopping_ = false;
  std::thread thread_;  // the last member: the thread uses all others
};

// The transport of one simulated process.
class Loopback : public Transport {
 public:
  Loopback(LoopbackHub& hub, int process) : hub_(hub), process_(process) {}

  bool is_here(int64_t processor) const override { return hub_.process_of(processor) == process_; }
  int64_t next_number(int64_t source, int64_t destination) override {
    return numbers_[{hub_.process_of(source), hub_.process_of(destination)}]++;
  }
  void send(const Message& message, Done done) override { hub_.send(message, std::move(done)); }
  void receive(const Message& message, Done done) override { hub_.receive(message, std::move(done)); }
  void barrier() override { hub_.barrier(process_); }
  void fail(const std::exception_ptr& why) override { std::rethrow_exception(why); }
  void set_computing(bool) override {}

 private:
  LoopbackHub& hub_;
  int process_;
  std::map<std::pair<int, int>, int64_t> numbers_;
};

}  // namespace distal::core::test
