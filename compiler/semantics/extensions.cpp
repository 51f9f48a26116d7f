// The known extensions, and the libraries that they add to a document.

#include "compiler/semantics/extensions.h"

#include "compiler/support/check.h"
#include "compiler/support/diagnostics/suggest.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "stdlib/stdlib.h"

namespace nnefc::semantics {
namespace {

constexpr bool ast::Dialect::*kFragments[] = {&ast::Dialect::fragments};
constexpr bool ast::Dialect::*kOperators[] = {&ast::Dialect::operators};
constexpr bool ast::Dialect::*kOpset[] = {&ast::Dialect::fragments, &ast::Dialect::untyped_results,
                                          &ast::Dialect::open_extents, &ast::Dialect::non_finite};
constexpr bool ast::Dialect::*kVendor[] = {&ast::Dialect::fragments, &ast::Dialect::operators,
                                           &ast::Dialect::empty_declarations, &ast::Dialect::vendor_meanings,
                                           &ast::Dialect::any_label};
// Switches of lenient mode.
constexpr bool ast::Dialect::*kLenient[] = {
    &ast::Dialect::lenient,      &ast::Dialect::loose_values,       &ast::Dialect::surplus_arguments,
    &ast::Dialect::reassignment, &ast::Dialect::own_operations,     &ast::Dialect::values_in_graph,
    &ast::Dialect::non_finite,   &ast::Dialect::empty_declarations, &ast::Dialect::fragments,
    &ast::Dialect::operators,    &ast::Dialect::quoted_names};

constexpr Extension kExtensions[] = {
    {.name = "KHR_enable_fragment_definitions", .enables = kFragments},
    {.name = "KHR_enable_operator_expressions", .enables = kOperators},
    {.name = "NNEFC_control_flow", .library = stdlib::ControlFlowLibraryText, .file = "control_flow.nnef"},
    {.name = "NNEFC_opset", .enables = kOpset, .library = stdlib::OpsetLibraryText, .file = "opset.nnef"},
    {.name = "Appendix C of the provisional specification",
     .dialect = ast::Dialect::kProvisional,
     .activation = Activation::kImplicit,
     .library = stdlib::LayersLibraryText,
     .file = "layers.nnef"},
    {.name = "tract_registry tract_core",
     .enables = kVendor,
     .is_lenient = true,
     .comes_along = true,
     .library = stdlib::TractCoreLibraryText,
     .file = "tract/core.nnef"},
    {.name = "tract_registry tract_transformers",
     .enables = kVendor,
     .is_lenient = true,
     .library = stdlib::TractTransformersLibraryText,
     .file = "tract/transformers.nnef"},
    {.name = "tract_registry tract_onnx",
     .enables = kVendor,
     .is_lenient = true,
     .library = stdlib::TractOnnxLibraryText,
     .file = "tract/onnx.nnef"},
    {.name = "tract_registry tract_pulse",
     .enables = kVendor,
     .is_lenient = true,
     .library = stdlib::TractPulseLibraryText,
     .file = "tract/pulse.nnef"},
    {.name = "tract_registry tract_resource", .enables = kVendor, .is_lenient = true},
    {.name = "tract_registry tract_extra",
     .enables = kVendor,
     .is_lenient = true,
     .library = stdlib::TractExtraLibraryText,
     .file = "tract/extra.nnef"},
    {.name = "tract_symbol",
     .enables = kVendor,
     .arguments = 1,
     .role = ExtensionRole::kSymbol,
     .is_lenient = true},
    {.name = "tract_pulse_streaming_symbol",
     .enables = kVendor,
     .role = ExtensionRole::kSymbol,
     .symbol = "S",
     .is_lenient = true},
    {.name = "tract_assert",
     .enables = kVendor,
     .arguments = Extension::kRest,
     .role = ExtensionRole::kAssertion,
     .is_lenient = true},
};

// Parts of identifiers that only exporters write.
constexpr std::string_view kMarkedEnds[] = {"_aligned_rank_expanded"};
constexpr std::string_view kMarkedStarts[] = {"fp_tensor_clone"};

bool IsMarked(std::string_view name) {
  return llvm::any_of(kMarkedEnds, [&](std::string_view end) { return name.ends_with(end); }) ||
         llvm::any_of(kMarkedStarts, [&](std::string_view start) { return name.starts_with(start); });
}

// Returns true if a left side of the graph's body has an exporter's mark.
bool BearsMarks(const ast::Document& document, const SymbolTable& symbols) {
  return llvm::any_of(document.graphs, [&](const ast::Graph& graph) {
    return llvm::any_of(graph.body, [&](const ast::Assignment& assignment) {
      if (!assignment.left.valid()) return false;
      const auto* left = std::get_if<ast::IdentifierExpr>(&document.exprs[assignment.left].node);
      return left != nullptr && IsMarked(symbols.Text(left->name));
    });
  });
}

// The fragment with tract's properties of a model.
constexpr std::string_view kProperties = "tract_core_properties";

std::string_view TextOf(const ast::Name& name, const SymbolTable& symbols) {
  return name.symbol.valid() ? symbols.Text(name.symbol) : "";
}

// Returns the number of leading `words` that form the extension's name; 0 if they do not match.
size_t WordsOf(const Extension& extension, llvm::ArrayRef<ast::Name> words, const SymbolTable& symbols) {
  llvm::SmallVector<llvm::StringRef, 2> name;
  llvm::StringRef(extension.name.data(), extension.name.size()).split(name, ' ');
  if (name.size() > words.size()) return 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != llvm::StringRef(TextOf(words[i], symbols))) return 0;
  }
  return name.size();
}

}  // namespace

