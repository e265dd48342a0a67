#pragma once

namespace distal::core {

// One function object with a case for each type, for std::visit and fold. A missing case does not compile.
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

}  // namespace distal::core
