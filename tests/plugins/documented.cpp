// The transformations in the documentation of the framework, as a user writes them. Operations that nnefc
// lacks are included, in the sets `tf` and `yolo`.

#include <nnefc/extension.h>

#include <algorithm>
#include <cstring>

namespace documented {

using nnefc::ElementType;
using nnefc::Success;
using nnefc::TensorValue;
using nnefc::ir::AttributeKind;
using nnefc::ir::InferContext;
using nnefc::ir::PartialShape;
using nnefc::runtime::kernels::FaultOr;
using nnefc::runtime::kernels::ReferenceRun;
using namespace nnefc::transform;

// x * tanh(softplus(x)) -> Mish
class MishFusion : public FrontReplacementSubgraph {
 public:
  Names RunAfter() const override { return {"front.SoftplusFusion"}; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("mul", "mul"), Op("tanh", "tanh"), Op("softplus", "softplus")},
            .edges = {{"softplus", "tanh"}, {"tanh", "mul"}}};
  }
  void ReplaceSubGraph(Graph& graph, const Match& match) override {
    const Node mul = match["mul"];
    // The port of the multiplication that does not read the hyperbolic tangent.
    const int32_t port = mul.in_port(0).GetSource().node().op() == "tanh" ? 1 : 0;
    if (!(mul.in_port(port).GetSource() == match["softplus"].in_port(0).GetSource())) return;
    const Node mish = graph.CreateNode("Mish", {});
    mish.in_port(0).Connect(mul.in_port(port).GetSource());
    mul.out_port(0).GetConnection().SetSource(mish.out_port(0));
    graph.Rename({{mul, mul.name() + "/TBR"}, {mish, mul.name()}});
  }
};

// Stacks tensors: adds an axis to each, then concatenates.
class Pack : public FrontReplacementOp {
 public:
  Pack() : FrontReplacementOp("Pack") {}

 protected:
  std::vector<Node> ReplaceOp(Graph& graph, const Node& node) override {
    const nnefc::ir::Attribute axis = node.Get("axis");
    std::vector<Port> sources;
    for (const Port& input : node.in_ports()) {
      const Node axes = graph.CreateConst(TensorValue::FromInts({1}, {axis.AsInt()}));
      const Node unsqueeze =
          graph.CreateNode("Unsqueeze", {}, {.name = graph.UniqueName(node.name() + "/Unsqueeze")});
      unsqueeze.in_port(1).Connect(axes.out_port(0));
      input.GetConnection().SetDestination(unsqueeze.in_port(0));
      sources.push_back(unsqueeze.out_port(0));
    }
    Graph::Spec spec;
    spec.attributes.Set("axis", axis);
    const Node concat = graph.CreateNode("Concat", sources, std::move(spec));
    graph.TakeName(node, concat);
    return {concat};
  }
};

// The axes of a squeeze as an input instead of an attribute.
class SqueezeNormalize : public FrontReplacementPattern {
 public:
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& squeeze : graph.GetOpNodes("tf.Squeeze")) {
      const nnefc::ir::Attribute* axes = squeeze.Find("squeeze_dims");
      if (squeeze.num_in_ports() == 1 && axes != nullptr) {
        const auto rank = static_cast<int64_t>(axes->ListSize());
        const Node dims =
            graph.CreateConst(TensorValue::FromInts({rank}, axes->AsInts()), squeeze.name() + "/Dims");
        graph.AddInPort(squeeze, dims.out_port(0));
        squeeze.Erase("squeeze_dims");
      } else if (squeeze.num_in_ports() == 2) {
        log(fmt::format("`{}` is normalized already", squeeze.name()));
      } else {
        throw Error("the Squeeze `{}` needs two inputs, or one and `squeeze_dims`", squeeze.name());
      }
    }
  }
};

// A RegionYolo before every result, with the attributes of the configuration.
class YoloRegionAddon : public FrontReplacementFromConfigFileGeneral {
 public:
  YoloRegionAddon() : FrontReplacementFromConfigFileGeneral("TFYOLO") {}
  Names RunAfter() const override { return {"front.NoOpEraser", "front.StandaloneConstEraser"}; }

