#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/attribute.h"
#include "compiler/ir/op_schema.h"

namespace nnefc::openvino {

// The text of an attribute in XML: `true`, `1, 2`, `f32`, `1,?,2..8`; numbers
// as short as reads back to the same bits.
std::string AttributeText(const ir::Attribute& attribute);
// Parses the text of an attribute of that kind, or nothing.
std::optional<ir::Attribute> ParseAttribute(std::string_view text, ir::AttributeKind kind);
// What ParseAttribute expects, for messages: "a list of integers".
std::string_view KindText(ir::AttributeKind kind);

// "1,3,?" for Parameter, "..." where the rank is unknown.
std::string ShapeText(const ir::PartialShape& shape);

// Names of tensors: joined by commas, a comma within a name as `\,`.
std::string JoinNames(const std::vector<std::string>& names);
std::vector<std::string> SplitNames(std::string_view text);

std::optional<int64_t> ParseInteger(std::string_view text);
// Without blanks at both ends.
std::string_view Trimmed(std::string_view text);
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

}  // namespace nnefc::openvino
