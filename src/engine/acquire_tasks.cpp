#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "engine/runner.h"

namespace distal::core {

namespace {

// Calls f(i, overlap) for every rectangle i of the accesses that overlaps `other`, in their order.
template <class F>
void for_each_overlap(const std::vector<Rect>& rects, const std::vector<AccessRects>& access_rects, const Rect& other,
                      F&& f) {
  for (const AccessRects& access : access_rects) {
    for (size_t i : overlapping(access, rects, other)) f(i, intersect(other, rects[i]));
  }
}

// Calls f(view, piece) for disjoint pieces that make up `part`; the view is that of the slot's rectangle around it.
template <class F>
void for_each_in_slot(const Slot& slot, const Rect& part, F&& f) {
  std::vector<Rect> left{part};
  for_each_overlap(slot.rects, slot.access_rects, part, [&](size_t j, const Rect&) {
    std::vector<Rect> next;
    for (const Rect& r : left) {
      if (overlap(r, slot.rects[j])) f(slot.views[j], intersect(r, slot.rects[j]));
      subtract(r, slot.rects[j], next);
    }
    left = std::move(next);
  });
}

// The first rectangle of the fetch that equals rectangle i: an earlier access asks for the same one.
size_t same_rect_before(const Fetch& f, size_t i) {
  for (const AccessRects& access : f.access_rects) {
    size_t found = rect_at(access, f.rects, f.rects[i].lo);
    if (found < i && f.rects[found] == f.rects[i]) return found;
  }
  throw InternalError("a fetched rectangle has no memory");
}

std::vector<bool> marked(const std::vector<size_t>& some, size_t all) {
  std::vector<bool> out(all);
  for (size_t i : some) out[i] = true;
  return out;
}

}  // namespace

void Runner::fetch(const FetchStep& step) {
  require_wanted();
  // Neighbours serve what they acquired at the step before, so all sources are looked up before any slot advances.
  std::vector<std::vector<Slot*>> sources;
  for (const Fetch& f : step.fetches) sources.push_back(source_slots(step, f));
  relays_ = relays_of(step);
  for (size_t i = 0; i < step.fetches.size(); ++i) {
    const Fetch& f = step.fetches[i];
    is_here(f.place) ? fetch_one(step, f, sources[i]) : serve(step, f, sources[i]);
  }
}

// By piece of the fetch: the slot that it is copied from; null if it comes from a home piece or another process.
std::vector<Slot*> Runner::source_slots(const FetchStep& step, const Fetch& f) {
  std::vector<Slot*> out;
  for (const FetchPiece& p : f.pieces) {
    bool slot = p.from != FetchPiece::From::Home && is_here(p.source);
    out.push_back(slot ? &buffers_at(step.acquire->acquire->id, p.source).current() : nullptr);
  }
  return out;
}

void Runner::count(const FetchStep& step, const Fetch& f) {
  const AcquirePlan& a = *step.acquire;
  std::set<int64_t> senders;
  int64_t elements = 0;
  for (const FetchPiece& p : f.pieces) {
    if (!moves(*stage_, a.acquire->place_levels, p.source, f.place)) continue;
    senders.insert(p.source);
    elements += p.rect.volume();
  }
  moved_ += elements * tensor(a.tensor).element_bytes;
  messages_ += static_cast<int64_t>(senders.size());
}

void Runner::count_arrival(const Arrival& arrival, int64_t bytes) {
  moved_ += bytes;
  if (bytes > 0 && !arrival->exchange(true)) ++messages_;
}

// True for data of another process, unless it lies in a home piece that this place can read directly.
bool Runner::comes_by_message(const FetchPiece& piece, int64_t place) const {
  if (!needs_.options.in_different_processes(piece.source, place)) return false;
  return piece.from != FetchPiece::From::Home || !needs_.options.reach.shares_memory(piece.source, place);
}

void Runner::fetch_one(const FetchStep& step, const Fetch& f, const std::vector<Slot*>& sources) {
  const AcquirePlan& a = *step.acquire;
  count(step, f);
  Slot& slot = buffers_at(a.acquire->id, f.place).advance();
  lay_out(a, f, slot);
  if (a.acquire->privilege == Privilege::Read) {
    fill_slot(a, f, slot, sources);
  } else if (!all_leaves_overwrite()) {
    init_output_slot(a, f.place, slot);
  }
}

// Sets the slot's views: each rectangle is used in place or gets a part of the slot's memory.
void Runner::lay_out(const AcquirePlan& a, const Fetch& f, Slot& slot) {
  slot.rects = f.rects;
  slot.access_rects = f.access_rects;
  slot.views.assign(f.rects.size(), View{});
  slot.in_place = views_of(plan_, a, f, needs_.options.reach);
  int64_t used = 0;
  for (size_t i : copied_rects(f.rects, slot.in_place)) {
    slot.memory = buffers_at(a.acquire->id, f.place).memory_of(slot);
    slot.views[i] = dense_view(slot.memory + used, f.rects[i], tensor(a.tensor).order);
    used += f.rects[i].volume() * tensor(a.tensor).element_bytes;
  }
  for (size_t i = 0; i < f.rects.size(); ++i) {
    if (slot.in_place[i] >= 0) {
      slot.views[i] = store_.view(a.tensor, slot.in_place[i], f.rects[i]);
    } else if (!slot.views[i].data) {
      slot.views[i] = slot.views[same_rect_before(f, i)];
    }
  }
}

// Zeroes an output copy, or leaves it blank if it belongs to one processor and the first leaf may overwrite it.
void Runner::init_output_slot(const AcquirePlan& a, int64_t place, Slot& slot) {
  slot.is_blank = slot.in_place[0] < 0;
  bool alone = a.acquire->place_levels == stage_->machine.levels();
  if (!first_leaf_may_overwrite() || !alone || !is_all_of_piece(a, slot, place)) return clear_if_blank(slot);
  if (options_.checked && slot.is_blank) fill_memory(slot, 0xff);  // NaN: shows elements that no leaf sets
}

// Whether the slot covers the whole home piece that it uses in place; true for a slot in its own memory.
bool Runner::is_all_of_piece(const AcquirePlan& a, const Slot& slot, int64_t place) const {
  if (slot.in_place[0] < 0) return true;
  std::vector<Rect> piece = tensor(a.tensor).owners.rects_of(place);
  return slot.in_place[0] == place && piece.size() == 1 && piece[0] == slot.rects[0];
}

void Runner::fill_slot(const AcquirePlan& a, const Fetch& f, Slot& slot, const std::vector<Slot*>& sources) {
  std::vector<size_t> copied = copied_rects(slot.rects, slot.in_place);
  if (copied.empty()) return;
  Filling filling = filling_of(a, f, slot, copied, sources);
  bool one_message = filling.messages.size() == 1 && filling.copies.empty() && filling.inside.empty();
  if (one_message && !options_.checked) return submit_receive(std::move(filling.messages[0]), slot, true);
  // All messages arrive in parallel once the slot's earlier users are done. The copies run after them.
  if (!filling.messages.empty()) submit_barrier(slot.resource);
  for (Message& m : filling.messages) submit_receive(m, slot, false);
  bool complete = filling.copies.empty() && filling.inside.empty() && !options_.checked;
  complete ? submit_barrier(slot.resource) : submit_copies(a, f.place, slot, std::move(filling));
}

Runner::Filling Runner::filling_of(const AcquirePlan& a, const Fetch& f, const Slot& slot,
                                   const std::vector<size_t>& copied, const std::vector<Slot*>& sources) {
  Filling out;
  out.delivered.assign(f.rects.size(), 0);
  std::vector<bool> is_copied = marked(copied, f.rects.size());
  for (size_t p = 0; p < f.pieces.size(); ++p) {
    const FetchPiece& piece = f.pieces[p];
    if (comes_by_message(piece, f.place)) continue;
    for_each_overlap(f.rects, f.access_rects, piece.rect, [&](size_t i, const Rect& part) {
      if (!is_copied[i]) return;
      if (!sources[p]) {
        out.copies.push_back({store_.view(a.tensor, piece.source, part), i, part});
      } else {
        for_each_in_slot(*sources[p], part, [&](const View& from, const Rect& r) {
          out.copies.push_back({from, i, r});
        });
        out.read.insert(sources[p]);
      }
    });
  }
  for (int64_t source : senders_of(f)) {
    std::vector<Delivery> parts = deliveries(f, copied, source);
    if (parts.empty()) continue;
    int64_t from = relay(f.place, source);
    Message message{from, f.place, options_.transport->next_number(from, f.place), {}};
    for (const Delivery& d : parts) {
      message.parts.push_back(in_storage_order(slot.views[d.rect], d.part, tensor(a.tensor).order));
      out.delivered[d.rect] += d.part.volume();
      moved_ -= d.part.volume() * tensor(a.tensor).element_bytes;
    }
    --messages_;  // counted again when the message arrives
    out.messages.push_back(std::move(message));
  }
  if (!out.messages.empty()) out.inside = copies_inside(f, slot, copied);
  return out;
}

// The processors of other processes that send a part of the fetch.
std::set<int64_t> Runner::senders_of(const Fetch& f) const {
  std::set<int64_t> out;
  for (const FetchPiece& p : f.pieces) {
    if (comes_by_message(p, f.place)) out.insert(p.source);
  }
  return out;
}

// The broadcast trees of a step. Every process computes the same trees.
Relays Runner::relays_of(const FetchStep& step) const {
  bool many = options_.transport && std::any_of(step.requests->begin(), step.requests->end(),
                                                [](const auto& same) { return same.second.size() > 2; });
  if (!many) return {};
  std::vector<Route> routes;
  for (const Fetch& f : step.fetches) {
    std::set<int64_t> senders = senders_of(f);
    if (senders.empty()) continue;
    std::vector<size_t> copied = copied_rects(f.rects, views_of(plan_, *step.acquire, f, needs_.options.reach));
    for (int64_t source : senders) {
      std::vector<Delivery> parts = deliveries(f, copied, source);
      if (!parts.empty()) routes.push_back({source, f.place, std::move(parts)});
    }
  }
  return broadcast_trees(routes, needs_.options.processes);
}

int64_t Runner::relay(int64_t place, int64_t source) const {
  auto found = relays_.find({place, source});
  return found == relays_.end() ? source : found->second;
}

// What a source of another process sends for a fetch. Both ends compute the same list in the same order. An element
// that two rectangles share is sent once, into the first of them.
std::vector<Delivery> Runner::deliveries(const Fetch& f, const std::vector<size_t>& copied, int64_t source) const {
  std::vector<Delivery> out;
  std::vector<bool> is_copied = marked(copied, f.rects.size());
  for (const FetchPiece& p : f.pieces) {
    if (p.source != source || !comes_by_message(p, f.place)) continue;
    std::vector<Rect> before;
    for_each_overlap(f.rects, f.access_rects, p.rect, [&](size_t i, const Rect& part) {
      if (!is_copied[i]) return;
      for (Rect& r : subtract(part, before)) out.push_back({i, std::move(r)});
      before.push_back(f.rects[i]);
    });
  }
  return out;
}

// Copies of elements that several rectangles share, from the rectangle that receives them into the others.
std::vector<Runner::PieceCopy> Runner::copies_inside(const Fetch& f, const Slot& slot,
                                                     const std::vector<size_t>& copied) const {
  std::vector<PieceCopy> out;
  if (f.access_rects.size() == 1) return out;  // the rectangles of one access do not overlap
  for (size_t i : copied) {
    std::vector<Rect> before;
    for (size_t j : copied) {
      if (j == i) break;
      if (!overlap(f.rects[i], f.rects[j])) continue;
      Rect both = intersect(f.rects[i], f.rects[j]);
      for (const FetchPiece& p : f.pieces) {
        if (!comes_by_message(p, f.place) || !overlap(p.rect, both)) continue;
        for (Rect& r : subtract(intersect(p.rect, both), before)) out.push_back({slot.views[j], i, std::move(r)});
      }
      before.push_back(f.rects[j]);
    }
  }
  return out;
}

TaskPtr Runner::send_task(Message message) {
  return stream_.make_asynchronous([this, message = std::move(message)](std::function<void()> complete) {
    options_.transport->send(message, [complete = std::move(complete)](int64_t) { complete(); });
  });
}

TaskPtr Runner::receive_task(Message message, const Arrival& arrival) {
  return stream_.make_asynchronous([this, message = std::move(message), arrival](std::function<void()> complete) {
    options_.transport->receive(message, [this, arrival, complete = std::move(complete)](int64_t bytes) {
      if (arrival) count_arrival(arrival, bytes);
      copied_ += bytes;
      complete();
    });
  });
}

void Runner::submit_receive(Message message, Slot& slot, bool alone) {
  TaskPtr task = receive_task(std::move(message), std::make_shared<std::atomic<bool>>());
  std::vector<TaskPtr> dependencies;
  alone ? slot.resource.add_exclusive(task, dependencies) : slot.resource.add_shared(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::submit_copies(const AcquirePlan& a, int64_t place, Slot& slot, Filling filling) {
  std::string who = options_.checked ? stage_->machine.processor_name(place) : "";
  std::vector<PieceCopy> copies = std::move(filling.copies);
  copies.insert(copies.end(), filling.inside.begin(), filling.inside.end());
  TaskPtr task = stream_.make([this, who, t = a.tensor, copies = std::move(copies), views = slot.views,
                               rects = slot.rects, in_place = slot.in_place, filled = std::move(filling.delivered)] {
    carry_out(who, t, copies, views, rects, in_place, filled);
  });
  std::vector<TaskPtr> dependencies;
  slot.resource.add_exclusive(task, dependencies);
  for (Slot* s : filling.read) s->resource.add_shared(task, dependencies);
  stream_.submit(task, dependencies);
}

// A place of another process fetches: sends what comes from processors of this process or is relayed by them.
void Runner::serve(const FetchStep& step, const Fetch& f, const std::vector<Slot*>& sources) {
  std::set<int64_t> senders = senders_of(f);
  if (senders.empty()) return;
  std::vector<size_t> copied = copied_rects(f.rects, views_of(plan_, *step.acquire, f, needs_.options.reach));
  for (int64_t source : senders) {
    int64_t sender = relay(f.place, source);
    if (!is_here(sender)) continue;
    std::vector<Delivery> parts = deliveries(f, copied, source);
    if (parts.empty()) continue;
    Message message{sender, f.place, options_.transport->next_number(sender, f.place), {}};
    Slot* slot = sender == source ? nullptr : &buffers_at(step.acquire->acquire->id, sender).current();
    for (size_t p = 0; p < f.pieces.size() && sender == source; ++p) {
      if (f.pieces[p].source == source && sources[p]) slot = sources[p];
    }
    for (const Delivery& d : parts) {
      // A neighbour or a relay has acquired the same rectangles as the receiver.
      View from = slot ? slot->views[d.rect] : store_.view(step.acquire->tensor, source, d.part);
      message.parts.push_back(in_storage_order(from, d.part, tensor(step.acquire->tensor).order));
    }
    submit_send(std::move(message), slot ? std::vector<Slot*>{slot} : std::vector<Slot*>{});
  }
}

void Runner::submit_send(Message message, const std::vector<Slot*>& read) {
  TaskPtr task = send_task(std::move(message));
  std::vector<TaskPtr> dependencies;
  for (Slot* s : read) s->resource.add_shared(task, dependencies);
  stream_.submit(task, dependencies);
}

void Runner::carry_out(const std::string& who, int t, const std::vector<PieceCopy>& copies,
                       const std::vector<View>& views, const std::vector<Rect>& rects,
                       const std::vector<int64_t>& in_place, std::vector<int64_t> filled) {
  for (const PieceCopy& c : copies) {
    copy_rect(type(), views[c.rect], c.from, c.part);
    filled[c.rect] += c.part.volume();
    copied_ += c.part.volume() * tensor(t).element_bytes;
  }
  if (!options_.checked) return;
  for (size_t i : copied_rects(rects, in_place)) {
    if (filled[i] == rects[i].volume()) continue;
    throw InternalError(fmt::format("processor {} was given {} of the {} elements of {}{}", who, filled[i],
                                    rects[i].volume(), tensor(t).name, to_string(rects[i])));
  }
}

}  // namespace distal::core