 protected:
  void TransformGraph(Graph& graph, const nnefc::ir::AttributeMap& custom_attributes) override {
    for (const Node& result : graph.GetOpNodes("Result")) {
      const Port last = result.in_port(0).GetSource();
      Graph::Spec spec{.name = last.node().name() + "/YoloRegion", .attributes = custom_attributes};
      spec.attributes.Set("axis", 1);
      spec.attributes.Set("end_axis", -1);
      const Node region = graph.CreateNode("RegionYolo", {last}, std::move(spec));
      const std::string name = result.name();
      graph.Remove(result);
      graph.CreateResult(region.out_port(0), name);
    }
  }
};

// x * pow(max(sum(pow(x, 2)), eps), -0.5) -> NormalizeL2; the pattern names data.
class L2NormToNorm : public MiddleReplacementPattern {
 public:
  Names RunAfter() const override { return {"PreMiddleStart"}; }
  Names RunBefore() const override { return {"MiddleStart"}; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Data("input"), Op("l2_normalize", "Multiply"), Op("rsqrt", "Power"), Data("rsqrt_d"),
                      Op("maximum", "Maximum"), Data("maximum_d"), Op("sum", "ReduceSum"), Data("sum_d"),
                      Op("square", "Power"), Data("square_d"), Data("l2_normalize_d")},
            .edges = {{"input", "square", {0}},
                      {"square", "square_d"},
                      {"square_d", "sum", {0}},
                      {"sum", "sum_d"},
                      {"sum_d", "maximum"},
                      {"maximum", "maximum_d"},
                      {"maximum_d", "rsqrt", {0}},
                      {"rsqrt", "rsqrt_d"},
                      {"rsqrt_d", "l2_normalize"},
                      {"input", "l2_normalize"},
                      {"l2_normalize", "l2_normalize_d"}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Port input = match.Data("input");
    const Node sum = match["sum"];
    const Node maximum = match["maximum"];
    const int64_t rank = input.shape().rank();
    if (rank < 2 || rank > 4) return;
    if (KnownNumber(match["square"].in_port(1)) != 2.0 || KnownNumber(match["rsqrt"].in_port(1)) != -0.5)
      return;
    const auto axes = KnownInts(sum.in_port(1));
    if (axes != std::vector<int64_t>{1}) return;
    const std::optional<Port> other = OtherInput(maximum, sum);
    const std::optional<double> epsilon = other ? KnownNumber(*other) : std::nullopt;
    if (!epsilon) return;
    Graph::Spec spec;
    spec.attributes.Set("eps", *epsilon);
    spec.attributes.Set("eps_mode", "max");
    const Node norm = graph.CreateNode("NormalizeL2", {input, sum.in_port(1).GetSource()}, std::move(spec));
    match["l2_normalize"].out_port(0).GetConnection().SetSource(norm.out_port(0));
    graph.TakeName(match["l2_normalize"], norm);
  }
};

class CheckForCycle : public MiddleReplacementPattern {
 public:
  Names RunBefore() const override { return {"PreMiddleStart"}; }
  Names RunAfter() const override { return {"middle.CheckForCycle"}; }
  void FindAndReplacePattern(Graph& graph) override {
    if (!TopologicalOrder(graph.ir())) throw Error("the graph contains a cycle, and cannot proceed");
    log("no cycle");
  }
};

// ReLU -> Reshape -> Transpose -> Reshape -> Convolution: the ReLU moves in front of the convolution.
class ShufflenetReLUReorder : public BackReplacementPattern {
 public:
  ShufflenetReLUReorder() { enabled = false; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("relu", "ReLU"), Data("relu_data"), Op("reshape1", "Reshape"), Data("reshape1_data"),
                      Op("transpose", "Transpose"), Data("transpose_data"), Op("reshape2", "Reshape"),
                      Data("reshape2_data"), Op("conv", "Convolution")},
            .edges = {{"relu", "relu_data"},
                      {"relu_data", "reshape1", {0}},
                      {"reshape1", "reshape1_data"},
                      {"reshape1_data", "transpose", {0}},
                      {"transpose", "transpose_data"},
                      {"transpose_data", "reshape2", {0}},
                      {"reshape2", "reshape2_data"},
                      {"reshape2_data", "conv", {0}}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node relu = match["relu"];
    for (const char* alias : {"relu", "reshape1", "transpose", "reshape2"}) {
      if (!OnlyDestination(match[alias].out_port(0))) return;
    }
    match["reshape1"].in_port(0).Connect(relu.in_port(0).GetSource());
    match["conv"].in_port(0).GetConnection().InsertNode(relu);
    graph.MarkForInference(relu, /*overrides=*/true);
  }
};

