#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/support/diagnostics.h"

namespace nnefc {

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

// What a JSON text is read for.
struct JsonFormat {
  const Rule* syntax;      // of a text that is no JSON, or nested deeper than 64
  const Rule* repetition;  // of a key that an object has twice
  std::string_view holds;  // "the file holds ..": what is expected instead
};

// Reads a JSON text, which stands `offset` bytes behind the beginning of a file.
// Nothing, and a diagnostic, if it cannot be read.
[[nodiscard]] std::optional<JsonValue> ReadJson(std::string_view text, FileId file, uint32_t offset,
                                                const JsonFormat& format, Emitter& emitter);

}  // namespace nnefc
