#include "engine/mpi/datatype.h"

#include <algorithm>

namespace distal::core {

namespace {

constexpr int64_t kSegmentBytes = 1 << 20;
constexpr int64_t kFirstSegmentBytes = 4 << 10;
constexpr int64_t kWholeBytes = 32 << 10;  // messages up to this size are one segment

// `count` of a type, `step` bytes apart.
MPI_Datatype repeated(MPI_Datatype type, int64_t count, MPI_Aint step) {
  MPI_Datatype out = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(static_cast<int>(count), 1, step, type, &out);
  return out;
}

// The elements of a rectangle, relative to its first one; the last dimension varies fastest.
MPI_Datatype type_of(const MessagePart& part, int64_t element_bytes) {
  size_t d = part.rect.dimensions();
  // Dimensions that are contiguous in memory form one run of bytes.
  int64_t run = element_bytes;
  for (; d > 0; --d) {
    int64_t count = part.rect.hi[d - 1] - part.rect.lo[d - 1];
    if (count > 1 && part.view.strides[d - 1] * element_bytes != run) break;
    run *= count;
  }
  MPI_Datatype type = repeated(MPI_BYTE, run, 1);
  for (; d > 0; --d) {
    int64_t count = part.rect.hi[d - 1] - part.rect.lo[d - 1];
    if (count == 1) continue;
    MPI_Datatype inner = type;
    type = repeated(inner, count, part.view.strides[d - 1] * element_bytes);
    MPI_Type_free(&inner);
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

// The first elements of a rectangle, at most `most` of them but at least one.
Rect front_of(Rect rect, int64_t most) {
  for (size_t d = 0; rect.volume() > most; ++d) {
    int64_t row = rect.volume() / (rect.hi[d] - rect.lo[d]);
    rect.hi[d] = rect.lo[d] + std::max<int64_t>(1, most / row);
  }
  return rect;
}

}  // namespace

// The first segment is small: the first segments of many messages may be in flight while an older message has the link.
std::vector<Segment> segments_of(const Message& message, int64_t element_bytes) {
  int64_t bytes = 0;
  for (const MessagePart& part : message.parts) bytes += part.rect.volume() * element_bytes;
  int64_t most = std::max<int64_t>(1, kSegmentBytes / element_bytes);
  // Elements that still fit into the last segment.
  int64_t space = std::max<int64_t>(1, (bytes > kWholeBytes ? kFirstSegmentBytes : kWholeBytes) / element_bytes);
  std::vector<Segment> out(1);
  auto add = [&](const View& view, Rect rect) {
    space -= rect.volume();
    if (space < 0 && !out.back().empty()) {
      out.emplace_back();
      space = most - rect.volume();
    }
    out.back().push_back({view, std::move(rect)});
  };
  for (const MessagePart& part : message.parts) {
    if (part.rect.empty()) continue;  // MPICH counts no elements of a type whose first part is empty
    std::vector<Rect> left{part.rect};
    if (out.size() == 1 && out[0].empty()) {
      Rect first = front_of(part.rect, space);
      left = subtract(part.rect, {first});
      add(part.view, std::move(first));
    }
    for (const Rect& rect : left) {
      for (Rect& r : cut_up(rect, most)) add(part.view, std::move(r));
    }
  }
  return out;
}

Datatype::Datatype(const Segment& segment, int64_t element_bytes) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places;
  for (const MessagePart& part : segment) {
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
