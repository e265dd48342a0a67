#include "session/session.h"

#include <fmt/format.h>

#include "support/available_memory.h"

namespace distal::core {

void SessionOptions::require_valid() const {
  if (threads >= 0 && threads <= kMaxThreads) return;
  throw Error(fmt::format("a run on {} threads; give 1 to {}, or 0 for one per core", threads, kMaxThreads));
}

Session::Session(std::shared_ptr<PreparedProgram> prepared, const SessionOptions& options)
    : Session(std::move(prepared), options, "threads") {}

Session::Session(std::shared_ptr<PreparedProgram> prepared, const SessionOptions& options, const std::string& engine)
    : prepared_(std::move(prepared)),
      options_(options),
      allocator_(plan().processors),
      store_(plan(), std::vector<std::shared_ptr<TensorPieces>>(plan().tensors.size())) {
  require_host(plan().program->module, engine);
  options.require_valid();
}

void Session::place_pieces(int64_t other_bytes) {
  require_memory(prepared_->needs(options_.own_memory).total + other_bytes, available_memory());
  Allocator pieces(plan().processors);
  store_ = TensorStore(plan(), pieces);
  use_given_pieces();
}

void Session::use_given_pieces() {
  start(prepared_->needs(options_.own_memory), {options_.threads, options_.own_memory});
}

int64_t Session::resident_bytes() const { return core::resident_bytes(); }

void Session::start(const MemoryNeeds& needs, const RunnerOptions& options) {
  runner_ = std::make_unique<Runner>(plan(), needs, prepared_->leaves(options_.leaf), allocator_, store_, options);
}

}  // namespace distal::core
