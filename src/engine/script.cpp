#include "engine/script.h"

#include <algorithm>

namespace distal::core {

int64_t Script::add(std::function<void()> work) {
  work_.push_back(std::move(work));
  waits_for_.emplace_back();
  return size() - 1;
}

void Script::set_dependencies(const std::vector<TaskPtr>& tasks) {
  auto last = static_cast<int32_t>(size() - 1);
  std::vector<int32_t>& waits_for = waits_for_.back();
  for (const TaskPtr& t : tasks) {
    if (t->number != last) waits_for.push_back(static_cast<int32_t>(t->number));
  }
  std::sort(waits_for.begin(), waits_for.end());
  waits_for.erase(std::unique(waits_for.begin(), waits_for.end()), waits_for.end());
  bool follows = last == 0 || (!waits_for.empty() && waits_for.back() == last - 1);
  is_chain_ = is_chain_ && follows;
}

void Script::finish() {
  if (!is_chain_) replay_ = std::make_unique<Replay>(work_, waits_for_);
  waits_for_ = {};
}

void Script::run_here() const {
  for (const std::function<void()>& work : work_) work();
}

void Script::run_on(Team& crew) {
  if (is_chain_ || crew.size() == 1) return run_here();
  replay_->run(crew);
}

}  // namespace distal::core
