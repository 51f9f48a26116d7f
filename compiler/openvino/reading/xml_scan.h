#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/diagnostics/diagnostics.h"

namespace nnefc::openvino {

// An error in an XML text, found before parsing.
struct ScanFinding {
  const Rule* rule;
  size_t offset;
  std::string message;
};

// Scans for content that the parser would ignore or that needs too much memory: DOCTYPE, references to
// undefined entities, NUL bytes, text beyond kLongestXml, and more elements and attributes than fit in
// kMaxXmlMemory. Linear in the text.
std::optional<ScanFinding> ScanXml(std::string_view text);

}  // namespace nnefc::openvino
