#include "compiler/expand/compile.h"
#include "compiler/expand/dropped_windows.h"
#include "compiler/expand/fold_values.h"
#include "compiler/expand/generics.h"
#include "compiler/expand/instances.h"
#include "compiler/expand/lenient_arguments.h"
#include "compiler/expand/machine.h"
#include "compiler/expand/provisional.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/expand/rules.h"
#include "compiler/semantics/rules.h"
#include "llvm/ADT/DenseSet.h"

namespace nnefc::expand {

using semantics::Signature;
using semantics::TypeKind;

namespace {

// Cost of a call in addition to its executed instructions, in steps.
constexpr int64_t kCallSteps = 8;

}  // namespace

Machine::FragmentInfo& Machine::Info(const semantics::Callee& callee) {
  auto* known =
      llvm::find_if(infos_, [&](const DocumentInfos& each) { return each.document == callee.document; });
  if (known == infos_.end()) known = &infos_.emplace_back(callee.document);
  auto& infos = known->fragments;
  auto index = static_cast<size_t>(callee.fragment.index);
  if (infos.size() <= index) infos.resize(callee.document->ast().fragments.size());
  if (infos[index] == nullptr) {
    infos[index] = std::make_unique<FragmentInfo>();
    infos[index]->mode = ModeOf(callee);
    const semantics::TypeTable& types = callee.document->types();
    const Signature& signature = callee.document->signature(callee.fragment);
    for (const semantics::TypedName& parameter : signature.parameters) {
      infos[index]->casts |= types.ContainsTensor(parameter.type);
    }
  }
  return *infos[index];
}

bool Machine::LowerRequested(std::string_view name) const {
  for (const std::string& lowered : options_.lower) {
    if (lowered == "all" || lowered == name) return true;
  }
  return false;
}

// A document's compounds are expanded. A standard compound is not, unless it is named in `--lower` or differs
// in the ratified dialect.
Machine::Mode Machine::ModeOf(const semantics::Callee& callee) const {
  const Signature& signature = callee.document->signature(callee.fragment);
  if (!signature.has_body) return Mode::kOperation;
  if (!callee.document->is_library()) return Mode::kInstantiate;
  const std::string_view name = context_.symbols.Text(signature.name.symbol);
  if (LowerRequested(name)) return Mode::kInstantiate;
  // A compound of an extension is not an operation.
  if (!registry_.Find(ir::kNnefSet, RatifiedName(name)).valid()) return Mode::kInstantiate;
  return callee.document->dialect().translated ? Mode::kInstantiateIfChanged : Mode::kOperation;
}

const Value* Machine::Default(const semantics::Callee& callee, size_t parameter) {
  FragmentInfo& info = Info(callee);
  const Signature& signature = callee.document->signature(callee.fragment);
  info.defaults.resize(signature.parameters.size());
  if (info.defaults[parameter] == nullptr) {
    ast::ExprId expr = signature.parameters[parameter].default_value;
    if (!expr.valid()) return nullptr;
    std::optional<Value> value = LiteralValue(callee.document->ast(), expr, context_.symbols, heap_);
    if (!value) return nullptr;
    info.defaults[parameter] = std::make_unique<Value>(std::move(*value));
  }
  return info.defaults[parameter].get();
}

bool Machine::DoCall(const Call& call) {
  if (!call.callee.document->expandable(call.callee.fragment)) return false;  // already reported
  FragmentInfo& info = Info(call.callee);
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const std::string_view name = context_.symbols.Text(signature.name.symbol);
  llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(stack_).take_back(signature.parameters.size());
  bool instantiate = info.mode == Mode::kInstantiate;
  if (info.mode == Mode::kInstantiateIfChanged) {
    instantiate = MeaningChanged(name, signature, arguments, context_.symbols, builder_.graph());
  } else if (instantiate && call.callee.document->is_library() &&
             registry_.Find(ir::kNnefSet, RatifiedName(name)).valid()) {
    instantiate = !DropsWindows(signature, arguments, context_.symbols, builder_.graph());
  }
  return instantiate ? Instantiate(call, info) : MakeOperation(call, info);
}

// Returns true if an argument has tensors that determine `?`. tract's reader uses only these: its exporters
// write `reshape<integer>` for tensors of any type.
bool Machine::HasGenericTensors(const Call& call, size_t first_argument) {
  const semantics::CheckedDocument& document = *call.callee.document;
  const Signature& signature = document.signature(call.callee.fragment);
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const semantics::TypeId type = signature.parameters[i].type;
    if (!document.types().ContainsGeneric(type) || !document.types().ContainsTensor(type)) continue;
    const Value& argument = stack_[first_argument + i];
    if (argument.kind() == ValueKind::kTensor) return true;
    if (argument.kind() == ValueKind::kArray && argument.length() > 0 &&
        argument.item(0).kind() == ValueKind::kTensor)
      return true;
  }
  return false;
}

