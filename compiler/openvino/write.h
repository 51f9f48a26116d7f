#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/openvino/weights.h"
#include "compiler/support/context.h"
#include "compiler/support/error_or.h"

namespace nnefc {

struct WriteOptions {
  // Where the constants go; empty: beside the XML, ending in `.bin`.
  std::string weights_path;
};

struct WritableOptions {
  // Why an NNEF operation has no form, to follow "has no form in OpenVINO IR";
  // empty if nothing more is known.
  std::function<std::string(const ir::Node&)> reason = nullptr;
  // Variables need no data.
  bool structure_only = false;
};

// Tells every reason why the graph cannot be written as OpenVINO IR: an
// operation without an OpenVINO form, a variable without data, bodies nested
// too deep, names that XML cannot hold. True if there is none.
[[nodiscard]] bool CheckWritable(const ir::Graph& graph, Emitter& emitter,
                                 const WritableOptions& options = {});

// Writes the graph as OpenVINO IR version 11: `net.xml` and `net.bin`, both or
// none. The graph must be writable and without cycles (checked). What feeds no
// result and no sink is left out. The same graph gives the same bytes, and what
// ReadOpenVino makes of them gives them again.
ErrorOr<Success> WriteOpenVino(const ir::Graph& graph, const std::string& xml_path,
                               const WriteOptions& options = {});

// The same in memory. The constants are those of the graph, not copies.
struct [[nodiscard]] OpenVinoInMemory {
  std::string xml;
  std::vector<openvino::PlacedConstant> constants;
  uint64_t weights_size = 0;  // of the file that they would fill
};
OpenVinoInMemory WriteOpenVinoInMemory(const ir::Graph& graph);

}  // namespace nnefc
