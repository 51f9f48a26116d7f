// The members of GraphBuilder for `external` operations, the inputs of a document. The declared shape of an
// external may contain symbols, `[N, 3, H, W]`. They are bound to extents of `--input-shape`, or of the
// tensor passed to the external of a submodel. Each document has its own symbols; all are numbered
// consecutively, so that closing a submodel's scope discards the highest numbers.

#include <tuple>

#include "compiler/expand/attributes.h"
#include "compiler/expand/instantiate.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/arguments.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand {
namespace {

// Returns a symbol's extent in a trial (ExpandOptions::tries_symbols): even, and different for each symbol.
int64_t TriedExtent(uint32_t symbol) {
  return 6 + 4 * int64_t{symbol};
}

}  // namespace

Value GraphBuilder::ValueOf(const Value& value) const {
  if (value.kind() != ValueKind::kUnknownExtent) return value;
  const auto bound = symbols_.find(value.symbol());
  if (bound == symbols_.end() && options_.tries_symbols && value.symbol() != 0)
    return Value::KnownExtent(value.symbol(), TriedExtent(value.symbol()));
  return bound == symbols_.end() ? value : Value::KnownExtent(value.symbol(), bound->second);
}

// Binds the symbols in the declared shape of an external to the known extents of `shape`, and checks the
// assertions that this completes. Emits an error and returns false if a symbol has another extent already, or
// an assertion fails.
bool GraphBuilder::BindSymbols(llvm::ArrayRef<Value> written, const ir::PartialShape& shape,
                               std::string_view name, const Site& site) {
  for (size_t axis = 0; axis < written.size() && static_cast<int64_t>(axis) < shape.rank(); ++axis) {
    const ir::Dim& dim = shape[static_cast<int64_t>(axis)];
    if (!dim.known()) continue;
    const bool is_extent =
        written[axis].kind() == ValueKind::kUnknownExtent || written[axis].kind() == ValueKind::kInteger;
    if (!is_extent || written[axis].symbol() == 0) continue;
    const auto [bound, is_new] = symbols_.try_emplace(written[axis].symbol(), dim.value());
    if (is_new || bound->second == dim.value()) continue;
    Report(
        Fault::Of(kSymbolExtent,
                  "extent {} of external `{}` is {}, but its symbol stands for {} in an external before it",
                  axis, name, dim.value(), bound->second),
        site);
    return false;
  }
  return CheckAssertions(name);
}

uint32_t GraphBuilder::Expect(const semantics::CheckedDocument& document) {
  const uint32_t before = num_symbols_;
  Scope& scope = symbol_scopes_.emplace_back();
  for (const ast::Name& symbol : document.symbols())
    scope.numbers.emplace(context_.symbols.Text(symbol.symbol), ++num_symbols_);
  const auto [known, is_new] = assertions_.try_emplace(&document);
  if (is_new) known->second = AssertionsOf(document.ast(), context_);
  scope.assertions = known->second;
  return before;
}

void GraphBuilder::Forget(uint32_t before) {
  symbol_scopes_.pop_back();
  symbols_.erase(symbols_.upper_bound(before), symbols_.end());
  num_symbols_ = before;
}

// submodel.input: compares the passed tensor with the declaration, except for extents that are symbols; these
// are bound.
bool GraphBuilder::CheckGiven(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Value& given,
                              const Site& site, std::string_view name) {
  const llvm::ArrayRef<Value> declared = arguments[static_cast<size_t>(plan.Find("shape"))].items();
  const auto& [type, shape] = std::tie(graph().output(given.port()).type, graph().output(given.port()).shape);
  const ElementType expected = ElementTypeOf(
      site.generic == semantics::TypeKind::kError ? semantics::TypeKind::kScalar : site.generic);
  std::vector<std::string> extents;
  bool fits = !shape.rank_known() || shape.rank() == static_cast<int64_t>(declared.size());
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    const Value extent = ValueOf(declared[axis]);
    // An extent of 0 is open (P 4.1.1), and so is an unbound symbol.
    const bool is_told = extent.kind() == ValueKind::kInteger && extent.integer() > 0;
    extents.push_back(is_told ? fmt::format("{}", extent.integer()) : "?");
    if (!fits || !is_told || !shape.rank_known() || !shape[static_cast<int64_t>(axis)].known()) continue;
    if (shape[static_cast<int64_t>(axis)].value() != extent.integer() && declared[axis].symbol() == 0)
      fits = false;
  }
  if (!fits || type != expected) {
    Report(Fault::Of(kSubmodelInput, "external `{}` is `{}` of shape [{}], but is given `{}` of shape {}",
                     name, ir::ops::DataTypeName(expected), fmt::join(extents, ","),
                     ir::ops::DataTypeName(type), ir::ToString(shape)),
           site);
    return false;
  }
  return !shape.rank_known() || BindSymbols(declared, shape, name, site);
}

