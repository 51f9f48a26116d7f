#include "compiler/expand/build/graph_builder.h"

#include "compiler/expand/provisional/arguments.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/hooks.h"
#include "compiler/expand/vendor/lenient_arguments.h"

namespace nnefc::expand::build {

using semantics::TypeKind;

GraphBuilder::GraphBuilder(ir::Graph& graph, const BuildSettings& settings)
    : settings_(settings),
      reporter_(settings.context),
      symbols_(settings_, reporter_),
      externals_(settings_, symbols_, reporter_),
      nodes_(graph, settings_, externals_, reporter_) {}

std::optional<TensorValue> GraphBuilder::KnownTensor(ir::OutputPort port) const {
  const ir::Graph& graph = nodes_.graph();
  const Shape* shape = nullptr;
  const std::optional<Shape> extents = graph.output(port).shape.extents();
  if (extents) shape = &*extents;
  while (graph.node(port.node).Is(ir::OpRole::kNnefView)) port = graph.node(port.node).inputs()[0];
  const ir::Node& node = graph.node(port.node);
  std::optional<TensorValue> value;
  if (node.Is(ir::OpRole::kConstant)) value = graph.output(port).value;
  if (node.Is(ir::OpRole::kVariable) && settings_.options.variable_data)
    value = settings_.options.variable_data(node.attribute("label").AsString(), graph.output(port).type);
  if (!value || shape == nullptr || Volume(*shape) != value->volume()) return std::nullopt;
  return value->Reshaped(*shape);
}

const OpPlan& GraphBuilder::RatifiedPlan(std::string_view name) {
  std::unique_ptr<OpPlan>& plan = plans_[llvm::StringRef(name.data(), name.size())];
  if (plan == nullptr) {
    const semantics::CheckedDocument& ratified = settings_.ratified();
    const Symbol symbol = settings_.context.symbols.Intern(name);
    semantics::Callee callee = ratified.Find(symbol);
    if (!callee.valid()) callee = settings_.library.FindOperation(symbol).callee;
    NNEFC_CHECK(callee.valid());
    plan = MakePlan(callee, ratified, settings_.registry, settings_.context.symbols, settings_.heap);
  }
  return *plan;
}

Value GraphBuilder::Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site) {
  llvm::SmallVector<Value, 10> ordered;
  for (const OpPlan::Parameter& parameter : plan.parameters) {
    ordered.push_back(parameter.source < 0 ? parameter.default_value
                                           : arguments[static_cast<size_t>(parameter.source)]);
  }
  if (is_lenient()) return vendor::MakeLeniently(plan, ordered, site, *this);
  if (plan.provisional) {
    Fault fault;
    nodes_.SetOpenPadding(std::nullopt);
    if (!provisional::AdaptProvisional(plan, ordered, site, *this, fault)) {
      if (fault.rule != nullptr) Report(fault, plan, site);
      return {};
    }
  }
  return nodes_.Make(plan, ordered, site);
}

Value GraphBuilder::MakeRatified(std::string_view name, llvm::ArrayRef<Value> arguments, const Site& site) {
  const OpPlan& plan = RatifiedPlan(name);
  llvm::SmallVector<Value, 10> ordered;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    ordered.push_back(i < arguments.size() ? arguments[i] : plan.parameters[i].default_value);
  }
  Site inserted = site;  // the arguments written at the site belong to another operation
  inserted.expr = ast::ExprId();
  return nodes_.Make(plan, ordered, inserted);
}

Value GraphBuilder::NameInBody(const Value& value, Symbol identifier, const Site& site) {
  if (value.kind() == ValueKind::kTensor && names().AssignInBody(value.port(), identifier)) return value;
  Value named;
  if (value.kind() == ValueKind::kString) {
    Report(Fault::Of(kValueType, "a string is not a tensor"), site);
    return {};
  }
  if (value.kind() == ValueKind::kTensor) {
    Site copy = site;
    copy.generic = TypeKind::kError;
    if (is_lenient()) {  // like a stated copy
      const std::optional<Value> folded = vendor::FoldKnownTensors(RatifiedPlan("copy"), value, copy, *this);
      if (folded) return folded->WithFoldedTensor(true);
    }
    named = MakeRatified("copy", value, copy);
  } else {
    named = Value::Tensor({nodes_.AddLiteral(value, site), 0});
  }
  if (!named.poison()) names().AssignInBody(named.port(), identifier);
  return named;
}

}  // namespace nnefc::expand::build
