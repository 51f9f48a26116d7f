#pragma once

#include <span>
#include <string_view>

namespace nnefc::stdlib {

// A parameter or result of an operation of the standard library.
struct DeclaredValue {
  std::string_view name;
  std::string_view type;      // "tensor<?>[]", "integer", "(integer,integer)[]": as written, without blanks
  std::string_view fallback;  // the literal of its default, such as "[]" or "'constant'"; empty without one
};

// The head of a fragment.
struct Declaration {
  std::string_view name;
  bool is_generic;
  std::span<const DeclaredValue> parameters;
  std::span<const DeclaredValue> results;
};

// Those of `ratified.nnef` and `control_flow.nnef`, and of the primitives in `tract/`, which the
// compiler's own parser read when nnefc was built.
std::span<const Declaration> Declarations();

// The declaration of that name, or null.
const Declaration* FindDeclaration(std::string_view name);

}  // namespace nnefc::stdlib
