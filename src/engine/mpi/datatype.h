#pragma once

#include <mpi.h>

#include <utility>

#include "engine/transport.h"

namespace distal::core {

// The elements of a message where they lie, as a type whose one instance at MPI_BOTTOM is all of it: MPI packs and
// unpacks them itself, and no memory of ours is needed for that. Counts of more than 2^31 bytes are in its structure.
class Datatype {
 public:
  Datatype(const Message& message, int64_t element_bytes);
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
