#pragma once

#include <functional>
#include <string>

namespace distal::core {

// Processes that do something together. All of them make the same calls in the same order. This class is a process
// alone.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual bool is_first() const { return true; }
  // Runs f in every process. If it throws an Error in one, all throw that Error.
  virtual void agree(const std::function<void()>& f) const { f(); }
  // Gives all processes the text of the first.
  virtual void broadcast(std::string& /*text*/) const {}
};

}  // namespace distal::core
