// The allowed values and names of a profile, and their texts.

#include "compiler/device/profile.h"

#include "llvm/ADT/STLExtras.h"

namespace nnefc::device {
namespace {

// Returns a JSON value in NNEF's spelling: `'constant'`, `[1, 2]`.
std::string Spell(const JsonValue& value) {
  if (const auto* logical = value.get<bool>()) return *logical ? "true" : "false";
  if (const auto* integer = value.get<int64_t>()) return fmt::format("{}", *integer);
  if (const auto* number = value.get<double>()) return fmt::format("{}", *number);
  if (const auto* text = value.get<std::string>()) return fmt::format("'{}'", *text);
  std::string items;
  if (const auto* list = value.get<JsonValue::Items>()) {
    for (const JsonValue& item : *list) items += (items.empty() ? "" : ", ") + Spell(item);
  }
  return fmt::format("[{}]", items);
}

std::string Spell(const AllowedValues::Range& range) {
  if (!range.max) return fmt::format("{} or more", range.min.value_or(0));
  if (!range.min) return fmt::format("at most {}", *range.max);
  return *range.min == *range.max ? fmt::format("{}", *range.min)
                                  : fmt::format("{} to {}", *range.min, *range.max);
}

// Returns the texts as "a, b or c".
std::string Join(const std::vector<std::string>& texts, std::string_view last) {
  if (texts.empty()) return "nothing";
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 == texts.size() ? fmt::format(" {} ", last) : ", ";
    joined += texts[i];
  }
  return joined;
}

}  // namespace

bool AllowedValues::AllowsNumber(double number) const {
  return llvm::any_of(alternatives, [&](const Alternative& alternative) {
    if (const auto* range = std::get_if<Range>(&alternative))
      return (!range->min || number >= *range->min) && (!range->max || number <= *range->max);
    const auto& value = std::get<JsonValue>(alternative);
    if (const auto* integer = value.get<int64_t>()) return static_cast<double>(*integer) == number;
    const auto* scalar = value.get<double>();
    return scalar != nullptr && *scalar == number;
  });
}

std::string Describe(const AllowedValues& allowed) {
  std::vector<std::string> texts;
  texts.reserve(allowed.alternatives.size());
  for (const AllowedValues::Alternative& alternative : allowed.alternatives)
    texts.push_back(std::visit([](const auto& each) { return Spell(each); }, alternative));
  return Join(texts, "or");
}

bool AllowedNames::Allows(std::string_view name) const {
  return llvm::is_contained(names, name);
}

std::string Describe(const AllowedNames& allowed) {
  std::vector<std::string> texts;
  texts.reserve(allowed.names.size());
  for (const std::string& name : allowed.names) texts.push_back(fmt::format("`{}`", name));
  return Join(texts, "and");
}

std::optional<int64_t> MaxExtents::Of(size_t axis) const {
  if (is_uniform) return extents.front();
  if (axis < extents.size()) return extents[axis];
  return std::nullopt;
}

}  // namespace nnefc::device
