// The intended types of unknown type names.

#include "compiler/syntax/parse/type_names.h"

#include <utility>

#include "compiler/support/diagnostics/suggest.h"

namespace nnefc::ast::parse {

IntendedType IntendedTypeOf(std::string_view name, const Dialect& dialect) {
  const std::string_view integer = dialect.integer;
  const std::pair<std::string_view, std::string_view> foreign[] = {
      {"int", integer},      {"uint", integer},      {"int8", integer},      {"uint8", integer},
      {"int16", integer},    {"uint16", integer},    {"int32", integer},     {"uint32", integer},
      {"int64", integer},    {"uint64", integer},    {"long", integer},      {"i32", integer},
      {"i64", integer},      {"float", "scalar"},    {"float16", "scalar"},  {"float32", "scalar"},
      {"float64", "scalar"}, {"bfloat16", "scalar"}, {"half", "scalar"},     {"f16", "scalar"},
      {"f32", "scalar"},     {"f64", "scalar"},      {"double", "scalar"},   {"number", "scalar"},
      {"real", "scalar"},    {"bool", "logical"},    {"boolean", "logical"}, {"str", "string"},
  };
  for (const auto& [theirs, ours] : foreign) {
    if (name == theirs) return {ours, true};
  }
  Suggestion suggestion(name);
  for (std::string_view type :
       {std::string_view("scalar"), integer, std::string_view("logical"), std::string_view("string")}) {
    suggestion.Offer(type);
  }
  return {suggestion.best(), suggestion.is_typo()};
}

bool MayNameType(std::string_view name) {
  return name == "integer" || name == "extent" || !IntendedTypeOf(name, Dialect::kRatified).name.empty();
}

}  // namespace nnefc::ast::parse
