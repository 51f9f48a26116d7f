#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nnefc::testing {

// A parameter or result of a fragment of `stdlib/ratified.nnef`.
struct DeclaredValue {
  std::string name;
  std::string type;  // without blanks: "tensor<scalar>", "(integer,integer)[]"
  std::optional<std::string> default_value;

  bool is_tensor() const { return type.starts_with("tensor"); }
  bool is_array() const { return type.ends_with("[]"); }
};

struct Declaration {
  std::string name;
  bool is_generic = false;
  std::vector<DeclaredValue> parameters;
  std::vector<DeclaredValue> results;
};

// The declarations of the ratified standard library, read by a scanner that
// knows no more than the shape of a fragment's head: an oracle for the rows
// that does not rest on the compiler's own parser.
const std::vector<Declaration>& Declarations();
const Declaration* FindDeclaration(std::string_view name);

}  // namespace nnefc::testing
