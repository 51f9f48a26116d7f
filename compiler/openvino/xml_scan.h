#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/diagnostics.h"

namespace nnefc::openvino {

// What is wrong with an XML text before it is parsed.
struct ScanFinding {
  const Rule* rule;
  size_t offset;
  std::string message;
};

// Looks for what the parser would pass over or spend too much memory on:
// DOCTYPE, references to entities that XML does not define, NUL bytes, a text
// above kLongestXml, and more elements and attributes than fit kMostXmlMemory. Linear in the text.
std::optional<ScanFinding> ScanXml(std::string_view text);

}  // namespace nnefc::openvino
