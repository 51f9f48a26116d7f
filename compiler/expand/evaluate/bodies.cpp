// Operations with bodies, `if_else` and loops: their string arguments name fragments of the document.
// The evaluation first creates the node. For each body it then pushes a call of the fragment, while the
// factory adds nodes to a new graph (BeginBody); when the call returns, that graph becomes a body of the node
// (FinishBody). The shapes of the node's outputs are inferred from the finished bodies (FinishBodies).

#include "compiler/expand/evaluate/bodies.h"

#include <utility>

#include "compiler/expand/attributes.h"
#include "compiler/expand/evaluate/calls.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/semantics/rules.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::expand::evaluate {
namespace {

bool FinishBody(Evaluation& state);

// Checks lengths and types that the checker cannot: arrays that are not literals.
bool CheckBodyArguments(Evaluation& state, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                        const semantics::Callee& callee, std::string_view role, const Site& site) {
  const semantics::TypeTable& types = callee.document->types();
  const semantics::Signature& body = callee.document->signature(callee.fragment);
  std::vector<const Value*> given;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (!plan.parameters[i].is_array || arguments[i].kind() != ValueKind::kArray) continue;
    for (const Value& item : arguments[i].items()) given.push_back(&item);
  }
  const std::string_view name = state.context.symbols.Text(body.name.symbol);
  if (given.size() != body.parameters.size()) {
    state.builder.Report(
        Fault::Of(semantics::kBodyParameters, "the body `{}` has {} parameters, but `{}` gives it {} tensors",
                  name, body.parameters.size(), plan.called, given.size())
            .At(role),
        plan, site);
    return false;
  }
  for (size_t i = 0; i < given.size(); ++i) {
    const semantics::TypeKind expected = types.Kind(types.Element(body.parameters[i].type));
    const semantics::TypeKind actual = ElementKind(*given[i], state.builder.graph());
    if (expected == semantics::TypeKind::kAny || actual == expected) continue;
    state.builder.Report(
        Fault::Of(semantics::kBodyParameterType,
                  "parameter `{}` of the body `{}` is of type `{}`, but is given `tensor<{}>`",
                  state.context.symbols.Text(body.parameters[i].name.symbol), name,
                  types.Text(body.parameters[i].type, ast::Dialect::kRatified), DataTypeText(actual))
            .At(role),
        plan, site);
    return false;
  }
  return true;
}

// Pushes a frame for a body; its nodes are created in a separate graph. Only its parameters come from
// outside.
bool BeginBody(Evaluation& state) {
  BodyRun& run = *state.body_runs.back();
  const Call& call = run.requests[run.begun++].second;
  const semantics::Signature& signature = call.callee.document->signature(call.callee.fragment);
  std::vector<Value> parameters;
  if (!state.builder.nodes().EnterBody(signature, run.fed, run.parameters, run.site, parameters))
    return false;
  if (run.goes_by_name) {
    std::vector<Value> declared(signature.parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (run.parameters[i] < declared.size()) declared[run.parameters[i]] = parameters[i];
    }
    run.given = std::exchange(parameters, std::move(declared));
  }
  state.stack.insert(state.stack.end(), parameters.begin(), parameters.end());
  if (!Instantiate(state, call, state.fragments.Info(call.callee)))
    return false;  // a limit was reached, so the expansion ends
  state.frame().is_body = true;
  state.frame().finish = &FinishBody;
  state.builder.names().SetRoot(state.OriginFrame());
  return true;
}

// Stores the states of the loop of a stream for the next run. Returns false after a reported error.
bool KeepStates(Evaluation& state, const BodyRun& run, const Value& outputs) {
  for (size_t i = 0; i < run.state_names.size(); ++i) {
    const Value& last = outputs.item(static_cast<int64_t>(i));
    Site site = run.site;
    site.generic = ElementKind(last, state.builder.graph());
    const Value name = Value::String(state.heap, run.state_names[i], false);
    if (state.builder.MakeRatified("tract_pulse_keep", {last, name}, site).poison()) return false;
  }
  return true;
}

// Pushes the outputs of the node as an array, or an only output that is assigned to a name without brackets.
// Returns false if a body failed or inference reports an error.
bool FinishBodies(Evaluation& state) {
  std::unique_ptr<BodyRun> run = std::move(state.body_runs.back());
  state.body_runs.pop_back();
  if (run->failed) return false;
  Value outputs = state.builder.nodes().FinishBodies(run->node, std::move(run->bodies),
                                                     SitePlaces(*run->plan, run->site));
  if (outputs.poison() || !KeepStates(state, *run, outputs)) return false;
  if (run->goes_by_name) {
    std::vector<Value> results;
    for (size_t output : run->outputs) results.push_back(outputs.item(static_cast<int64_t>(output)));
    // A single name on the left receives the only result.
    const bool is_alone = results.size() == 1 && run->site.array_length < 0;
    outputs = is_alone ? std::move(results[0]) : Value::Array(state.heap, std::move(results));
  }
  state.stack.push_back(std::move(outputs));
  return true;
}

