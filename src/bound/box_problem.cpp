#include "bound/box_problem.h"

#include <algorithm>

namespace distal::core {

int64_t BoxProblem::points() const {
  int64_t points = 1;
  for (const Index& index : indices) points *= index.extent;
  return points;
}

int64_t BoxProblem::processors() const {
  int64_t sum = 0;
  for (const Group& group : groups) sum += group.processors;
  return sum;
}

int64_t first_elements(const BoxProblem::Group& group) {
  return std::count(group.own.begin(), group.own.end(), int64_t{0});
}

}  // namespace distal::core
