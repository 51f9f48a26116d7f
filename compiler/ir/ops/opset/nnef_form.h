#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace nnefc::ir::ops::opset {

// The operations of these sets as operations of NNEF documents, by the extension NNEFC_opset. Their
// declarations in `stdlib/opset.nnef` follow from the rows.

// Returns the name of an operation in a document: `opset8_Gather`.
std::string NnefName(const OpInfo& row);
// Returns the operation with that name in a document, or an invalid id.
OpId FindNnefName(const OpRegistry& registry, std::string_view name);

// The identifiers of a row's inputs, attributes and outputs in its declaration, in their order: names with
// other characters than those of identifiers, keywords and repeated names are changed.
struct NnefParameters {
  std::vector<std::string> inputs, attributes, outputs;
};
NnefParameters NnefParametersOf(const OpInfo& row);

// Returns the form of an attribute's value in a document: an element type or a shape is a string, and a
// number of an attribute of numbers is a scalar.
Attribute NnefValue(const AttributeInfo& attribute, const Attribute& value);
// Returns a node's attributes by the identifiers of their parameters, as in a document.
AttributeMap NnefAttributes(const Node& node);

// Converts arguments to attributes. Returns nothing if a string is no element type or no shape; `mistake` is
// then the rest of a message about the attribute, and `parameter` its identifier.
struct NnefMistake {
  std::string parameter;
  std::string text;
};
std::optional<AttributeMap> ReadNnefAttributes(const OpInfo& row, const AttributeMap& arguments,
                                               NnefMistake& mistake);

}  // namespace nnefc::ir::ops::opset