llvm::ArrayRef<Extension> Extensions() {
  return kExtensions;
}

std::vector<ExtensionUse> ExtensionsIn(const ast::Extension& line, const SymbolTable& symbols,
                                       llvm::ArrayRef<Extension> known) {
  std::vector<ExtensionUse> uses;
  for (llvm::ArrayRef<ast::Name> rest = line.names; !rest.empty();) {
    ExtensionUse use;
    size_t words = 0;
    for (const Extension& extension : known) {
      if (extension.activation != Activation::kLine) continue;
      const size_t count = WordsOf(extension, rest, symbols);
      if (count > words) use.extension = &extension;
      words = std::max(words, count);
    }
    if (use.extension == nullptr) {
      words = 1;
      Suggestion suggestion(TextOf(rest[0], symbols));
      for (const Extension& extension : known) {
        if (extension.activation == Activation::kLine) suggestion.Offer(extension.name);
      }
      const auto* meant = llvm::find_if(
          known, [&](const Extension& extension) { return extension.name == suggestion.best(); });
      use.is_misspelt = meant != known.end();
      if (use.is_misspelt) use.extension = meant;
      use.has_safe_spelling = use.is_misspelt && suggestion.is_typo();
    }
    use.name = rest.take_front(words);
    rest = rest.drop_front(words);
    if (use.extension != nullptr) {
      const auto wanted = static_cast<size_t>(use.extension->arguments);
      const bool takes_rest = use.extension->arguments == Extension::kRest || wanted > rest.size();
      use.arguments = takes_rest ? rest : rest.take_front(wanted);
      rest = rest.drop_front(use.arguments.size());
    }
    uses.push_back(use);
  }
  return uses;
}

std::vector<ExtensionUse> ExtensionsIn(const ast::Document& document, const SymbolTable& symbols) {
  std::vector<ExtensionUse> uses;
  for (const ast::Extension& line : document.extensions)
    llvm::append_range(uses, ExtensionsIn(line, symbols));
  const bool is_named = llvm::any_of(
      uses, [](const ExtensionUse& use) { return use.extension != nullptr && use.extension->is_lenient; });
  const bool is_marked = llvm::any_of(document.fragments, [&](const ast::Fragment& each) {
    return TextOf(each.name, symbols) == kProperties;
  });
  if (is_marked && !is_named) uses.push_back({.extension = &LenientExtension(), .is_implied = true});
  return uses;
}

bool Enables(llvm::ArrayRef<ExtensionUse> uses, const Extension& extension) {
  return llvm::any_of(uses, [&](const ExtensionUse& use) {
    const bool is_brought = extension.comes_along && use.extension != nullptr && use.extension->is_lenient;
    return use.extension == &extension || is_brought;
  });
}

bool Enables(const ast::Document& document, const Extension& extension, const SymbolTable& symbols) {
  return Enables(ExtensionsIn(document, symbols), extension);
}

