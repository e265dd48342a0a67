#pragma once

#include <vector>

#include "distal/schedule.h"
#include "distal/tensor.h"

// Compound schedules: functions over the commands of Schedule. They know nothing that a user's own function could not
// know; write others beside them and apply them the same way: A.schedule().apply(compound::tile, i, j, ...).
namespace distal::compound {

// Cuts two loops into tiles of rows x columns.
inline void tile(Schedule& schedule, const IndexVar& i, const IndexVar& j, const IndexVar& io, const IndexVar& jo,
                 const IndexVar& ii, const IndexVar& ji, const Int& rows, const Int& columns) {
  schedule.split(i, io, ii, rows).split(j, jo, ji, columns).reorder({io, jo, ii, ji});
}

// Distributes loops and keeps a tensor where its processor works: it is brought once, and goes home once.
inline void stationary(Schedule& schedule, const TensorHandle& tensor, const std::vector<IndexVar>& targets,
                       const std::vector<IndexVar>& distributed, const std::vector<IndexVar>& local, const Onto& onto) {
  schedule.distribute(targets, distributed, local, onto).communicate(tensor, distributed.back());
}

// Runs a loop in chunks outside of the `inner` loops, and brings the tensors chunk by chunk.
inline void chunked(Schedule& schedule, const std::vector<TensorHandle>& tensors, const IndexVar& loop,
                    const IndexVar& outer, const IndexVar& inside, const Int& chunk,
                    const std::vector<IndexVar>& inner) {
  std::vector<IndexVar> order{outer};
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(inside);
  schedule.split(loop, outer, inside, chunk).reorder(order).communicate(tensors, outer);
}

// Runs a loop in parts outside of the `inner` loops, each processor beginning elsewhere, so that at every step a
// processor finds at a neighbour what that one had at the step before.
inline void systolic(Schedule& schedule, const std::vector<TensorHandle>& tensors, const IndexVar& loop,
                     const IndexVar& outer, const IndexVar& inside, const Int& parts,
                     const std::vector<IndexVar>& inner, const std::vector<IndexVar>& by, const IndexVar& rotated) {
  std::vector<IndexVar> order{outer};
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(inside);
  schedule.divide(loop, outer, inside, parts).reorder(order).rotate(outer, by, rotated).communicate(tensors, rotated);
}

}  // namespace distal::compound
