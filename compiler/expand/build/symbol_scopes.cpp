#include "compiler/expand/build/symbol_scopes.h"

#include "compiler/expand/rules.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::build {
namespace {

// Returns a symbol's extent in a trial (ExpandOptions::tries_symbols): even, and different for each symbol.
int64_t TriedExtent(uint32_t symbol) {
  return 6 + 4 * int64_t{symbol};
}

}  // namespace

Value SymbolScopes::ValueOf(const Value& value) const {
  if (value.kind() != ValueKind::kUnknownExtent) return value;
  const auto bound = extents_.find(value.symbol());
  if (bound == extents_.end() && settings_.options.tries_symbols && value.symbol() != 0)
    return Value::KnownExtent(value.symbol(), TriedExtent(value.symbol()));
  return bound == extents_.end() ? value : Value::KnownExtent(value.symbol(), bound->second);
}

bool SymbolScopes::Bind(llvm::ArrayRef<Value> declared, const ir::PartialShape& shape, std::string_view name,
                        const Site& site) {
  for (size_t axis = 0; axis < declared.size() && static_cast<int64_t>(axis) < shape.rank(); ++axis) {
    const ir::Dim& dim = shape[static_cast<int64_t>(axis)];
    if (!dim.known()) continue;
    const bool is_extent =
        declared[axis].kind() == ValueKind::kUnknownExtent || declared[axis].kind() == ValueKind::kInteger;
    if (!is_extent || declared[axis].symbol() == 0) continue;
    const auto [bound, is_new] = extents_.try_emplace(declared[axis].symbol(), dim.value());
    if (is_new || bound->second == dim.value()) continue;
    reporter_.Report(
        Fault::Of(kSymbolExtent,
                  "extent {} of external `{}` is {}, but its symbol stands for {} in an external before it",
                  axis, name, dim.value(), bound->second),
        site);
    return false;
  }
  return CheckAssertions(name);
}

uint32_t SymbolScopes::Open(const semantics::CheckedDocument& document) {
  const uint32_t before = count_;
  Scope& scope = scopes_.emplace_back();
  for (const ast::Name& symbol : document.symbols())
    scope.numbers.emplace(settings_.context.symbols.Text(symbol.symbol), ++count_);
  const auto [known, is_new] = assertions_.try_emplace(&document);
  if (is_new) known->second = AssertionsOf(document.ast(), settings_.context);
  scope.assertions = known->second;
  return before;
}

void SymbolScopes::Close(uint32_t before) {
  scopes_.pop_back();
  extents_.erase(extents_.upper_bound(before), extents_.end());
  count_ = before;
}

// assertion.fails: checks the assertions whose symbols are all bound, now that this external is.
bool SymbolScopes::CheckAssertions(std::string_view external) {
  bool hold = true;
  Scope& scope = scopes_.back();
  std::erase_if(scope.assertions, [&](const Assertion& assertion) {
    std::vector<std::string> reported;
    const Truth truth = Evaluate(assertion.text, [&](std::string_view name) -> std::optional<int64_t> {
      const auto id = scope.numbers.find(name);
      const auto bound = id == scope.numbers.end() ? extents_.end() : extents_.find(id->second);
      if (bound == extents_.end()) return std::nullopt;
      std::string text = fmt::format("`{}` is {}", name, bound->second);
      if (!llvm::is_contained(reported, text)) reported.push_back(std::move(text));
      return bound->second;
    });
    if (truth == Truth::kFails) {
      hold = false;
      settings_.context.emitter.Emit(kAssertionFails, assertion.range,
                                     "`{}` does not hold: {} by the shape of external `{}`", assertion.text,
                                     fmt::join(reported, ", "), external);
    }
    return truth != Truth::kOpen;
  });
  return hold;
}

}  // namespace nnefc::expand::build
