#pragma once

#include <string>
#include <vector>

#include "lang/module.h"
#include "support/programs.h"

namespace distal::core::test {

// The declaration of a tensor in parts: its dimensions, its distribution and its machine.
struct Layout {
  std::string name;
  std::string dimensions;
  std::string distribution;
  std::string machine;

  std::string declaration(const std::string& tensor) const {
    std::string size = dimensions.empty() ? "" : "(" + dimensions + ")";
    return "tensor " + tensor + size + " : " + distribution + " on " + machine + "\n";
  }
};
inline void PrintTo(const Layout& l, std::ostream* out) { *out << l.declaration("T"); }

inline Tensor tensor_of(const Layout& layout) {
  return parse_text(layout.declaration("T") + "tensor other\nother = 1\n").tensors[0];
}

// Every kind of distribution, at sizes that divide and at sizes that do not.
inline const std::vector<Layout>& all_layouts() {
  static const std::vector<Layout> all{
      {"vector_on_a_line", "10", "x -> x", "Grid(4)"},
      {"vector_smaller_than_the_line", "3", "x -> x", "Grid(5)"},
      {"vector_with_an_empty_tile", "9", "x -> x", "Grid(4)"},
      {"vector_of_one", "1", "x -> x", "Grid(3)"},
      {"rows", "7, 5", "xy -> x", "Grid(3)"},
      {"columns", "7, 5", "xy -> y", "Grid(3)"},
      {"tiles", "7, 11", "xy -> xy", "Grid(2, 3)"},
      {"tiles_transposed", "7, 11", "xy -> yx", "Grid(2, 3)"},
      {"tiles_even", "8, 6", "xy -> xy", "Grid(4, 3)"},
      {"vector_replicated_by_row", "10", "x -> x*", "Grid(3, 2)"},
      {"vector_replicated_by_column", "10", "x -> *x", "Grid(3, 2)"},
      {"matrix_on_a_cube_broadcast_last", "4, 6", "xy -> xy*", "Grid(2, 3, 2)"},
      {"matrix_on_a_cube_broadcast_middle", "4, 6", "xy -> x*y", "Grid(2, 2, 3)"},
      {"matrix_on_a_cube_broadcast_first", "4, 6", "xy -> *xy", "Grid(2, 2, 3)"},
      {"matrix_on_a_cube_transposed", "4, 7", "xy -> y*x", "Grid(2, 2, 3)"},
      {"matrix_everywhere", "3, 4", "xy -> **", "Grid(2, 2)"},
      {"face_zero", "5, 6", "xy -> x0", "Grid(2, 3)"},
      {"face_two", "5, 6", "xy -> x2", "Grid(2, 3)"},
      {"face_first_dimension", "5, 6", "xy -> 1y", "Grid(2, 3)"},
      {"face_of_a_cube_xy", "5, 6", "xy -> xy0", "Grid(2, 2, 2)"},
      {"face_of_a_cube_xz", "5, 6", "xz -> x0z", "Grid(2, 2, 2)"},
      {"face_of_a_cube_yz", "5, 6", "zy -> 1yz", "Grid(2, 2, 2)"},
      {"edge_of_a_cube", "5, 6", "xy -> x01", "Grid(3, 2, 2)"},
      {"corner_of_a_cube", "5, 6", "xy -> 101", "Grid(2, 2, 2)"},
      {"edge_and_broadcast", "5, 6", "xy -> 1*y", "Grid(2, 2, 4)"},
      {"cube_on_a_plane", "3, 5, 4", "xyz -> zx", "Grid(2, 2)"},
      {"cube_on_a_cube", "3, 5, 4", "xyz -> yzx", "Grid(2, 3, 2)"},
      {"scalar_on_a_line", "", "-> 2", "Grid(4)"},
      {"scalar_on_a_plane", "", "-> *1", "Grid(2, 3)"},
      {"line_in_line", "23", "x -> x, x -> x", "Grid(3) of Grid(4)"},
      {"line_in_line_uneven", "10", "x -> x, x -> x", "Grid(4) of Grid(2)"},
      {"tiles_in_tiles", "9, 13", "xy -> xy, xy -> xy", "Grid(2, 2) of Grid(2, 2)"},
      {"tiles_in_tiles_transposed", "9, 13", "xy -> xy, xy -> yx", "Grid(2, 3) of Grid(3, 2)"},
      {"broadcast_above", "6, 7", "xy -> *, xy -> xy", "Grid(2) of Grid(2, 3)"},
      {"broadcast_below", "6, 7", "xy -> xy, xy -> *", "Grid(2, 3) of Grid(2)"},
      {"faces_at_both_levels", "6, 7", "xy -> x1, xy -> 1y", "Grid(2, 2) of Grid(2, 3)"},
      {"nodes_of_gpus", "6, 7", "xy -> xy, xy -> x", "Grid(2, 2) of Grid(4) gpu"},
      {"three_levels", "17", "x -> x, x -> x, x -> x", "Grid(2) of Grid(2) of Grid(3)"},
      {"cyclic", "11", "x -> x cyclic(x)", "Grid(3)"},
      {"block_cyclic", "23", "x -> x cyclic(x = 4)", "Grid(3)"},
      {"block_cyclic_larger_than_the_vector", "5", "x -> x cyclic(x = 9)", "Grid(3)"},
      {"block_cyclic_tiles", "11, 14", "xy -> xy cyclic(x = 2, y = 3)", "Grid(2, 3)"},
      {"cyclic_one_dimension", "11, 14", "xy -> yx cyclic(y = 4)", "Grid(2, 3)"},
      {"cyclic_in_blocks", "29", "x -> x, x -> x cyclic(x = 2)", "Grid(2) of Grid(3)"},
      {"blocks_in_cyclic", "29", "x -> x cyclic(x = 3), x -> x", "Grid(2) of Grid(3)"},
      {"cyclic_in_cyclic", "31", "x -> x cyclic(x = 3), x -> x cyclic(x)", "Grid(3) of Grid(2)"},
  };
  return all;
}

}  // namespace distal::core::test
