// The table of commands, compared with the reference page and the C++ interface.

#include "lang/command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace distal::core {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream in(DISTAL_SOURCE_DIR "/" + path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string grammar_of(const Parameter& p) {
  switch (p.kind) {
    case Parameter::Kind::Loop: return "name";
    case Parameter::Kind::Loops: return p.may_be_empty ? "some" : "names";
    case Parameter::Kind::Names: return "names";
    case Parameter::Kind::Number: return "int";
    case Parameter::Kind::Onto: return "onto";
    case Parameter::Kind::Part: return "expression";
    case Parameter::Kind::Name: break;
  }
  std::string words;
  for (const std::string& word : p.words) words += (words.empty() ? "\"" : " | \"") + word + "\"";
  return words.empty() ? "name" : "( " + words + " )";
}

// The lines of the grammar for all commands, as docs/language.md has them.
std::string grammar() {
  std::string out;
  for (const Signature& s : signatures()) {
    out += fmt::format("{:<13}{} {:<13} \"(\"", out.empty() ? "command" : "", out.empty() ? "=" : "|",
                       "\"" + s.name + "\"");
    for (size_t i = 0; i < s.parameters.size(); ++i) {
      std::string comma = i == 0 ? "" : "\",\" ";
      std::string text = comma + grammar_of(s.parameters[i]);
      out += i < s.required ? " " + text : " [ " + text + " ]";
    }
    out += " \")\"\n";
  }
  return out;
}

TEST(CommandTable, TheReferencePageHasItsGrammar) {
  EXPECT_NE(file_text("docs/language.md").find(grammar()), std::string::npos)
      << "docs/language.md must have these lines:\n"
      << grammar();
}

TEST(CommandTable, TheReferencePageHasASectionOfEach) {
  std::string page = file_text("docs/language.md"), links;
  for (const std::string& name : command_names()) {
    EXPECT_NE(page.find("\n### " + name + "\n"), std::string::npos) << name;
    EXPECT_NE(page.find(fmt::format("[{0}](#{0})", name)), std::string::npos) << name;
  }
}

TEST(CommandTable, CppHasAMethodOfEach) {
  std::string header = file_text("include/distal/schedule.h");
  for (const std::string& name : command_names()) {
    EXPECT_NE(header.find("Schedule& " + name + "("), std::string::npos) << name;
  }
}

TEST(CommandTable, UsageShowsTheName) {
  for (const Signature& s : signatures()) EXPECT_EQ(s.usage.find(s.name + "("), 0U) << s.name;
}

}  // namespace
}  // namespace distal::core
