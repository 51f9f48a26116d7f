#include "compiler/expand/build/externals.h"

#include "compiler/expand/attributes.h"
#include "compiler/expand/rules.h"
#include "compiler/ir/ops/arguments.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::expand::build {

// submodel.input: compares the passed tensor with the declaration, except for extents that are symbols; these
// are bound.
bool Externals::CheckGiven(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const ir::Output& given,
                           const Site& site, std::string_view name) {
  const llvm::ArrayRef<Value> declared = arguments[static_cast<size_t>(plan.Find("shape"))].items();
  const ElementType type = given.type;
  const ir::PartialShape& shape = given.shape;
  const ElementType expected = ElementTypeOf(
      site.generic == semantics::TypeKind::kError ? semantics::TypeKind::kScalar : site.generic);
  std::vector<std::string> extents;
  bool fits = !shape.rank_known() || shape.rank() == static_cast<int64_t>(declared.size());
  for (size_t axis = 0; axis < declared.size(); ++axis) {
    const Value extent = symbols_.ValueOf(declared[axis]);
    // An extent of 0 is open (P 4.1.1), and so is an unbound symbol.
    const bool is_told = extent.kind() == ValueKind::kInteger && extent.integer() > 0;
    extents.push_back(is_told ? fmt::format("{}", extent.integer()) : "?");
    if (!fits || !is_told || !shape.rank_known() || !shape[static_cast<int64_t>(axis)].known()) continue;
    if (shape[static_cast<int64_t>(axis)].value() != extent.integer() && declared[axis].symbol() == 0)
      fits = false;
  }
  if (!fits || type != expected) {
    reporter_.Report(
        Fault::Of(kSubmodelInput, "external `{}` is `{}` of shape [{}], but is given `{}` of shape {}", name,
                  ir::ops::DataTypeName(expected), fmt::join(extents, ","), ir::ops::DataTypeName(type),
                  ir::ToString(shape)),
        site);
    return false;
  }
  return !shape.rank_known() || symbols_.Bind(declared, shape, name, site);
}

// input-shape.rank: compares the number of extents with the declaration.
bool Externals::CheckRank(const Value& declared, const Shape& extents, std::string_view name,
                          const Site& site) {
  if (declared.length() == static_cast<int64_t>(extents.size())) return true;
  reporter_.Report(Fault::Of(kInputShapeRank, "external `{}` has rank {}; `--input-shape` gives it rank {}",
                             name, declared.length(), extents.size()),
                   site);
  return false;
}

bool Externals::Prepare(const OpPlan& plan, llvm::ArrayRef<Value> arguments, const Site& site,
                        ir::AttributeMap& attributes) {
  std::string name(site.in_graph.valid() ? settings_.context.symbols.Text(site.in_graph) : "");
  auto option = settings_.options.input_shapes.find(name);
  known_[name] = option != settings_.options.input_shapes.end();
  const Value& shape = arguments[static_cast<size_t>(plan.Find("shape"))];
  if (option != settings_.options.input_shapes.end()) {
    if (!CheckRank(shape, option->second, name, site)) return false;
    attributes.Set("shape", ir::Attribute::Integers(option->second.begin(), option->second.end()));
    if (option->second.empty()) attributes.Set("shape", ir::AttributeList{});
    if (settings_.is_lenient() && llvm::is_contained(option->second, 0))
      attributes.Set("shape", ir::PartialShape(option->second));
    return symbols_.Bind(shape.items(), ir::PartialShape(option->second), name, site);
  }
  llvm::SmallVector<ir::Dim, 4> dims;
  bool open = false, has_empty = false;
  const auto is_unbound = [&](const Value& item) { return IsSymbolic(item) && !symbols_.Find(item); };
  if (llvm::any_of(shape.items(), is_unbound)) {
    for (const Value& item : shape.items()) {
      const std::optional<int64_t> extent = symbols_.Find(item);
      open_extents_[name].push_back(extent ? fmt::format("{}", *extent) : symbols_.TextOf(item));
    }
  }
  for (const Value& item : shape.items()) {
    if (!settings_.options.tries_symbols || !IsSymbolic(item)) continue;
    for (const Value& each : shape.items()) {
      const bool is_known = each.kind() == ValueKind::kInteger && !IsSymbolic(each);
      dims.push_back(is_known ? ir::Dim(each.integer()) : ir::Dim());
    }
    open_shapes_[name] = ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims));
    return true;
  }
  for (const Value& item : shape.items()) {
    if (item.kind() == ValueKind::kInteger && item.integer() < 0) return true;  // reported by inference
    const bool is_symbol = settings_.is_lenient() && item.kind() == ValueKind::kUnknownExtent;
    const bool is_zero = item.kind() == ValueKind::kInteger && item.integer() == 0;
    // In tract's dialect, a tensor without elements has an extent of 0.
    const bool is_empty = is_zero && settings_.dialect.vendor_meanings;
    const bool unspecified = is_symbol || (is_zero && !is_empty);
    has_empty |= is_empty;
    open |= unspecified;
    dims.push_back(unspecified || item.kind() != ValueKind::kInteger ? ir::Dim() : ir::Dim(item.integer()));
  }
  const bool may_be_empty = has_empty && settings_.options.purpose != Purpose::kPrint;
  const bool may_be_open = plan.provisional || settings_.is_lenient() || settings_.dialect.open_extents;
  if (!may_be_open || !(open || may_be_empty)) return true;
  if (settings_.options.purpose == Purpose::kPrint && (plan.provisional || settings_.is_lenient())) {
    reporter_.Report(
        Fault::Of(kUnspecifiedExtent,
                  "external `{}` leaves extents open, which has no ratified form; give them with "
                  "`--input-shape {}=..`",
                  name, name),
        site);
    return false;
  }
  attributes.Set("shape", ir::PartialShape(llvm::ArrayRef<ir::Dim>(dims)));
  return true;
}

void Externals::ReportUnknown() const {
  std::string known;
  for (const auto& [name, used] : known_) known += fmt::format("{}`{}`", known.empty() ? "" : ", ", name);
  for (const auto& [name, shape] : settings_.options.input_shapes) {
    if (known_.count(name) != 0) continue;
    settings_.context.emitter.Emit(kUnknownExternal, SourceRange(),
                                   "`--input-shape` names `{}`, which is not an external; these are: {}",
                                   name, known.empty() ? "none" : known);
  }
}

}  // namespace nnefc::expand::build
