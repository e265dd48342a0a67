#include "data/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

namespace distal::core {

namespace {

// Parses the Python literal of a header: a dictionary with three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& path) : text_(text), path_(path) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      parse_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) fail("has text after its header's dictionary");
    require(type_.has_value(), "descr");
    require(fortran_order_.has_value(), "fortran_order");
    require(shape_.has_value(), "shape");
    return {*type_, *fortran_order_, *shape_};
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const { refuse_npy(path_, reason); }

  void require(bool found, const char* key) const {
    if (!found) fail(fmt::format("has no '{}' in its header", key));
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool accept(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!accept(c)) fail(fmt::format("has a malformed header: '{}' is missing at byte {} of it", c, at_));
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string_view parse_string() {
    skip_space();
    char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail(fmt::format("has a malformed header: no string at byte {} of it", at_));
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("has a malformed header: a string in it does not end");
    std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return content;
  }

  void parse_entry() {
    std::string_view key = parse_string();
    expect(':');
    if (key == "descr") {
      type_ = parse_type();
    } else if (key == "fortran_order") {
      fortran_order_ = parse_bool();
    } else if (key == "shape") {
      shape_ = parse_shape();
    } else {
      fail("has a header with an unknown key");
    }
  }

  ElementType parse_type() {
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') fail("holds records, not numbers");
    std::string_view descr = parse_string();
    for (const ElementTraits& t : element_types()) {
      if (!descr.empty() && descr.substr(1) == t.numpy_code) {
        if (descr[0] == '<' || descr[0] == '=') return t.type;
        if (descr[0] == '>') fail("is big endian");
      }
    }
    fail(fmt::format("has elements of type '{}'", printable(descr)));
  }

  bool parse_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail("has a malformed header: 'fortran_order' is neither True nor False");
  }

  std::vector<int64_t> parse_shape() {
    expect('(');
    std::vector<int64_t> shape;
    while (!accept(')')) {
      shape.push_back(parse_extent());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }

  int64_t parse_extent() {
    skip_space();
    int64_t extent = -1;
    const char* end = text_.data() + text_.size();
    auto [after, status] = std::from_chars(text_.data() + at_, end, extent);
    if (status != std::errc{} || extent < 0) fail("has a malformed header: a number of its 'shape' is not a size");
    at_ = static_cast<size_t>(after - text_.data());
    accept('L');  // Python 2 wrote long integers with an L
    return extent;
  }

  static std::string printable(std::string_view text) {
    std::string out;
    for (char c : text.substr(0, 32)) out += (c >= ' ' && c <= '~') ? c : '?';
    return out;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_ = 0;
  std::optional<ElementType> type_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<int64_t>> shape_;
};

}  // namespace

std::vector<int> NpyHeader::order() const {
  std::vector<int> out(shape.size());
  std::iota(out.begin(), out.end(), 0);
  if (fortran_order) std::reverse(out.begin(), out.end());
  return out;
}

int64_t NpyHeader::bytes() const {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  int64_t bytes = size_of(type);
  for (int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return -1;
  }
  return bytes;
}

void refuse_npy(const std::string& path, const std::string& reason) {
  std::string types;
  for (const ElementTraits& t : element_types()) {
    if (!types.empty()) types += t.type == element_types().back().type ? " or " : ", ";
    types += fmt::format("{} ({})", t.numpy_name, t.numpy_code);
  }
  throw Error(fmt::format("'{}' {}", path, reason), {},
              "a legal .npy file has format version 1 to 3 and little-endian elements: " + types);
}

NpyHeader parse_npy_header(std::string_view text, const std::string& path) { return HeaderParser(text, path).parse(); }

std::string format_npy_header(ElementType type, const std::vector<int64_t>& shape) {
  std::string extents;
  for (int64_t extent : shape) extents += fmt::format("{}, ", extent);
  // A Python tuple of one element needs its comma. NumPy writes longer tuples without a comma at the end.
  if (shape.size() == 1) extents.pop_back();
  if (shape.size() > 1) extents.resize(extents.size() - 2);
  return fmt::format("{{'descr': '<{}', 'fortran_order': False, 'shape': ({}), }}", traits_of(type).numpy_code,
                     extents);
}

}  // namespace distal::core
