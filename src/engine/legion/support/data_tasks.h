// The tasks that make, load, save and copy the pieces of tensors, each in the memory where the piece lies.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "data/random.h"
#include "npy.h"
#include "operand.h"
#include "options.h"

namespace distal_legion {

// A piece of a tensor. Its elements are numbered in row-major order.
class Piece {
 public:
  Piece(const Rectangle& rectangle, const Coordinates& shape) : rectangle_(rectangle), shape_(shape) {
    if (shape_.empty()) shape_.push_back(1);  // a scalar
    // Elements that lie side by side both in the piece and in the whole tensor: those of the last dimensions that the
    // piece spans, times its extent in the one before.
    for (size_t d = shape_.size(); d-- > 0;) {
      Int extent = rectangle_.hi[d] - rectangle_.lo[d];
      run_ *= extent;
      if (extent != shape_[d]) break;
    }
  }

  Int volume() const { return rectangle_.volume(); }
  const Rectangle& rectangle() const { return rectangle_; }
  const Coordinates& shape() const { return shape_; }

  // The coordinates of the element with a number.
  Coordinates at(Int number) const {
    Coordinates out(shape_.size());
    for (size_t d = out.size(); d-- > 0;) {
      Int extent = rectangle_.hi[d] - rectangle_.lo[d];
      out[d] = rectangle_.lo[d] + number % extent;
      number /= extent;
    }
    return out;
  }

  // Calls f(number, place, count) for each run of elements first <= number < last that lie side by side in the whole
  // tensor in row-major order: `place` is the number of the first one there.
  template <class F>
  void for_each_run(Int first, Int last, const F& f) const {
    for (Int number = first; number < last;) {
      Int count = min(last - number, run_ - number % run_);
      f(number, number_in(shape_, at(number)), count);
      number += count;
    }
  }

 private:
  Rectangle rectangle_;
  Coordinates shape_;
  Int run_ = 1;
};

// A tensor's shape, and the file to read or write; an empty name means no file.
struct FileArguments {
  char file[1024];
  int dimensions;
  Int shape[LEGION_MAX_DIM];

