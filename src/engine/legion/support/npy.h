// Arrays in NumPy's .npy files, in row-major order.
#pragma once

#include <algorithm>
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
  std::string name;
  std::FILE* file = nullptr;
  long start = 0;

  NpyFile() = default;
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;
  ~NpyFile() {
    if (file) std::fclose(file);
  }
};

inline void open_file(const std::string& name, const char* mode, NpyFile& out) {
  out.name = name;
  out.file = std::fopen(name.c_str(), mode);
  if (!out.file) fail(3, (mode[0] == 'r' && mode[1] == 'b' ? "cannot open " : "cannot write ") + name);
}

// Opens a file to read its elements.
template <class T>
void open_npy(const std::string& name, const Coordinates& shape, NpyFile& out) {
  open_file(name, "rb", out);
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

// Moves to an element, by its number in row-major order.
template <class T>
void seek_element(NpyFile& file, Int number) {
  std::fseek(file.file, file.start + static_cast<long>(number * static_cast<Int>(sizeof(T))), SEEK_SET);
}

// Ends the writing of a file. What the disk has no room for is known only then.
inline void close_npy(NpyFile& file) {
  std::FILE* closing = file.file;
  file.file = nullptr;
  if (std::fclose(closing) != 0) fail(3, "cannot write " + file.name);
}

// Writes the header of a file.
template <class T>
void create_npy(const std::string& name, const Coordinates& shape) {
  NpyFile out;
  open_file(name, "wb", out);
  std::string header = npy_header(npy_type<T>(), shape);
  if (std::fwrite(header.data(), 1, header.size(), out.file) != header.size()) fail(3, "cannot write " + name);
  close_npy(out);
}

// Opens a file that create_npy made, to write some of its elements.
template <class T>
void reopen_npy(const std::string& name, const Coordinates& shape, NpyFile& out) {
  open_file(name, "r+b", out);
  out.start = static_cast<long>(npy_header(npy_type<T>(), shape).size());
}

}  // namespace distal_legion
