#include "compiler/expand/evaluate/calls.h"

#include "compiler/expand/evaluate/bodies.h"
#include "compiler/expand/evaluate/dropped_windows.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/instances.h"
#include "compiler/expand/provisional/arguments.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/hooks.h"
#include "compiler/expand/vendor/lenient_arguments.h"

namespace nnefc::expand::evaluate {

using semantics::Signature;
using semantics::TypeKind;

namespace {

// Cost of a call in addition to its executed instructions, in steps.
constexpr int64_t kCallSteps = 8;

// Returns true if an argument has tensors that determine `?`. tract's reader uses only these: its exporters
// write `reshape<integer>` for tensors of any type.
bool HasGenericTensors(Evaluation& state, const Call& call, size_t first_argument) {
  const semantics::CheckedDocument& document = *call.callee.document;
  const Signature& signature = document.signature(call.callee.fragment);
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const semantics::TypeId type = signature.parameters[i].type;
    if (!document.types().ContainsGeneric(type) || !document.types().ContainsTensor(type)) continue;
    const Value& argument = state.stack[first_argument + i];
    if (argument.kind() == ValueKind::kTensor) return true;
    if (argument.kind() == ValueKind::kArray && argument.length() > 0 &&
        argument.item(0).kind() == ValueKind::kTensor)
      return true;
  }
  return false;
}

// Returns the type bound to `?` of the callee by the checker or by the caller's own `?`; kError if the
// arguments determine it.
TypeKind BoundGeneric(Evaluation& state, const Call& call, size_t first_argument) {
  if (!call.callee.document->signature(call.callee.fragment).is_generic || !call.generic.valid())
    return TypeKind::kError;
  if (state.builder.settings().dialect.vendor_meanings && HasGenericTensors(state, call, first_argument))
    return TypeKind::kError;
  const TypeKind kind = state.frame().chunk->document->types().Kind(call.generic);
  if (kind >= TypeKind::kInteger && kind <= TypeKind::kString) return kind;
  return kind == TypeKind::kGeneric ? state.frame().generic : TypeKind::kError;
}

// Returns the type bound to `?` of the callee, or deduced from the arguments; kError if it is not generic.
TypeKind GenericOf(Evaluation& state, const Call& call, size_t first_argument) {
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const TypeKind bound = BoundGeneric(state, call, first_argument);
  if (bound != TypeKind::kError || !signature.is_generic) return bound;
  return DeduceGeneric(*call.callee.document, signature,
                       llvm::ArrayRef<Value>(state.stack).drop_front(first_argument), state.builder.graph());
}

// Returns true for equal values and for tensors with the same type and known shape. Long arrays differ, to
// bound the time.
bool IsEquivalent(Evaluation& state, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == ValueKind::kTensor) {
    const ir::Output &first = state.builder.graph().output(a.port()),
                     &second = state.builder.graph().output(b.port());
    return first.type == second.type && first.shape.known() && second.shape.known() &&
           first.shape.known_extents() == second.shape.known_extents();
  }
  if (!a.sequence()) return Equal(a, b, state.heap).value_or(false);
  if (a.length() != b.length()) return false;
  constexpr int64_t kMaxCompared = 1000;
  if (a.length() > kMaxCompared) return false;
  for (int64_t i = 0; i < a.length(); ++i) {
    if (!IsEquivalent(state, a.item(i), b.item(i))) return false;
  }
  return true;
}

// Returns true if the fragment is already being instantiated with equivalent arguments. Tensors are
// equivalent if they have the same type and shape.
bool RepeatsItself(Evaluation& state, const Call& call) {
  const size_t count = call.callee.document->signature(call.callee.fragment).parameters.size();
  const llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(state.stack).take_back(count);
  for (size_t i = state.frames.size(); i-- > 0;) {
    if (state.frames[i].call == nullptr || state.frames[i].call->callee != call.callee) continue;
    const llvm::ArrayRef<Value> earlier =
        llvm::ArrayRef<Value>(state.stack).slice(state.frames[i].base, count);
    for (size_t k = 0; k < count; ++k) {
      if (!IsEquivalent(state, earlier[k], arguments[k])) return false;
    }
    return true;
  }
  return false;
}

}  // namespace

bool DoCall(Evaluation& state, const Call& call) {
  if (!call.callee.document->expandable(call.callee.fragment)) return false;  // already reported
  FragmentInfo& info = state.fragments.Info(call.callee);
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const std::string_view name = state.context.symbols.Text(signature.name.symbol);
  llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(state.stack).take_back(signature.parameters.size());
  bool instantiate = info.mode == FragmentInfo::Mode::kInstantiate;
  if (info.mode == FragmentInfo::Mode::kInstantiateIfChanged) {
    instantiate =
        provisional::MeaningChanged(name, signature, arguments, state.context.symbols, state.builder.graph());
  } else if (instantiate && call.callee.document->is_library() &&
             state.builder.registry().Find(ir::kNnefSet, RatifiedName(name)).valid()) {
    instantiate = !DropsWindows(signature, arguments, state.context.symbols, state.builder.graph());
  }
  return instantiate ? Instantiate(state, call, info) : MakeOperation(state, call, info);
}

