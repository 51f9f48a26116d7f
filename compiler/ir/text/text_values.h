#pragma once

#include <optional>

#include "compiler/ir/attribute.h"
#include "compiler/ir/text/text_scanner.h"

namespace nnefc::ir {

// Parsers of values of the text form (text.h). Each emits an error and returns nothing for invalid text.
std::optional<Attribute> ParseAttributeText(TextScanner& scanner);
// Parses `{strides = [2,2], ..}`, including the braces.
std::optional<AttributeMap> ParseAttributesText(TextScanner& scanner);
// A type in the text form: `f32[1,3,?]`.
struct TypeText {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;
};
std::optional<TypeText> ParseTypeText(TextScanner& scanner);
// Parses `dense<f32[2]: 1.0, 2.0>`.
std::optional<TensorValue> ParseDenseText(TextScanner& scanner);
// Parses `["a", "b"]`.
std::optional<std::vector<std::string>> ParseNamesText(TextScanner& scanner);

// Returns a hash (FNV-1a) of the bytes of a tensor.
uint64_t Digest(const TensorValue& value);

}  // namespace nnefc::ir
