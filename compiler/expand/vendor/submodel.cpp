// Submodels, called by label in tract's dialect. The graph of each becomes a frame: its externals are the
// arguments of the call, and the labels of its variables are prefixed with its path.

#include "compiler/expand/vendor/submodel.h"

#include "compiler/expand/evaluate/calls.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/hooks.h"
#include "compiler/expand/vendor/lenient_arguments.h"

namespace nnefc::expand::vendor {
namespace {

// Returns the submodel whose operations are being created; null in the document's own graph.
SubmodelRun* InnermostRun(evaluate::Evaluation& state) {
  for (size_t i = state.frames.size(); i-- > 0;) {
    if (state.frames[i].submodel != nullptr) return state.frames[i].submodel.get();
  }
  return nullptr;
}

// Returns the submodel's name for the external that is being created.
std::string_view InputName(evaluate::Evaluation& state) {
  size_t i = state.frames.size() - 1;
  while (state.frames[i].submodel == nullptr) --i;
  const Symbol name =
      state.frames[i].chunk->statements[static_cast<size_t>(state.frames[i].statement)].identifier;
  return name.valid() ? state.context.symbols.Text(name) : "";
}

// Replaces an external by the value passed for it.
bool TakeInput(evaluate::Evaluation& state, SubmodelRun& run, const OpPlan& plan,
               llvm::ArrayRef<Value> arguments, const Site& site) {
  if (run.taken == run.inputs.size()) {
    state.builder.Report(
        Fault::Of(kSubmodelInput, "the model `{}` has more externals than the {} tensors that it is given",
                  run.path, run.inputs.size()),
        site);
    return false;
  }
  const Value given = run.inputs[run.taken++];
  const ir::Output& output = state.builder.graph().output(given.port());
  if (!state.builder.externals().CheckGiven(plan, arguments, output, site, InputName(state))) return false;
  state.stack.resize(state.stack.size() - arguments.size());
  state.stack.push_back(given);
  return true;
}

// Prepends the submodel's path to a variable's label.
void PrefixLabel(evaluate::Evaluation& state, const OpPlan& plan, const SubmodelRun& run,
                 llvm::MutableArrayRef<Value> arguments) {
  const int32_t source = plan.parameters[static_cast<size_t>(plan.Find("label"))].source;
  Value& label = arguments[static_cast<size_t>(source)];
  if (label.kind() != ValueKind::kString) return;  // reported elsewhere
  const llvm::StringRef own = llvm::StringRef(label.text()).ltrim('/');
  label = Value::String(state.heap, fmt::format("{}/{}", run.path, std::string_view(own)));
}

// Returns from a submodel with the array of its results.
bool FinishSubmodel(evaluate::Evaluation& state) {
  const evaluate::Frame callee = std::move(state.frames.back());
  state.frames.pop_back();
  const SubmodelRun& run = *callee.submodel;
  state.builder.symbols().Close(run.symbols);
  state.heap.Charge(-callee.chunk->num_slots);
  const auto site = [&] { return state.SiteOf(callee.call->expr); };
  if (run.taken < run.inputs.size()) {
    state.builder.Report(
        Fault::Of(kSubmodelInput, "the model `{}` takes {} of the {} tensors that it is given", run.path,
                  run.taken, run.inputs.size()),
        site());
    return false;
  }
  std::vector<Value> results;
  for (int32_t slot : callee.chunk->result_slots) {
    Value value = slot < 0 ? Value() : std::move(state.stack[callee.base + static_cast<size_t>(slot)]);
    if (value.kind() != ValueKind::kTensor && !value.poison())
      value = MakeConstant(value, semantics::TypeKind::kError, site(), state.builder);
    if (value.poison()) return false;
    results.push_back(std::move(value));
  }
  state.stack.resize(callee.base);
  // `[y] = ..` expects an array; any other use receives a single result directly.
  const evaluate::Chunk& chunk = *state.frame().chunk;
  const bool is_listed = callee.call->direct && state.frame().statement >= 0 &&
                         chunk.statements[static_cast<size_t>(state.frame().statement)].array_length >= 0;
  if (results.size() == 1 && !is_listed) {
    state.stack.push_back(std::move(results[0]));
  } else {
    state.stack.push_back(Value::Array(state.heap, std::move(results)));
  }
  return true;
}

}  // namespace

bool MakeSubmodel(evaluate::Evaluation& state, const evaluate::Call& call, const OpPlan& plan,
                  llvm::ArrayRef<Value> arguments, const Site& site) {
  const Value& label = arguments[static_cast<size_t>(plan.Find("label"))];
  const Value& input = arguments[static_cast<size_t>(plan.Find("input"))];
  if (label.kind() != ValueKind::kString || !state.options.submodel) {
    state.builder.Report(
        Fault::Of(kValueType, "`label` of `{}` is {}; expected a string", plan.called, KindText(label))
            .At("label"),
        plan, site);
    return false;
  }
  auto run = std::make_shared<SubmodelRun>();
  if (const SubmodelRun* around = InnermostRun(state)) run->path = around->path + "/";
  run->path += label.text();
  const SourceRange written = SitePlaces(plan, site).Find("label", -1);
  const semantics::CheckedDocument* document =
      state.options.submodel(run->path, written.valid() ? written : site.range);
  if (document == nullptr || document->graph() == nullptr || !evaluate::MayEnter(state, call)) return false;
  for (const Value& item : input.sequence() ? input.items() : llvm::ArrayRef<Value>(input)) {
    run->inputs.push_back(item.kind() == ValueKind::kTensor
                              ? item
                              : MakeConstant(item, semantics::TypeKind::kError, site, state.builder));
    if (run->inputs.back().poison()) return false;
  }
  const evaluate::Chunk& chunk = state.fragments.GraphOf(*document);
  const size_t base = state.stack.size();
  if (!evaluate::Enter(state, {.chunk = &chunk,
                               .call = &call,
                               .base = base,
                               .loop_base = state.loops.size(),
                               .finish = &FinishSubmodel,
                               .submodel = run}))
    return false;
  run->symbols = state.builder.symbols().Open(*document);
  for (size_t i = 0; i < document->symbols().size(); ++i)
    state.stack[base + i] = Value::UnknownExtent(run->symbols + static_cast<uint32_t>(i) + 1);
  return true;
}

std::optional<bool> MakeInSubmodel(evaluate::Evaluation& state, const OpPlan& plan, size_t num_arguments,
                                   const Site& site) {
  SubmodelRun* const run = InnermostRun(state);
  if (run == nullptr) return std::nullopt;
  const llvm::MutableArrayRef<Value> arguments = state.Top(num_arguments);
  if (plan.role == ir::OpRole::kExternal) return TakeInput(state, *run, plan, arguments, site);
  if (plan.role == ir::OpRole::kVariable) PrefixLabel(state, plan, *run, arguments);
  return std::nullopt;
}

}  // namespace nnefc::expand::vendor
