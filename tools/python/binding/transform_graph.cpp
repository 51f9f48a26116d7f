// The Python binding of graphs for transformations written in Python.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tools/api/internals.h"
#include "tools/python/binding/arrays.h"
#include "tools/python/binding/report.h"
#include "tools/python/binding/transform.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using transform::Node;
using transform::Port;
using PortNumber = std::pair<int32_t, int32_t>;

PortNumber Number(const Port& port) {
  return {port.node().id().index, port.index()};
}

std::vector<int32_t> Nodes(const GraphView& view) {
  std::vector<int32_t> numbers;
  for (const Node& node : view.graph().GetNodes()) numbers.push_back(node.id().index);
  return numbers;
}

// Returns the names of all operations, of every set.
std::vector<std::string> Operations(const GraphView& view) {
  const ir::OpRegistry& registry = view.graph().ir().registry();
  std::vector<std::string> names;
  for (size_t i = 0; i < registry.size(); ++i)
    names.push_back(registry.Info(ir::OpId(static_cast<int32_t>(i))).name);
  return names;
}

nb::object Attribute(const GraphView& view, int32_t node, const std::string& name) {
  const ir::Attribute* found = view.At(node).Find(name);
  return found == nullptr ? nb::none() : ToObject(*found);
}

void SetAttribute(const GraphView& view, int32_t node, const std::string& name, nb::handle value) {
  const Node changed = view.At(node);
  changed.Set(name, ToAttribute(value, changed.ir().info().FindAttribute(name)));
}

std::optional<PortNumber> Source(const GraphView& view, int32_t node, int32_t input) {
  const Port port = view.At(node).in_port(input);
  return port.IsDisconnected() ? std::nullopt : std::optional(Number(port.GetSource()));
}

std::vector<PortNumber> Destinations(const GraphView& view, int32_t node, int32_t output) {
  std::vector<PortNumber> numbers;
  for (const Port& port : view.At(node).out_port(output).GetDestinations()) numbers.push_back(Number(port));
  return numbers;
}

// Connects a source to an input; the index after the last input adds one.
void Connect(const GraphView& view, PortNumber source, PortNumber destination) {
  const Port output = view.At(source.first).out_port(source.second);
  const Node consumer = view.At(destination.first);
  if (destination.second == consumer.num_in_ports()) {
    view.graph().AddInPort(consumer, output);
  } else {
    consumer.in_port(destination.second).Connect(output);
  }
}

nb::object Shape(const GraphView& view, int32_t node, int32_t output) {
  const ir::PartialShape& shape = view.At(node).out_port(output).shape();
  if (!shape.rank_known()) return nb::none();
  nb::list extents;
  for (const ir::Dim& dim : shape.dims())
    extents.append(dim.known() ? nb::object(nb::int_(dim.min)) : nb::none());
  return extents;
}

nb::object Value(const GraphView& view, int32_t node, int32_t output) {
  const std::optional<TensorValue>& value = view.At(node).out_port(output).value();
  return value ? ToArray(api::ToTensor(*value), Access::kReadOnly) : nb::none();
}

// Inputs beyond `sources`, up to `num_inputs`, are connected later.
int32_t Create(const GraphView& view, const std::string& operation, const std::vector<PortNumber>& sources,
               const std::string& name, nb::dict attributes, std::optional<int32_t> num_inputs,
               int32_t num_outputs) {
  std::vector<Port> ports;
  ports.reserve(sources.size());
  for (const PortNumber& source : sources) ports.push_back(view.At(source.first).out_port(source.second));
  transform::Graph& graph = view.graph();
  const ir::OpRegistry& registry = graph.ir().registry();
  const size_t dot = operation.find('.');
  const ir::OpId op = dot == std::string::npos
                          ? registry.FindNewest(operation)
                          : registry.Find(operation.substr(0, dot), operation.substr(dot + 1));
  transform::Graph::Spec spec{.name = name, .num_inputs = num_inputs, .num_outputs = num_outputs};
  for (const auto& [key, value] : attributes) {
    const auto attribute = nb::cast<std::string>(key);
    spec.attributes.Set(
        attribute, ToAttribute(value, op.valid() ? registry.Info(op).FindAttribute(attribute) : nullptr));
  }
  return graph.CreateNode(operation, ports, std::move(spec)).id().index;
}

int32_t CreateConst(const GraphView& view, nb::handle value, const std::string& name) {
  return view.graph().CreateConst(ToTensor(value, "the value of a constant").state().value, name).id().index;
}

int32_t CreateResult(const GraphView& view, PortNumber source, const std::string& name) {
  return view.graph().CreateResult(view.At(source.first).out_port(source.second), name).id().index;
}

// (alias, whether it is data, candidate nodes) and (producer, consumer, inputs, outputs).
using PatternNodes = std::vector<std::tuple<std::string, bool, std::vector<int32_t>>>;
using PatternEdges =
    std::vector<std::tuple<std::string, std::string, std::vector<int32_t>, std::vector<int32_t>>>;

// Returns {alias: (node, data output or None)} for each match.
nb::list Matches(const GraphView& view, const PatternNodes& nodes, const PatternEdges& edges) {
  transform::Pattern pattern;
  for (const auto& [alias, is_data, candidates] : nodes) {
    transform::PatternNode node{.alias = alias, .is_data = is_data};
    if (!is_data) {
      node.test = [allowed = std::set<int32_t>(candidates.begin(), candidates.end())](const Node& candidate) {
        return allowed.contains(candidate.id().index);
      };
    }
    pattern.nodes.push_back(std::move(node));
  }
  for (const auto& [from, to, in, out] : edges)
    pattern.edges.push_back({.from = from, .to = to, .in = in, .out = out});
  nb::list list;
  for (const transform::Match& match : transform::FindMatches(view.graph(), pattern)) {
    nb::dict found;
    for (const auto& [alias, is_data, candidates] : nodes) {
      const int32_t node = match.at(alias).id().index;
      found[alias.c_str()] =
          nb::make_tuple(node, is_data ? nb::object(nb::int_(match.Data(alias).index())) : nb::none());
    }
    list.append(found);
  }
  return list;
}

}  // namespace

