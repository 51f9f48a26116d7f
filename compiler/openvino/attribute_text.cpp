// Conversions between attributes and their text in XML.

#include "compiler/openvino/attribute_text.h"

#include <charconv>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::openvino {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

struct TextOf {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const std::vector<std::string>& values) const { return JoinNames(values); }
  std::string operator()(const ir::Attribute::Logicals& values) const {
    std::vector<std::string_view> items;
    items.reserve(values.size());
    for (bool value : values) items.push_back(value ? "true" : "false");
    return fmt::format("{}", fmt::join(items, ", "));
  }
  std::string operator()(const ir::Attribute::Integers& values) const {
    return fmt::format("{}", fmt::join(values, ", "));
  }
  std::string operator()(const ir::Attribute::Scalars& values) const {
    return fmt::format("{}", fmt::join(values, ", "));
  }
  std::string operator()(const ir::AttributeList& list) const {
    std::vector<std::string> items;
    items.reserve(list.items.size());
    for (const ir::Attribute& item : list.items) items.push_back(AttributeText(item));
    return fmt::format("{}", fmt::join(items, ", "));
  }
  std::string operator()(ElementType type) const { return std::string(Name(type)); }
  std::string operator()(const ir::PartialShape& shape) const { return ShapeText(shape); }
  std::string operator()(const TensorValue& value) const { return ToString(value.shape()); }
};

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "1" || EqualsIgnoringCase(text, "true")) return true;
  if (text == "0" || EqualsIgnoringCase(text, "false")) return false;
  return std::nullopt;
}

std::optional<double> ParseDouble(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Parses items separated by commas; an empty text has no items.
template <typename T>
std::optional<ir::Attribute> ParseList(std::string_view text, std::optional<T> (*parse)(std::string_view)) {
  if (text.empty()) return ir::Attribute();
  std::vector<T> items;
  while (true) {
    const size_t comma = text.find(',');
    const std::optional<T> item = parse(Trimmed(text.substr(0, comma)));
    if (!item) return std::nullopt;
    items.push_back(*item);
    if (comma == std::string_view::npos) return ir::Attribute(std::move(items));
    text.remove_prefix(comma + 1);
  }
}

template <typename T>
std::optional<ir::Attribute> Wrap(std::optional<T> value) {
  if (!value) return std::nullopt;
  return ir::Attribute(std::move(*value));
}

}  // namespace

std::string AttributeText(const ir::Attribute& attribute, ir::AttributeKind kind) {
  if (const auto* integer = attribute.get<int64_t>();
      integer != nullptr && kind == ir::AttributeKind::kDouble)
    return AttributeText(static_cast<double>(*integer));
  const auto* integers = attribute.get<ir::Attribute::Integers>();
  if (integers != nullptr && kind == ir::AttributeKind::kDoubles)
    return AttributeText(ir::Attribute::Scalars(integers->begin(), integers->end()));
  return AttributeText(attribute);
}

std::string AttributeText(const ir::Attribute& attribute) {
  return std::visit(TextOf(), attribute.value());
}

std::optional<ir::Attribute> ParseAttribute(std::string_view text, ir::AttributeKind kind) {
  const std::string_view trimmed = Trimmed(text);
  switch (kind) {
    case ir::AttributeKind::kBool:
      return Wrap(ParseBool(trimmed));
    case ir::AttributeKind::kInt:
      return Wrap(ParseInteger(trimmed));
    case ir::AttributeKind::kDouble:
      return Wrap(ParseDouble(trimmed));
    case ir::AttributeKind::kString:
      return ir::Attribute(text);
    case ir::AttributeKind::kInts:
      return ParseList<int64_t>(trimmed, ParseInteger);
    case ir::AttributeKind::kDoubles:
      return ParseList<double>(trimmed, ParseDouble);
    case ir::AttributeKind::kType:
      return Wrap(ParseElementType(trimmed));
    case ir::AttributeKind::kShape:
      return Wrap(ir::ParsePartialShape(trimmed));
    case ir::AttributeKind::kPairs:
    case ir::AttributeKind::kGeneric:
      return std::nullopt;  // not an attribute of layers
  }
  return std::nullopt;
}

std::string_view KindText(ir::AttributeKind kind) {
  switch (kind) {
    case ir::AttributeKind::kBool:
      return "`true` or `false`";
    case ir::AttributeKind::kInt:
      return "an integer";
    case ir::AttributeKind::kDouble:
      return "a number";
    case ir::AttributeKind::kString:
      return "a string";
    case ir::AttributeKind::kInts:
      return "a list of integers";
    case ir::AttributeKind::kDoubles:
      return "a list of numbers";
    case ir::AttributeKind::kType:
      return "an element type";
    case ir::AttributeKind::kShape:
      return "a shape";
    case ir::AttributeKind::kPairs:
    case ir::AttributeKind::kGeneric:
      return "a list";
  }
  return "";
}

std::string ShapeText(const ir::PartialShape& shape) {
  const std::string text = ir::ToString(shape);
  return text.substr(1, text.size() - 2);
}

std::string JoinNames(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += ',';
    for (char c : names[i]) {
      if (c == ',') text += '\\';
      text += c;
    }
  }
  return text;
}

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',') {
      name += text[++i];
    } else if (text[i] == ',') {
      names.push_back(std::move(name));
      name.clear();
    } else {
      name += text[i];
    }
  }
  names.push_back(std::move(name));
  llvm::erase_if(names, [](const std::string& item) { return item.empty(); });
  return names;
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace nnefc::openvino
