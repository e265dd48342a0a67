#include "cli/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "data/random.h"
#include "store/slabs.h"

namespace distal::core {

namespace {

void require_fitting(const Plan& plan, const std::string& name, const std::string& file, const NpyReader& array) {
  const Coordinates& shape = plan.tensors[plan.tensor_index(name)].owners.shape();
  ElementType type = plan.program->module.type;
  if (!std::equal(shape.begin(), shape.end(), array.shape().begin(), array.shape().end())) {
    throw Error(fmt::format("--load {}={}: the file's shape is ({}), the tensor's is ({})", name, file,
                            fmt::join(array.shape(), ", "), fmt::join(shape, ", ")));
  }
  if (array.type() != type) {
    throw Error(fmt::format("--load {}={}: the file holds {}, the program computes with {}", name, file,
                            to_string(array.type()), to_string(type)),
                {}, fmt::format("run with --type '{}'", to_string(array.type())));
  }
}

ReadRect reader_of(const NpyReader& file) {
  return [&file](auto lo, auto hi, std::byte* to) { file.read(lo, hi, to); };
}

}  // namespace

Dataset::Dataset(const Plan& plan, const std::map<std::string, std::string>& files, uint64_t seed)
    : plan_(plan), type_(plan.program->module.type) {
  for (const TensorPlan& t : plan.tensors) seeds_.push_back(tensor_seed(t.name, seed));
  for (const auto& [name, file] : files) {
    NpyReader array(file);
    require_fitting(plan, name, file, array);
    files_.emplace(plan.tensor_index(name), std::move(array));
  }
}

int64_t Dataset::linear(int tensor, std::span<const int64_t> at) const {
  int64_t index = 0;
  const Coordinates& shape = plan_.tensors[tensor].owners.shape();
  for (size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
  return index;
}

void Dataset::read(int tensor, std::span<const int64_t> at, void* element) const {
  auto file = files_.find(tensor);
  if (file != files_.end()) return file->second.read_element(at, element);
  with_element_type(type_, [&](auto zero) {
    auto value = random_value<decltype(zero)>(seeds_[tensor], linear(tensor, at));
    std::memcpy(element, &value, sizeof(value));
  });
}

void Dataset::place(int tensor, TensorStore& store) const {
  auto file = files_.find(tensor);
  if (file != files_.end()) {
    return load_pieces(store.pieces(tensor), file->second.order(), reader_of(file->second));
  }
  with_element_type(type_, [&](auto zero) {
    using T = decltype(zero);
    store.fill(tensor, [&](std::span<const int64_t> at, int64_t count, std::byte* memory, int64_t stride) {
      int64_t first = linear(tensor, at);
      T* out = reinterpret_cast<T*>(memory);
      for (int64_t i = 0; i < count; ++i) out[i * stride] = random_value<T>(seeds_[tensor], first + i);
    });
  });
}

std::vector<std::byte> Dataset::whole(int tensor) const {
  const Coordinates& shape = plan_.tensors[tensor].owners.shape();
  auto file = files_.find(tensor);
  if (file != files_.end()) return read_whole(type_, shape, file->second.order(), reader_of(file->second));
  int64_t volume = core::whole(shape).volume();
  std::vector<std::byte> out(static_cast<size_t>(volume * size_of(type_)));
  with_element_type(type_, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < volume; ++i) reinterpret_cast<T*>(out.data())[i] = random_value<T>(seeds_[tensor], i);
  });
  return out;
}

uint64_t Dataset::digest() const {
  uint64_t all = 0;
  for (const auto& [tensor, file] : files_) all = 31 * all + file.digest();
  return all;
}

}  // namespace distal::core
