#include "tests/differential/recipe.h"

#include <algorithm>

#include "compiler/ir/algorithms/infer.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::differential {

namespace {

bool IsNnef(const Recipe& recipe) {
  return std::any_of(recipe.steps.begin(), recipe.steps.end(),
                     [](const Step& step) { return step.set == ir::kNnefSet; });
}

std::string_view DataTypeName(ElementType type) {
  if (type == ElementType::kBoolean) return "logical";
  return IsInteger(type) ? "integer" : "scalar";
}

// Returns the items of a constant as an attribute of NNEF's `constant`.
ir::Attribute Items(const TensorValue& value) {
  if (value.type() == ElementType::kBoolean) {
    ir::Attribute::Logicals items;
    for (int64_t i = 0; i < value.volume(); ++i) items.push_back(value.ElementAsInt(i) != 0);
    return items;
  }
  if (IsInteger(value.type())) {
    ir::Attribute::Integers items;
    for (int64_t i = 0; i < value.volume(); ++i) items.push_back(value.ElementAsInt(i));
    return items;
  }
  ir::Attribute::Scalars items;
  for (int64_t i = 0; i < value.volume(); ++i) items.push_back(value.ElementAsDouble(i));
  return items;
}

class Builder {
 public:
  Builder(const Recipe& recipe, const ir::OpRegistry& registry, Emitter& emitter, const BuildOptions& options)
      : recipe_(recipe),
        options_(options),
        emitter_(emitter),
        nnef_(IsNnef(recipe)),
        graph_(std::make_unique<ir::Graph>(&registry, "net")) {}

  std::unique_ptr<ir::Graph> Build() {
    for (size_t i = 0; i < recipe_.steps.size(); ++i) {
      if (!Add(recipe_.steps[i], i)) return nullptr;
    }
    for (size_t i = 0; i < recipe_.results.size(); ++i) {
      const ir::OutputPort port = PortOf(recipe_.results[i]);
      ir::AddResult(*graph_, nnef_ ? graph_->output(port).names[0] : fmt::format("r{}", i), port);
    }
    return std::move(graph_);
  }

 private:
  ir::OutputPort PortOf(ValueRef value) const {
    return {ids_[static_cast<size_t>(value.step)], value.output};
  }

  bool Add(const Step& step, size_t index) {
    switch (step.kind) {
      case Step::Kind::kParameter:
        return AddParameter(step, index);
      case Step::Kind::kConstant:
        return AddConstant(step, index);
      case Step::Kind::kOperation:
        return AddOperation(step, index);
    }
    return false;
  }

  bool AddParameter(const Step& step, size_t index) {
    ir::PartialShape shape{llvm::ArrayRef<int64_t>(step.shape)};
    if (index < options_.open_axes.size()) {
      for (int64_t axis = 0; axis < shape.rank(); ++axis) {
        if ((options_.open_axes[index] >> axis & 1) != 0) shape.set(axis, ir::Dim());
      }
    }
    if (!nnef_) {
      const ir::NodeId id = ir::AddParameter(*graph_, fmt::format("p{}", index), step.type, shape);
      graph_->SetOutputType({id, 0}, step.type, shape);
      ids_.push_back(id);
      return true;
    }
    ir::AttributeMap attributes;
    attributes.Set("shape", ir::Attribute::Integers(step.shape.begin(), step.shape.end()));
    attributes.Set("dtype", DataTypeName(step.type));
    const bool added = AddNnefNode("external", {}, {}, std::move(attributes), 1, fmt::format("p{}", index));
    if (added) graph_->AddToParameters(ids_.back());
    return added;
  }

  bool AddConstant(const Step& step, size_t index) {
    if (!nnef_) {
      ids_.push_back(ir::AddConst(*graph_, step.value, fmt::format("c{}", index)));
      return true;
    }
    ir::AttributeMap attributes;
    attributes.Set("shape", ir::Attribute::Integers(step.shape.begin(), step.shape.end()));
    attributes.Set("value", Items(step.value));
    attributes.Set("dtype", DataTypeName(step.type));
    return AddNnefNode("constant", {}, {}, std::move(attributes), 1, fmt::format("c{}", index));
  }

  bool AddOperation(const Step& step, size_t index) {
    std::vector<ir::OutputPort> inputs;
    inputs.reserve(step.inputs.size());
    for (ValueRef input : step.inputs) inputs.push_back(PortOf(input));
    const std::string name = fmt::format("n{}", index);
    if (step.set == ir::kNnefSet)
      return AddNnefNode(step.name, inputs, step.segments, step.attributes, step.num_outputs, name);
    return AddNode(step.set, step.name, inputs, step.segments, step.attributes, step.num_outputs, name);
  }

