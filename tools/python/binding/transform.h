#pragma once

#include <nanobind/nanobind.h>

#include "tools/api/extension.h"

namespace nnefc::python {

// The graph of a running transformation, with nodes and ports identified by numbers. The basis of nnefc.mo;
// valid only while the transformation runs.
class GraphView {
 public:
  explicit GraphView(transform::Graph& graph) : graph_(&graph) {}
  // Returns the graph; throws an Error after the transformation has ended.
  transform::Graph& graph() const;
  transform::Node At(int32_t node) const { return transform::Node(graph(), ir::NodeId(node)); }
  void Close() { graph_ = nullptr; }

 private:
  transform::Graph* graph_;
};

void BindTransformGraph(nanobind::module_& module);
void BindTransformations(nanobind::module_& module);
void BindProgram(nanobind::module_& module);

// Conversions between attributes and Python objects. The operation's row determines the kind, if known.
nanobind::object ToObject(const ir::Attribute& attribute);
nanobind::dict ToDict(const ir::AttributeMap& attributes);
ir::Attribute ToAttribute(nanobind::handle value, const ir::AttributeInfo* info);

}  // namespace nnefc::python
