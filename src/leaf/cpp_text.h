#pragma once

#include <functional>
#include <string>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

std::string cpp_type(ElementType type);

// The type to compute in. For integers it is unsigned, because there overflow wraps around.
std::string computing_type(ElementType type);

// The same types by names that need no header, because compiling is then twice as fast.
std::string plain_cpp_type(const std::string& type);

std::string literal_text(double value, ElementType type);

// As statements are written, with the operator of the lowered assignment.
std::string assignment_text(const Assignment& a);

// The text of a term without its sign, computed in the type C. `element` gives the text of an operand's element, and
// `param` that of a param, where params have no values yet.
std::string expression_text(const LeafTerm& term, ElementType type,
                            const std::function<std::string(int operand)>& element,
                            const std::function<std::string(const std::string& name)>& param = {});

}  // namespace distal::core
