// Parsers of the values in the text form of graphs: attributes, types, constants and names.

#include "compiler/ir/text/text_values.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "compiler/support/tensor/element_visitor.h"

namespace nnefc::ir {

namespace {

constexpr int kMaxNesting = 64;

bool IsReal(std::string_view number) {
  return number.find_first_of(".eEin") != std::string_view::npos;
}

std::optional<double> ToDouble(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (end != number.data() + number.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) return std::strtod(std::string(number).c_str(), nullptr);
  return value;
}

std::optional<Attribute> ParseNumber(TextScanner& scanner) {
  const SourceRange range = scanner.Here();
  const std::optional<std::string_view> number = scanner.Number();
  if (!number) return std::nullopt;
  if (IsReal(*number)) {
    if (const auto value = ToDouble(*number)) return Attribute(*value);
  } else {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(number->data(), number->data() + number->size(), value);
    if (error == std::errc() && end == number->data() + number->size()) return Attribute(value);
  }
  scanner.ErrorAt(kTextSyntax, range, "the number `{}` is out of range", *number);
  return std::nullopt;
}

template <typename List, typename T>
std::optional<Attribute> Pack(const std::vector<Attribute>& items) {
  List packed;
  for (const Attribute& item : items) {
    const T* value = item.get<T>();
    if (value == nullptr) return std::nullopt;
    packed.push_back(*value);
  }
  return Attribute(std::move(packed));
}

// Makes a list, packed if its items have one primitive kind.
Attribute MakeList(std::vector<Attribute> items) {
  if (!items.empty()) {
    if (auto packed = Pack<Attribute::Integers, int64_t>(items)) return *packed;
    if (auto packed = Pack<Attribute::Scalars, double>(items)) return *packed;
    if (auto packed = Pack<Attribute::Logicals, bool>(items)) return *packed;
    if (auto packed = Pack<Attribute::Strings, std::string>(items)) return *packed;
  }
  return AttributeList{std::move(items), false};
}

std::optional<Attribute> ParseValue(TextScanner& scanner, int depth);

// Parses `1, 2]`, after the opening bracket.
std::optional<std::vector<Attribute>> ParseItems(TextScanner& scanner, std::string_view close, int depth) {
  std::vector<Attribute> items;
  if (scanner.Accept(close)) return items;
  if (depth >= kMaxNesting) {
    scanner.Error(kTextNesting, "lists are nested more than {} deep", kMaxNesting);
    return std::nullopt;
  }
  do {
    std::optional<Attribute> item = ParseValue(scanner, depth + 1);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
  } while (scanner.Accept(","));
  if (!scanner.Expect(close)) return std::nullopt;
  return items;
}

std::optional<Attribute> ParseList(TextScanner& scanner, int depth) {
  if (const auto shape = scanner.AcceptPartialShape()) {
    if (auto parsed = ParsePartialShape(*shape)) return Attribute(std::move(*parsed));
    scanner.Error(kTextSyntax, "`{}` is not a shape", *shape);
    return std::nullopt;
  }
  if (!scanner.Expect("[")) return std::nullopt;
  std::optional<std::vector<Attribute>> items = ParseItems(scanner, "]", depth);
  if (!items) return std::nullopt;
  return MakeList(std::move(*items));
}

std::optional<Attribute> ParseShapeAttribute(TextScanner& scanner) {
  const SourceRange range = scanner.Here();
  if (!scanner.Expect("[")) return std::nullopt;
  const std::optional<std::string_view> text = scanner.Until(']');
  if (!text) return std::nullopt;
  if (auto shape = ParsePartialShape(*text)) return Attribute(std::move(*shape));
  scanner.ErrorAt(kTextSyntax, range, "`[{}]` is not a shape", *text);
  return std::nullopt;
}

std::optional<Attribute> ParseEmpty(TextScanner& scanner, Attribute empty) {
  if (!scanner.Expect("[") || !scanner.Expect("]")) return std::nullopt;
  return empty;
}

std::optional<Attribute> ParseWord(TextScanner& scanner, int depth) {
  if (scanner.AtWord("inf") || scanner.AtWord("nan")) return ParseNumber(scanner);
  if (scanner.Accept("true")) return Attribute(true);
  if (scanner.Accept("false")) return Attribute(false);
  if (scanner.Accept("shape")) return ParseShapeAttribute(scanner);
  if (scanner.Accept("integers")) return ParseEmpty(scanner, Attribute::Integers{});
  if (scanner.Accept("scalars")) return ParseEmpty(scanner, Attribute::Scalars{});
  if (scanner.Accept("logicals")) return ParseEmpty(scanner, Attribute::Logicals{});
  if (scanner.Accept("strings")) return ParseEmpty(scanner, Attribute::Strings{});
  if (scanner.Accept("list")) {
    if (!scanner.Expect("[")) return std::nullopt;
    std::optional<std::vector<Attribute>> items = ParseItems(scanner, "]", depth);
    if (!items) return std::nullopt;
    return Attribute(AttributeList{std::move(*items), false});
  }
  if (scanner.AtWord("dense")) {
    std::optional<TensorValue> value = ParseDenseText(scanner);
    if (!value) return std::nullopt;
    return Attribute(std::move(*value));
  }
  const SourceRange range = scanner.Here();
  const std::optional<std::string_view> word = scanner.AcceptWord();
  if (word) {
    if (const auto type = ParseElementType(*word)) return Attribute(*type);
  }
  scanner.ErrorAt(kTextSyntax, range, "`{}` is not an attribute value", word.value_or(""));
  return std::nullopt;
}

std::optional<Attribute> ParseValue(TextScanner& scanner, int depth) {
  const char next = scanner.Peek();
  if (next == '"') {
    std::optional<std::string> text = scanner.String();
    if (!text) return std::nullopt;
    return Attribute(std::move(*text));
  }
  if (next == '[') return ParseList(scanner, depth);
  if (next == '(') {
    if (!scanner.Expect("(")) return std::nullopt;
    std::optional<std::vector<Attribute>> items = ParseItems(scanner, ")", depth);
    if (!items) return std::nullopt;
    return Attribute(AttributeList{std::move(*items), true});
  }
  if (next == '-' || (next >= '0' && next <= '9')) return ParseNumber(scanner);
  return ParseWord(scanner, depth);
}

// ---- constants ----

// Parses a printed element: f16 and bf16 are exact values, booleans 0 and 1.
template <typename T>
bool ParseElement(std::string_view item, T& element) {
  using Printed = ComputeType<T>;
  Printed value = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), value);
  if (end != item.data() + item.size() || error != std::errc()) return false;
  if (std::is_same_v<T, Boolean> && value > 1) return false;
  element = ConvertElement<T>(value);
  return true;
}