bool MayEnter(Evaluation& state, const Call& call) {
  state.steps += kCallSteps;
  if (!state.CheckSteps(call.expr)) return false;
  if (static_cast<int64_t>(state.frames.size()) > state.context.limits.recursion) {
    Fault fault = RepeatsItself(state, call)
                      ? Fault::Of(kLimitRecursion,
                                  "`{}` instantiates itself with equal arguments, so that it never ends",
                                  state.context.symbols.Text(
                                      call.callee.document->signature(call.callee.fragment).name.symbol))
                      : Fault::Of(kLimitRecursion,
                                  "fragments are instantiated more than {} levels deep (`--max-recursion`)",
                                  state.context.limits.recursion);
    fault.fatal = true;
    return state.Fail(fault, call.expr);
  }
  return true;
}

bool Instantiate(Evaluation& state, const Call& call, FragmentInfo& info) {
  if (!MayEnter(state, call)) return false;
  const Chunk& chunk = state.fragments.BodyOf(call.callee, info);
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  size_t base = state.stack.size() - signature.parameters.size();
  if (!vendor::ReadCall(state, call, llvm::MutableArrayRef<Value>(state.stack).drop_front(base)))
    return false;
  Frame callee{.chunk = &chunk, .call = &call, .base = base, .loop_base = state.loops.size()};
  callee.generic = GenericOf(state, call, base);
  if (info.casts || state.builder.is_lenient()) {
    const semantics::TypeTable& types = call.callee.document->types();
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      const semantics::TypeId type = signature.parameters[i].type;
      if (state.builder.is_lenient())
        state.stack[base + i] =
            vendor::ConvertLenientParameter(types, type, state.stack[base + i], state.builder);
      state.stack[base + i] = CastTo(types, type, std::move(state.stack[base + i]), state.heap);
    }
  }
  return Enter(state, std::move(callee));
}

bool Enter(Evaluation& state, Frame callee) {
  const int32_t slots = callee.chunk->num_slots;
  Fault fault;
  if (!state.heap.Reserve(slots, fault)) return state.Fail(fault, callee.call->expr);
  state.heap.Charge(slots);
  state.stack.resize(callee.base + static_cast<size_t>(slots));
  state.frames.push_back(std::move(callee));
  return true;
}

bool MakeOperation(Evaluation& state, const Call& call, FragmentInfo& info) {
  const OpPlan& plan = state.fragments.PlanOf(call.callee, info);
  size_t count = call.callee.document->signature(call.callee.fragment).parameters.size();
  Site site = state.SiteOf(call.expr);
  if (call.quantizer_range.valid()) site.range = call.quantizer_range;
  // Lenient mode deduces the type from all arguments (lenient_arguments.h).
  site.generic = state.builder.is_lenient() ? BoundGeneric(state, call, state.stack.size() - count)
                                            : GenericOf(state, call, state.stack.size() - count);
  const Frame& current = state.frame();
  if (call.direct) {
    const Statement& statement = current.chunk->statements[static_cast<size_t>(current.statement)];
    site.array_length = statement.array_length;
    site.left = current.chunk->document->ast().exprs[statement.left].range;
  }
  const vendor::OperationMaker vendor_maker = vendor::FindMaker(plan.op);
  const vendor::OperationMaker maker = vendor_maker != nullptr ? vendor_maker
                                       : plan.runs_bodies      ? &MakeWithBodies
                                                               : nullptr;
  if (maker != nullptr) {
    const std::vector<Value> arguments(state.stack.end() - static_cast<int64_t>(count), state.stack.end());
    state.stack.resize(state.stack.size() - count);
    return maker(state, call, plan, arguments, site);
  }
  if (const std::optional<bool> made = vendor::MakeInSubmodel(state, plan, count, site)) return *made;
  const llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(state.stack).take_back(count);
  std::optional<Value> folded;
  if (state.builder.is_lenient()) folded = vendor::FoldKnownTensors(plan, arguments, site, state.builder);
  Value result = folded ? folded->WithFoldedTensor(true) : state.builder.Make(plan, arguments, site);
  state.stack.resize(state.stack.size() - count);
  if (result.poison()) return false;
  state.stack.push_back(std::move(result));
  return true;
}

bool ReturnFromFragment(Evaluation& state) {
  Frame callee = std::move(state.frames.back());
  state.frames.pop_back();
  const Call& call = *callee.call;
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const semantics::TypeTable& types = call.callee.document->types();
  FragmentInstance* instance = nullptr;
  if (state.options.record != nullptr && callee.origin != nullptr &&
      call.callee.document == &state.document) {
    instance = state.options.record->Add();
  }
  if (instance != nullptr) {
    instance->frame = callee.origin;
    instance->fragment = call.callee.fragment;
    instance->call = call.expr;
    for (size_t i = 0; i < signature.parameters.size(); ++i)
      instance->arguments.push_back(state.options.record->Record(state.stack[callee.base + i]));
  }
  std::vector<Value> results;
  for (size_t i = 0; i < callee.chunk->result_slots.size(); ++i) {
    int32_t slot = callee.chunk->result_slots[i];
    Value value = slot < 0 ? Value() : std::move(state.stack[callee.base + static_cast<size_t>(slot)]);
    results.push_back(CastTo(types, signature.results[i].type, std::move(value), state.heap));
    if (instance != nullptr) instance->results.push_back(state.options.record->Record(results.back()));
  }
  state.stack.resize(callee.base);
  state.heap.Charge(-callee.chunk->num_slots);
  if (results.size() != 1) {
    state.stack.push_back(Value::Tuple(state.heap, std::move(results)));
    return true;
  }
  if (results[0].poison()) return false;
  state.stack.push_back(std::move(results[0]));
  return true;
}

}  // namespace nnefc::expand::evaluate