// Returns the type bound to `?` of the callee by the checker or by the caller's own `?`; kError if the
// arguments determine it.
TypeKind Machine::BoundGeneric(const Call& call, size_t first_argument) {
  if (!call.callee.document->signature(call.callee.fragment).is_generic || !call.generic.valid())
    return TypeKind::kError;
  if (builder_.settings().dialect.vendor_meanings && HasGenericTensors(call, first_argument))
    return TypeKind::kError;
  const TypeKind kind = frame().chunk->document->types().Kind(call.generic);
  if (kind >= TypeKind::kInteger && kind <= TypeKind::kString) return kind;
  return kind == TypeKind::kGeneric ? frame().generic : TypeKind::kError;
}

// Returns the type bound to `?` of the callee, or deduced from the arguments; kError if it is not generic.
TypeKind Machine::GenericOf(const Call& call, size_t first_argument) {
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const TypeKind bound = BoundGeneric(call, first_argument);
  if (bound != TypeKind::kError || !signature.is_generic) return bound;
  return DeduceGeneric(*call.callee.document, signature,
                       llvm::ArrayRef<Value>(stack_).drop_front(first_argument), builder_.graph());
}

// Returns true if the fragment is already being instantiated with equivalent arguments. Tensors are
// equivalent if they have the same type and shape.
bool Machine::RepeatsItself(const Call& call) {
  const size_t count = call.callee.document->signature(call.callee.fragment).parameters.size();
  const llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(stack_).take_back(count);
  for (size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].call == nullptr || frames_[i].call->callee != call.callee) continue;
    const llvm::ArrayRef<Value> earlier = llvm::ArrayRef<Value>(stack_).slice(frames_[i].base, count);
    for (size_t k = 0; k < count; ++k) {
      if (!IsEquivalent(earlier[k], arguments[k])) return false;
    }
    return true;
  }
  return false;
}

// Returns true for equal values and for tensors with the same type and known shape. Long arrays differ, to
// bound the time.
bool Machine::IsEquivalent(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == ValueKind::kTensor) {
    const ir::Output &first = builder_.graph().output(a.port()), &second = builder_.graph().output(b.port());
    return first.type == second.type && first.shape.known() && second.shape.known() &&
           first.shape.known_extents() == second.shape.known_extents();
  }
  if (!a.sequence()) return Equal(a, b, heap_);
  if (a.length() != b.length()) return false;
  constexpr int64_t kMaxCompared = 1000;
  if (a.length() > kMaxCompared) return false;
  for (int64_t i = 0; i < a.length(); ++i) {
    if (!IsEquivalent(a.item(i), b.item(i))) return false;
  }
  return true;
}

// Returns true if the limits permit one more frame.
bool Machine::MayEnter(const Call& call) {
  steps_ += kCallSteps;
  if (!CheckSteps(call.expr)) return false;
  if (static_cast<int64_t>(frames_.size()) > context_.limits.recursion) {
    Fault fault =
        RepeatsItself(call)
            ? Fault::Of(
                  kLimitRecursion, "`{}` instantiates itself with equal arguments, so that it never ends",
                  context_.symbols.Text(call.callee.document->signature(call.callee.fragment).name.symbol))
            : Fault::Of(kLimitRecursion,
                        "fragments are instantiated more than {} levels deep (`--max-recursion`)",
                        context_.limits.recursion);
    fault.fatal = true;
    return Fail(fault, call.expr);
  }
  return true;
}

