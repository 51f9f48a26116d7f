#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openvino/frontend/input_model.hpp"
#include "openvino/frontend/place.hpp"
#include "tools/api/model.h"

namespace nnefc::openvino_front_end {

// An input or an output of the graph. Others can't be named: a document is taken whole.
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

// A checked model, whose inputs may get other shapes and whose outputs may be fewer.
class NnefModel : public ov::frontend::InputModel {
 public:
  // Throws GeneralFailure with all that is wrong.
  explicit NnefModel(std::string path);

  std::vector<ov::frontend::Place::Ptr> get_inputs() const override;
  std::vector<ov::frontend::Place::Ptr> get_outputs() const override;
  // Null if no input or output has the name.
  ov::frontend::Place::Ptr get_place_by_tensor_name(const std::string& name) const override;
  ov::frontend::Place::Ptr get_place_by_input_index(size_t index) const override;
  ov::frontend::Place::Ptr get_place_by_operation_name(const std::string& name) const override {
    return nullptr;
  }

  ov::PartialShape get_partial_shape(const ov::frontend::Place::Ptr& place) const override;
  // Of an input; all extents must be known, since a document is expanded for them.
  void set_partial_shape(const ov::frontend::Place::Ptr& place, const ov::PartialShape& shape) override;
  ov::element::Type get_element_type(const ov::frontend::Place::Ptr& place) const override;
  // Only what it is already: the document says what elements are.
  void set_element_type(const ov::frontend::Place::Ptr& place, const ov::element::Type& type) override;
  // All inputs, in any order: no operation is cut off.
  void override_all_inputs(const std::vector<ov::frontend::Place::Ptr>& inputs) override;
  void override_all_outputs(const std::vector<ov::frontend::Place::Ptr>& outputs) override;
  void extract_subgraph(const std::vector<ov::frontend::Place::Ptr>& inputs,
                        const std::vector<ov::frontend::Place::Ptr>& outputs) override;

  // The model with the shapes that inputs have been given.
  const api::Model& Read();
  // The outputs that are wanted, in that order; nothing where that is all of them.
  const std::optional<std::vector<std::string>>& wanted() const { return wanted_; }

 private:
  std::string path_;
  api::ModelOptions options_;
  std::optional<api::Model> model_;  // none while inputs have other shapes than it was read for
  std::vector<std::shared_ptr<GraphPort>> inputs_;
  std::vector<std::shared_ptr<GraphPort>> outputs_;
  std::optional<std::vector<std::string>> wanted_;
};

}  // namespace nnefc::openvino_front_end
