#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_schema.h"

namespace nnefc::openvino {

// Returns the XML text of an attribute: `true`, `1, 2`, `f32`, `1,?,2..8`. Numbers have the shortest text
// that parses to the same bits.
std::string AttributeText(const ir::Attribute& attribute);
// The same for an attribute of that kind: integers of an attribute of floats have the text of floats.
std::string AttributeText(const ir::Attribute& attribute, ir::AttributeKind kind);
// Parses the text of an attribute of that kind; nothing on errors.
std::optional<ir::Attribute> ParseAttribute(std::string_view text, ir::AttributeKind kind);
// Returns the expectation of ParseAttribute for messages: "a list of integers".
std::string_view KindText(ir::AttributeKind kind);

// Returns the text of a Parameter's shape, such as "1,3,?"; "..." for an unknown rank.
std::string ShapeText(const ir::PartialShape& shape);

// Joins and splits lists of tensor names, separated by commas; a comma within a name is `\,`.
std::string JoinNames(const std::vector<std::string>& names);
std::vector<std::string> SplitNames(std::string_view text);

std::optional<int64_t> ParseInteger(std::string_view text);
// Returns the text without leading and trailing blanks.
std::string_view Trimmed(std::string_view text);
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace nnefc::openvino
