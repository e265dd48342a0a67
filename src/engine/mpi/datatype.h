#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "engine/transport.h"

namespace distal::core {

// A part of a message, sent as one MPI message. It is large enough to use the link well, small enough that a younger
// message does not wait for long, and within the range of MPI's counts.
using Segment = std::vector<MessagePart>;

// Divides a message into segments. Both ends compute the same ones.
std::vector<Segment> segments_of(const Message& message, int64_t element_bytes);

// An MPI datatype of a segment's elements at their absolute addresses, to be used with MPI_BOTTOM and count 1. MPI
// packs and unpacks them itself, so no packing buffer is needed.
class Datatype {
 public:
  Datatype(const Segment& segment, int64_t element_bytes);
  ~Datatype();
  Datatype(Datatype&& other) noexcept : type_(other.type_) { other.type_ = MPI_DATATYPE_NULL; }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;
  Datatype& operator=(Datatype&& other) noexcept {
    std::swap(type_, other.type_);
    return *this;
  }

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace distal::core
