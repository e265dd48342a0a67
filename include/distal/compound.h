#pragma once

#include <vector>

#include "distal/schedule.h"
#include "distal/tensor.h"

// Compound schedules: functions that are built only from the public commands of Schedule. Apply them, or functions of
// your own, in the same way: A.schedule().apply(compound::tile, i, j, ...).
namespace distal::compound {

// Cuts two loops into tiles of rows x columns.
inline void tile(Schedule& schedule, const IndexVar& i, const IndexVar& j, const IndexVar& io, const IndexVar& jo,
                 const IndexVar& ii, const IndexVar& ji, const Int& rows, const Int& columns) {
  schedule.split(i, io, ii, rows).split(j, jo, ji, columns).reorder({io, jo, ii, ji});
}

// Distributes loops and keeps the tensor stationary: each processor acquires its part of the tensor once, for all of
// its iterations.
inline void stationary(Schedule& schedule, const TensorHandle& tensor, const std::vector<IndexVar>& targets,
                       const std::vector<IndexVar>& distributed, const std::vector<IndexVar>& local, const Onto& onto) {
  schedule.distribute(targets, distributed, local, onto).communicate(tensor, distributed.back());
}

// Splits a loop into chunks of `chunk` iterations, moves the loop over chunks outside of the `inner` loops, and fetches
// the tensors once per chunk.
inline void chunked(Schedule& schedule, const std::vector<TensorHandle>& tensors, const IndexVar& loop,
                    const IndexVar& outer, const IndexVar& inside, const Int& chunk,
                    const std::vector<IndexVar>& inner) {
  std::vector<IndexVar> order{outer};
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(inside);
  schedule.split(loop, outer, inside, chunk).reorder(order).communicate(tensors, outer);
}

// Divides a loop into `parts`, moves the loop over parts outside of the `inner` loops, and rotates it by the loops
// `by`. Each processor starts at a different part, so at every step it can fetch from a neighbour what the neighbour
// used at the step before.
inline void systolic(Schedule& schedule, const std::vector<TensorHandle>& tensors, const IndexVar& loop,
                     const IndexVar& outer, const IndexVar& inside, const Int& parts,
                     const std::vector<IndexVar>& inner, const std::vector<IndexVar>& by, const IndexVar& rotated) {
  std::vector<IndexVar> order{outer};
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(inside);
  schedule.divide(loop, outer, inside, parts).reorder(order).rotate(outer, by, rotated).communicate(tensors, rotated);
}

}  // namespace distal::compound
