// GraphBuilder: creates a node of the graph for each call of an operation. Converts the arguments, infers
// types and shapes, assigns names, and reports errors at the call.

#include "compiler/expand/build/node_factory.h"

#include "compiler/expand/attributes.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/algorithms/output_groups.h"
#include "compiler/ir/ops/opset/nnef_form.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/ops/windows/sliding_window_shape.h"
#include "compiler/semantics/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::build {

using semantics::TypeKind;

namespace {

// Outputs of one node beyond this number count as separate operations.
constexpr int64_t kFreeOutputs = 64;

}  // namespace

NodeFactory::NodeFactory(ir::Graph& graph, const BuildSettings& settings, Externals& externals,
                         Reporter& reporter)
    : settings_(settings), context_(settings.context), externals_(externals), reporter_(reporter) {
  scopes_.push_back(std::make_unique<GraphScope>(graph, context_.symbols));
}

// Counts a node with that many outputs towards the limit on operations; one in the graph's body is free.
bool NodeFactory::CountOperation(int64_t outputs, const Site& site) {
  return CountOperations((site.frame != nullptr ? 1 : 0) + std::max<int64_t>(0, outputs - kFreeOutputs),
                         site);
}

bool NodeFactory::CountOperations(int64_t count, const Site& site) {
  if (count <= context_.limits.operations - operations_) {
    operations_ += count;
    return true;
  }
  Fault fault = Fault::Of(kLimitOperations, "fragments make more than {} operations (`--max-operations`)",
                          context_.limits.operations);
  fault.fatal = true;
  reporter_.Report(fault, site);
  return false;
}

// Returns the node of a literal, shared by all its uses.
ir::OutputPort NodeFactory::Literal(const Value& value, const Site& site) {
  std::string key;
  switch (value.kind()) {
    case ValueKind::kInteger:
      key = fmt::format("{}", value.integer());
      break;
    case ValueKind::kScalar:
      key = ScalarText(value.scalar());
      break;
    case ValueKind::kLogical:
      key = value.logical() ? "true" : "false";
      break;
    default:
      key = std::string(value.text());
      break;
  }
  auto [entry, added] = scopes_.back()->literals.try_emplace({ElementKind(value, graph()), std::move(key)});
  if (added) {
    ir::NodeId node = AddLiteral(value, site);
    names().MarkUnnamed(node);
    entry->second = {node, 0};
  }
  return entry->second;
}

ir::NodeId NodeFactory::AddLiteral(const Value& value, const Site& site) {
  ir::AttributeMap attributes;
  attributes.Set("shape", ir::AttributeList{});
  switch (value.kind()) {
    case ValueKind::kInteger:
      attributes.Set("value", ir::Attribute::Integers{value.integer()});
      break;
    case ValueKind::kScalar:
      attributes.Set("value", ir::Attribute::Scalars{value.scalar()});
      break;
    case ValueKind::kLogical:
      attributes.Set("value", ir::Attribute::Logicals{value.logical()});
      break;
    default:
      attributes.Set("value", ir::Attribute::Strings{std::string(value.text())});
      break;
  }
  attributes.Set("dtype", DataTypeText(ElementKind(value, graph())));
  ir::NodeId node = ir::AddNode(graph(), ir::kNnefSet, "constant",
                                {.attributes = std::move(attributes), .origin = {site.range, site.frame}});
  names().OnNode(graph().node(node), site.statement);
  (void)ir::InferNode(graph(), node, context_.emitter);  // emits errors
  return node;
}

