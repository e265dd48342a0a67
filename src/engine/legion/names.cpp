#include "engine/legion/names.h"

#include <fmt/format.h>

namespace distal::core {

namespace {

// Keywords of C++, and short names that the emitted text and its headers use.
constexpr const char* kTaken[] = {"alignas",       "alignof",
                                  "and",           "and_eq",
                                  "asm",           "auto",
                                  "bitand",        "bitor",
                                  "bool",          "break",
                                  "case",          "catch",
                                  "char",          "class",
                                  "compl",         "const",
                                  "constexpr",     "continue",
                                  "decltype",      "default",
                                  "delete",        "do",
                                  "double",        "else",
                                  "enum",          "explicit",
                                  "export",        "extern",
                                  "false",         "float",
                                  "for",           "friend",
                                  "goto",          "if",
                                  "inline",        "int",
                                  "long",          "mutable",
                                  "namespace",     "new",
                                  "noexcept",      "not",
                                  "not_eq",        "nullptr",
                                  "operator",      "or",
                                  "or_eq",         "private",
                                  "protected",     "public",
                                  "register",      "return",
                                  "short",         "signed",
                                  "sizeof",        "static",
                                  "struct",        "switch",
                                  "template",      "this",
                                  "throw",         "true",
                                  "try",           "typedef",
                                  "typeid",        "typename",
                                  "union",         "unsigned",
                                  "using",         "virtual",
                                  "void",          "volatile",
                                  "while",         "xor",
                                  "xor_eq",        "main",
                                  "std",           "distal",
                                  "distal_legion", "Legion",
                                  "Realm",         "T",
                                  "Int",           "Coordinates",
                                  "Rectangle",     "Grid",
                                  "LaunchDomain",  "Home",
                                  "Tensor",        "Parts",
                                  "Use",           "Session",
                                  "Settings",      "Options",
                                  "Elements",      "Expected",
                                  "CheckSpace",    "CheckBox",
                                  "box",           "before",
                                  "Operand",       "LeafCall",
                                  "Lifetime",      "Range",
                                  "GpuLeaf",       "Processor",
                                  "Program",       "PerRun",
                                  "made",          "Statement",
                                  "Context",       "Runtime",
                                  "ceildiv",       "floordiv",
                                  "mod",           "min",
                                  "max",           "blocked",
                                  "cyclic",        "fixed",
                                  "replicated",    "read",
                                  "write",         "overwrite",
                                  "reduce",        "session",
                                  "settings",      "options",
                                  "call",          "at",
                                  "found",         "expected",
                                  "operands",      "ranges",
                                  "gemm_on_gpu",   "run_on_gpu",
                                  "domain",        "extent",
                                  "value",         "context",
                                  "runtime",       "program",
                                  "run",           "set_params",
                                  "all_grids",     "register_tasks",
                                  "linux",         "unix",
                                  "kText",         "leaves",
                                  "grid",          "check",
                                  "fail",          "start",
                                  "element",       "report",
                                  "choose",        "usage",
                                  "max_align_t"};

int strength_of(IntExpr::Kind kind) {
  switch (kind) {
    case IntExpr::Kind::Add:
    case IntExpr::Kind::Sub: return 1;
    case IntExpr::Kind::Mul: return 2;
    default: return 3;
  }
}

bool is_identifier(const std::string& name) {
  for (char c : name) {
    bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!fine) return false;
  }
  return !name.empty();
}

}  // namespace

CppNames::CppNames() : taken_(std::begin(kTaken), std::end(kTaken)) {}

std::string CppNames::fresh(std::string name) {
  if (!is_identifier(name)) name = "name";
  if (name[0] == '_') name = "n" + name;  // C++ reserves such names
  while (!taken_.insert(name).second) name += "_";
  return name;
}

const std::string& CppNames::add(const std::string& name) {
  auto found = known_.find(name);
  if (found != known_.end()) return found->second;
  return known_[name] = fresh(name);
}

std::string CppNames::operand(const IntExpr& expr, int strength) const {
  std::string out = text(expr);
  bool is_negative = expr.is_constant() && expr.value() < 0;
  return strength_of(expr.kind()) < strength || is_negative ? "(" + out + ")" : out;
}

std::string CppNames::text(const IntExpr& expr) const {
  auto infix = [&](const char* op, int strength) {
    return operand(expr.a(), strength) + op + operand(expr.b(), strength + 1);
  };
  auto call = [&](const char* function) { return fmt::format("{}({}, {})", function, text(expr.a()), text(expr.b())); };
  switch (expr.kind()) {
    case IntExpr::Kind::Constant: return std::to_string(expr.value());
    case IntExpr::Kind::Name: return known_.at(expr.name());
    case IntExpr::Kind::Add: return infix(" + ", 1);
    case IntExpr::Kind::Sub: return infix(" - ", 1);
    case IntExpr::Kind::Mul: return infix(" * ", 2);
    case IntExpr::Kind::FloorDiv: return call("floordiv");
    case IntExpr::Kind::Mod: return call("mod");
    case IntExpr::Kind::CeilDiv: return call("ceildiv");
    case IntExpr::Kind::Min: return call("min");
    case IntExpr::Kind::Max: return call("max");
  }
  throw InternalError("unknown kind of expression");
}

}  // namespace distal::core
