#include "lang/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace distal::core {

namespace {

const std::string& text_of(const IndexVar& v) { return v.name; }
const std::string& text_of(const Name& n) { return n.text; }

template <class Named>
std::string list_text(const Parameter& parameter, const std::vector<Named>& names) {
  if (!parameter.is_braced && names.size() == 1) return text_of(names.front());
  std::string out;
  for (const Named& named : names) out += (out.empty() ? "" : ", ") + text_of(named);
  return "{" + out + "}";
}

std::string text_of(const Parameter& parameter, const Argument& argument) {
  return std::visit(
      Overloaded{[](const IndexVar& v) { return v.name; }, [](const Name& n) { return n.text; },
                 [&](const std::vector<IndexVar>& all) { return list_text(parameter, all); },
                 [&](const std::vector<Name>& all) { return list_text(parameter, all); },
                 [](const IntExpr& e) { return e.to_string(); }, [](const GridRef& ref) { return to_string(ref); },
                 [](const Expr& e) { return to_string(e); }},
      argument);
}

std::vector<IndexVar> loops_of(const Command& command, Parameter::Loops which) {
  const Signature& signature = signature_of(command);
  std::vector<IndexVar> out;
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    if (signature.parameters[i].loops != which) continue;
    if (const auto* v = std::get_if<IndexVar>(&command.arguments[i])) out.push_back(*v);
    if (const auto* all = std::get_if<std::vector<IndexVar>>(&command.arguments[i])) {
      out.insert(out.end(), all->begin(), all->end());
    }
  }
  return out;
}

}  // namespace

std::string to_string(const GridRef& ref) {
  if (ref.notation) {
    GridRef onto = ref;
    onto.notation.reset();
    return to_string(*ref.notation) + " on " + to_string(onto);
  }
  if (ref.grid) return to_string(*ref.grid);
  return ref.level ? fmt::format("{}[{}]", ref.name.text, *ref.level) : ref.name.text;
}

const Signature& signature_of(const Command& command) {
  for (const Signature& s : signatures()) {
    if (s.name == command.name && s.takes(command.arguments.size())) return s;
  }
  throw InternalError(fmt::format("no command {} of {} arguments", command.name, command.arguments.size()));
}

const std::vector<std::string>& command_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Signature& s : signatures()) {
      if (out.empty() || out.back() != s.name) out.push_back(s.name);
    }
    return out;
  }();
  return names;
}

void refuse_argument(const Signature& signature, const std::string& expected, const SourceSpan& span) {
  throw Error(fmt::format("`{}` expects {} here", signature.name, expected), span, "write " + signature.usage);
}

void require_fit(const Signature& signature, const Parameter& parameter, const Argument& argument,
                 const SourceSpan& span) {
  auto check_list = [&](const auto& list) {
    if (list.empty() && !parameter.may_be_empty) refuse_argument(signature, "at least one name", span);
  };
  auto check_word = [&](const Name& name) {
    const std::vector<std::string>& words = parameter.words;
    if (words.empty() || std::find(words.begin(), words.end(), name.text) != words.end()) return;
    refuse_argument(signature, fmt::format("`{}`", fmt::join(words, "` or `")), span);
  };
  std::visit(Overloaded{[&](const std::vector<IndexVar>& list) { check_list(list); },
                        [&](const std::vector<Name>& list) { check_list(list); }, check_word, [](const auto&) {}},
             argument);
}

std::vector<IndexVar> loops_named(const Command& command) { return loops_of(command, Parameter::Loops::Named); }

bool names_any(const Command& command, const std::vector<IndexVar>& loops) {
  std::vector<IndexVar> named = loops_named(command);
  return std::find_first_of(named.begin(), named.end(), loops.begin(), loops.end()) != named.end();
}

std::vector<IndexVar> loops_made(const Command& command) { return loops_of(command, Parameter::Loops::Made); }

const GridRef* onto_of(const Command& command) {
  for (const Argument& argument : command.arguments) {
    if (const auto* ref = std::get_if<GridRef>(&argument)) return ref;
  }
  return nullptr;
}

std::string to_string(const Command& command) {
  const Signature& signature = signature_of(command);
  std::string out;
  for (size_t i = 0; i < command.arguments.size(); ++i) {
    out += (i > 0 ? ", " : "") + text_of(signature.parameters[i], command.arguments[i]);
  }
  return command.name + "(" + out + ")";
}

}  // namespace distal::core
