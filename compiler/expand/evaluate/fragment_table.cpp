#include "compiler/expand/evaluate/fragment_table.h"

#include "compiler/expand/literal_value.h"
#include "compiler/expand/provisional_names.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::evaluate {

using semantics::Signature;

FragmentInfo& FragmentTable::Info(const semantics::Callee& callee) {
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

bool FragmentTable::LowerRequested(std::string_view name) const {
  for (const std::string& lowered : settings_.options.lower) {
    if (lowered == "all" || lowered == name) return true;
  }
  return false;
}

// A document's compounds are expanded. A standard compound is not, unless it is named in `--lower` or differs
// in the ratified dialect.
FragmentInfo::Mode FragmentTable::ModeOf(const semantics::Callee& callee) const {
  const Signature& signature = callee.document->signature(callee.fragment);
  if (!signature.has_body) return FragmentInfo::Mode::kOperation;
  if (!callee.document->is_library()) return FragmentInfo::Mode::kInstantiate;
  const std::string_view name = settings_.context.symbols.Text(signature.name.symbol);
  if (LowerRequested(name)) return FragmentInfo::Mode::kInstantiate;
  // A compound of an extension is not an operation.
  if (!settings_.registry.Find(ir::kNnefSet, RatifiedName(name)).valid())
    return FragmentInfo::Mode::kInstantiate;
  return callee.document->dialect().translated ? FragmentInfo::Mode::kInstantiateIfChanged
                                               : FragmentInfo::Mode::kOperation;
}

const Value* FragmentTable::Default(const semantics::Callee& callee, size_t parameter) {
  FragmentInfo& info = Info(callee);
  const Signature& signature = callee.document->signature(callee.fragment);
  info.defaults.resize(signature.parameters.size());
  if (info.defaults[parameter] == nullptr) {
    ast::ExprId expr = signature.parameters[parameter].default_value;
    if (!expr.valid()) return nullptr;
    std::optional<Value> value =
        LiteralValue(callee.document->ast(), expr, settings_.context.symbols, settings_.heap);
    if (!value) return nullptr;
    info.defaults[parameter] = std::make_unique<Value>(std::move(*value));
  }
  return info.defaults[parameter].get();
}

const Chunk& FragmentTable::BodyOf(const semantics::Callee& callee, FragmentInfo& info) {
  if (info.chunk == nullptr)
    info.chunk = CompileFragment(callee, settings_.context.symbols, Defaults(), settings_.heap);
  return *info.chunk;
}

const OpPlan& FragmentTable::PlanOf(const semantics::Callee& callee, FragmentInfo& info) {
  if (info.plan == nullptr) {
    info.plan =
        MakePlan(callee, settings_.ratified(), settings_.registry, settings_.context.symbols, settings_.heap);
  }
  return *info.plan;
}

const Chunk& FragmentTable::GraphOf(const semantics::CheckedDocument& document) {
  std::unique_ptr<Chunk>& chunk = graphs_[&document];
  if (chunk == nullptr) chunk = CompileGraph(document, settings_.context.symbols, Defaults(), settings_.heap);
  return *chunk;
}

}  // namespace nnefc::expand::evaluate
