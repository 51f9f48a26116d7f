#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnefc::fuzz {

// A parameter of an operation as its declaration states it.
struct OperationParameter {
  std::string name;
  std::string type;           // without white space: `tensor<scalar>`, `(integer,integer)[]`
  std::string default_value;  // empty if it has none
};

// An operation of one of the standard libraries.
struct Operation {
  std::string name;
  bool is_generic = false;
  std::vector<OperationParameter> parameters;
  size_t results = 1;
};

// Returns the operations of every library: both dialects, Appendix C and the extensions.
const std::vector<Operation>& LibraryOperations();
// Returns one of the declarations of the name, or null.
const Operation* FindOperation(std::string_view name);
// Returns the names, keywords and strings that a document may have.
const std::vector<std::string_view>& DocumentWords();

}  // namespace nnefc::fuzz