// The end token of a GatherTree as a scalar.
class GatherNormalizer : public BackReplacementPattern {
 public:
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& tree : graph.GetOpNodes("tf.GatherTree")) {
      const Port token = tree.in_port(3).GetSource();
      if (!(token.shape() == PartialShape{1})) continue;
      const Node axes = graph.CreateConst(TensorValue::FromInts({1}, {0}));
      const Node squeeze =
          graph.CreateNode("opset1.Squeeze", {token, axes.out_port(0)}, {.name = tree.name() + "/Squeeze"});
      tree.in_port(3).Connect(squeeze.out_port(0));
    }
  }
};

// ---- operations ----

void InferPack(InferContext& context) {
  const PartialShape& first = context.input(0).shape;
  const int64_t axis = context.attribute("axis").AsInt();
  std::vector<nnefc::ir::Dim> dims(first.dims().begin(), first.dims().end());
  if (axis < 0 || axis > first.rank()) throw Error("the axis of `Pack` is {} of rank {}", axis, first.rank());
  dims.insert(dims.begin() + axis, nnefc::ir::Dim(context.num_inputs()));
  context.SetOutput(0, context.input(0).type, PartialShape(dims));
}

void InferSqueeze(InferContext& context) {
  std::vector<int64_t> axes = context.attribute("squeeze_dims").AsInts();
  if (context.num_inputs() == 2 && context.value(1)) {
    for (int64_t i = 0; i < context.value(1)->volume(); ++i)
      axes.push_back(context.value(1)->ElementAsInt(i));
  }
  std::vector<nnefc::ir::Dim> dims;
  for (int64_t i = 0; i < context.input(0).shape.rank(); ++i) {
    if (std::find(axes.begin(), axes.end(), i) == axes.end()) dims.push_back(context.input(0).shape[i]);
  }
  context.SetOutput(0, context.input(0).type, PartialShape(dims));
}

void LikeFirst(InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}

FaultOr<Success> Copy(const ReferenceRun& run) {
  std::memcpy(run.output().mutable_bytes(), run.input(0).bytes(), run.input(0).byte_size());
  return Success();
}

constexpr char kLibrary[] =
    "version 1.0; extension KHR_enable_fragment_definitions;"
    "fragment Pack( values: tensor<scalar>[], axis: integer ) -> ( value: tensor<scalar> );";

}  // namespace documented

NNEFC_EXTENSION(registrar) {
  using namespace documented;
  registrar.AddTransformation<documented::MishFusion>();
  registrar.AddTransformation<documented::Pack>();
  registrar.AddTransformation<documented::SqueezeNormalize>();
  registrar.AddTransformation<documented::YoloRegionAddon>();
  registrar.AddTransformation<documented::L2NormToNorm>();
  registrar.AddTransformation<documented::CheckForCycle>();
  registrar.AddTransformation<documented::ShufflenetReLUReorder>();
  registrar.AddTransformation<documented::GatherNormalizer>();
  registrar.AddLibrary("documented", kLibrary);
  registrar.AddOperation({.set = "nnef", .name = "Pack", .infer = InferPack});
  registrar.AddOperation({.set = "tf",
                          .name = "Squeeze",
                          .inputs = {{.name = "data"}, {.name = "axes", .optional = true}},
                          .outputs = {"output"},
                          .infer = InferSqueeze,
                          .attributes = {{.name = "squeeze_dims",
                                          .kind = AttributeKind::kInts,
                                          .fallback = nnefc::ir::Attribute::Integers{},
                                          .is_extra = true}}});
  nnefc::AddKernel(registrar, "tf", "Squeeze", Copy);
  registrar.AddOperation({.set = "tf",
                          .name = "GatherTree",
                          .inputs = {{.name = "step_ids"},
                                     {.name = "parent_idx"},
                                     {.name = "max_seq_len"},
                                     {.name = "end_token"}},
                          .outputs = {"output"},
                          .infer = LikeFirst});
}
