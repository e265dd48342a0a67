#pragma once

#include <string>
#include <string_view>

#include "lang/module.h"
#include "lang/token_stream.h"

namespace distal::core {

// What people write who come from other languages, and which this language lacks: `A[i, j]`, `exp(B(i, j))`,
// `2 B(i, j)`, `x(i + j)`. Each function looks at the tokens from here on and reads none. If it recognises such a form
// it throws an Error that says what to write instead; otherwise the parser goes on.

// Behind the name of an access.
void refuse_foreign_access(const TokenStream& tokens, const Token& name, const Module& module);
// In front of an index of an access.
void refuse_foreign_index(const TokenStream& tokens, const Module& module);
// Behind the left side of a statement, which is `left`.
void refuse_foreign_assign_operator(const TokenStream& tokens, const std::string& left);
// Behind `=` or `+=`.
void refuse_foreign_assignment(const TokenStream& tokens);
// In front of a factor that is neither a number nor a name.
void refuse_foreign_factor(const TokenStream& tokens);
// Behind a factor that no `*` follows. `first` is the factor's first token.
void refuse_foreign_operator(const TokenStream& tokens, const Token& first);
// In front of a line that is no declaration, statement or schedule.
void refuse_foreign_line(const TokenStream& tokens);

// What to write instead of a schedule command that other languages have; empty for a name that is not known.
std::string foreign_command(std::string_view name);
// What to write instead of a character that belongs to no token. `is_behind_name`: behind a name or a parenthesis,
// where a quote is a transpose.
std::string instead_of_character(std::string_view character, bool is_behind_name);

}  // namespace distal::core
