#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace distal::core {

// The question of the certificate (docs/decisions/15-certificate.md): processors compute the points of a product, and
// each owns some elements of every tensor. How many elements must one of them exchange?
struct BoxProblem {
  struct Index {
    std::string name;
    int64_t extent = 1;
  };
  // An operand, or the result.
  struct Array {
    std::string name;
    std::vector<std::vector<int>> accesses;  // the indices of each access; an index counts once
  };
  // Processors that own equally many elements of every array.
  struct Group {
    int64_t processors = 0;
    std::vector<int64_t> own;  // by array
  };
  std::vector<Index> indices;
  std::vector<Array> arrays;
  std::vector<Group> groups;
  int64_t element_bytes = 1;

  int64_t points() const;
  int64_t processors() const;
};

// The elements that a processor receives before its first point: one of each array of which it owns nothing.
int64_t first_elements(const BoxProblem::Group& group);

}  // namespace distal::core