  FileArguments(const Tensor& tensor, const std::string& name) : file{}, dimensions(int(tensor.shape.size())), shape{} {
    if (name.size() >= sizeof(file)) fail(2, "the name of a file is too long: " + name);
    std::memcpy(file, name.c_str(), name.size() + 1);
    std::copy(tensor.shape.begin(), tensor.shape.end(), shape);
  }
  Coordinates extents() const { return {shape, shape + dimensions}; }
};

struct PlaceArguments {
  FileArguments from;
  std::uint64_t seed;
};

// The elements that a file is read or written by at a time.
template <class T>
constexpr Int kSlice = (Int{8} << 20) / static_cast<Int>(sizeof(T));

// Reads the elements first <= number < last of a piece.
template <class T>
void read_slice(NpyFile& file, const Piece& piece, Int first, Int last, T* to) {
  piece.for_each_run(first, last, [&](Int number, Int place, Int count) {
    seek_element<T>(file, place);
    if (std::fread(to + (number - first), sizeof(T), static_cast<size_t>(count), file.file) != size_t(count)) {
      fail(2, "a .npy file ends too soon");
    }
  });
}

// Writes the elements first <= number < last of a piece.
template <class T>
void write_slice(NpyFile& file, const Piece& piece, Int first, Int last, const T* from) {
  piece.for_each_run(first, last, [&](Int number, Int place, Int count) {
    seek_element<T>(file, place);
    if (std::fwrite(from + (number - first), sizeof(T), static_cast<size_t>(count), file.file) != size_t(count)) {
      fail(3, "cannot write " + file.name);
    }
  });
}

// Calls f(first, last, elements) for each slice of a piece, with room for its elements.
template <class T, class F>
void for_each_slice(const Piece& piece, const F& f) {
  std::vector<T> elements(static_cast<size_t>(min(piece.volume(), kSlice<T>)));
  for (Int first = 0; first < piece.volume(); first += kSlice<T>) {
    f(first, min(first + kSlice<T>, piece.volume()), elements.data());
  }
}

// Calls f(element of the operand, its number in the slice) for the elements first <= number < last of a piece.
template <class T, class F>
void for_each_element(const Operand& operand, const Piece& piece, Int first, Int last, const F& f) {
  const size_t inner = piece.shape().size() - 1;
  for (Int number = first; number < last;) {
    Coordinates at = piece.at(number);
    T* row = &element<T>(operand, at);
    Int count = min(last - number, piece.rectangle().hi[inner] - at[inner]);
    for (Int i = 0; i < count; ++i) f(row[i * operand.strides[inner]], number - first + i);
    number += count;
  }
}

template <class T>
void make_random(const Operand& to, const Piece& piece, std::uint64_t seed) {
  const size_t inner = piece.shape().size() - 1;
  Rectangle rows = piece.rectangle();  // the first element of every row
  Int count = rows.hi[inner] - rows.lo[inner];
  rows.hi[inner] = rows.lo[inner] + 1;
  for_each_point(rows, [&](const Coordinates& at) {
    Int first = number_in(piece.shape(), at);
    T* row = &element<T>(to, at);
    for (Int i = 0; i < count; ++i) {
      row[i * to.strides[inner]] = distal::core::random_value<T>(seed, first + i);
    }
  });
}

// Fills a piece with random data or from a file.
template <class T>
void place_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const auto& arguments = *static_cast<const PlaceArguments*>(task->args);
  Rectangle rectangle;
  Operand to = operand_of<T>(regions[0], runtime, &rectangle);
  if (rectangle.volume() == 0) return;
  Coordinates shape = arguments.from.extents();
  Piece piece(rectangle, shape);
  if (arguments.from.file[0] == 0) return make_random<T>(to, piece, arguments.seed);
  NpyFile file;
  open_npy<T>(arguments.from.file, shape, file);
  for_each_slice<T>(piece, [&](Int first, Int last, T* elements) {
    read_slice(file, piece, first, last, elements);
    for_each_element<T>(to, piece, first, last, [&](T& e, Int n) { e = elements[n]; });
  });
}

// Makes a file for a whole tensor. Tasks write its elements.
template <class T>
void create_task(const Task* task, const std::vector<PhysicalRegion>&, Context, Runtime*) {
  const auto& to = *static_cast<const FileArguments*>(task->args);
  create_npy<T>(to.file, to.extents());
}

// Writes a piece to its places in a file.
template <class T>
void save_task(const Task* task, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  const auto& arguments = *static_cast<const FileArguments*>(task->args);
  Rectangle rectangle;
  Operand from = operand_of<T>(regions[0], runtime, &rectangle);
  if (rectangle.volume() == 0) return;
  Piece piece(rectangle, arguments.extents());
  NpyFile file;
  reopen_npy<T>(arguments.file, arguments.extents(), file);
  for_each_slice<T>(piece, [&](Int first, Int last, T* elements) {
    for_each_element<T>(from, piece, first, last, [&](const T& e, Int n) { elements[n] = e; });
    write_slice(file, piece, first, last, elements);
  });
  close_npy(file);
}

// Copies a piece of one tensor to that of another.
template <class T>
void copy_task(const Task*, const std::vector<PhysicalRegion>& regions, Context, Runtime* runtime) {
  Rectangle rectangle;
  Operand from = operand_of<T>(regions[0], runtime, &rectangle), to = operand_of<T>(regions[1], runtime);
  for_each_point(rectangle, [&](const Coordinates& at) { element<T>(to, at) = element<T>(from, at); });
}

// An empty task: launching it makes Legion bring its data here.
inline void hold_task(const Task*, const std::vector<PhysicalRegion>&, Context, Runtime*) {}

}  // namespace distal_legion
