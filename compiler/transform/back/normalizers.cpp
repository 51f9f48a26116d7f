// Conversion of the Model Optimizer's operations to those of OpenVINO. Files and folders of extensions have
// them in the set `extension`.

#include <cstdlib>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"

namespace nnefc::transform::back {

namespace {

constexpr std::string_view kExtensionSet = "extension";

// Returns the number or truth value of an attribute (in IR: a text); nothing if it is missing or
// neither.
std::optional<double> NumberOf(const Node& node, std::string_view name) {
  const ir::Attribute* attribute = node.Find(name);
  if (attribute == nullptr) return std::nullopt;
  if (const auto* truth = attribute->get<bool>()) return *truth ? 1 : 0;
  if (attribute->get<int64_t>() != nullptr || attribute->get<double>() != nullptr)
    return attribute->AsDouble();
  const auto* text = attribute->get<std::string>();
  if (text == nullptr || text->empty()) return std::nullopt;
  if (*text == "true" || *text == "True") return 1;
  if (*text == "false" || *text == "False") return 0;
  char* end = nullptr;
  const double number = std::strtod(text->c_str(), &end);
  return *end == '\0' ? std::optional(number) : std::nullopt;
}

ir::OpInfo ExtensionRow(std::string name, std::vector<ir::InputInfo> inputs) {
  return {.set = std::string(kExtensionSet),
          .name = std::move(name),
          .section = {},
          .inputs = std::move(inputs),
          .outputs = {"output"}};
}

}  // namespace

class NormalizeToNormalizeL2 : public BackReplacementPattern {
 public:
  std::string_view Description() const override {
    return "extension.Normalize, x / sqrt(sum(x^2) + eps) * weights, becomes NormalizeL2 and Multiply. The "
           "sum "
           "is over channels, or with across_spatial over all axes except the first. Without a Multiply if "
           "all weights are 1.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,2,3,3]} : f32[1,2,3,3]
%1 = opset1.Const "w" : f32[2] = dense<f32[2]: 20.0, 30.0>
%2 = extension.Normalize "n" (%0, %1) {across_spatial = false, channel_shared = false, eps = 0.001} : f32[1,2,3,3]
opset1.Result "y" (%2)
)";
  }
  std::vector<ir::OpInfo> ExampleOperations() const override {
    return {ExtensionRow("Normalize", {{.name = "data"}, {.name = "weights"}})};
  }
  NormalizeToNormalizeL2() { force_clean_up = true; }

  bool MayChange(const ir::Graph& graph) const override {
    return HasOperation(graph, kExtensionSet, "Normalize");
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& node : graph.GetOpNodes("extension.Normalize")) {
      if (const std::string reason = Replace(graph, node); !reason.empty())
        log(fmt::format("`{}` remains: {}", node.name(), reason));
    }
  }

 private:
  // Returns the reason why a node remains, or "".
  static std::string Replace(Graph& graph, const Node& node) {
    if (node.num_in_ports() != 2 || node.num_out_ports() != 1)
      return fmt::format("it has {} inputs and {} outputs; expected 2 and 1", node.num_in_ports(),
                         node.num_out_ports());
    const std::optional<double> across_spatial = NumberOf(node, "across_spatial");
    const std::optional<double> is_shared = NumberOf(node, "channel_shared");
    const std::optional<double> eps = NumberOf(node, "eps");
    if (!across_spatial || !is_shared || !eps)
      return "one of `across_spatial`, `channel_shared` and `eps` is not a number";
    const Port x = node.in_port(0).GetSource();
    if (!x.shape().rank_known() || x.shape().rank() < 2) return "its input has no axis of channels";
    const std::optional<TensorValue>& weights = node.in_port(1).value();
    if (!weights) return "its weights are not constant";
    const int64_t channels = *is_shared != 0 ? 1 : weights->volume();
    const ir::Dim extent = x.shape()[1];
    if (weights->volume() == 0 || weights->type() != x.data().type ||
        (channels != 1 && extent.known() && extent.value() != channels))
      return fmt::format("it has {} weights of {} for an input of {} with the shape {}", weights->volume(),
                         Name(weights->type()), Name(x.data().type), ir::ToString(x.shape()));

    const auto rank = static_cast<size_t>(x.shape().rank());
    std::vector<int64_t> axes = {1};
    for (size_t axis = 2; *across_spatial != 0 && axis < rank; ++axis)
      axes.push_back(static_cast<int64_t>(axis));
    ir::AttributeMap attributes;
    attributes.Set("eps", *eps);
    attributes.Set("eps_mode", "add");
    const Port normalized =
        MakePart(graph, node, "/normalizel2", "opset1.NormalizeL2",
                 {x, MakeInts(graph, node, "/normalizel2/axes", axes)}, std::move(attributes));
    if (KnownNumber(node.in_port(1)) == 1) {
      TakePlace(graph, node, normalized.node());
    } else {
      TakePlace(graph, node, Scaled(graph, node, normalized, *weights, channels));
    }
    graph.Remove(node);
    return "";
  }

  static Node Scaled(Graph& graph, const Node& node, const Port& normalized, const TensorValue& weights,
                     int64_t channels) {
    Shape shape(static_cast<size_t>(normalized.shape().rank()), 1);
    shape[1] = channels;
    const TensorValue factors =
        channels == 1 ? TensorValue::Filled(weights.type(), std::move(shape), weights.ElementAsDouble(0))
                      : weights.Reshaped(std::move(shape));
    const Node constant = graph.CreateConst(factors, graph.UniqueName(node.name() + "/weights"));
    return graph.CreateNode("opset1.Multiply", {normalized, constant.out_port(0)},
                            {.origin = node.ir().origin()});
  }
};

class GatherNormalizer : public BackReplacementPattern {
 public:
  std::string_view Description() const override {
    return "The end token of an extension.GatherTree, a list of one element, becomes a scalar by Squeeze.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "ids" {element_type = i32, shape = shape[4,2,3]} : i32[4,2,3]
%1 = opset1.Parameter "parents" {element_type = i32, shape = shape[4,2,3]} : i32[4,2,3]
%2 = opset1.Parameter "lengths" {element_type = i32, shape = shape[2]} : i32[2]
%3 = opset1.Parameter "end" {element_type = i32, shape = shape[1]} : i32[1]
%4 = extension.GatherTree "g" (%0, %1, %2, %3) : i32[4,2,3]
opset1.Result "y" (%4)
)";
  }
  std::vector<ir::OpInfo> ExampleOperations() const override {
    return {ExtensionRow(
        "GatherTree",
        {{.name = "step_ids"}, {.name = "parent_idx"}, {.name = "max_seq_len"}, {.name = "end_token"}})};
  }
  GatherNormalizer() { force_clean_up = true; }

  bool MayChange(const ir::Graph& graph) const override {
    return HasOperation(graph, kExtensionSet, "GatherTree");
  }

  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& tree : graph.GetOpNodes("extension.GatherTree")) {
      if (tree.num_in_ports() != 4) continue;
      const Port token = tree.in_port(3).GetSource();
      if (!(token.shape() == ir::PartialShape{1})) continue;
      const Port axes = MakeInts(graph, tree, "/Squeeze/axes", {0});
      tree.in_port(3).Connect(MakePart(graph, tree, "/Squeeze", "opset1.Squeeze", {token, axes}));
    }
  }
};

void RegisterNormalizers(TransformationList& list) {
  list.Add<NormalizeToNormalizeL2>();
  list.Add<GatherNormalizer>();
}

}  // namespace nnefc::transform::back
