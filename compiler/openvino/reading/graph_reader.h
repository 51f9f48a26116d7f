#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/openvino/layers.h"
#include "compiler/openvino/port_map.h"
#include "compiler/openvino/reading/const_reader.h"
#include "compiler/openvino/reading/xml_file.h"

namespace nnefc::openvino {

// A builder of the graph of a `net` and of its bodies.
class GraphReader {
 public:
  GraphReader(XmlFile* file, ir::OpRegistry* registry, std::string weights_path, Emitter* emitter)
      : file_(file),
        registry_(registry),
        opsets_(*registry),
        constants_(std::move(weights_path)),
        emitter_(emitter) {}

  // Returns the graph of the root with the declared types and shapes, or emits diagnostics and returns null.
  [[nodiscard]] std::unique_ptr<ir::Graph> Read();
  // Compares the declarations of ports with the inferred types and shapes. Returns true if they agree.
  [[nodiscard]] bool CompareDeclared();

 private:
  // A graph with the layers it was read from.
  struct ReadGraph {
    const ir::Graph* graph;
    Layers layers;
  };

  [[nodiscard]] std::unique_ptr<ir::Graph> ReadNet(pugi::xml_node net, int depth, BodyLayers* places);
  // Returns false after an error.
  [[nodiscard]] bool MakeNode(XmlReader& xml, ir::Graph& graph, std::vector<LayerElement>& layers,
                              LayerElement& layer, int depth);
  ir::OpId OperationOf(const LayerElement& layer);
  [[nodiscard]] bool CheckInputs(XmlReader& xml, const LayerElement& layer);
  [[nodiscard]] bool CheckOutputs(XmlReader& xml, const LayerElement& layer, const ir::OpInfo& info,
                                  int32_t& num_outputs);
  ir::AttributeMap ReadAttributes(XmlReader& xml, const LayerElement& layer);
  void SetDeclaredOutputs(ir::Graph& graph, const LayerElement& layer);
  [[nodiscard]] bool ReadBodies(XmlReader& xml, ir::Graph& graph, const LayerElement& layer, int depth);
  void ReadAllRtInfo(XmlReader& xml, ir::Graph& graph, const LayerElement& layer);
  static void NameResults(ir::Graph& graph, bool is_version_10);
  void CompareLayer(XmlReader& xml, const ir::Graph& graph, const LayerElement& layer);
  void ComparePrecision(XmlReader& xml, const PortElement& port, const ir::Graph& graph, ir::OutputPort value,
                        std::string_view layer);
  void CompareDims(XmlReader& xml, const PortElement& port, const ir::Output& output, std::string_view layer);

  XmlFile* file_;
  ir::OpRegistry* registry_;
  OpsetIndex opsets_;
  ConstReader constants_;
  Emitter* emitter_;
  std::vector<ReadGraph> graphs_;
  int num_unknown_attributes_ = 0;
};

}  // namespace nnefc::openvino