// Makes the values of the finished call the results of the body, and begins the next body if there is one.
// This continues even after an error, so that errors of all bodies are reported.
bool FinishBody(Evaluation& state) {
  BodyRun& run = *state.body_runs.back();
  const Call& call = run.requests[run.begun - 1].second;
  const semantics::Signature& signature = call.callee.document->signature(call.callee.fragment);
  llvm::StringMap<int> named;  // a result may occur twice
  const size_t count = run.goes_by_name ? run.results.size() : signature.results.size();
  for (size_t output = 0; output < count; ++output) {
    const size_t i = run.goes_by_name ? run.results[output] : output;
    const semantics::TypedName& result = signature.results[i];
    const int32_t slot = state.frame().chunk->result_slots[i];
    Value value = slot < 0 ? Value() : state.stack[state.frame().base + static_cast<size_t>(slot)];
    value = CastTo(call.callee.document->types(), result.type, std::move(value), state.heap);
    Site site = state.SiteOf(ast::ExprId());
    site.range = result.name.range;
    site.statement = result.name.symbol;
    if (value.tensor() && value.kind() != ValueKind::kTensor) {
      value = state.builder.NameInBody(value, result.name.symbol, site);  // a literal
    }
    run.failed |= value.kind() != ValueKind::kTensor;
    if (run.failed) continue;
    if (run.starts_late && output < run.state_names.size()) {
      Site chosen = site;
      chosen.generic = ElementKind(value, state.builder.graph());
      value = state.builder.MakeRatified("select", {run.given[0], value, run.given[run.first_state + output]},
                                         chosen);
      run.failed |= value.poison();
      if (run.failed) continue;
    }
    const std::string name(state.context.symbols.Text(result.name.symbol));
    if (++named[name] > 1) value = state.builder.MakeRatified("copy", value, site);
    run.failed |= value.poison();
    if (run.failed) continue;
    ir::AddResult(state.builder.graph(), name, value.port(), {result.name.range, site.frame});
  }
  state.stack.resize(state.frame().base);
  state.heap.Charge(-state.frame().chunk->num_slots);
  state.frames.pop_back();
  std::unique_ptr<ir::Graph> graph = state.builder.nodes().LeaveBody();
  if (!run.failed) {
    run.bodies.push_back(ir::ops::MakeBody(state.builder.graph().node(run.node),
                                           run.requests[run.begun - 1].first, std::move(graph)));
  }
  return run.begun < run.requests.size() ? BeginBody(state) : FinishBodies(state);
}

}  // namespace

bool MakeWithBodies(Evaluation& state, const Call& call, const OpPlan& plan, llvm::ArrayRef<Value> arguments,
                    const Site& site) {
  auto run = std::make_unique<BodyRun>();
  run->plan = &plan;
  run->site = site;
  size_t num_outputs = 0;
  for (size_t i = 0; i < plan.parameters.size(); ++i) {
    if (plan.document->types().Kind(plan.parameters[i].type) != semantics::TypeKind::kString) continue;
    const std::string_view role = plan.parameters[i].name;
    // The checker found it by the same literal.
    const Value& name = arguments[i];
    const semantics::Callee body =
        state.frame().chunk->document->FindOwn(state.context.symbols.Find(name.text()));
    NNEFC_CHECK(body.valid());
    if (!body.document->expandable(body.fragment)) return false;  // already reported
    const semantics::Signature& signature = body.document->signature(body.fragment);
    if (!CheckBodyArguments(state, plan, arguments, body, role, site)) return false;
    num_outputs = signature.results.size();
    run->requests.emplace_back(role, Call{.callee = body, .generic = {}, .expr = call.expr});
  }
  return BeginBodies(state, std::move(run), arguments, num_outputs);
}

bool BeginBodies(Evaluation& state, std::unique_ptr<BodyRun> run, llvm::ArrayRef<Value> arguments,
                 size_t num_outputs) {
  build::NodeFactory& nodes = state.builder.nodes();
  run->node = nodes.MakeWithBodies(*run->plan, arguments, static_cast<int64_t>(num_outputs), run->site);
  if (!run->node.valid()) return false;
  const SitePlaces places(*run->plan, run->site);
  auto fed = ir::ops::BodyParameters(nodes.graph(), run->node, state.context.emitter, &places);
  if (!fed) return false;
  run->fed = std::move(*fed);
  state.body_runs.push_back(std::move(run));
  return BeginBody(state);
}

}  // namespace nnefc::expand::evaluate
