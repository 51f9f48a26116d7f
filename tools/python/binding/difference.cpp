// The Python binding of the comparison of models.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/api/differences/model_difference.h"
#include "tools/api/model.h"
#include "tools/python/binding/model.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using IndexPair = std::pair<std::optional<size_t>, std::optional<size_t>>;

// The differences between two models. Inputs, outputs and operations are indices into the lists of the
// models.
struct Found {
  std::vector<IndexPair> inputs;
  std::vector<IndexPair> outputs;
  std::vector<IndexPair> operations;
  api::ModelDifference difference;
  std::vector<std::pair<api::Port, api::Port>> tensors;
  std::string text;
};

std::vector<IndexPair> ToPairs(const std::vector<api::ItemPair>& pairs) {
  std::vector<IndexPair> all;
  all.reserve(pairs.size());
  for (const api::ItemPair& pair : pairs) all.emplace_back(pair.before, pair.after);
  return all;
}

// Returns the index of each node in the list of operations.
std::unordered_map<size_t, size_t> IndicesOf(const api::GraphOutline& graph) {
  std::unordered_map<size_t, size_t> indices;
  for (size_t i = 0; i < graph.operations.size(); ++i) indices.emplace(graph.operations[i], i);
  return indices;
}

Found Diff(const api::Model& before, const api::Model& after, bool compares_data) {
  const api::ComparedGraph old_graph = api::GraphOf(before);
  const api::ComparedGraph new_graph = api::GraphOf(after);
  Found found;
  found.difference = api::CompareGraphs(old_graph, new_graph, compares_data);
  found.inputs = ToPairs(found.difference.inputs);
  found.outputs = ToPairs(found.difference.outputs);
  const auto old_indices = IndicesOf(old_graph.outline);
  const auto new_indices = IndicesOf(new_graph.outline);
  for (const api::ItemPair& pair : found.difference.operations)
    found.operations.emplace_back(pair.before ? std::optional(old_indices.at(*pair.before)) : std::nullopt,
                                  pair.after ? std::optional(new_indices.at(*pair.after)) : std::nullopt);
  for (const auto& [pair, output] : found.difference.tensors)
    found.tensors.emplace_back(old_graph.outline.nodes[*pair.before].outputs[static_cast<size_t>(output)],
                               new_graph.outline.nodes[*pair.after].outputs[static_cast<size_t>(output)]);
  found.text = api::DifferenceText(found.difference, old_graph, new_graph);
  return found;
}

nb::object ToObject(const std::optional<api::Port>& port) {
  return port ? nb::object(ToTuple(*port)) : nb::none();
}

// (label, old port, new port, largest difference).
nb::list Variables(const Found& found) {
  nb::list list;
  for (const api::VariableDifference& variable : found.difference.variables)
    list.append(nb::make_tuple(ToText(variable.label), ToObject(variable.before), ToObject(variable.after),
                               variable.largest));
  return list;
}

// (old port, new port).
nb::list Tensors(const Found& found) {
  nb::list list;
  for (const auto& [before, after] : found.tensors)
    list.append(nb::make_tuple(ToTuple(before), ToTuple(after)));
  return list;
}

}  // namespace

void BindDifference(nb::module_& module) {
  nb::class_<Found>(module, "Difference")
      .def_ro("inputs", &Found::inputs)
      .def_ro("outputs", &Found::outputs)
      .def_ro("operations", &Found::operations)
      .def_prop_ro("variables", &Variables, nb::sig("def variables(self) -> list[typing.Any]"))
      .def_prop_ro("tensors", &Tensors, nb::sig("def tensors(self) -> list[typing.Any]"))
      .def_prop_ro(
          "text", [](const Found& found) { return ToText(found.text); }, nb::sig("def text(self) -> str"));
  module.def("diff", &Diff, nb::arg("old"), nb::arg("new"), nb::arg("data"),
             nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace nnefc::python