ast::Dialect EnabledDialect(const ast::Document& document, const SymbolTable& symbols, Leniency leniency) {
  ast::Dialect dialect = document.dialect;
  if (!dialect.extensions) return dialect;
  bool is_lenient = leniency == Leniency::kLenient;
  for (const ExtensionUse& use : ExtensionsIn(document, symbols)) {
    if (use.extension == nullptr || (use.is_implied && leniency == Leniency::kStrict)) continue;
    for (bool ast::Dialect::*enabled : use.extension->enables) dialect.*enabled = true;
    is_lenient |= use.extension->is_lenient && leniency == Leniency::kAuto;
  }
  is_lenient = is_lenient || (leniency == Leniency::kAuto && BearsMarks(document, symbols));
  if (is_lenient) {
    for (bool ast::Dialect::*enabled : kLenient) dialect.*enabled = true;
  }
  return dialect;
}

namespace {

// Names of different symbols, in order.
struct UniqueNames {
  std::vector<ast::Name> names;
  llvm::DenseSet<Symbol> seen;

  void Add(const ast::Name& name) {
    if (seen.insert(name.symbol).second) names.push_back(name);
  }
};

// Adds the identifiers of an expression that are not in `assigned`.
void AddIdentifiers(const ast::Document& document, ast::ExprId id, const llvm::DenseSet<Symbol>& assigned,
                    UniqueNames& names) {
  llvm::SmallVector<ast::ExprId, 8> pending = {id};
  while (!pending.empty()) {
    const ast::Expr& expr = document.exprs[pending.pop_back_val()];
    if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node)) {
      if (!assigned.contains(identifier->name)) names.Add({identifier->name, expr.range});
    } else if (const auto* paren = std::get_if<ast::ParenExpr>(&expr.node)) {
      pending.push_back(paren->inner);
    } else if (const auto* binary = ast::Find<ast::BinaryExpr>(expr.node)) {
      pending.append({binary->right, binary->left});
    } else if (const auto* array = std::get_if<ast::ArrayExpr>(&expr.node)) {
      pending.append(array->items.rbegin(), array->items.rend());
    }
  }
}

// Adds the names in shapes of the graph's externals that nothing assigns: tract makes symbols of them.
void AddUndeclared(const ast::Document& document, const SymbolTable& symbols, UniqueNames& names) {
  for (const ast::Graph& graph : document.graphs) {
    UniqueNames assigned;
    for (const ast::Assignment& assignment : graph.body) {
      if (assignment.left.valid()) AddIdentifiers(document, assignment.left, {}, assigned);
    }
    for (const ast::Assignment& assignment : graph.body) {
      const auto* invocation = assignment.right.valid()
                                   ? ast::Find<ast::InvocationExpr>(document.exprs[assignment.right].node)
                                   : nullptr;
      if (invocation == nullptr || !TextOf(invocation->callee, symbols).ends_with("external")) continue;
      for (const ast::Argument& argument : invocation->arguments) {
        if (!argument.name || TextOf(*argument.name, symbols) == "shape")
          AddIdentifiers(document, argument.value, assigned.seen, names);
      }
    }
  }
}

}  // namespace

std::vector<ast::Name> SymbolsOf(const ast::Document& document, const SymbolTable& symbols,
                                 bool finds_undeclared) {
  UniqueNames found;
  for (const ExtensionUse& use : ExtensionsIn(document, symbols)) {
    if (use.extension == nullptr || use.extension->role != ExtensionRole::kSymbol) continue;
    for (const ast::Name& name : use.arguments) found.Add(name);
    const Symbol symbol = use.extension->symbol.empty() ? Symbol() : symbols.Find(use.extension->symbol);
    if (symbol.valid()) found.Add({symbol, use.name.front().range});
  }
  if (finds_undeclared) AddUndeclared(document, symbols, found);
  return std::move(found.names);
}

const Extension& LenientExtension() {
  const auto* found = llvm::find_if(kExtensions, [](const Extension& each) { return each.is_lenient; });
  NNEFC_CHECK(found != std::end(kExtensions));
  return *found;
}

const Extension& ExtensionFor(bool ast::Dialect::*enabled) {
  const auto* found = llvm::find_if(
      kExtensions, [&](const Extension& each) { return llvm::is_contained(each.enables, enabled); });
  NNEFC_CHECK(found != std::end(kExtensions));
  return *found;
}

}  // namespace nnefc::semantics
