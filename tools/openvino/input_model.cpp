// The input model of the OpenVINO front end.

#include "tools/openvino/input_model.h"

#include <algorithm>
#include <string_view>

#include "openvino/frontend/exception.hpp"

namespace nnefc::openvino_front_end {
namespace {

using ov::frontend::Place;

std::vector<std::shared_ptr<GraphPort>> PlacesOf(const std::vector<api::Port>& ports, bool are_inputs) {
  std::vector<std::shared_ptr<GraphPort>> places;
  places.reserve(ports.size());
  for (const api::Port& port : ports) places.push_back(std::make_shared<GraphPort>(port, are_inputs));
  return places;
}

const GraphPort& PortOf(const Place::Ptr& place) {
  const auto* port = dynamic_cast<const GraphPort*>(place.get());
  FRONT_END_GENERAL_CHECK(port != nullptr, "the place is not an input or output of an NNEF graph");
  return *port;
}

}  // namespace

bool GraphPort::is_equal_data(const Ptr& another) const {
  const auto* other = dynamic_cast<const GraphPort*>(another.get());
  return other != nullptr && other->is_input_ == is_input_ && other->port_.name == port_.name;
}

ov::PartialShape GraphPort::shape() const {
  if (!port_.shape) return ov::PartialShape::dynamic();
  return ov::PartialShape(std::vector<ov::Dimension>(port_.shape->begin(), port_.shape->end()));
}

ov::element::Type GraphPort::type() const {
  return ov::element::Type(std::string(Name(port_.type)));
}

NnefModel::NnefModel(std::string path) : path_(std::move(path)) {
  const api::Model& model = Read();
  inputs_ = PlacesOf(model.inputs(), true);
  outputs_ = PlacesOf(model.outputs(), false);
}

const api::Model& NnefModel::Read() {
  if (!model_) {
    api::Outcome<api::Model> outcome = api::Model::Open(path_, options_);
    FRONT_END_GENERAL_CHECK(outcome, "the NNEF model cannot be read:\n", outcome.report.ToText());
    model_ = std::move(*outcome);
  }
  return *model_;
}

std::vector<Place::Ptr> NnefModel::get_inputs() const {
  return {inputs_.begin(), inputs_.end()};
}

std::vector<Place::Ptr> NnefModel::get_outputs() const {
  return {outputs_.begin(), outputs_.end()};
}

Place::Ptr NnefModel::get_place_by_tensor_name(const std::string& name) const {
  for (const auto* places : {&inputs_, &outputs_}) {
    const auto found = std::ranges::find(*places, name, [](const auto& place) { return place->port().name; });
    if (found != places->end()) return *found;
  }
  return nullptr;
}

Place::Ptr NnefModel::get_place_by_input_index(size_t index) const {
  return index < inputs_.size() ? inputs_[index] : nullptr;
}

ov::PartialShape NnefModel::get_partial_shape(const Place::Ptr& place) const {
  return PortOf(place).shape();
}

ov::element::Type NnefModel::get_element_type(const Place::Ptr& place) const {
  return PortOf(place).type();
}

void NnefModel::set_partial_shape(const Place::Ptr& place, const ov::PartialShape& shape) {
  const GraphPort& port = PortOf(place);
  if (port.shape() == shape) return;
  FRONT_END_GENERAL_CHECK(port.is_input(), "`", port.port().name,
                          "` is an output: only inputs are given shapes");
  FRONT_END_GENERAL_CHECK(shape.is_static(), "input `", port.port().name, "` cannot have the shape ", shape,
                          ": an NNEF graph is expanded for extents that are known; give numbers for all");
  const ov::Shape extents = shape.to_shape();
  const std::vector<int64_t> numbers(extents.begin(), extents.end());
  options_.input_shapes[port.port().name] = numbers;
  for (const auto& input : inputs_) {
    if (input->is_equal(place)) input->SetShape(numbers);
  }
  model_.reset();
}

void NnefModel::set_element_type(const Place::Ptr& place, const ov::element::Type& type) {
  const GraphPort& port = PortOf(place);
  FRONT_END_GENERAL_CHECK(type == port.type(), "`", port.port().name, "` cannot have elements of ", type,
                          ": its document says ", port.type());
}

void NnefModel::override_all_inputs(const std::vector<Place::Ptr>& inputs) {
  for (const auto& input : inputs_) {
    const bool is_named =
        std::ranges::any_of(inputs, [&](const Place::Ptr& place) { return input->is_equal(place); });
    FRONT_END_GENERAL_CHECK(is_named, "input `", input->port().name,
                            "` is left out: an NNEF graph is taken with all its inputs");
  }
  FRONT_END_GENERAL_CHECK(inputs.size() == inputs_.size(), "an NNEF graph is not cut: it has ",
                          inputs_.size(), " inputs, and ", inputs.size(), " are named");
}

void NnefModel::override_all_outputs(const std::vector<Place::Ptr>& outputs) {
  std::vector<std::shared_ptr<GraphPort>> chosen;
  std::vector<std::string> names;
  for (const Place::Ptr& place : outputs) {
    const GraphPort& port = PortOf(place);
    FRONT_END_GENERAL_CHECK(port.is_output(), "`", port.port().name, "` is an input, not an output");
    chosen.push_back(std::make_shared<GraphPort>(port.port(), false));
    names.push_back(port.port().name);
  }
  outputs_ = std::move(chosen);
  wanted_ = std::move(names);
}

void NnefModel::extract_subgraph(const std::vector<Place::Ptr>& inputs,
                                 const std::vector<Place::Ptr>& outputs) {
  override_all_inputs(inputs);
  override_all_outputs(outputs);
}

}  // namespace nnefc::openvino_front_end
