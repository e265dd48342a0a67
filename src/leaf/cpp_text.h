#pragma once

#include <functional>
#include <string>

#include "lang/element_type.h"
#include "program/program.h"

namespace distal::core {

std::string cpp_type(ElementType type);

// The type to compute in: integers are computed unsigned, where wrapping round is defined.
std::string computing_type(ElementType type);

std::string literal_text(double value, ElementType type);

// A term without its sign, in the type C; `element` gives the text of an operand's element.
std::string expression_text(const LeafTerm& term, ElementType type,
                            const std::function<std::string(int operand)>& element);

}  // namespace distal::core
