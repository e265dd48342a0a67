#include "support/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

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

}  // namespace

std::string render_error(const std::string& message, const SourceSpan& span, const std::string& help) {
  std::string out;
  if (span.source && span.line > 0) {
    out = fmt::format("{}:{}:{}: error: {}\n", span.source->name, span.line, span.column, message);
    std::string line = line_of(*span.source, span.line);
    std::string caret(static_cast<size_t>(std::max(0, span.column - 1)), ' ');
    caret += '^';
    if (span.length > 1) caret += std::string(static_cast<size_t>(span.length - 1), '~');
    out += fmt::format("  {}\n  {}", line, caret);
  } else {
    out = fmt::format("error: {}", message);
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