transform::Graph& GraphView::graph() const {
  if (graph_ == nullptr) throw transform::Error("a graph is used whose transformation has ended");
  return *graph_;
}

void BindTransformGraph(nb::module_& module) {
  nb::exception<transform::Error>(module, "TransformError");
  nb::class_<GraphView>(module, "TransformGraph")
      .def("nodes", &Nodes)
      .def("exists", [](const GraphView& view, int32_t node) { return view.At(node).exists(); })
      .def("op", [](const GraphView& view, int32_t node) { return view.At(node).op(); })
      .def("set", [](const GraphView& view, int32_t node) { return view.At(node).ir().set(); })
      .def(
          "name", [](const GraphView& view, int32_t node) { return ToText(view.At(node).name()); },
          nb::sig("def name(self, node: int) -> str"))
      .def("set_name",
           [](const GraphView& view, int32_t node, const std::string& name) { view.At(node).SetName(name); })
      .def("take_name", [](const GraphView& view, int32_t from,
                           int32_t to) { view.graph().TakeName(view.At(from), view.At(to)); })
      .def("take_outputs",
           [](const GraphView& view, const std::vector<std::pair<PortNumber, PortNumber>>& numbers) {
             std::vector<std::pair<Port, Port>> ports;
             ports.reserve(numbers.size());
             for (const auto& [from, to] : numbers)
               ports.emplace_back(view.At(from.first).out_port(from.second),
                                  view.At(to.first).out_port(to.second));
             view.graph().TakeOutputs(ports);
           })
      .def("unique_name",
           [](const GraphView& view, const std::string& base) { return view.graph().UniqueName(base); })
      .def(
          "attributes",
          [](const GraphView& view, int32_t node) { return ToDict(view.At(node).ir().attributes()); },
          nb::sig("def attributes(self, node: int) -> dict[str, typing.Any]"))
      .def("attribute", &Attribute, nb::sig("def attribute(self, node: int, name: str) -> typing.Any"))
      .def("set_attribute", &SetAttribute,
           nb::sig("def set_attribute(self, node: int, name: str, value: object) -> None"))
      .def("erase_attribute",
           [](const GraphView& view, int32_t node, const std::string& name) { view.At(node).Erase(name); })
      .def("num_inputs", [](const GraphView& view, int32_t node) { return view.At(node).num_in_ports(); })
      .def("num_outputs", [](const GraphView& view, int32_t node) { return view.At(node).num_out_ports(); })
      .def("source", &Source)
      .def("destinations", &Destinations)
      .def("connect", &Connect)
      .def("disconnect", [](const GraphView& view, int32_t node,
                            int32_t input) { view.At(node).in_port(input).Disconnect(); })
      .def("shape", &Shape, nb::sig("def shape(self, node: int, output: int) -> list[int | None] | None"))
      .def("value", &Value, nb::sig("def value(self, node: int, output: int) -> typing.Any"))
      .def(
          "create", &Create, nb::arg("operation"), nb::arg("sources"), nb::arg("name"), nb::arg("attributes"),
          nb::arg("num_inputs").none(), nb::arg("num_outputs") = 1,
          nb::sig(
              "def create(self, operation: str, sources: collections.abc.Sequence[tuple[int, int]], name: "
              "str, attributes: dict[str, typing.Any], num_inputs: int | None, num_outputs: int = 1) -> int"))
      .def("create_const", &CreateConst, nb::sig("def create_const(self, value: object, name: str) -> int"))
      .def("create_result", &CreateResult)
      .def("remove", [](const GraphView& view, int32_t node) { view.graph().Remove(view.At(node)); })
      .def("remove_all",
           [](const GraphView& view, const std::vector<int32_t>& numbers) {
             std::vector<Node> nodes;
             nodes.reserve(numbers.size());
             for (const int32_t number : numbers) nodes.push_back(view.At(number));
             transform::RemoveNodes(view.graph(), nodes);
           })
      .def("operations", &Operations)
      .def("accepts_input",
           [](const GraphView& view, int32_t node, int32_t input) {
             const ir::Node& ir = view.At(node).ir();
             const std::vector<ir::InputInfo>& inputs = ir.info().inputs;
             const bool is_open = !inputs.empty() && inputs.back().variadic;
             return is_open || input < ir.num_inputs() || static_cast<size_t>(input) < inputs.size();
           })
      .def("clean_up", [](const GraphView& view) { view.graph().CleanUp(); })
      .def("is_marked",
           [](const GraphView& view, int32_t node) { return view.graph().IsMarked(view.At(node)); })
      .def("element_type",
           [](const GraphView& view, int32_t node, int32_t output) {
             return std::string(Name(view.At(node).out_port(output).data().type));
           })
      .def("mark_for_inference",
           [](const GraphView& view, int32_t node, bool overrides) {
             view.graph().MarkForInference(view.At(node), overrides);
           })
      .def("matches", &Matches,
           nb::sig("def matches(self, nodes: collections.abc.Sequence[tuple[str, bool, "
                   "collections.abc.Sequence[int]]], edges: collections.abc.Sequence[tuple[str, str, "
                   "collections.abc.Sequence[int], collections.abc.Sequence[int]]]) -> "
                   "list[dict[str, tuple[int, int | None]]]"));
}

}  // namespace nnefc::python
