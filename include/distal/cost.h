#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace distal {

// What a kernel moves and holds, counted from its plan. docs/language.md defines each number.
struct Cost {
  // What the kernel moves of one tensor.
  struct PerTensor {
    int64_t bytes = 0;             // moved between processors
    int64_t messages = 0;          // the number of messages that carry these bytes
    std::string pattern = "none";  // none, broadcast, shift, gather, reduce or mixed
  };
  int64_t processors = 1;                    // of the largest machine
  int64_t processors_with_work = 1;          // that have iterations in some statement
  double flops = 0;                          // of the statements as written; the leaf may do fewer or more
  int64_t bytes_moved = 0;                   // between processors
  std::vector<int64_t> bytes_by_level;       // bytes_moved split by the outermost machine level that is crossed
  int64_t messages = 0;                      // the number of messages that carry bytes_moved
  int64_t max_bytes_received = 0;            // by the processor that receives most
  int64_t max_bytes_sent = 0;                // by the processor that sends most
  int64_t peak_bytes_per_processor = 0;      // an upper bound, for processors that share no memory
  std::map<std::string, PerTensor> tensors;  // by name, as in Kernel::text()
};

}  // namespace distal
