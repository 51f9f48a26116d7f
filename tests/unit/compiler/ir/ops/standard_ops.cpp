#include "tests/unit/compiler/ir/ops/standard_ops.h"

#include "compiler/ir/text/text_values.h"
#include "gtest/gtest.h"

namespace nnefc::ir::ops {

namespace {

AttributeMap ParseAttributes(std::string text) {
  Context context;
  const FileId file = context.sources.AddText("attributes", std::move(text));
  TextScanner scanner(file, context);
  std::optional<AttributeMap> attributes = ir::ParseAttributesText(scanner);
  EXPECT_TRUE(attributes.has_value()) << context.sources.Text(file);
  return attributes.value_or(AttributeMap());
}

}  // namespace

AttributeMap CompletedAttributes(const OpInfo& row, std::string_view text) {
  AttributeMap attributes = ParseAttributes("{" + std::string(text) + "}");
  for (const AttributeInfo& info : row.attributes) {
    if (info.fallback && attributes.Find(info.name) == nullptr) attributes.Set(info.name, *info.fallback);
  }
  return attributes;
}

}  // namespace nnefc::ir::ops
