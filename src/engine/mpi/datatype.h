#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "engine/transport.h"

namespace distal::core {

// A part of a message, of a size that MPI can count and that takes its time, but not much of it.
using Segment = std::vector<MessagePart>;

// All of a message in segments; both ends of it find the same.
std::vector<Segment> segments_of(const Message& message, int64_t element_bytes);

// The elements of a segment where they lie, as a type whose one instance at MPI_BOTTOM is all of it: MPI packs and
// unpacks them itself, and no memory of ours is needed for that.
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
