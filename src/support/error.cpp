#include "support/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "support/text.h"

namespace distal::core {

namespace {

std::string internal(const std::string& what) {
  return fmt::format("internal error (a defect of DISTAL, please report it): {}", what);
}

std::string line_of(const Source& source, int line) {
  size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    size_t end = source.text.find('\n', begin);
    if (end == std::string::npos) return "";
    begin = end + 1;
  }
  std::string text = source.text.substr(begin, source.text.find('\n', begin) - begin);
  std::replace(text.begin(), text.end(), '\t', ' ');
  return printable(text);
}

constexpr int kMostColumns = 100;

// The part of a long line around the caret, and the caret under it.
std::string excerpt(const std::string& line, int column, int length) {
  std::vector<size_t> starts = character_starts(line);
  int columns = static_cast<int>(starts.size());
  int first = columns <= kMostColumns ? 0 : std::clamp(column - 1 - kMostColumns / 2, 0, columns - kMostColumns);
  int last = std::min(columns, first + kMostColumns);
  size_t begin = first < columns ? starts[static_cast<size_t>(first)] : line.size();
  size_t end = last < columns ? starts[static_cast<size_t>(last)] : line.size();
  std::string before = first > 0 ? "..." : "", after = last < columns ? "..." : "";
  size_t indent = before.size() + static_cast<size_t>(std::max(0, column - 1 - first));
  int tildes = std::min(length, std::max(1, last - column + 1)) - 1;
  std::string caret = std::string(indent, ' ') + "^" + std::string(static_cast<size_t>(std::max(0, tildes)), '~');
  return fmt::format("  {}{}{}\n  {}", before, line.substr(begin, end - begin), after, caret);
}

}  // namespace

std::string render_error(const std::string& message, const SourceSpan& span, const std::string& help) {
  std::string out;
  if (span.source && span.line > 0) {
    out = fmt::format("{}:{}:{}: error: {}\n", span.source->name, span.line, span.column, message);
    out += excerpt(line_of(*span.source, span.line), span.column, span.length);
  } else {
    std::string call = span.source ? span.source->name + ": " : "";
    out = fmt::format("error: {}{}", call, message);
  }
  if (!help.empty()) out += fmt::format("\n  help: {}", help);
  return out;
}

Failure failure_of(const std::exception_ptr& why) {
  constexpr int kSoftwareError = 70;  // of sysexits.h
  try {
    std::rethrow_exception(why);
  } catch (const Error& e) {
    return {e.what(), static_cast<int>(e.kind())};
  } catch (const std::bad_alloc&) {
    return {"error: out of memory", static_cast<int>(Error::Kind::Resources)};
  } catch (const std::system_error& e) {
    if (e.code() == std::errc::resource_unavailable_try_again) {
      return {"error: the system has no more threads, or no memory for one", static_cast<int>(Error::Kind::Resources)};
    }
    return {internal(e.what()), kSoftwareError};
  } catch (const std::exception& e) {
    return {internal(e.what()), kSoftwareError};
  } catch (...) {
    return {internal("an exception without a message"), kSoftwareError};
  }
}

}  // namespace distal::core

namespace distal {

Error::Error(std::string message, SourceSpan span, std::string help, Kind kind)
    : std::runtime_error(core::render_error(message, span, help)),
      message_(std::move(message)),
      span_(std::move(span)),
      help_(std::move(help)),
      kind_(kind) {}

}  // namespace distal
