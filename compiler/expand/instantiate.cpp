#include "compiler/expand/instantiate.h"

#include "compiler/expand/attributes.h"
#include "compiler/expand/compile.h"
#include "compiler/expand/lenient_arguments.h"
#include "compiler/expand/provisional.h"
#include "compiler/expand/replacements.h"
#include "compiler/expand/restore_integers.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor_meanings.h"
#include "compiler/ir/infer.h"
#include "compiler/ir/ops/rules.h"
#include "compiler/ir/ops/sliding_window_shape.h"
#include "compiler/ir/ops/variables.h"
#include "compiler/ir/output_groups.h"
#include "compiler/semantics/rules.h"

namespace nnefc::expand {

using semantics::TypeKind;

namespace {

// Outputs of one node beyond this number count as separate operations.
constexpr int64_t kFreeOutputs = 64;

}  // namespace

GraphBuilder::GraphBuilder(ir::Graph& graph, ir::OpRegistry& registry,
                           const semantics::CheckedDocument& ratified, const ExpandOptions& options,
                           Heap& heap, Context& context)
    : registry_(registry), ratified_(ratified), options_(options), heap_(heap), context_(context) {
  scopes_.push_back(std::make_unique<GraphScope>(graph, context.symbols));
}

void GraphBuilder::Deviate(const Rule& rule, const OpPlan& plan, std::string_view argument, const Site& site,
                           std::string message) {
  // Libraries of extensions may deviate.
  if (site.document != nullptr && site.document->is_library()) return;
  const SourceRange written = SitePlaces(plan, site).Find(argument, -1);
  deviations_.Note(rule, written.valid() ? written : site.range, std::move(message));
}

std::optional<TensorValue> GraphBuilder::KnownTensor(ir::OutputPort port) const {
  const ir::Graph& graph = scopes_.back()->graph;
  const Shape* shape = nullptr;
  const std::optional<Shape> extents = graph.output(port).shape.extents();
  if (extents) shape = &*extents;
  while (graph.node(port.node).Is(ir::OpRole::kNnefView)) port = graph.node(port.node).inputs()[0];
  const ir::Node& node = graph.node(port.node);
  std::optional<TensorValue> value;
  if (node.Is(ir::OpRole::kConstant)) value = graph.output(port).value;
  if (node.Is(ir::OpRole::kVariable) && options_.variable_data)
    value = options_.variable_data(node.attribute("label").AsString(), graph.output(port).type);
  if (!value || shape == nullptr || Volume(*shape) != value->volume()) return std::nullopt;
  return value->Reshaped(*shape);
}

// Emits a diagnostic. One inside the body of a library's fragment moves to the invocation in the document,
// with a note at the original range.
void GraphBuilder::EmitAt(Diagnostic diagnostic, const Site& site) {
  const bool in_library = site.document != nullptr && site.document->is_library() && site.frame != nullptr;
  if (in_library && diagnostic.range.file == site.document->ast().file) {
    const SourceRange inside = diagnostic.range;
    const ir::Frame* frame = site.frame.get();
    for (; frame != nullptr && diagnostic.range.file == inside.file; frame = frame->parent.get()) {
      diagnostic.range = frame->call_site;
    }
    std::erase_if(diagnostic.notes,
                  [&](const DiagnosticNote& note) { return note.range == diagnostic.range; });
    diagnostic.notes.insert(
        diagnostic.notes.begin(),
        {inside, fmt::format("in the {}body of `{}`, here",
                             site.document->library() == nullptr ? "standard library's " : "",
                             site.frame->fragment)});
  }
  context_.emitter.Add(std::move(diagnostic));
}

void GraphBuilder::Report(const Fault& fault, const Site& site) {
  EmitAt({.rule = fault.rule,
          .severity = fault.rule->severity,
          .range = site.range,
          .message = fault.message,
          .notes = ir::StackNotes(site.frame),
          .fixes = {}},
         site);
  stopped_ |= fault.fatal;
}

void GraphBuilder::Report(const Fault& fault, const OpPlan& plan, const Site& site) {
  Site argument_site = site;
  if (!fault.argument.empty()) {
    const SourceRange range = SitePlaces(plan, site).Find(fault.argument, fault.item);
    if (range.valid()) argument_site.range = range;
  }
  Report(fault, argument_site);
}

SourceRange GraphBuilder::VariablePlace(ir::NodeId node) const {
  return variable_places_.lookup(node.index);
}

SourceRange SitePlaces::Find(std::string_view argument, int64_t item) const {
  if (argument == ir::kResultsPlace) return site_.left;
  const ast::ExprId written = Written(argument, item);
  return written.valid() ? site_.document->ast().exprs[written].range : SourceRange();
}

bool SitePlaces::IsLiteral(std::string_view argument, int64_t item) const {
  if (argument == ir::kResultsPlace) return false;
  llvm::SmallVector<ast::ExprId, 8> left = {Written(argument, item)};
  if (!left[0].valid()) return false;
  const auto& exprs = site_.document->ast().exprs;
  while (!left.empty()) {
    const ast::ExprNode& node = exprs[left.pop_back_val()].node;
    if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) {
      left.append(array->items.begin(), array->items.end());
    } else if (const auto* tuple = ast::Find<ast::TupleExpr>(node)) {
      left.append(tuple->items.begin(), tuple->items.end());
    } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
      left.push_back(unary->operand);
    } else if (!std::holds_alternative<ast::IntegerLiteral>(node) &&
               !std::holds_alternative<ast::ScalarLiteral>(node) &&
               !std::holds_alternative<ast::StringLiteral>(node) &&
               !std::holds_alternative<ast::LogicalLiteral>(node)) {
      return false;
    }
  }
  return true;
}

