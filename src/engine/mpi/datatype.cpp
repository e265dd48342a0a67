#include "engine/mpi/datatype.h"

namespace distal::core {

namespace {

constexpr int64_t kMostAtOnce = 1 << 30;  // a count is an int

void replace(MPI_Datatype& type, MPI_Datatype by) {
  MPI_Type_free(&type);
  type = by;
}

// `count` of a type, `step` bytes apart.
MPI_Datatype repeated(MPI_Datatype type, int64_t count, MPI_Aint step) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  if (count <= kMostAtOnce) {
    MPI_Type_create_hvector(static_cast<int>(count), 1, step, type, &out);
    return out;
  }
  MPI_Datatype most = repeated(type, kMostAtOnce, step);
  MPI_Datatype many = repeated(most, count / kMostAtOnce, step * kMostAtOnce);
  MPI_Datatype rest = repeated(type, count % kMostAtOnce, step);
  int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, step * (count - count % kMostAtOnce)};
  MPI_Datatype types[2] = {many, rest};
  MPI_Type_create_struct(2, lengths, places, types, &out);
  for (MPI_Datatype* t : {&most, &many, &rest}) MPI_Type_free(t);
  return out;
}

// The elements of a rectangle in row-major order, from its first on.
MPI_Datatype type_of(const MessagePart& part, int64_t element_bytes) {
  size_t d = part.rect.dimensions();
  // Dimensions that follow one another without a gap are one run of bytes.
  int64_t run = element_bytes;
  for (; d > 0; --d) {
    int64_t count = part.rect.hi[d - 1] - part.rect.lo[d - 1];
    if (count > 1 && part.view.strides[d - 1] * element_bytes != run) break;
    run *= count;
  }
  MPI_Datatype type = repeated(MPI_BYTE, run, 1);
  for (; d > 0; --d) {
    int64_t count = part.rect.hi[d - 1] - part.rect.lo[d - 1];
    if (count > 1) replace(type, repeated(type, count, part.view.strides[d - 1] * element_bytes));
  }
  return type;
}

MPI_Aint address_of(const MessagePart& part, int64_t element_bytes) {
  int64_t offset = part.view.offset;
  for (size_t d = 0; d < part.rect.dimensions(); ++d) offset += part.rect.lo[d] * part.view.strides[d];
  MPI_Aint address = 0;
  MPI_Get_address(part.view.data + offset * element_bytes, &address);
  return address;
}

}  // namespace

Datatype::Datatype(const Message& message, int64_t element_bytes) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const MessagePart& part : message.parts) {
    types.push_back(type_of(part, element_bytes));
    places.push_back(address_of(part, element_bytes));
  }
  std::vector<int> lengths(types.size(), 1);
  MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), places.data(), types.data(), &type_);
  MPI_Type_commit(&type_);
  for (MPI_Datatype& t : types) MPI_Type_free(&t);
}

Datatype::~Datatype() {
  if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
}

}  // namespace distal::core
