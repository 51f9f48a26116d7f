#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/context.h"
#include "compiler/support/error_or.h"

namespace nnefc::openvino {

// Returns true if a file that starts with `beginning` (512 bytes suffice) is OpenVINO IR: XML with the root
// `net`.
bool LooksLikeOpenVino(std::string_view beginning);

struct ReadOptions {
  // The path of the constants; empty: next to the XML file, with the suffix `.bin`.
  std::string weights_path;
};

// Reads OpenVINO IR of version 10 or 11. Errors in the file are emitted with line and column, and the result
// is null; the ErrorOr reports a file that cannot be opened. Constants are unaligned slices of the mapped
// .bin.
//
// Types and shapes are inferred again and compared with the declared ones. Unknown operations are added to
// the registry under their set, without a shape function: their attributes are strings, and their outputs
// have the declared types. Such a graph can be inspected and written, but not run: see
// RequireKnownOperations.
ErrorOr<std::unique_ptr<ir::Graph>> ReadOpenVino(const std::string& path, ir::OpRegistry& registry,
                                                 Context& context, const ReadOptions& options = {});

// Reports each operation, including those in bodies, without a shape function. Returns true if there is none.
[[nodiscard]] bool RequireKnownOperations(const ir::Graph& graph, Emitter& emitter);

}  // namespace nnefc::openvino
