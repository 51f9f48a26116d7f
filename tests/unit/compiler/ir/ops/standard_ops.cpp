#include "tests/unit/compiler/ir/ops/standard_ops.h"

#include "compiler/ir/text_values.h"
#include "gtest/gtest.h"

namespace nnefc::testing {

namespace {

ir::AttributeMap ParseAttributes(std::string text) {
  Context context;
  const FileId file = context.sources.AddText("attributes", std::move(text));
  ir::TextScanner scanner(file, context);
  std::optional<ir::AttributeMap> attributes = ir::ParseAttributesText(scanner);
  EXPECT_TRUE(attributes.has_value()) << context.sources.Text(file);
  return attributes.value_or(ir::AttributeMap());
}

}  // namespace

ir::AttributeMap CompletedAttributes(const ir::OpInfo& row, std::string_view text) {
  ir::AttributeMap attributes = ParseAttributes("{" + std::string(text) + "}");
  for (const ir::AttributeInfo& info : row.attributes) {
    if (info.fallback && attributes.Find(info.name) == nullptr) attributes.Set(info.name, *info.fallback);
  }
  return attributes;
}

}  // namespace nnefc::testing