// Checks a cast without a type: graph.quant must state the type of its result.
bool Machine::CheckCast(const Call& call, const Signature& signature, llvm::ArrayRef<Value> arguments) {
  if (!call.callee.document->is_library() ||
      context_.symbols.Text(signature.name.symbol) != "tract_core_cast")
    return true;
  if (arguments[1].kind() != ValueKind::kString || arguments[1].text() != "as_declared") return true;
  const Frame& current = frame();
  const Symbol made = current.chunk->statements[static_cast<size_t>(current.statement)].identifier;
  const std::string_view name = made.valid() ? context_.symbols.Text(made) : std::string_view();
  if (frames_.size() == 1 && call.direct && options_.quantized.contains(name)) return true;
  return Fail(Fault::Of(semantics::kMissingArgument,
                        "`tract_core_cast` lacks the argument `to`, and `graph.quant` has no line for {}",
                        name.empty() ? "its result" : fmt::format("`{}`", name)),
              call.expr);
}

// Pushes a frame whose first slots are the arguments on the stack.
bool Machine::Instantiate(const Call& call, FragmentInfo& info) {
  if (!MayEnter(call)) return false;
  if (info.chunk == nullptr) {
    info.chunk = CompileFragment(call.callee, context_.symbols, Defaults(), heap_);
  }
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  size_t base = stack_.size() - signature.parameters.size();
  if (!CheckCast(call, signature, llvm::ArrayRef<Value>(stack_).drop_front(base))) return false;
  Frame callee{.chunk = info.chunk.get(), .call = &call, .base = base, .loop_base = loops_.size()};
  callee.generic = GenericOf(call, base);
  if (info.casts || builder_.is_lenient()) {
    const semantics::TypeTable& types = call.callee.document->types();
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      const semantics::TypeId type = signature.parameters[i].type;
      if (builder_.is_lenient())
        stack_[base + i] = ConvertLenientParameter(types, type, stack_[base + i], builder_);
      stack_[base + i] = CastTo(types, type, std::move(stack_[base + i]), heap_);
    }
  }
  return Enter(std::move(callee));
}

// Pushes a frame whose base is set.
bool Machine::Enter(Frame callee) {
  const int32_t slots = callee.chunk->num_slots;
  Fault fault;
  if (!heap_.Reserve(slots, fault)) return Fail(fault, callee.call->expr);
  heap_.Charge(slots);
  stack_.resize(callee.base + static_cast<size_t>(slots));
  frames_.push_back(std::move(callee));
  return true;
}

