#include "lang/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace distal::core {

namespace {

// The number of inserted, deleted, replaced or swapped neighbouring characters between two words.
size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

std::string in_lower_case(std::string word) {
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return word;
}

}  // namespace

std::string listing(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += "`" + names[i] + "`";
  }
  return out;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  constexpr size_t longest_word = 64;  // longer ones are no slip of the finger, and would cost quadratic time
  if (word.size() > longest_word) return "";
  for (const std::string& name : names) {
    if (in_lower_case(name) == in_lower_case(word)) return fmt::format("; did you mean `{}`? Case counts", name);
  }
  const std::string* best = nullptr;
  size_t best_distance = 0;
  for (const std::string& name : names) {
    if (name.size() > longest_word) continue;
    size_t distance = edit_distance(word, name);
    size_t allowed = std::max(word.size(), name.size()) <= 3 ? 1 : 2;
    if (distance > allowed || distance >= std::max(word.size(), name.size())) continue;
    if (best == nullptr || distance < best_distance) {
      best = &name;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : fmt::format("; did you mean `{}`?", *best);
}

}  // namespace distal::core
