#include <algorithm>
#include <tuple>

#include "engine/runner.h"

namespace distal::core {

namespace {

bool same_route(const Transfer& a, const Transfer& b) {
  return a.source == b.source && a.destination == b.destination && a.kind == b.kind;
}

}  // namespace

void Runner::release(const ReleaseStep& step) {
  run_all_batches();  // so a batch never spans two copies of the output
  clear_blank_copies(step);
  shared_.clear();
  std::map<std::pair<int64_t, int64_t>, Arrival> pairs;
  const Transfer* end = step.transfers.data() + step.transfers.size();
  for (const Transfer* t = step.transfers.data(); t != end;) {
    const Transfer* next = t + 1;
    bool here = is_here(t->source), there = is_here(t->destination);
    while (here != there && next != end && same_route(*t, *next)) ++next;
    std::span<const Transfer> transfers{t, next};
    bool is_remote_store = needs_.options.is_remote_store(*t);
    Arrival arrival;
    if (there && moves(*stage_, step, *t)) {
      arrival = pairs.try_emplace({t->source, t->destination}, std::make_shared<std::atomic<bool>>()).first->second;
      if (here || is_remote_store) count_arrival(arrival, bytes_of(step, transfers));
    }
    if (here && there) {
      transfer(step, *t);
    } else if (here && is_remote_store) {
      store_remotely(step, transfers);
    } else if (there && is_remote_store) {
      grant_remote_store(*t);
    } else if (here || there) {
      transfer_by_message(step, transfers, arrival);
    }
    t = next;
  }
  // Later shared users must also wait for the shared users of this release.
  for (const auto& [resource, sharing] : shared_) submit_barrier(*resource);
}

// Zeroes the blank copies and pieces that this release reads or adds to.
void Runner::clear_blank_copies(const ReleaseStep& step) {
  if (!first_leaf_may_overwrite()) return;  // nothing is blank
  auto clear = [&](Slot* copy, int64_t home) {
    if (copy) {
      clear_if_blank(*copy);
    } else if (blank_[static_cast<size_t>(home)]) {
      clear_piece(home);
    }
  };
  for (const Transfer& t : step.transfers) {
    if (is_here(t.source)) clear(source_of(step, t), t.source);
    if (is_here(t.destination)) clear(target_of(step, t), t.destination);
  }
}

int64_t Runner::bytes_of(const ReleaseStep& step, std::span<const Transfer> transfers) const {
  int64_t elements = 0;
  for (const Transfer& t : transfers) elements += t.rect.volume();
  return elements * tensor(step.tensor).element_bytes;
}

// The copy that the transfer reads, or null if it reads a piece.
Slot* Runner::source_of(const ReleaseStep& step, const Transfer& t) {
  return t.kind == Transfer::Kind::Replicate ? nullptr : &buffers_at(step.acquire->acquire->id, t.source).current();
}

// The copy that the transfer writes or adds to, or null if that is a piece.
Slot* Runner::target_of(const ReleaseStep& step, const Transfer& t) {
  if (t.kind == Transfer::Kind::CombinePartial) {
    return &buffers_at(step.acquire->acquire->id, t.destination).current();
  }
  if (t.kind == Transfer::Kind::CombineParent) {
    return &buffers_at(*step.acquire->acquire->parent, t.destination).current();
  }
  return nullptr;
}

void Runner::put(const View& to, const View& from, const Rect& rect, bool sum) {
  sum ? add_rect(type(), to, from, rect) : copy_rect(type(), to, from, rect);
  copied_ += rect.volume() * size_of(type());
}

void Runner::transfer(const ReleaseStep& step, const Transfer& t) {
  Slot* from = source_of(step, t);
  Slot* into = target_of(step, t);
  View source = from ? from->views[0] : store_.view(step.tensor, t.source, t.rect);
  View target = into ? into->views[0] : store_.view(step.tensor, t.destination, t.rect);
  TaskPtr task = stream_.make([this, source, target, rect = t.rect, sum = adds(t)] { put(target, source, rect, sum); });
  std::vector<TaskPtr> dependencies;
  // Exclusive use of the source too, so that the transfer waits for all leaves that wrote to it.
  take(from ? from->resource : homes_[static_cast<size_t>(t.source)], task, dependencies);
  // A copy that lies in a piece is ordered with the other users of that piece.
  int64_t home = into ? into->in_place[0] : t.destination;
  if (into) take(into->resource, task, dependencies);
  if (home >= 0) take(homes_[static_cast<size_t>(home)], task, dependencies);
  stream_.submit(task, dependencies);
}

// A message without elements, by which one process tells another to go on.
Message Runner::token(int64_t source, int64_t destination) const {
  return {source, destination, options_.transport->next_number(source, destination), {}};
}

// Sender side of a store into a piece in shared memory: waits for the receiver's token, stores or adds the transfers,
// and answers with a token.
void Runner::store_remotely(const ReleaseStep& step, std::span<const Transfer> transfers) {
  const Transfer& first = transfers[0];
  Slot* from = source_of(step, first);
  std::vector<std::tuple<View, View, Rect>> stores;
  for (const Transfer& t : transfers) {
    View source = from ? from->views[0] : store_.view(step.tensor, t.source, t.rect);
    stores.emplace_back(store_.view(step.tensor, t.destination, t.rect), source, t.rect);
  }
  TaskPtr turn = receive_task(token(first.destination, first.source));
  stream_.submit(turn, {});
  TaskPtr store = stream_.make([this, stores = std::move(stores), sum = adds(first)] {
    for (const auto& [to, source, rect] : stores) put(to, source, rect, sum);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // makes the stores visible to the other process
  });
  std::vector<TaskPtr> dependencies{turn};
  share(from ? from->resource : homes_[static_cast<size_t>(first.source)], Sharing::Reads, store, dependencies);
  stream_.submit(store, dependencies);
  stream_.submit(send_task(token(first.source, first.destination)), {store});
}

// Receiver side: grants the store by a token, and keeps other tasks off the piece until the answering token arrives. An
// addition needs the whole piece; stores to disjoint parts may run in parallel.
void Runner::grant_remote_store(const Transfer& t) {
  Resource& home = homes_[static_cast<size_t>(t.destination)];
  for (const TaskPtr& task :
       {send_task(token(t.destination, t.source)), receive_task(token(t.source, t.destination))}) {
    std::vector<TaskPtr> dependencies;
    adds(t) ? take(home, task, dependencies) : share(home, Sharing::Writes, task, dependencies);
    stream_.submit(task, dependencies);
  }
}

void Runner::take(Resource& resource, const TaskPtr& task, std::vector<TaskPtr>& dependencies) {
  shared_.erase(&resource);
  resource.add_exclusive(task, dependencies);
}

// Adds a shared use of the resource. Uses of the same kind run in parallel, after all uses of another kind.
void Runner::share(Resource& resource, Sharing sharing, const TaskPtr& task, std::vector<TaskPtr>& dependencies) {
  auto found = shared_.find(&resource);
  if (found == shared_.end() || found->second != sharing) {
    submit_barrier(resource);
    shared_[&resource] = sharing;
  }
  resource.add_shared(task, dependencies);
}

void Runner::transfer_by_message(const ReleaseStep& step, std::span<const Transfer> transfers, const Arrival& arrival) {
  const Transfer& first = transfers[0];
  for (const std::vector<Rect>& rects : messages_of(step, transfers)) {
    if (is_here(first.source)) {
      send_parts(step, first, rects);
    } else if (adds(first)) {
      receive_and_add(step, first, rects[0], arrival);
    } else {
      receive_home(step, first, rects, arrival);
    }
  }
}

// The messages of transfers with the same route. Stores share one message. Additions are divided into messages that fit
// a staging buffer.
std::vector<std::vector<Rect>> Runner::messages_of(const ReleaseStep& step, std::span<const Transfer> transfers) const {
  std::vector<std::vector<Rect>> out;
  if (!adds(transfers[0])) out.emplace_back();
  for (const Transfer& t : transfers) {
    if (!adds(t)) {
      out[0].push_back(t.rect);
      continue;
    }
    for (Rect& part : staged_parts(t.rect, tensor(step.tensor).element_bytes)) out.push_back({std::move(part)});
  }
  return out;
}

void Runner::send_parts(const ReleaseStep& step, const Transfer& first, const std::vector<Rect>& rects) {
  Slot* from = source_of(step, first);
  Message message{
      first.source, first.destination, options_.transport->next_number(first.source, first.destination), {}};
  for (const Rect& r : rects) {
    View source = from ? from->views[0] : store_.view(step.tensor, first.source, r);
    message.parts.push_back(in_storage_order(source, r, tensor(step.tensor).order));
  }
  TaskPtr task = send_task(std::move(message));
  std::vector<TaskPtr> dependencies;
  share(from ? from->resource : homes_[static_cast<size_t>(first.source)], Sharing::Reads, task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::receive_home(const ReleaseStep& step, const Transfer& first, const std::vector<Rect>& rects,
                          const Arrival& arrival) {
  Message message{
      first.source, first.destination, options_.transport->next_number(first.source, first.destination), {}};
  for (const Rect& r : rects) {
    View target = store_.view(step.tensor, first.destination, r);
    message.parts.push_back(in_storage_order(target, r, tensor(step.tensor).order));
  }
  TaskPtr task = receive_task(std::move(message), arrival);
  std::vector<TaskPtr> dependencies;
  share(homes_[static_cast<size_t>(first.destination)], Sharing::Writes, task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::receive_and_add(const ReleaseStep& step, const Transfer& t, const Rect& part, const Arrival& arrival) {
  Staging& staging = staging_[t.destination][staged_[t.destination]++ % 2];
  const std::vector<int>& order = tensor(step.tensor).order;
  View staged = dense_view(staging.memory, part, order);
  Message message{t.source,
                  t.destination,
                  options_.transport->next_number(t.source, t.destination),
                  {in_storage_order(staged, part, order)}};
  TaskPtr receive = receive_task(std::move(message), arrival);
  std::vector<TaskPtr> dependencies;
  staging.resource.add_exclusive(receive, dependencies);
  stream_.submit(receive, dependencies);

  Slot* into = target_of(step, t);
  View target = into ? into->views[0] : store_.view(step.tensor, t.destination, part);
  TaskPtr add = stream_.make([this, staged, target, part] { add_rect(type(), target, staged, part); });
  dependencies.clear();
  staging.resource.add_exclusive(add, dependencies);
  int64_t home = into ? into->in_place[0] : t.destination;
  if (into) take(into->resource, add, dependencies);
  if (home >= 0) take(homes_[static_cast<size_t>(home)], add, dependencies);
  stream_.submit(add, dependencies);
}

}  // namespace distal::core