// Appends the ports of a tensor, a literal, or an array of these. Returns false after a reported error.
bool NodeFactory::AddInputs(const OpPlan::Parameter& parameter, const Value& value, const OpPlan& plan,
                            const Site& site, llvm::SmallVectorImpl<ir::OutputPort>& inputs) {
  if (value.kind() == ValueKind::kTensor) {
    inputs.push_back(value.port());
    return true;
  }
  if (value.primitive()) {
    inputs.push_back(Literal(value, site));
    return true;
  }
  if (value.sequence() && (parameter.is_array || value.kind() == ValueKind::kTuple)) {
    for (const Value& item : value.items()) {
      if (!AddInputs(parameter, item, plan, site, inputs)) return false;
    }
    return true;
  }
  if (!value.poison()) {
    reporter_.Report(Fault::Of(kValueType, "`{}` of `{}` is {}; expected a tensor", parameter.called,
                               plan.called, KindText(value))
                         .At(parameter.name),
                     plan, site);
  }
  return false;
}

// Computes the number of outputs of a node. Returns false after a reported error.
bool NodeFactory::CountOutputs(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                               int64_t& count) {
  auto argument = [&](std::string_view name) -> const Value& {
    return arguments[static_cast<size_t>(plan.Find(name))];
  };
  count = static_cast<int64_t>(plan.signature->results.size());
  Fault fault;
  switch (plan.results) {
    case ir::ResultCount::kRatios:
      count = argument("ratios").length();
      break;
    case ir::ResultCount::kTimes:
      count = argument("times").kind() == ValueKind::kInteger ? argument("times").integer() : 1;
      if (count < 0)
        fault = Fault::Of(ir::ops::kCopyTimes, "`times` of `copy_n` is {}; expected at least 0", count)
                    .At("times");
      break;
    case ir::ResultCount::kExtent: {
      const Value& value = argument("value");
      const Value& axis = argument("axis");
      count = 1;
      if (value.kind() != ValueKind::kTensor || axis.kind() != ValueKind::kInteger) break;
      const ir::PartialShape& shape = graph().output(value.port()).shape;
      if (shape.rank_known() && (axis.integer() < 0 || axis.integer() >= shape.rank()))
        break;  // reported by inference
      if (site.array_length >= 0) {
        count = site.array_length;  // Inference reports a different extent.
      } else if (shape.rank_known() && shape[axis.integer()].known()) {
        count = shape[axis.integer()].value();
      } else {
        fault = Fault::Of(kResultLength,
                          "the number of results of `unstack` follows from an extent that is not known");
      }
      break;
    }
    case ir::ResultCount::kDeclared:
      for (const semantics::TypedName& result : plan.signature->results) {
        if (plan.document->types().Kind(result.type) != TypeKind::kArray) continue;
        // The left side determines the length of one array among other results.
        if (count == static_cast<int64_t>(plan.signature->results.size()) && site.array_length >= 0) {
          count += site.array_length - 1;
        } else {
          fault = Fault::Of(kResultLength, "nothing determines the length of the result `{}` of `{}`",
                            context_.symbols.Text(result.name.symbol), plan.called);
        }
      }
      break;
  }
  if (fault.rule == nullptr) return true;
  reporter_.Report(fault, plan, site);
  return false;
}

// Splits arguments into inputs and attributes. Returns false after a reported error.
bool NodeFactory::GatherArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
                                  const Site& site, NodeParts& parts) {
  const auto values = llvm::count_if(plan.parameters, [](const auto& each) { return !each.is_tensor; });
  parts.attributes.reserve(static_cast<size_t>(values) + (generic != TypeKind::kError ? 1 : 0));
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    const OpPlan::Parameter& parameter = plan.parameters[i];
    if (parameter.is_tensor) {
      size_t before = parts.inputs.size();
      if (!AddInputs(parameter, arguments[i], plan, site, parts.inputs)) return false;
      parts.segments.push_back(static_cast<int32_t>(parts.inputs.size() - before));
      continue;
    }
    if (parts.attributes.Find(parameter.name) != nullptr) continue;
    Fault fault;
    std::optional<ir::Attribute> attribute =
        ToAttribute(arguments[i], plan.document->types(), parameter.type, generic,
                    {parameter.called, plan.called, parameter.type_text}, fault);
    if (!attribute) {
      reporter_.Report(std::move(fault).At(parameter.name), plan, site);
      return false;
    }
    parts.attributes.Set(parameter.name, std::move(*attribute));
  }
  if (generic != TypeKind::kError) parts.attributes.Set("dtype", DataTypeText(generic));
  if (!plan.has_arrays) parts.segments.clear();
  return true;
}

