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

// `'constant'` of NNEF is `"constant"` of the text form.
std::string InTextForm(std::string value) {
  for (char& c : value) {
    if (c == '\'') c = '"';
  }
  return value;
}

}  // namespace

ir::AttributeMap CompletedAttributes(const Declaration& declaration, std::string_view text) {
  ir::AttributeMap attributes = ParseAttributes("{" + std::string(text) + "}");
  for (const DeclaredValue& parameter : declaration.parameters) {
    if (parameter.is_tensor() || !parameter.default_value || attributes.Find(parameter.name) != nullptr)
      continue;
    const ir::AttributeMap defaults =
        ParseAttributes("{" + parameter.name + " = " + InTextForm(*parameter.default_value) + "}");
    attributes.Set(parameter.name, defaults.Get(parameter.name));
  }
  return attributes;
}

}  // namespace nnefc::testing
