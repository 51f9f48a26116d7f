// Plans of operations: the registered operation of a fragment, with the parameters that are inputs and those
// that are attributes.

#include "compiler/expand/plan.h"

#include "compiler/expand/generics.h"
#include "compiler/expand/literal_value.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/opset/nnef_form.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace nnefc::expand {
namespace {

// Returns the declaration of a generic custom primitive in a flat document.
std::string GenericDeclaration(const semantics::CheckedDocument& document,
                               const semantics::Signature& signature, const SymbolTable& symbols) {
  const semantics::TypeTable& types = document.types();
  const auto text_of = [&](const semantics::TypedName& declared) {
    return fmt::format("{}: {}", symbols.Text(declared.name.symbol),
                       types.Text(declared.type, ast::Dialect::kRatified));
  };
  std::vector<std::string> parameters, results;
  for (const semantics::TypedName& parameter : signature.parameters) parameters.push_back(text_of(parameter));
  for (const semantics::TypedName& result : signature.results) results.push_back(text_of(result));
  return fmt::format("fragment {}<?>( {} ) -> ( {} );\n", symbols.Text(signature.name.symbol),
                     fmt::join(parameters, ", "), fmt::join(results, ", "));
}

// Registers a custom primitive, a fragment without a body: its shapes are unknown.
ir::OpId RegisterCustom(const std::string& name, const semantics::CheckedDocument& document,
                        const semantics::Signature& signature, ir::OpRegistry& registry,
                        const SymbolTable& symbols) {
  ir::OpId known = registry.Find(ir::kNnefSet, name);
  if (known.valid()) return known;
  const semantics::TypeTable& types = document.types();
  ir::OpInfo info;
  info.set = std::string(ir::kNnefSet);
  info.name = name;
  for (const semantics::TypedName& parameter : signature.parameters) {
    if (!types.ContainsTensor(parameter.type)) continue;
    info.inputs.push_back({std::string(symbols.Text(parameter.name.symbol)),
                           types.Kind(parameter.type) == semantics::TypeKind::kArray,
                           parameter.default_value.valid()});
  }
  for (const semantics::TypedName& result : signature.results) {
    std::string text(symbols.Text(result.name.symbol));
    if (types.Kind(result.type) == semantics::TypeKind::kArray) text += "[]";
    info.outputs.push_back(std::move(text));
  }
  if (signature.is_generic) info.generic_declaration = GenericDeclaration(document, signature, symbols);
  return registry.Add(std::move(info));
}

int32_t IndexOf(const semantics::Signature& signature, std::string_view parameter,
                const SymbolTable& symbols) {
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (symbols.Text(signature.parameters[i].name.symbol) == parameter) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

int32_t OpPlan::Find(std::string_view parameter) const {
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == parameter || parameters[i].called == parameter) return static_cast<int32_t>(i);
  }
  return -1;
}

ir::Wording OpPlan::wording() const {
  ir::Wording wording{.operation = called, .provisional = provisional};
  for (const Parameter& parameter : parameters) {
    if (parameter.called != parameter.name) wording.arguments.emplace_back(parameter.name, parameter.called);
  }
  return wording;
}

std::unique_ptr<OpPlan> MakePlan(const semantics::Callee& callee, const semantics::CheckedDocument& ratified,
                                 ir::OpRegistry& registry, const SymbolTable& symbols, Heap& heap) {
  auto plan = std::make_unique<OpPlan>();
  const semantics::Signature& called = callee.document->signature(callee.fragment);
  std::string_view called_name = symbols.Text(called.name.symbol);
  bool custom = !callee.document->is_library();
  plan->provisional = !custom && callee.document->dialect().translated;
  plan->name = std::string(custom ? called_name : RatifiedName(called_name));
  plan->called = called_name;
  plan->document = callee.document;
  plan->signature = &called;
  if (plan->provisional) {
    Symbol name = symbols.Find(plan->name);
    semantics::Callee target = name.valid() ? ratified.Find(name) : semantics::Callee();
    NNEFC_CHECK(target.valid());
    plan->document = target.document;
    plan->signature = &target.document->signature(target.fragment);
  }
  const semantics::TypeTable& types = plan->document->types();
  for (const semantics::TypedName& declared : plan->signature->parameters) {
    OpPlan::Parameter parameter;
    parameter.name = std::string(symbols.Text(declared.name.symbol));
    parameter.type = declared.type;
    parameter.is_tensor = types.ContainsTensor(declared.type);
    parameter.is_array = parameter.is_tensor && types.Kind(declared.type) == semantics::TypeKind::kArray;
    parameter.called = plan->provisional ? ProvisionalParameter(plan->name, parameter.name)
                                         : std::string_view(parameter.name);
    parameter.source = IndexOf(called, parameter.called, symbols);
    const semantics::TypeId written =
        parameter.source < 0 ? declared.type : called.parameters[static_cast<size_t>(parameter.source)].type;
    const semantics::CheckedDocument& speaks = parameter.source < 0 ? *plan->document : *callee.document;
    parameter.type_text = speaks.types().Text(written, speaks.dialect());
    if (declared.default_value.valid()) {
      std::optional<Value> value = LiteralValue(plan->document->ast(), declared.default_value, symbols, heap);
      if (value) parameter.default_value = CastTo(types, declared.type, std::move(*value), heap);
    }
    plan->has_arrays |= parameter.is_array;
    plan->parameters.push_back(std::move(parameter));
  }
  // The provisional dialect's operations with one group per channel.
  if (IsPlanewise(called_name)) {
    OpPlan::Parameter& groups = plan->parameters[static_cast<size_t>(plan->Find("groups"))];
    groups.default_value = Value::Integer(0);
  }
  plan->is_custom = custom;
  plan->runs_bodies = !custom && called.runs_bodies;
  if (!custom) plan->op = registry.Find(ir::kNnefSet, plan->name);
  if (!custom && !plan->op.valid()) plan->op = ir::ops::opset::FindNnefName(registry, plan->name);
  // A build without the rows of OpenVINO's operations does not know their shapes.
  if (!plan->op.valid()) plan->op = RegisterCustom(plan->name, *callee.document, called, registry, symbols);
  const ir::OpInfo& info = registry.Info(plan->op);
  plan->role = info.role;
  plan->results = info.results;
  plan->form = info.provisional;
  return plan;
}

}  // namespace nnefc::expand
