// Arrays in NumPy's .npy files, in row-major order.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>

#include "grid.h"
#include "options.h"

namespace distal_legion {

// NumPy's name of an element type, such as <f8.
template <class T>
std::string npy_type() {
  const char* kind = std::is_integral<T>::value ? "<i" : std::is_floating_point<T>::value ? "<f" : "<c";
  return kind + std::to_string(sizeof(T));
}

inline std::string npy_header(const std::string& type, const Coordinates& shape) {
  std::string sizes;
  for (Int n : shape) sizes += std::to_string(n) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  text += std::string(63 - (text.size() + 10) % 64, ' ') + "\n";
  std::string out = "\x93NUMPY";
  out += '\1';
  out += '\0';
  out += static_cast<char>(text.size() & 255);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

// An open file whose elements begin at `start`.
struct NpyFile {
  std::FILE* file = nullptr;
  long start = 0;
  ~NpyFile() {
    if (file) std::fclose(file);
  }
};

template <class T>
void open_npy(const std::string& name, const Coordinates& shape, NpyFile& out) {
  out.file = std::fopen(name.c_str(), "rb");
  if (!out.file) fail(3, "cannot open " + name);
  unsigned char head[10];
  if (std::fread(head, 1, 10, out.file) != 10 || head[6] != 1) fail(2, name + " is not a .npy file of version 1");
  std::string text(head[8] + 256u * head[9], ' ');
  if (std::fread(text.data(), 1, text.size(), out.file) != text.size()) fail(2, name + " ends too soon");
  std::string want = npy_header(npy_type<T>(), shape).substr(10);
  auto squeeze = [](std::string s) {
    s.erase(std::remove_if(s.begin(), s.end(), [](char c) { return c == ' ' || c == '\n'; }), s.end());
    return s;
  };
  if (squeeze(text) != squeeze(want)) fail(2, name + " has " + text + " and should have " + want);
  out.start = static_cast<long>(10 + text.size());
}

template <class T>
void write_npy(const std::string& name, const Coordinates& shape, const std::vector<T>& values) {
  NpyFile out{std::fopen(name.c_str(), "wb")};
  if (!out.file) fail(3, "cannot write " + name);
  std::string header = npy_header(npy_type<T>(), shape);
  bool fine = std::fwrite(header.data(), 1, header.size(), out.file) == header.size() &&
              std::fwrite(values.data(), sizeof(T), values.size(), out.file) == values.size();
  if (!fine) fail(3, "cannot write " + name);
}

}  // namespace distal_legion
