#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "store/view.h"

namespace distal::core {

// A rectangle of elements that travels between two processes. Both ends name the same rectangle; each end has its own
// view of it in memory.
struct MessagePart {
  View view;
  Rect rect;
};
// The part with its dimensions permuted into the tensor's storage order, so that runs of contiguous elements are
// copied as a whole. The tensor has the same storage order at both ends.
MessagePart in_storage_order(const View& view, const Rect& rect, const std::vector<int>& order);

struct Message {
  int64_t source = 0, destination = 0;  // processors
  int64_t number = 0;                   // from Transport::next_number
  std::vector<MessagePart> parts;
};

// One process's connection to the processes that carry out a plan together. Every process walks the whole plan, so both
// ends of a message know it in advance and give it the same number.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual bool is_here(int64_t processor) const = 0;  // in this process
  // Numbers the messages from one process to another, in plan order.
  virtual int64_t next_number(int64_t source, int64_t destination) = 0;
  // `send` and `receive` return at once. `done` is called on any thread: after a send when the elements may be
  // overwritten, after a receive when they have arrived. Its argument is the number of bytes received, 0 for a send.
  using Done = std::function<void(int64_t bytes)>;
  virtual void send(const Message& message, Done done) = 0;
  virtual void receive(const Message& message, Done done) = 0;
  // A barrier over the processes that touch each other's pieces.
  virtual void barrier() = 0;
  // Tells or ends the other processes, which would otherwise wait for this failed process forever.
  virtual void fail(const std::exception_ptr& why) = 0;
  // One thread of this process begins (true) or ends (false) a leaf. While any thread runs a leaf, the transport uses
  // as little processor time as it can.
  virtual void set_computing(bool computing) = 0;
};

}  // namespace distal::core
