#include "compiler/expand/vendor/hooks.h"

#include "compiler/expand/rules.h"
#include "compiler/expand/vendor/data_types.h"
#include "compiler/expand/vendor/lenient_arguments.h"
#include "compiler/expand/vendor/meanings.h"
#include "compiler/expand/vendor/narrow_integers.h"
#include "compiler/expand/vendor/replacements.h"
#include "compiler/expand/vendor/restore_integers.h"
#include "compiler/expand/vendor/run_time_arguments.h"
#include "compiler/expand/vendor/scan.h"
#include "compiler/expand/vendor/submodel.h"
#include "compiler/semantics/rules.h"

namespace nnefc::expand::vendor {

OperationMaker FindMaker(ir::OpId op) {
  static const ir::OpTable<OperationMaker> table(
      ir::StandardOps(), ir::kNnefSet,
      {{"tract_core_scan", &MakeLoop}, {"tract_core_submodel", &MakeSubmodel}});
  const OperationMaker* found = table.Find(op);
  return found != nullptr ? *found : nullptr;
}

namespace {

// Checks a cast without a type: graph.quant must state the type of its result.
bool CheckCast(evaluate::Evaluation& state, const evaluate::Call& call, const semantics::Signature& signature,
               llvm::ArrayRef<Value> arguments) {
  if (state.context.symbols.Text(signature.name.symbol) != "tract_core_cast") return true;
  if (arguments[1].kind() != ValueKind::kString || arguments[1].text() != "as_declared") return true;
  const evaluate::Frame& current = state.frame();
  const Symbol made = current.chunk->statements[static_cast<size_t>(current.statement)].identifier;
  const std::string_view name = made.valid() ? state.context.symbols.Text(made) : std::string_view();
  if (state.frames.size() == 1 && call.direct && state.options.quantized.contains(name)) return true;
  return state.Fail(
      Fault::Of(semantics::kMissingArgument,
                "`tract_core_cast` lacks the argument `to`, and `graph.quant` has no line for {}",
                name.empty() ? "its result" : fmt::format("`{}`", name)),
      call.expr);
}

// Checks a quantized cache: its extents are [batch, heads, tokens, width], as in tract. `per_channel = true`
// is 1.
bool CheckQuantizedCache(evaluate::Evaluation& state, const evaluate::Call& call,
                         const semantics::Signature& signature, llvm::MutableArrayRef<Value> arguments) {
  constexpr size_t kAxis = 2, kPerChannel = 4;
  const std::string_view name = state.context.symbols.Text(signature.name.symbol);
  if (name != "tract_transformers_quantized_dyn_kv_cache") return true;
  Value& per_channel = arguments[kPerChannel];
  if (per_channel.kind() == ValueKind::kLogical) per_channel = Value::Integer(per_channel.logical());
  const Value& axis = arguments[kAxis];
  if (axis.kind() != ValueKind::kInteger || axis.integer() == 2) return true;
  return state.Fail(
      Fault::Of(kValueType, "`axis` of `{}` is {}; expected 2, the tokens in [batch, heads, tokens, width]",
                name, axis.integer()),
      call.expr);
}

// Reads ends that a whole stream has, `end = S + 2`. No part of a stream reaches an end that the symbol of an
// input does not determine.
void ReadStreamEnds(evaluate::Evaluation& state, const semantics::Signature& signature,
                    llvm::MutableArrayRef<Value> arguments) {
  constexpr int64_t kNever = int64_t{1} << 52;  // exact in doubles
  if (!state.context.symbols.Text(signature.name.symbol).starts_with("tract_pulse_")) return;
  for (Value& argument : arguments) {
    if (argument.kind() == ValueKind::kUnknownExtent && IsSymbolic(argument))
      argument = Value::Integer(kNever);
  }
}

}  // namespace

bool ReadCall(evaluate::Evaluation& state, const evaluate::Call& call,
              llvm::MutableArrayRef<Value> arguments) {
  if (!call.callee.document->is_library()) return true;
  const semantics::Signature& signature = call.callee.document->signature(call.callee.fragment);
  ReadStreamEnds(state, signature, arguments);
  return CheckCast(state, call, signature, arguments) &&
         CheckQuantizedCache(state, call, signature, arguments) &&
         ReadDataTypes(state, call, signature, arguments);
}

Value MakeLeniently(const OpPlan& plan, llvm::MutableArrayRef<Value> arguments, const Site& site,
                    build::GraphBuilder& builder) {
  Site loose = site;
  const llvm::SmallVector<Value, 10> given(arguments.begin(), arguments.end());
  const bool is_of_vendor = builder.settings().dialect.vendor_meanings;
  if (is_of_vendor) ReplaceExtents(plan, arguments, site, builder);
  if (!ConvertLenientArguments(plan, arguments, loose, builder)) return {};
  if (std::optional<Value> replaced = ReplaceOperation(plan, arguments, site, builder)) return *replaced;
  if (is_of_vendor) {
    if (const std::optional<Value> made = MakeWithRunTimeArguments(plan, arguments, loose, builder))
      return made->poison() ? *made : KeepWidth(plan, given, *made, site, builder);
  }
  const Value made = builder.nodes().Make(plan, arguments, loose);
  const Value result = RestoreIntegers(plan, given, made, site, builder);
  if (!is_of_vendor) return result;
  if (plan.role == ir::OpRole::kExternal && made.kind() == ValueKind::kTensor &&
      !builder.nodes().is_in_body()) {
    const Value& shape = given[static_cast<size_t>(plan.Find("shape"))];
    if (shape.kind() == ValueKind::kArray) builder.symbols().AddSources(shape.items(), made.port());
  }
  return KeepWidth(plan, given, ReadVendorResult(plan, arguments, result, site, builder), site, builder);
}

}  // namespace nnefc::expand::vendor
