#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nnefc::ast::parse {

// A text in a format other than NNEF 1.0.
struct OtherFormat {
  uint32_t offset = 0;  // position of the identifying token
  std::string message;  // "this is JSON, not an NNEF document"
};

// Recognizes other formats by the beginning of a text; nothing if the text may be an NNEF document, however
// damaged.
std::optional<OtherFormat> FindOtherFormat(std::string_view text);

}  // namespace nnefc::ast::parse
