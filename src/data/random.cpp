#include "data/random.h"

namespace distal::core {

uint64_t tensor_seed(const std::string& name, uint64_t seed) {
  uint64_t hash = mix_bits(seed + random_detail::kGolden);
  for (char c : name) hash = mix_bits(hash ^ static_cast<unsigned char>(c)) + random_detail::kGolden;
  return mix_bits(hash);
}

}  // namespace distal::core