// Returns the expression of an argument, or of one of its items, at the operator or invocation of the site.
ast::ExprId SitePlaces::Written(std::string_view argument, int64_t item) const {
  const int32_t index = plan_.Find(argument);
  if (index < 0 || site_.document == nullptr || !site_.expr.valid()) return {};
  const int32_t parameter = plan_.parameters[static_cast<size_t>(index)].source;
  const ast::Document& document = site_.document->ast();
  const ast::ExprNode& node = document.exprs[site_.expr].node;
  ast::ExprId written;
  if (const auto* binary = ast::Find<ast::BinaryExpr>(node)) {
    written = parameter == 0 ? binary->left : binary->right;
  } else if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    written = unary->operand;
  } else if (const semantics::Binding* binding = site_.document->binding(site_.expr)) {
    if (parameter >= 0 && static_cast<size_t>(parameter) < binding->arguments.size())
      written = binding->arguments[static_cast<size_t>(parameter)];
  }
  if (!written.valid()) return written;
  const auto* array = std::get_if<ast::ArrayExpr>(&document.exprs[StripParens(document, written)].node);
  if (array != nullptr && item >= 0 && static_cast<size_t>(item) < array->items.size() &&
      array->items[static_cast<size_t>(item)].valid()) {
    written = array->items[static_cast<size_t>(item)];
  }
  return written;
}

const OpPlan& GraphBuilder::RatifiedPlan(std::string_view name) {
  std::unique_ptr<OpPlan>& plan = ratified_plans_[llvm::StringRef(name.data(), name.size())];
  if (plan == nullptr) {
    semantics::Callee callee = ratified_.Find(context_.symbols.Intern(name));
    NNEFC_CHECK(callee.valid());
    plan = MakePlan(callee, ratified_, registry_, context_.symbols, heap_);
  }
  return *plan;
}

Value GraphBuilder::Make(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site) {
  llvm::SmallVector<Value, 10> ordered;
  for (const OpPlan::Parameter& parameter : plan.parameters) {
    ordered.push_back(parameter.source < 0 ? parameter.default_value
                                           : arguments[static_cast<size_t>(parameter.source)]);
  }
  if (is_lenient_) {
    Site loose = site;
    const llvm::SmallVector<Value, 10> given = ordered;
    if (!ConvertLenientArguments(plan, ordered, loose, *this)) return {};
    if (std::optional<Value> replaced = ReplaceOperation(plan, ordered, site, *this)) return *replaced;
    const Value result = RestoreIntegers(plan, given, MakeNode(plan, ordered, loose), site, *this);
    return has_vendor_meanings_ ? ReadVendorResult(plan, ordered, result, site, *this) : result;
  }
  if (plan.provisional) {
    Fault fault;
    open_padding_.reset();
    if (!AdaptProvisional(plan, ordered, site, *this, fault)) {
      if (fault.rule != nullptr) Report(fault, plan, site);
      return {};
    }
  }
  return MakeNode(plan, ordered, site);
}

Value GraphBuilder::MakeRatified(std::string_view name, llvm::ArrayRef<Value> arguments, const Site& site) {
  const OpPlan& plan = RatifiedPlan(name);
  llvm::SmallVector<Value, 10> ordered;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    ordered.push_back(i < arguments.size() ? arguments[i] : plan.parameters[i].default_value);
  }
  Site inserted = site;  // the arguments written at the site belong to another operation
  inserted.expr = ast::ExprId();
  return MakeNode(plan, ordered, inserted);
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
    named = MakeRatified("copy", value, copy);
  } else {
    named = Value::Tensor({AddLiteralNode(value, site), 0});
  }
  if (!named.poison()) names().AssignInBody(named.port(), identifier);
  return named;
}

// Counts a node with that many outputs towards the limit on operations; one in the graph's body is free.
bool GraphBuilder::CountOperation(int64_t outputs, const Site& site) {
  return CountOperations((site.frame != nullptr ? 1 : 0) + std::max<int64_t>(0, outputs - kFreeOutputs),
                         site);
}

bool GraphBuilder::CountOperations(int64_t count, const Site& site) {
  if (count <= context_.limits.operations - operations_) {
    operations_ += count;
    return true;
  }
  Fault fault = Fault::Of(kLimitOperations, "fragments make more than {} operations (`--max-operations`)",
                          context_.limits.operations);
  fault.fatal = true;
  Report(fault, site);
  return false;
}

