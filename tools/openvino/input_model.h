#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openvino/frontend/input_model.hpp"
#include "openvino/frontend/place.hpp"
#include "tools/api/model.h"

namespace nnefc::openvino_front_end {

// An input or output of the graph. Other tensors have no Place, because documents are only converted as a
// whole.
class GraphPort : public ov::frontend::Place {
 public:
  GraphPort(api::Port port, bool is_input) : port_(std::move(port)), is_input_(is_input) {}

  std::vector<std::string> get_names() const override { return {port_.name}; }
  bool is_input() const override { return is_input_; }
  bool is_output() const override { return !is_input_; }
  bool is_equal(const Ptr& another) const override { return is_equal_data(another); }
  bool is_equal_data(const Ptr& another) const override;

  const api::Port& port() const { return port_; }
  ov::PartialShape shape() const;
  ov::element::Type type() const;
  void SetShape(const std::vector<int64_t>& shape) { port_.shape = shape; }

 private:
  api::Port port_;
  bool is_input_;
};

// A checked model whose inputs can be reshaped and whose outputs can be restricted.
class NnefModel : public ov::frontend::InputModel {
 public:
  // Throws GeneralFailure with all errors of the model.
  explicit NnefModel(std::string path);

  std::vector<ov::frontend::Place::Ptr> get_inputs() const override;
  std::vector<ov::frontend::Place::Ptr> get_outputs() const override;
  // Returns null if no input or output has the name.
  ov::frontend::Place::Ptr get_place_by_tensor_name(const std::string& name) const override;
  ov::frontend::Place::Ptr get_place_by_input_index(size_t index) const override;
  ov::frontend::Place::Ptr get_place_by_operation_name(const std::string& name) const override {
    return nullptr;
  }

  ov::PartialShape get_partial_shape(const ov::frontend::Place::Ptr& place) const override;
  // Sets the shape of an input. It must be static, since the document is expanded for it.
  void set_partial_shape(const ov::frontend::Place::Ptr& place, const ov::PartialShape& shape) override;
  ov::element::Type get_element_type(const ov::frontend::Place::Ptr& place) const override;
  // Accepts only the existing type, because the document defines it.
  void set_element_type(const ov::frontend::Place::Ptr& place, const ov::element::Type& type) override;
  // Accepts all inputs in any order; operations cannot be cut off.
  void override_all_inputs(const std::vector<ov::frontend::Place::Ptr>& inputs) override;
  void override_all_outputs(const std::vector<ov::frontend::Place::Ptr>& outputs) override;
  void extract_subgraph(const std::vector<ov::frontend::Place::Ptr>& inputs,
                        const std::vector<ov::frontend::Place::Ptr>& outputs) override;

  // Returns the model with the current shapes of the inputs.
  const api::Model& Read();
  // Returns the requested outputs in order; nothing means all.
  const std::optional<std::vector<std::string>>& wanted() const { return wanted_; }

 private:
  std::string path_;
  api::ModelOptions options_;
  std::optional<api::Model> model_;  // empty while inputs have other shapes than it was read for
  std::vector<std::shared_ptr<GraphPort>> inputs_;
  std::vector<std::shared_ptr<GraphPort>> outputs_;
  std::optional<std::vector<std::string>> wanted_;
};

}  // namespace nnefc::openvino_front_end
