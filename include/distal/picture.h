#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace distal {

// One view of the pictures of a plan (docs/pictures.md).
struct PictureView {
  std::string name = "film";      // film, data, plan, memory or choice
  int64_t step = 1;               // of the film, counted from 1 over all statements; 0: the last
  int64_t processor = -1;         // the number of the processor that is shown; -1: all
  std::vector<std::string> axes;  // up to three indices for the axes of the film; empty: first those that are cut
};

// A view as a file of SVG. `picture` is what Kernel::picture returns. Node draws it: throws an Error if there is no
// `node`.
std::string svg(const std::string& picture, const PictureView& view = {});

}  // namespace distal
