#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/openvino/weights.h"
#include "compiler/support/context.h"
#include "compiler/support/error_or.h"

namespace nnefc::openvino {

struct WriteOptions {
  // The path of the constants; empty: next to the XML file, with the suffix `.bin`.
  std::string weights_path;
};

struct WritableOptions {
  // Returns the reason for an NNEF operation without a form, to follow "has no form in OpenVINO IR"; empty if
  // unknown.
  std::function<std::string(const ir::Node&)> reason = nullptr;
  // Accept variables without data.
  bool structure_only = false;
};

// Reports every reason why the graph cannot be written as OpenVINO IR: an operation without an OpenVINO form,
// a variable without data, too deeply nested bodies, names that XML cannot represent. Returns true if there
// is none.
[[nodiscard]] bool CheckWritable(const ir::Graph& graph, Emitter& emitter,
                                 const WritableOptions& options = {});

// Writes the graph as OpenVINO IR version 11, `net.xml` and `net.bin`, both or neither. The graph must be
// writable and acyclic (checked). Nodes that feed no result and no sink are omitted. The output is
// deterministic, and reading it with ReadOpenVino and writing it again produces the same bytes.
ErrorOr<Success> WriteOpenVino(const ir::Graph& graph, const std::string& xml_path,
                               const WriteOptions& options = {});

// OpenVINO IR in memory. The constants share the bytes of the graph.
struct [[nodiscard]] OpenVinoInMemory {
  std::string xml;
  std::vector<PlacedConstant> constants;
  uint64_t weights_size = 0;  // size of the .bin file
};
OpenVinoInMemory WriteOpenVinoInMemory(const ir::Graph& graph);

}  // namespace nnefc::openvino
