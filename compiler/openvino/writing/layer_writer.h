#pragma once

#include "compiler/ir/graph.h"
#include "compiler/openvino/weights.h"
#include "compiler/openvino/writing/layer_order.h"
#include "compiler/openvino/writing/xml_writer.h"

namespace nnefc::openvino {

// A writer of `<layers>`, `<edges>` and `<rt_info>` of a graph and its bodies (nested at most
// ir::kMaxBodyNesting, checked by CheckWritable).
class LayerWriter {
 public:
  // Both writers must outlive this.
  LayerWriter(XmlWriter* xml, WeightsWriter* weights) : xml_(xml), weights_(weights) {}

  // Writes the elements into the innermost open element of `xml`, and the constants to `weights`.
  void WriteGraph(const ir::Graph& graph);

 private:
  void WriteLayer(const ir::Graph& graph, const LayerOrder& order, const ir::Node& node);
  void WriteData(const ir::Node& node);
  void WriteConstData(const ir::Node& node);
  void WritePorts(const ir::Graph& graph, const LayerOrder& order, const ir::Node& node,
                  const LayerInputs& inputs);
  void WritePort(const ir::Output& output, int64_t id, const std::vector<std::string>& names,
                 const ir::Node& node, bool is_input, int32_t index);
  void WriteBodies(const ir::Graph& graph, const ir::Node& node, const LayerInputs& inputs);
  void WritePortMap(const ir::Graph& graph, const ir::Node& node, const LayerInputs& inputs, size_t body,
                    std::string_view tag);
  void WriteBackEdges(const ir::Body& body, const LayerOrder& inner);
  void WriteEdges(const ir::Graph& graph, const LayerOrder& order);

  XmlWriter* xml_;
  WeightsWriter* weights_;
};

}  // namespace nnefc::openvino
