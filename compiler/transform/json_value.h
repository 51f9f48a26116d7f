#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/support/context.h"

namespace nnefc::transform {

// A value of a JSON text, and where it stands.
struct JsonValue {
  struct Member;
  using Items = std::vector<JsonValue>;
  using Members = std::vector<Member>;  // in order

  // Of a string with its quotes, of an array or object its opening bracket.
  SourceRange range;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Items, Members> value;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  // The member of an object, or null.
  const JsonValue* Find(std::string_view key) const;
};

struct JsonValue::Member {
  std::string key;
  SourceRange key_range;
  JsonValue value;
};

// Reads a JSON text. Nothing, and a diagnostic at its line and column, if it is
// none, if it is nested deeper than 64 or if an object has a key twice.
std::optional<JsonValue> ReadJson(FileId file, Context& context);

}  // namespace nnefc::transform