std::optional<TensorValue> MakeDense(const TypeText& type, const Shape& shape,
                                     llvm::ArrayRef<std::string_view> items) {
  std::optional<TensorValue> value;
  VisitAnyType(type.type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    bool valid = true;
    TensorValue made = TensorValue::Make<T>(type.type, shape, [&](std::span<T> elements) {
      for (size_t i = 0; i < elements.size(); ++i) valid = valid && ParseElement(items[i], elements[i]);
    });
    if (valid) value = std::move(made);
  });
  return value;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<TensorValue> MakeFromBytes(const TypeText& type, const Shape& shape, std::string_view digits,
                                         int64_t volume) {
  const std::optional<size_t> size = ByteSize(type.type, volume);
  if (!size || BitWidth(type.type) == 0 || digits.size() / 2 != *size || digits.size() % 2 != 0)
    return std::nullopt;
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(*size);
  if (buffer == nullptr) return std::nullopt;
  for (size_t i = 0; i < *size; ++i) {
    const int high = HexDigit(digits[2 * i]);
    const int low = HexDigit(digits[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    buffer->mutable_data()[i] = static_cast<std::byte>(high * 16 + low);
  }
  return TensorValue(type.type, shape, std::move(buffer));
}

std::string_view Stripped(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

std::vector<std::string_view> SplitItems(std::string_view text) {
  std::vector<std::string_view> items;
  text = Stripped(text);
  while (!text.empty()) {
    const size_t comma = text.find(',');
    items.push_back(Stripped(text.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) items.emplace_back();
  }
  return items;
}

}  // namespace

std::optional<Attribute> ParseAttributeText(TextScanner& scanner) {
  return ParseValue(scanner, 0);
}

std::optional<AttributeMap> ParseAttributesText(TextScanner& scanner) {
  AttributeMap attributes;
  if (!scanner.Expect("{")) return std::nullopt;
  if (scanner.Accept("}")) return attributes;
  do {
    const SourceRange range = scanner.Here();
    const std::optional<std::string> name = scanner.Word();
    if (!name || !scanner.Expect("=")) return std::nullopt;
    std::optional<Attribute> value = ParseAttributeText(scanner);
    if (!value) return std::nullopt;
    if (attributes.Find(*name) != nullptr || attributes.size() >= 1000) {
      scanner.ErrorAt(kTextSyntax, range, "the attribute `{}` is given twice or is one too many", *name);
      return std::nullopt;
    }
    attributes.Set(*name, std::move(*value));
  } while (scanner.Accept(","));
  if (!scanner.Expect("}")) return std::nullopt;
  return attributes;
}

std::optional<TypeText> ParseTypeText(TextScanner& scanner) {
  const SourceRange range = scanner.Here();
  const std::optional<std::string_view> word = scanner.AcceptWord();
  const std::optional<ElementType> type = word ? ParseElementType(*word) : std::nullopt;
  if (!type) {
    scanner.ErrorAt(kTextSyntax, range, "expected an element type, found `{}`", word.value_or(""));
    return std::nullopt;
  }
  std::optional<Attribute> shape = ParseShapeAttribute(scanner);
  if (!shape) return std::nullopt;
  return TypeText{*type, *shape->get<PartialShape>()};
}

uint64_t Digest(const TensorValue& value) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (size_t i = 0; i < value.byte_size(); ++i) {
    hash ^= static_cast<uint64_t>(value.bytes()[i]);
    hash *= 0x100000001b3;
  }
  return hash;
}

namespace {

// Parses "#8c6f.. @128": elements that are stored outside of the text.
std::optional<TensorValue> ReadKept(TextScanner& scanner, SourceRange range, const TypeText& type,
                                    std::string_view text) {
  const size_t at = text.find(" @");
  if (at == std::string_view::npos || scanner.elements() == nullptr) {
    // Only the first such constant is reported because all have the same cause.
    if (!scanner.IsFirstElided()) return std::nullopt;
    const std::string_view why =
        at == std::string_view::npos
            ? "the constant was printed without its elements, which `compile -o net.ir` keeps in `net.bin`"
            : "the elements of the constant are not there: they stand in the `.bin` file of the same name";
    scanner.ErrorAt(kTextElidedConstant, range, "{}", why);
    return std::nullopt;
  }
  uint64_t digest = 0;
  uint64_t offset = 0;
  const std::string_view hex = text.substr(1, at - 1);
  const std::string_view place = text.substr(at + 2);
  const bool is_read =
      std::from_chars(hex.data(), hex.data() + hex.size(), digest, 16).ptr == hex.data() + hex.size() &&
      std::from_chars(place.data(), place.data() + place.size(), offset).ptr == place.data() + place.size();
  const std::optional<Shape> shape = type.shape.extents();
  const std::optional<int64_t> volume = type.shape.volume();
  const std::optional<size_t> size = shape && volume ? ByteSize(type.type, *volume) : std::nullopt;
  const uint64_t there = scanner.elements()->size();
  if (!is_read || !size || offset > there || *size > there - offset) {
    scanner.ErrorAt(kTextConstant, range, "the elements lie outside of the `.bin` file, which has {} bytes",
                    there);
    return std::nullopt;
  }
  TensorValue value(type.type, *shape, Buffer::Slice(scanner.elements(), offset, *size));
  if (Digest(value) == digest) return value;
  scanner.ErrorAt(kTextConstant, range,
                  "the elements in the `.bin` file are others: the files do not belong together");
  return std::nullopt;
}

}  // namespace

std::optional<TensorValue> ParseDenseText(TextScanner& scanner) {
  const SourceRange range = scanner.Here();
  if (!scanner.Expect("dense") || !scanner.Expect("<")) return std::nullopt;
  if (scanner.Accept("none")) return scanner.Expect(">") ? std::optional(TensorValue()) : std::nullopt;
  const std::optional<TypeText> type = ParseTypeText(scanner);
  if (!type || !scanner.Expect(":")) return std::nullopt;
  const std::optional<std::string_view> until = scanner.Until('>');
  if (!until) return std::nullopt;
  const std::string_view text = Stripped(*until);
  if (text.starts_with('#')) return ReadKept(scanner, range, *type, text);
  const std::optional<Shape> shape = type->shape.extents();
  const std::optional<int64_t> volume = type->shape.volume();
  if (!shape || !volume) {
    scanner.ErrorAt(kTextConstant, range, "a constant cannot have shape {}", ToString(type->shape));
    return std::nullopt;
  }
  std::optional<TensorValue> value;
  if (text.starts_with("0x")) {
    value = MakeFromBytes(*type, *shape, text.substr(2), *volume);
  } else {
    const std::vector<std::string_view> items = SplitItems(text);
    if (items.size() == static_cast<size_t>(*volume)) value = MakeDense(*type, *shape, items);
  }
  if (!value) {
    scanner.ErrorAt(kTextConstant, range, "the elements are not {} of type {}", *volume, Name(type->type));
  }
  return value;
}

std::optional<std::vector<std::string>> ParseNamesText(TextScanner& scanner) {
  std::vector<std::string> names;
  if (!scanner.Expect("[")) return std::nullopt;
  if (scanner.Accept("]")) return names;
  do {
    std::optional<std::string> name = scanner.String();
    if (!name) return std::nullopt;
    names.push_back(std::move(*name));
  } while (scanner.Accept(","));
  if (!scanner.Expect("]")) return std::nullopt;
  return names;
}

}  // namespace nnefc::ir
