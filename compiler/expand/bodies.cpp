// Operations with bodies, `if_else` and loops: their string arguments name fragments of the document.
// The machine first creates the node. For each body it then pushes a call of the fragment, while the builder
// adds nodes to a new graph (BeginBody); when the call returns, that graph becomes a body of the node
// (FinishBody). The shapes of the node's outputs are inferred from the finished bodies (FinishBodies).

#include <utility>

#include "compiler/expand/attributes.h"
#include "compiler/expand/compile.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/machine.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/infer.h"
#include "compiler/semantics/rules.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand {

// Creates the node and begins its first body. Parameters and results of a body correspond to the node's
// inputs and outputs by position; only loops of tract's dialect use names (scan.cpp, BodyRun::goes_by_name).
bool Machine::MakeWithBodies(const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                             const Site& site) {
  auto run = std::make_unique<BodyRun>();
  run->plan = &plan;
  run->site = site;
  int64_t num_outputs = 0;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.document->types().Kind(plan.parameters[i].type) != semantics::TypeKind::kString) continue;
    const std::string_view role = plan.parameters[i].name;
    // The checker found it by the same literal.
    const Value& name = arguments[i];
    const semantics::Callee body = frame().chunk->document->FindOwn(context_.symbols.Find(name.text()));
    NNEFC_CHECK(body.valid());
    if (!body.document->expandable(body.fragment)) return false;  // already reported
    const semantics::Signature& signature = body.document->signature(body.fragment);
    if (!CheckBodyArguments(plan, arguments, body, role, site)) return false;
    num_outputs = static_cast<int64_t>(signature.results.size());
    run->requests.emplace_back(role, Call{.callee = body, .generic = {}, .expr = call.expr});
  }
  run->node = builder_.nodes().MakeWithBodies(plan, arguments, num_outputs, site);
  if (!run->node.valid()) return false;
  const SitePlaces places(plan, site);
  auto fed = ir::ops::BodyParameters(builder_.graph(), run->node, context_.emitter, &places);
  if (!fed) return false;
  run->fed = std::move(*fed);
  body_runs_.push_back(std::move(run));
  return BeginBody();
}

// Checks lengths and types that the checker cannot: arrays that are not literals.
bool Machine::CheckBodyArguments(const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                                 const semantics::Callee& callee, std::string_view role, const Site& site) {
  const semantics::TypeTable& types = callee.document->types();
  const semantics::Signature& body = callee.document->signature(callee.fragment);
  std::vector<const Value*> given;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_array || arguments[i].kind() != ValueKind::kArray) continue;
    for (const Value& item : arguments[i].items()) given.push_back(&item);
  }
  const std::string_view name = context_.symbols.Text(body.name.symbol);
  if (given.size() != body.parameters.size()) {
    builder_.Report(
        Fault::Of(semantics::kBodyParameters, "the body `{}` has {} parameters, but `{}` gives it {} tensors",
                  name, body.parameters.size(), plan.called, given.size())
            .At(role),
        plan, site);
    return false;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const semantics::TypeKind expected = types.Kind(types.Element(body.parameters[i].type));
    const semantics::TypeKind actual = ElementKind(*given[i], builder_.graph());
    if (expected == semantics::TypeKind::kAny || actual == expected) continue;
    builder_.Report(
        Fault::Of(semantics::kBodyParameterType,
                  "parameter `{}` of the body `{}` is of type `{}`, but is given `tensor<{}>`",
                  context_.symbols.Text(body.parameters[i].name.symbol), name,
                  types.Text(body.parameters[i].type, ast::Dialect::kRatified), DataTypeText(actual))
            .At(role),
        plan, site);
    return false;
  }
  return true;
}

// Pushes a frame for a body; its nodes are created in a separate graph. Only its parameters come from
// outside.
bool Machine::BeginBody() {
  BodyRun& run = *body_runs_.back();
  const Call& call = run.requests[run.begun++].second;
  const semantics::Signature& signature = call.callee.document->signature(call.callee.fragment);
  std::vector<Value> parameters;
  if (!builder_.nodes().EnterBody(signature, run.fed, run.parameters, run.site, parameters)) return false;
  if (run.goes_by_name) {
    std::vector<Value> declared(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) declared[run.parameters[i]] = parameters[i];
    parameters = std::move(declared);
  }
  stack_.insert(stack_.end(), parameters.begin(), parameters.end());
  if (!Instantiate(call, Info(call.callee))) return false;  // a limit was reached, so the expansion ends
  frame().is_body = true;
  builder_.names().SetRoot(OriginFrame());
  return true;
}

// Makes the values of the finished call the results of the body, and begins the next body if there is one.
// This continues even after an error, so that errors of all bodies are reported.
bool Machine::FinishBody() {
  BodyRun& run = *body_runs_.back();
  const Call& call = run.requests[run.begun - 1].second;
  const semantics::Signature& signature = call.callee.document->signature(call.callee.fragment);
  llvm::StringMap<int> named;  // a result may occur twice
  const size_t count = run.goes_by_name ? run.results.size() : signature.results.size();
  for (size_t output = 0; output < count; ++output) {
    const size_t i = run.goes_by_name ? run.results[output] : output;
    const semantics::TypedName& result = signature.results[i];
    const int32_t slot = frame().chunk->result_slots[i];
    Value value = slot < 0 ? Value() : stack_[frame().base + static_cast<size_t>(slot)];
    value = CastTo(call.callee.document->types(), result.type, std::move(value), heap_);
    Site site = SiteOf(ast::ExprId());
    site.range = result.name.range;
    site.statement = result.name.symbol;
    if (value.tensor() && value.kind() != ValueKind::kTensor) {
      value = builder_.NameInBody(value, result.name.symbol, site);  // a literal
    }
    run.failed |= value.kind() != ValueKind::kTensor;
    if (run.failed) continue;
    const std::string name(context_.symbols.Text(result.name.symbol));
    if (++named[name] > 1) value = builder_.MakeRatified("copy", value, site);
    run.failed |= value.poison();
    if (run.failed) continue;
    builder_.graph().AddResult(name, value.port(), {result.name.range, site.frame});
  }
  stack_.resize(frame().base);
  heap_.Charge(-frame().chunk->num_slots);
  frames_.pop_back();
  std::unique_ptr<ir::Graph> graph = builder_.nodes().LeaveBody();
  if (!run.failed) {
    run.bodies.push_back(ir::ops::MakeBody(builder_.graph().node(run.node), run.requests[run.begun - 1].first,
                                           std::move(graph)));
  }
  return run.begun < run.requests.size() ? BeginBody() : FinishBodies();
}

// Pushes the outputs of the node as an array, or an only output that is assigned to a name without brackets.
// Returns false if a body failed or inference reports an error.
bool Machine::FinishBodies() {
  std::unique_ptr<BodyRun> run = std::move(body_runs_.back());
  body_runs_.pop_back();
  if (run->failed) return false;
  Value outputs =
      builder_.nodes().FinishBodies(run->node, std::move(run->bodies), SitePlaces(*run->plan, run->site));
  if (outputs.poison()) return false;
  if (run->goes_by_name) {
    std::vector<Value> results;
    for (size_t output : run->outputs) results.push_back(outputs.item(static_cast<int64_t>(output)));
    // A single name on the left receives the only result.
    const bool is_alone = results.size() == 1 && run->site.array_length < 0;
    outputs = is_alone ? std::move(results[0]) : Value::Array(heap_, std::move(results));
  }
  stack_.push_back(std::move(outputs));
  return true;
}

}  // namespace nnefc::expand