// Converts the parts of a node of NNEFC_opset to those of OpenVINO's operation, whose optional inputs are the
// last ones. Returns false after a reported error.
bool NodeFactory::ToOpenVino(const OpPlan& plan, const Site& site, NodeParts& parts) {
  const ir::OpInfo& row = settings_.registry.Info(plan.op);
  ir::ops::opset::NnefMistake mistake;
  auto attributes = ir::ops::opset::ReadNnefAttributes(row, parts.attributes, mistake);
  if (!attributes) {
    reporter_.Report(Fault::Of(kValueType, "`{}` of `{}` {}", mistake.parameter, plan.called, mistake.text)
                         .At(mistake.parameter),
                     plan, site);
    return false;
  }
  parts.attributes = std::move(*attributes);
  const ir::Attribute* shape = row.role == ir::OpRole::kConst ? parts.attributes.Find("shape") : nullptr;
  if (shape != nullptr && shape->get<ir::PartialShape>()->volume() != 0) {
    reporter_.Report(Fault::Of(kValueType,
                               "`shape` of `{}` is `{}`; expected an extent of 0, since `constant` and "
                               "`variable` are for tensors with elements",
                               plan.called, ir::ToString(*shape->get<ir::PartialShape>()))
                         .At("shape"),
                     plan, site);
    return false;
  }
  for (size_t i = 1; i < parts.segments.size(); ++i) {
    if (parts.segments[i] == 0 || parts.segments[i - 1] != 0 || row.inputs[i].variadic) continue;
    reporter_.Report(Fault::Of(kValueType, "`{}` of `{}` is given, but `{}` before it is not",
                               plan.parameters[i].called, plan.called, plan.parameters[i - 1].called)
                         .At(plan.parameters[i].name),
                     plan, site);
    return false;
  }
  parts.segments.clear();
  return true;
}

// Returns the type of a variable: in tract's dialect, that of a tensor file of integers or logicals counts,
// whatever the document states.
TypeKind NodeFactory::TypeOfFile(const Value& label, const Site& site, TypeKind generic) const {
  const ExpandOptions& options = settings_.options;
  const bool is_quantized =
      site.statement.valid() && options.quantized.contains(context_.symbols.Text(site.statement));
  if (!settings_.dialect.vendor_meanings || label.kind() != ValueKind::kString || is_quantized ||
      generic != TypeKind::kScalar || !options.variable_data)
    return generic;
  const std::string text(label.text());
  for (const auto& [type, kind] : {std::pair(ElementType::kI64, TypeKind::kInteger),
                                   std::pair(ElementType::kBoolean, TypeKind::kLogical)}) {
    if (options.variable_data(text, type)) return kind;
  }
  return generic;
}