// assertion.fails: checks the assertions whose symbols are all bound, now that this external is.
bool GraphBuilder::CheckAssertions(std::string_view external) {
  bool hold = true;
  Scope& scope = symbol_scopes_.back();
  std::erase_if(scope.assertions, [&](const Assertion& assertion) {
    std::vector<std::string> reported;
    const Truth truth = Evaluate(assertion.text, [&](std::string_view name) -> std::optional<int64_t> {
      const auto id = scope.numbers.find(name);
      const auto bound = id == scope.numbers.end() ? symbols_.end() : symbols_.find(id->second);
      if (bound == symbols_.end()) return std::nullopt;
      std::string text = fmt::format("`{}` is {}", name, bound->second);
      if (!llvm::is_contained(reported, text)) reported.push_back(std::move(text));
      return bound->second;
    });
    if (truth == Truth::kFails) {
      hold = false;
      context_.emitter.Emit(kAssertionFails, assertion.range,
                            "`{}` does not hold: {} by the shape of external `{}`", assertion.text,
                            fmt::join(reported, ", "), external);
    }
    return truth != Truth::kOpen;
  });
  return hold;
}

// Sets the attribute `shape` of an external if it is not the declared shape: `--input-shape` overrides it. In
// the provisional dialect (P 4.1.1) and in lenient mode, extents of 0 and unbound symbols are unknown until
// run time. Emits an error and returns false if BindSymbols does, or if a printed graph would have unknown
// extents.
bool GraphBuilder::PrepareExternal(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                                   ir::AttributeMap& attributes) {
  std::string name(site.in_graph.valid() ? context_.symbols.Text(site.in_graph) : "");
  auto option = options_.input_shapes.find(name);
  externals_[name] = option != options_.input_shapes.end();
  if (option != options_.input_shapes.end()) {
    attributes.Set("shape", ir::Attribute::Integers(option->second.begin(), option->second.end()));
    if (option->second.empty()) attributes.Set("shape", ir::AttributeList{});
    return BindSymbols(arguments[static_cast<size_t>(plan.Find("shape"))].items(),
                       ir::PartialShape(option->second), name, site);
  }
  const Value& shape = arguments[static_cast<size_t>(plan.Find("shape"))];
  llvm::SmallVector<ir::Dim, 4> dims;
  bool open = false;
  for (const Value& item : shape.items()) {
    if (!options_.tries_symbols || item.symbol() == 0) continue;
    for (const Value& each : shape.items())
      dims.push_back(each.symbol() != 0 ? ir::Dim() : ir::Dim(each.integer()));
    open_shapes_[name] = ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
    return true;
  }
  for (const Value& item : shape.items()) {
    if (item.kind() == ValueKind::kInteger && item.integer() < 0) return true;  // reported by inference
    const bool is_symbol = is_lenient_ && item.kind() == ValueKind::kUnknownExtent;
    const bool unspecified = is_symbol || (item.kind() == ValueKind::kInteger && item.integer() == 0);
    open |= unspecified;
    dims.push_back(unspecified || item.kind() != ValueKind::kInteger ? ir::Dim() : ir::Dim(item.integer()));
  }
  if ((!plan.provisional && !is_lenient_) || !open) return true;
  if (options_.purpose == Purpose::kPrint) {
    Report(Fault::Of(kUnspecifiedExtent,
                     "external `{}` leaves extents open, which has no ratified form; give them with "
                     "`--input-shape {}=..`",
                     name, name),
           site);
    return false;
  }
  attributes.Set("shape", ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims)));
  return true;
}

void GraphBuilder::ReportUnknownExternals() {
  std::string known;
  for (const auto& [name, used] : externals_) known += fmt::format("{}`{}`", known.empty() ? "" : ", ", name);
  for (const auto& [name, shape] : options_.input_shapes) {
    if (externals_.count(name) != 0) continue;
    context_.emitter.Emit(kUnknownExternal, SourceRange(),
                          "`--input-shape` names `{}`, which is not an external; these are: {}", name,
                          known.empty() ? "none" : known);
  }
}

}  // namespace nnefc::expand
