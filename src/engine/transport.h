#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "store/view.h"

namespace distal::core {

// Elements that travel between two processes: those of the rectangles, one rectangle after the other. The two have the
// same rectangles; where these lie is each one's own matter.
struct MessagePart {
  View view;
  Rect rect;
};
// A rectangle of a tensor of some storage order, with its dimensions in that order: elements that lie side by side
// travel so, and need not be picked one by one. Both ends have tensors of the same order.
MessagePart in_storage_order(const View& view, const Rect& rect, const std::vector<int>& order);

struct Message {
  int64_t source = 0, destination = 0;  // processors
  int64_t number = 0;                   // as next_number said
  std::vector<MessagePart> parts;
};

// The processes that carry a plan out together, as one of them sees them. Each walks the whole plan and does its part
// of it; so both ends of a message know of it beforehand, and number it alike.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual bool is_here(int64_t processor) const = 0;  // in this process
  // Counts the messages between the processes of two processors, in the order of the plan.
  virtual int64_t next_number(int64_t source, int64_t destination) = 0;
  // Both return at once; `done` is called, on any thread, when the elements may be overwritten, or have come. It is
  // given the number of bytes that were really moved.
  using Done = std::function<void(int64_t bytes)>;
  virtual void send(const Message& message, Done done) = 0;
  virtual void receive(const Message& message, Done done) = 0;
  // All processes that touch each other's pieces wait for each other.
  virtual void meet() = 0;
  // This process cannot go on, and others may wait for it for ever: they are to be told, or ended.
  virtual void fail(const std::exception_ptr& why) = 0;
  // From here to there a thread of this process computes: moving bytes must not take time from it.
  virtual void computes(bool now) = 0;
};

}  // namespace distal::core
