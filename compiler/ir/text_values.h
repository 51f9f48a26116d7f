#pragma once

#include <optional>

#include "compiler/ir/attribute.h"
#include "compiler/ir/text_scanner.h"

namespace nnefc::ir {

// The values of the text form (text.h). Each emits a mistake and returns
// nothing where it cannot read on.
std::optional<Attribute> ParseAttributeText(TextScanner& scanner);
// `{strides = [2,2], ..}`, from the brace on.
std::optional<AttributeMap> ParseAttributesText(TextScanner& scanner);
// `f32[1,3,?]`.
struct TypeText {
  ElementType type = ElementType::kDynamic;
  PartialShape shape;
};
std::optional<TypeText> ParseTypeText(TextScanner& scanner);
// `dense<f32[2]: 1.0, 2.0>`.
std::optional<TensorValue> ParseDenseText(TextScanner& scanner);
// `["a", "b"]`.
std::optional<std::vector<std::string>> ParseNamesText(TextScanner& scanner);

// Tells elements apart: a hash (FNV-1a) of their bytes.
uint64_t Digest(const TensorValue& value);

}  // namespace nnefc::ir
