#pragma once

#include <string>

namespace distal::core {

// C++ text that grows line by line.
class TextWriter {
 public:
  // Preprocessor lines are not indented.
  void line(const std::string& text) {
    bool at_margin = text.empty() || text[0] == '#';
    out_ += std::string(at_margin ? 0 : static_cast<size_t>(indent_) * 2, ' ') + text + "\n";
  }
  void open(const std::string& text) {
    line(text + " {");
    ++indent_;
  }
  void close(const std::string& text = "}") {
    --indent_;
    line(text);
  }
  const std::string& text() const { return out_; }

 private:
  std::string out_;
  int indent_ = 0;
};

}  // namespace distal::core
