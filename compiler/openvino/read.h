#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/support/context.h"
#include "compiler/support/error_or.h"

namespace nnefc {

// True if a file that begins so (512 bytes suffice) is OpenVINO IR: XML whose
// root is `net`.
bool LooksLikeOpenVino(std::string_view beginning);

struct ReadOptions {
  // Where the constants are; empty: beside the XML, ending in `.bin`.
  std::string weights_path;
};

// Reads OpenVINO IR of version 10 or 11. Mistakes of the file are emitted at
// their line and column, and give null; a file that cannot be opened is the
// ErrorOr's. Constants are parts of the mapped .bin, not copied and aligned to
// nothing.
//
// Types and shapes are inferred anew and compared with those that the file
// declares. Operations that the registry does not know are added to it under
// their set, without a shape function: their attributes are strings, their
// outputs are what the file declares, and the graph can be looked at and
// written back, but not run: see RequireKnownOperations.
ErrorOr<std::unique_ptr<ir::Graph>> ReadOpenVino(const std::string& path, ir::OpRegistry& registry,
                                                 Context& context, const ReadOptions& options = {});

// Tells each operation, bodies included, that has no shape function. True if
// there is none.
bool RequireKnownOperations(const ir::Graph& graph, Emitter& emitter);

}  // namespace nnefc
