#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc {

// A value of a JSON text with its source range.
struct JsonValue {
  struct Member;
  using Items = std::vector<JsonValue>;
  using Members = std::vector<Member>;  // in order

  // The source range: a string with its quotes; of an array or object only the opening bracket.
  SourceRange range;
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Items, Members> value;

  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
  // Returns the member of an object, or null.
  const JsonValue* Find(std::string_view key) const;
};

struct JsonValue::Member {
  std::string key;
  SourceRange key_range;
  JsonValue value;
};

// The limit on the size of files with settings, such as `.nnefc.json`.
inline constexpr size_t kMaxSettingsBytes = size_t{1} << 20;

// The rules and the wording for diagnostics about a JSON text.
struct JsonFormat {
  const Rule* syntax;      // for invalid JSON, nesting deeper than 64, and a text that is too large
  const Rule* repetition;  // for a duplicate key in an object
  std::string_view holds;  // "the file holds ..": the expected content
  size_t max_bytes = SIZE_MAX;
};

// Reads a JSON text that starts `offset` bytes into a file. Reports a diagnostic and returns nothing on
// failure.
[[nodiscard]] std::optional<JsonValue> ReadJson(std::string_view text, FileId file, uint32_t offset,
                                                const JsonFormat& format, Emitter& emitter);

}  // namespace nnefc
