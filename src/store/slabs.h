#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "store/tensor_pieces.h"

namespace distal::core {

// Copies between pieces and an array elsewhere, such as a file, with memory for one slab. A slab is a rectangle of the
// array that lies there in one run, or in a few long ones.
constexpr int64_t kSlabBytes = 4 << 20;

// Reads the rectangle lo <= x < hi to `to`, dense and in the order of the array's dimensions.
using ReadRect = std::function<void(std::span<const int64_t> lo, std::span<const int64_t> hi, std::byte* to)>;
// Writes the rectangle lo <= x < hi, which lies at `from`, dense and in row-major order.
using WriteRect = std::function<void(std::span<const int64_t> lo, std::span<const int64_t> hi, const std::byte* from)>;

// Sets every element of this process, in every replica. `order` has the dimensions of the array, outermost first.
void load_pieces(TensorPieces& pieces, const std::vector<int>& order, const ReadRect& read);

// Writes every element whose first owner is in this process. So several processes together write each element once.
void save_pieces(const TensorPieces& pieces, const WriteRect& write);

// A whole array in row-major order.
std::vector<std::byte> read_whole(ElementType type, const Coordinates& shape, const std::vector<int>& order,
                                  const ReadRect& read);

}  // namespace distal::core
