#pragma once

#include <nanobind/nanobind.h>

#include "tools/api/extension.h"

namespace nnefc::python {

// The graph of a transformation that runs, by numbers of nodes and ports: what nnefc.mo
// stands on. Good for as long as the transformation runs.
class GraphView {
 public:
  explicit GraphView(transform::Graph& graph) : graph_(&graph) {}
  // The graph; an Error once the transformation has ended.
  transform::Graph& graph() const;
  transform::Node At(int32_t node) const { return transform::Node(graph(), ir::NodeId(node)); }
  void Close() { graph_ = nullptr; }

 private:
  transform::Graph* graph_;
};

void BindTransformGraph(nanobind::module_& module);
void BindTransformations(nanobind::module_& module);
void BindProgram(nanobind::module_& module);

// An attribute as Python has it, and back: as the row of the operation has it, where that is known.
nanobind::object ToObject(const ir::Attribute& attribute);
nanobind::dict ToDict(const ir::AttributeMap& attributes);
ir::Attribute ToAttribute(nanobind::handle value, const ir::AttributeInfo* info);

}  // namespace nnefc::python