  bool AddNnefNode(std::string_view name, llvm::ArrayRef<ir::OutputPort> inputs,
                   llvm::ArrayRef<int32_t> segments, ir::AttributeMap attributes, int num_outputs,
                   const std::string& identifier) {
    if (!AddNode(ir::kNnefSet, name, inputs, segments, std::move(attributes), num_outputs, identifier))
      return false;
    for (int i = 0; i < num_outputs; ++i) {
      graph_->SetOutputNames({ids_.back(), i},
                             {num_outputs == 1 ? identifier : fmt::format("{}_{}", identifier, i)});
    }
    return true;
  }

  bool AddNode(std::string_view set, std::string_view name, llvm::ArrayRef<ir::OutputPort> inputs,
               llvm::ArrayRef<int32_t> segments, ir::AttributeMap attributes, int num_outputs,
               const std::string& node_name) {
    ids_.push_back(ir::AddNode(*graph_, set, name,
                               {.name = node_name,
                                .inputs = inputs,
                                .segments = segments,
                                .attributes = std::move(attributes),
                                .num_outputs = num_outputs}));
    return ir::InferNode(*graph_, ids_.back(), emitter_);
  }

  const Recipe& recipe_;
  const BuildOptions& options_;
  Emitter& emitter_;
  bool nnef_;
  std::unique_ptr<ir::Graph> graph_;
  std::vector<ir::NodeId> ids_;  // by step
};

}  // namespace

int Recipe::CountOperations() const {
  return static_cast<int>(std::count_if(
      steps.begin(), steps.end(), [](const Step& step) { return step.kind == Step::Kind::kOperation; }));
}

std::unique_ptr<ir::Graph> Build(const Recipe& recipe, const ir::OpRegistry& registry, Emitter& emitter,
                                 const BuildOptions& options) {
  return Builder(recipe, registry, emitter, options).Build();
}

Recipe WithoutDeadSteps(const Recipe& recipe) {
  std::vector<bool> needed(recipe.steps.size(), false);
  for (ValueRef result : recipe.results) needed[static_cast<size_t>(result.step)] = true;
  for (size_t i = recipe.steps.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (ValueRef input : recipe.steps[i].inputs) needed[static_cast<size_t>(input.step)] = true;
  }
  std::vector<int> place(recipe.steps.size(), -1);
  Recipe kept;
  const auto move = [&](ValueRef value) {
    return ValueRef{place[static_cast<size_t>(value.step)], value.output};
  };
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = static_cast<int>(kept.steps.size());
    Step step = recipe.steps[i];
    for (ValueRef& input : step.inputs) input = move(input);
    kept.steps.push_back(std::move(step));
  }
  for (ValueRef result : recipe.results) kept.results.push_back(move(result));
  return kept;
}

Recipe RecipeOf(const ir::Graph& graph) {
  Recipe recipe;
  std::vector<int> place(graph.node_bound(), -1);
  const auto ref = [&](ir::OutputPort port) {
    return ValueRef{place[static_cast<size_t>(port.node.index)], port.index};
  };
  std::vector<ir::NodeId> order(graph.parameters().begin(), graph.parameters().end());
  const std::vector<ir::NodeId> topological = *ir::TopologicalOrder(graph);
  for (ir::NodeId id : topological) {
    if (!llvm::is_contained(graph.parameters(), id) && !graph.node(id).Is("opset1", "Result"))
      order.push_back(id);
  }
  for (ir::NodeId id : order) {
    const ir::Node& node = graph.node(id);
    place[static_cast<size_t>(id.index)] = static_cast<int>(recipe.steps.size());
    Step step;
    const bool parameter = llvm::is_contained(graph.parameters(), id);
    if (parameter) {
      step = {.kind = Step::Kind::kParameter, .type = node.output().type};
      step.shape = node.output().shape.known_extents();
    } else if (node.info().is_source) {
      const TensorValue& value = *node.output().value;
      step = {.kind = Step::Kind::kConstant, .type = value.type(), .shape = value.shape(), .value = value};
    } else {
      step = {.set = node.set(), .name = node.type(), .attributes = node.attributes()};
      for (ir::OutputPort port : node.inputs()) step.inputs.push_back(ref(port));
      step.segments.assign(node.segments().begin(), node.segments().end());
      step.num_outputs = node.num_outputs();
    }
    recipe.steps.push_back(std::move(step));
  }
  for (ir::NodeId id : graph.results()) recipe.results.push_back(ref(graph.node(id).input(0)));
  return recipe;
}

}  // namespace nnefc::differential