Value NodeFactory::Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site) {
  NNEFC_CHECK(plan.op.valid());
  TypeKind generic = TypeKind::kError;
  if (plan.signature->is_generic) {
    generic = site.generic != TypeKind::kError
                  ? site.generic
                  : DeduceGeneric(*plan.document, *plan.signature, arguments, graph());
    // The provisional dialect has no `?`: the default is scalar.
    if (generic == TypeKind::kError && plan.provisional) generic = TypeKind::kScalar;
    if (generic == TypeKind::kError) {
      reporter_.Report(Fault::Of(semantics::kGenericUndeduced,
                                 "nothing determines the type that `?` of `{}` stands for", plan.called),
                       site);
      return {};
    }
  }
  NodeParts parts;
  if (plan.role == ir::OpRole::kExternal && !externals_.Prepare(plan, arguments, site, parts.attributes))
    return {};
  if (plan.role == ir::OpRole::kVariable) {
    generic = TypeOfFile(arguments[static_cast<size_t>(plan.Find("label"))], site, generic);
    if (settings_.dialect.any_label) parts.attributes.Set(ir::ops::kExactLabel, true);
  }
  int64_t num_outputs = 0;
  if (!GatherArguments(plan, arguments, generic, site, parts)) return {};
  if (!CountOutputs(plan, arguments, site, num_outputs) || !CountOperation(num_outputs, site)) return {};
  if (settings_.registry.Info(plan.op).set != ir::kNnefSet && !ToOpenVino(plan, site, parts)) return {};
  ir::NodeId node = graph().AddNode({.op = plan.op,
                                     .inputs = parts.inputs,
                                     .segments = parts.segments,
                                     .attributes = std::move(parts.attributes),
                                     .num_outputs = static_cast<int32_t>(num_outputs),
                                     .origin = {site.range, site.frame}});
  if (plan.provisional) {
    ir::SetWording(graph(), node, plan.wording());
    if (open_padding_) ir::ops::SetOpenPadding(graph(), node, *open_padding_);
  }
  names().OnNode(graph().node(node), site.statement);
  if (plan.is_custom) TypeCustomOutputs(plan, node, generic);
  const SitePlaces places(plan, site);
  if (scopes_.size() == 1) {  // CheckVariables ignores variables of bodies
    if (plan.role == ir::OpRole::kVariable)
      variable_places_[node.index] = {Reporter::OutsideLibrary(places.Find("label", -1), site),
                                      places.IsLiteral("label", -1)};
    if (plan.role == ir::OpRole::kUpdate) variable_places_[node.index] = {places.Find("variable", -1)};
  }
  if (!Infer(node, places, site)) return {};
  return ResultOf(node);
}

// Infers a node. Errors at nodes of library fragments are reported at the invocation in the document.
bool NodeFactory::Infer(ir::NodeId node, const SitePlaces& places, const Site& site) {
  if (site.document == nullptr || !site.document->is_library()) {
    return ir::InferNode(graph(), node, context_.emitter, &places);
  }
  Emitter inner;
  const bool inferred = ir::InferNode(graph(), node, inner, &places);
  for (const Diagnostic& diagnostic : inner.diagnostics()) reporter_.EmitAt(diagnostic, site);
  return inferred;
}

// Derives the data types of a custom primitive from its declaration.
void NodeFactory::TypeCustomOutputs(const OpPlan& plan, ir::NodeId node, TypeKind generic) {
  const semantics::TypeTable& types = plan.document->types();
  const std::vector<ir::OutputGroup> groups = ir::OutputGroups(graph().node(node));
  for (size_t i = 0; i < groups.size(); ++i) {
    semantics::TypeId type = plan.signature->results[i].type;
    if (groups[i].array) type = types.Item(type);
    for (int32_t output = groups[i].first; output < groups[i].first + groups[i].count; ++output) {
      if (types.Kind(type) != TypeKind::kTensor) continue;
      TypeKind element = types.Kind(types.Element(type));
      graph().SetOutputType({node, output}, ElementTypeOf(element == TypeKind::kGeneric ? generic : element),
                            ir::PartialShape());
    }
  }
}

// Returns the outputs of a node as a tensor, an array, or a tuple of these.
Value NodeFactory::ResultOf(ir::NodeId node) {
  std::vector<Value> results;
  for (const ir::OutputGroup& group : ir::OutputGroups(graph().node(node))) {
    if (!group.array) {
      results.push_back(Value::Tensor({node, group.first}));
      continue;
    }
    std::vector<Value> items;
    items.reserve(static_cast<size_t>(group.count));
    for (int32_t i = 0; i < group.count; ++i) items.push_back(Value::Tensor({node, group.first + i}));
    results.push_back(Value::Array(settings_.heap, std::move(items)));
  }
  if (results.size() == 1) return std::move(results[0]);
  return Value::Tuple(settings_.heap, std::move(results));
}

}  // namespace nnefc::expand::build
