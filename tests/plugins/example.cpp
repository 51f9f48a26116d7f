// A plug-in with one of each kind: a library with a compound and two primitives, an operation that is lowered
// to one of its own set, one that is not lowered, kernels, and a transformation.

#include <nnefc/extension.h>

#include <cmath>

namespace acme {

using nnefc::ElementType;
using nnefc::Success;
using nnefc::ir::InferContext;
using nnefc::runtime::kernels::FaultOr;
using nnefc::runtime::kernels::ReferenceRun;

constexpr char kLibrary[] = R"(version 1.0;
extension KHR_enable_fragment_definitions;
extension KHR_enable_operator_expressions;

# x / (1 + exp(-beta * x))
fragment acme_swish( x: tensor<scalar>, beta: scalar = 1.0 ) -> ( y: tensor<scalar> );

# The sum of x up to each position of an axis.
fragment acme_running_sum( x: tensor<scalar>, axis: integer = -1 ) -> ( y: tensor<scalar> );

fragment acme_smooth( x: tensor<scalar>, beta: scalar = 2.0 ) -> ( y: tensor<scalar> )
{
    y = acme_swish(x, beta = beta) + 0.5 * x;
}
)";

void LikeInput(InferContext& context) {
  context.SetOutput(0, context.input(0).type, context.input(0).shape);
}

void InferRunningSum(InferContext& context) {
  const int64_t rank = context.input(0).shape.rank();
  const int64_t axis = context.attribute("axis").AsInt();
  static constexpr nnefc::Rule kAxis{"acme.axis", nnefc::Severity::kError, ""};
  if (axis < -1 || axis >= rank) {
    context.Error(kAxis, "`axis` of `acme_running_sum` is {}; expected -1 or an axis below {}", axis, rank);
    return;
  }
  LikeInput(context);
}

void LowerSwish(nnefc::lower::NodeLowering& n) {
  n.SetOutput(n.Add("acme", "Swish", {n.input(0)}, nnefc::lower::Attributes({{"beta", n.Double("beta")}})));
}

FaultOr<Success> Swish(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kF32)
    return nnefc::runtime::kernels::KernelFault("`acme.Swish` takes f32, not {}", Name(run.input(0).type()));
  const auto* x = run.input(0).data<float>();
  auto* y = run.output().mutable_data<float>();
  const double beta = run.node.attribute("beta").AsDouble();
  for (int64_t i = 0; i < run.output().volume(); ++i)
    y[i] = static_cast<float>(x[i] / (1 + std::exp(-beta * x[i])));
  return Success();
}

FaultOr<Success> RunningSum(const ReferenceRun& run) {
  if (run.input(0).type() != ElementType::kF32)
    return nnefc::runtime::kernels::KernelFault("`acme_running_sum` takes f32, not {}",
                                                Name(run.input(0).type()));
  const auto& shape = run.input(0).shape();
  const int64_t given = run.node.attribute("axis").AsInt();
  const size_t axis = given < 0 ? shape.size() - 1 : static_cast<size_t>(given);
  int64_t inner = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const auto* x = run.input(0).data<float>();
  auto* y = run.output().mutable_data<float>();
  for (int64_t i = 0; i < run.output().volume(); ++i) {
    const bool is_first = i / inner % shape[axis] == 0;
    y[i] = is_first ? x[i] : x[i] + y[i - inner];
  }
  return Success();
}

// x * sigmoid(x), written with OpenVINO's operations, as one Swish of this plug-in.
class SwishOfParts : public nnefc::transform::MiddleReplacementPattern {
 public:
  SwishOfParts() { id = "AcmeSwish"; }
  std::string_view Description() const override { return "x * sigmoid(x) becomes acme.Swish."; }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Sigmoid "s" (%0) : f32[2,3]
%2 = opset1.Multiply "m" (%0, %1) : f32[2,3]
opset1.Result "y" (%2)
)";
  }

 protected:
  nnefc::transform::Pattern GetPattern() const override {
    using nnefc::transform::Op;
    return {.nodes = {Op("sigmoid", "Sigmoid"), Op("product", "Multiply")},
            .edges = {{"sigmoid", "product", {1}}}};
  }
  void ReplacePattern(nnefc::transform::Graph& graph, const nnefc::transform::Match& match) override {
    const nnefc::transform::Node product = match["product"];
    const nnefc::transform::Port x = product.in_port(0).GetSource();
    if (!(match["sigmoid"].in_port(0).GetSource() == x)) return;
    nnefc::transform::Graph::Spec spec;
    spec.attributes.Set("beta", 1.0);
    const nnefc::transform::Node swish = graph.CreateNode("acme.Swish", {x}, std::move(spec));
    graph.TakeName(product, swish);
    product.out_port(0).GetConnection().SetSource(swish.out_port(0));
  }
};

}  // namespace acme

NNEFC_EXTENSION(registrar) {
  registrar.AddLibrary("acme", acme::kLibrary);
  registrar.AddOperation({.set = "nnef", .name = "acme_swish", .infer = acme::LikeInput});
  registrar.AddLowering("acme_swish", acme::LowerSwish);
  registrar.AddOperation(
      {.set = "acme",
       .name = "Swish",
       .inputs = {{.name = "data"}},
       .outputs = {"output"},
       .infer = acme::LikeInput,
       .attributes = {{.name = "beta", .kind = nnefc::ir::AttributeKind::kDouble, .fallback = 1.0}}});
  nnefc::AddKernel(registrar, "acme", "Swish", acme::Swish);
  // A layer of a converter of its users, found by type and version.
  registrar.AddOperation(
      {.set = "extension",
       .name = "MyLayer",
       .inputs = {{.name = "data"}},
       .outputs = {"output"},
       .infer = acme::LikeInput,
       .attributes = {{.name = "beta", .kind = nnefc::ir::AttributeKind::kDouble, .fallback = 1.0}}});
  nnefc::AddKernel(registrar, "extension", "MyLayer", acme::Swish);
  registrar.AddOperation({.set = "nnef", .name = "acme_running_sum", .infer = acme::InferRunningSum});
  nnefc::AddKernel(registrar, "nnef", "acme_running_sum", acme::RunningSum);
  registrar.AddTransformation<acme::SwishOfParts>();
}