// Returns the node of a literal, shared by all its uses.
ir::OutputPort GraphBuilder::Literal(const Value& value, const Site& site) {
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
    ir::NodeId node = AddLiteralNode(value, site);
    names().MarkUnnamed(node);
    entry->second = {node, 0};
  }
  return entry->second;
}

ir::NodeId GraphBuilder::AddLiteralNode(const Value& value, const Site& site) {
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
  ir::NodeId node = graph().AddNode(
      ir::kNnefSet, "constant", {.attributes = std::move(attributes), .origin = {site.range, site.frame}});
  names().OnNode(graph().node(node), site.statement);
  (void)ir::InferNode(graph(), node, context_.emitter);  // emits errors
  return node;
}

// Appends the ports of a tensor, a literal, or an array of these. Returns false after a reported error.
bool GraphBuilder::AddInputs(const OpPlan::Parameter& parameter, const Value& value, const OpPlan& plan,
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
    Report(Fault::Of(kValueType, "`{}` of `{}` is {}; expected a tensor", parameter.called, plan.called,
                     value.KindText())
               .At(parameter.name),
           plan, site);
  }
  return false;
}

// Computes the number of outputs of a node. Returns false after a reported error.
bool GraphBuilder::CountOutputs(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
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
  Report(fault, plan, site);
  return false;
}

// Splits arguments into inputs and attributes. Returns false after a reported error.
bool GraphBuilder::GatherArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments, TypeKind generic,
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
      Report(std::move(fault).At(parameter.name), plan, site);
      return false;
    }
    parts.attributes.Set(parameter.name, std::move(*attribute));
  }
  if (generic != TypeKind::kError) parts.attributes.Set("dtype", DataTypeText(generic));
  if (!plan.has_arrays) parts.segments.clear();
  return true;
}

// Creates a node from arguments in the order of the plan's parameters and infers it. Returns its result, or
// poison after a reported error.
Value GraphBuilder::MakeNode(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site) {
  NNEFC_CHECK(plan.op.valid());
  TypeKind generic = TypeKind::kError;
  if (plan.signature->is_generic) {
    generic = site.generic != TypeKind::kError
                  ? site.generic
                  : DeduceGeneric(*plan.document, *plan.signature, arguments, graph());
    // The provisional dialect has no `?`: the default is scalar.
    if (generic == TypeKind::kError && plan.provisional) generic = TypeKind::kScalar;
    if (generic == TypeKind::kError) {
      Report(Fault::Of(semantics::kGenericUndeduced,
                       "nothing determines the type that `?` of `{}` stands for", plan.called),
             site);
      return {};
    }
  }
  NodeParts parts;
  if (plan.role == ir::OpRole::kExternal && !PrepareExternal(plan, arguments, site, parts.attributes))
    return {};
  // Printed text must conform to the ratified dialect.
  if (plan.role == ir::OpRole::kVariable && plan.provisional && options_.purpose != Purpose::kPrint)
    parts.attributes.Set(ir::ops::kExactLabel, true);
  int64_t num_outputs = 0;
  if (!GatherArguments(plan, arguments, generic, site, parts)) return {};
  if (!CountOutputs(plan, arguments, site, num_outputs) || !CountOperation(num_outputs, site)) return {};
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
    if (plan.role == ir::OpRole::kVariable) variable_places_[node.index] = places.Find("label", -1);
    if (plan.role == ir::OpRole::kUpdate) variable_places_[node.index] = places.Find("variable", -1);
  }
  if (!Infer(node, places, site)) return {};
  return ResultOf(node);
}

// Infers a node. Errors at nodes of library fragments are reported at the invocation in the document.
bool GraphBuilder::Infer(ir::NodeId node, const SitePlaces& places, const Site& site) {
  if (site.document == nullptr || !site.document->is_library()) {
    return ir::InferNode(graph(), node, context_.emitter, &places);
  }
  Emitter inner;
  const bool inferred = ir::InferNode(graph(), node, inner, &places);
  for (const Diagnostic& diagnostic : inner.diagnostics()) EmitAt(diagnostic, site);
  return inferred;
}

// Derives the data types of a custom primitive from its declaration.
void GraphBuilder::TypeCustomOutputs(const OpPlan& plan, ir::NodeId node, TypeKind generic) {
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
Value GraphBuilder::ResultOf(ir::NodeId node) {
  std::vector<Value> results;
  for (const ir::OutputGroup& group : ir::OutputGroups(graph().node(node))) {
    if (!group.array) {
      results.push_back(Value::Tensor({node, group.first}));
      continue;
    }
    std::vector<Value> items;
    items.reserve(static_cast<size_t>(group.count));
    for (int32_t i = 0; i < group.count; ++i) items.push_back(Value::Tensor({node, group.first + i}));
    results.push_back(Value::Array(heap_, std::move(items)));
  }
  if (results.size() == 1) return std::move(results[0]);
  return Value::Tuple(heap_, std::move(results));
}

}  // namespace nnefc::expand