bool Machine::MakeOperation(const Call& call, FragmentInfo& info) {
  if (info.plan == nullptr) {
    info.plan = MakePlan(call.callee, builder_.settings().ratified(), registry_, context_.symbols, heap_);
  }
  size_t count = call.callee.document->signature(call.callee.fragment).parameters.size();
  Site site = SiteOf(call.expr);
  if (call.quantizer_range.valid()) site.range = call.quantizer_range;
  // Lenient mode deduces the type from all arguments (lenient_arguments.h).
  site.generic = builder_.is_lenient() ? BoundGeneric(call, stack_.size() - count)
                                       : GenericOf(call, stack_.size() - count);
  const Frame& current = frame();
  if (call.direct) {
    const Statement& statement = current.chunk->statements[static_cast<size_t>(current.statement)];
    site.array_length = statement.array_length;
    site.left = current.chunk->document->ast().exprs[statement.left].range;
  }
  // Operations that become more than one node.
  using Maker = bool (Machine::*)(const Call&, const OpPlan&, llvm::ArrayRef<Value>, const Site&);
  static const ir::OpTable<Maker> makers(
      ir::StandardOps(), ir::kNnefSet,
      {{"tract_core_scan", &Machine::MakeLoop}, {"tract_core_submodel", &Machine::MakeSubmodel}});
  const Maker* found = makers.Find(info.plan->op);
  const Maker maker = found != nullptr ? *found : info.plan->runs_bodies ? &Machine::MakeWithBodies : nullptr;
  if (maker != nullptr) {
    const std::vector<Value> arguments(stack_.end() - static_cast<int64_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return (this->*maker)(call, *info.plan, arguments, site);
  }
  if (SubmodelRun* run = submodel()) {
    Value* const given = stack_.data() + stack_.size() - count;
    if (info.plan->role == ir::OpRole::kExternal) return TakeInput(*info.plan, {given, count}, site);
    if (info.plan->role == ir::OpRole::kVariable) PrefixLabel(*info.plan, *run, {given, count});
  }
  const llvm::ArrayRef<Value> arguments = llvm::ArrayRef<Value>(stack_).take_back(count);
  std::optional<Value> folded;
  if (builder_.is_lenient()) folded = FoldKnownTensors(*info.plan, arguments, site, builder_);
  Value result = folded ? std::move(*folded) : builder_.Make(*info.plan, arguments, site);
  stack_.resize(stack_.size() - count);
  if (result.poison()) return false;
  stack_.push_back(std::move(result));
  return true;
}

// Returns from a fragment and pushes its result, or a tuple of its results, on the caller's stack. Poison
// abandons the caller's statement.
bool Machine::Return() {
  if (frames_.size() == 1) {
    if (body_ != nullptr) Finish();
    frames_.pop_back();
    return true;
  }
  if (frame().is_body) return FinishBody();
  if (frame().submodel != nullptr) return FinishSubmodel();
  Frame callee = std::move(frames_.back());
  frames_.pop_back();
  const Call& call = *callee.call;
  const Signature& signature = call.callee.document->signature(call.callee.fragment);
  const semantics::TypeTable& types = call.callee.document->types();
  FragmentInstance* instance = nullptr;
  if (options_.record != nullptr && callee.origin != nullptr && call.callee.document == &document_) {
    instance = options_.record->Add();
  }
  if (instance != nullptr) {
    instance->frame = callee.origin;
    instance->fragment = call.callee.fragment;
    instance->call = call.expr;
    for (size_t i = 0; i < signature.parameters.size(); ++i)
      instance->arguments.push_back(options_.record->Record(stack_[callee.base + i]));
  }
  std::vector<Value> results;
  for (size_t i = 0; i < callee.chunk->result_slots.size(); ++i) {
    int32_t slot = callee.chunk->result_slots[i];
    Value value = slot < 0 ? Value() : std::move(stack_[callee.base + static_cast<size_t>(slot)]);
    results.push_back(CastTo(types, signature.results[i].type, std::move(value), heap_));
    if (instance != nullptr) instance->results.push_back(options_.record->Record(results.back()));
  }
  stack_.resize(callee.base);
  heap_.Charge(-callee.chunk->num_slots);
  if (results.size() != 1) {
    stack_.push_back(Value::Tuple(heap_, std::move(results)));
    return true;
  }
  if (results[0].poison()) return false;
  stack_.push_back(std::move(results[0]));
  return true;
}

// Adds the graph's parameters and results in the order of their declaration.
void Machine::Finish() {
  const Chunk& chunk = *frame().chunk;
  ir::Graph& graph = builder_.graph();
  for (int32_t slot : chunk.parameter_slots) {
    if (slot < 0 || stack_[static_cast<size_t>(slot)].kind() != ValueKind::kTensor) continue;
    ir::NodeId node = stack_[static_cast<size_t>(slot)].port().node;
    if (graph.node(node).Is(ir::OpRole::kExternal)) graph.AddToParameters(node);
  }
  // In the provisional dialect externals need not be parameters of the graph; in the ratified one each must
  // be.
  if (!document_.dialect().external_parameters) {
    const llvm::DenseSet<ir::NodeId> known(graph.parameters().begin(), graph.parameters().end());
    for (ir::NodeId id : graph.nodes()) {
      if (graph.node(id).Is(ir::OpRole::kExternal) && !known.contains(id)) graph.AddToParameters(id);
    }
  }
  const ast::Graph& declared = *document_.graph();
  for (size_t i = 0; i < chunk.result_slots.size(); ++i) {
    int32_t slot = chunk.result_slots[i];
    if (slot < 0 || !declared.results[i].symbol.valid()) continue;
    const Value& result = stack_[static_cast<size_t>(slot)];
    if (builder_.is_lenient() && (result.kind() == ValueKind::kArray || result.primitive())) {
      // A result with a known value, such as a shape.
      const Value constant =
          MakeConstant(stack_[static_cast<size_t>(slot)], TypeKind::kError, SiteOf({}), builder_);
      if (!constant.poison())
        stack_[static_cast<size_t>(slot)] =
            builder_.NameInBody(constant, declared.results[i].symbol, SiteOf({}));
    }
    const ast::Name& name = declared.results[i];
    if (builder_.is_lenient() && stack_[static_cast<size_t>(slot)].sequence()) {
      context_.emitter.Emit(kValueType, name.range, "result `{}` of the graph is {}; expected a tensor",
                            context_.symbols.Text(name.symbol), stack_[static_cast<size_t>(slot)].KindText());
    }
    if (stack_[static_cast<size_t>(slot)].kind() != ValueKind::kTensor) continue;
    ir::OutputPort port = stack_[static_cast<size_t>(slot)].port();
    const bool is_coordinate = document_.dialect().coordinates && IsInteger(graph.output(port).type);
    if (is_coordinate && options_.purpose == Purpose::kPrint) {
      context_.emitter.Emit(
          kCoordinate, name.range,
          "result `{}` of the graph holds coordinates, which have a ratified form only as the `index` "
          "of `sample` and `desample`",
          context_.symbols.Text(name.symbol));
      continue;
    }
    graph.AddResult(std::string(context_.symbols.Text(name.symbol)), port, {name.range, nullptr});
  }
}

Site Machine::SiteOf(ast::ExprId expr) {
  const Frame& current = frame();
  Site site;
  if (expr.valid()) site.range = current.chunk->document->ast().exprs[expr].range;
  site.document = current.chunk->document;
  site.expr = expr;
  if (current.statement >= 0) {
    site.statement = current.chunk->statements[static_cast<size_t>(current.statement)].identifier;
  }
  const Frame& first = frames_.front();
  if (first.statement >= 0)
    site.in_graph = first.chunk->statements[static_cast<size_t>(first.statement)].identifier;
  site.frame = OriginFrame();
  return site;
}

// Returns the local name of an instantiation: the identifier of its result, or the fragment's name within an
// expression.
std::string Machine::ScopeOf(size_t index) const {
  const Frame& callee = frames_[index];
  const Frame& caller = frames_[index - 1];
  const Call& call = *callee.call;
  std::string_view fragment =
      context_.symbols.Text(call.callee.document->signature(call.callee.fragment).name.symbol);
  Symbol identifier = caller.chunk->statements[static_cast<size_t>(caller.statement)].identifier;
  if (!identifier.valid()) return std::string(fragment);
  std::string_view assigned = context_.symbols.Text(identifier);
  if (call.direct) return std::string(assigned);
  return index == 1 ? fmt::format("{}/{}", assigned, fragment) : std::string(fragment);
}

const std::shared_ptr<const ir::Frame>& Machine::OriginFrame() {
  size_t first = frames_.size();
  while (first > 1 && frames_[first - 1].origin == nullptr) --first;
  for (size_t i = first; i < frames_.size(); ++i) {
    Frame& instance = frames_[i];
    const Call& call = *instance.call;
    auto origin = std::make_shared<ir::Frame>();
    origin->parent = frames_[i - 1].origin;
    origin->fragment =
        context_.symbols.Text(call.callee.document->signature(call.callee.fragment).name.symbol);
    origin->call_site = call.quantizer_range.valid()
                            ? call.quantizer_range
                            : frames_[i - 1].chunk->document->ast().exprs[call.expr].range;
    origin->scope = ScopeOf(i);
    origin->depth = static_cast<int64_t>(i);
    instance.origin = std::move(origin);
  }
  return frames_.back().origin;
}

}  // namespace nnefc::expand
