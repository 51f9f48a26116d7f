#include "compiler/expand/build/symbol_scopes.h"

#include "compiler/expand/rules.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::build {
namespace {

// Maximum number of extents that are compared with those of later externals.
constexpr size_t kMaxUndetermined = 1000;

// Returns a symbol's extent in a trial (ExpandOptions::tries_symbols): even, and different for each symbol.
int64_t TriedExtent(uint32_t symbol) {
  return 6 + 4 * int64_t{symbol};
}

}  // namespace

Value SymbolScopes::ValueOf(const Value& value) const {
  if (value.kind() != ValueKind::kUnknownExtent || !IsSymbolic(value)) return value;
  const std::optional<int64_t> extent =
      settings_.options.tries_symbols ? extents_.Find(value, TriedExtent) : extents_.Find(value);
  return extent ? Value::KnownExtent(value.symbol(), *extent) : value;
}

std::string SymbolScopes::TextOf(const Value& extent) const {
  return extents_.TextOf(extent, [&](uint32_t symbol) {
    for (const auto& [name, number] : scopes_.back().numbers) {
      if (number == symbol) return name;
    }
    return std::string("?");
  });
}

void SymbolScopes::AddSources(llvm::ArrayRef<Value> declared, ir::OutputPort external) {
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    if (IsSymbolic(declared[axis]) && !Find(declared[axis]))
      scopes_.back().sources.push_back({declared[axis], {external, static_cast<int64_t>(axis)}});
  }
}

Value SymbolScopes::ExtentAlong(ir::OutputPort port, int64_t axis) {
  const SymbolicExtents::Unknown extent{port, axis};
  for (const Source& source : sources()) {
    if (source.along == extent) return source.extent;
  }
  return extents_.ExtentAlong(extent);
}

bool SymbolScopes::Bind(llvm::ArrayRef<Value> declared, const ir::PartialShape& shape, std::string_view name,
                        const Site& site) {
  for (size_t axis = 0; axis < declared.size() && static_cast<int64_t>(axis) < shape.rank(); ++axis) {
    const ir::Dim& dim = shape[static_cast<int64_t>(axis)];
    if (!dim.known() || !IsSymbolic(declared[axis])) continue;
    if (extents_.Bind(declared[axis], dim.value())) {
      std::vector<Undetermined>& undetermined = scopes_.back().undetermined;
      if (!extents_.Find(declared[axis]) && undetermined.size() < kMaxUndetermined)
        undetermined.push_back({declared[axis], dim.value(), std::string(name), axis});
      continue;
    }
    const std::optional<int64_t> known = extents_.Find(declared[axis]);
    const std::string text = TextOf(declared[axis]);
    reporter_.Report(
        known ? Fault::Of(kSymbolExtent,
                          "extent {} of external `{}` is {}, but `{}` stands for {} in an external before it",
                          axis, name, dim.value(), text, *known)
              : Fault::Of(kSymbolExtent, "extent {} of external `{}` is {}; `{}` never is", axis, name,
                          dim.value(), text),
        site);
    return false;
  }
  return BindUndetermined(name, site) && CheckAssertions(name);
}

// external.symbol: binds the last unbound symbols of extents that were not determined before this external.
bool SymbolScopes::BindUndetermined(std::string_view external, const Site& site) {
  std::vector<Undetermined>& undetermined = scopes_.back().undetermined;
  for (size_t before = SIZE_MAX; undetermined.size() < before;) {
    before = undetermined.size();
    for (const Undetermined& each : undetermined) {
      if (extents_.Bind(each.extent, each.actual)) continue;
      const std::optional<int64_t> known = extents_.Find(each.extent);
      reporter_.Report(
          Fault::Of(kSymbolExtent,
                    "extent {} of external `{}` is {}, but `{}` {} by the shape of external `{}`", each.axis,
                    each.external, each.actual, TextOf(each.extent),
                    known ? fmt::format("is {}", *known) : "never is", external),
          site);
      return false;
    }
    std::erase_if(undetermined,
                  [&](const Undetermined& each) { return extents_.Find(each.extent).has_value(); });
  }
  return true;
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
  extents_.Forget(before);
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
      const std::optional<int64_t> bound =
          id == scope.numbers.end() ? std::nullopt : extents_.Find(id->second);
      if (!bound) return std::nullopt;
      std::string text = fmt::format("`{}` is {}", name, *bound);
      if (!llvm::is_contained(reported, text)) reported.push_back(std::move(text));
      return bound;
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
