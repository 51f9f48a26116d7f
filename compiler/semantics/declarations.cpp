#include <algorithm>
#include <utility>

#include "compiler/semantics/checker.h"

namespace nnefc::semantics {

void Checker::ChooseGraph(const CheckOptions& options) {
  if (options.graph.has_value()) {
    const ast::Graph* chosen = nullptr;
    for (const ast::Graph& graph : document_.graphs) {
      if (Text(graph.name.symbol) != *options.graph) continue;
      if (chosen != nullptr) {
        Report(kSeveralGraphs, graph.name.range, "the document has several graphs of the name `{}`",
               *options.graph)
            .Note(chosen->name.range, "the first one");
        return;
      }
      chosen = &graph;
    }
    if (chosen == nullptr) {
      const SourceRange place =
          document_.graphs.empty() ? SourceRange{document_.file, 0, 0} : document_.graphs.front().name.range;
      DiagnosticBuilder builder =
          Report(kUnknownGraph, place, "the document has no graph of the name `{}`", *options.graph);
      for (const ast::Graph& graph : document_.graphs) {
        builder.Note(graph.name.range, "it has `{}`", Text(graph.name.symbol));
      }
    }
    out_->graph_ = chosen;
    return;
  }
  if (document_.graphs.size() > 1) {
    const ast::Graph& second = document_.graphs[1];  // its name may be missing
    DiagnosticBuilder builder =
        Report(kSeveralGraphs, second.name.range.valid() ? second.name.range : second.keyword_range,
               "the document has {} graphs; `--graph NAME` chooses one", document_.graphs.size());
    builder.Note(document_.graphs[0].name.range, "the first one");
    return;
  }
  if (!document_.graphs.empty()) out_->graph_ = &document_.graphs.front();
}

// Declares all fragments first, because they may be used before their definition.
void Checker::DeclareFragments() {
  for (size_t i = 0; i < document_.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    has_error_ = false;
    DeclareFragment(id);
    if (has_error_ || document_.fragments[id].has_error) {
      out_->unsound_[i] = true;
      out_->broken_[i] = true;
    }
  }
}

void Checker::DeclareFragment(ast::FragmentId id) {
  const ast::Fragment& fragment = document_.fragments[id];
  Signature& signature = out_->signatures_[static_cast<size_t>(id.index)];
  signature.name = fragment.name;
  signature.has_body = fragment.has_body;
  signature.is_generic = fragment.is_generic && dialect_.generics;
  if (signature.is_generic && fragment.generic_default.has_value()) {
    signature.generic_default = ResolvePrimitive(*fragment.generic_default);
    if (Kind(signature.generic_default) == TypeKind::kGeneric) {
      Report(kGenericDefault, fragment.generic_range, "the default of `?` cannot be `?` itself");
      signature.generic_default = error_;
    }
  }
  if (!fragment.name.symbol.valid()) return;
  const std::string_view name = Text(fragment.name.symbol);
  const auto [entry, inserted] = out_->by_name_.try_emplace(fragment.name.symbol, id);
  if (!inserted) {
    Report(kDuplicateFragment, fragment.name.range, "fragment `{}` is defined twice", name)
        .Note(document_.fragments[entry->second].name.range, "first defined here");
  } else if (out_->library_ != nullptr) {
    Callee standard = out_->library_->Find(fragment.name.symbol);
    if (!standard.valid()) standard = FindTakenByExtension(fragment);
    if (standard.valid() && dialect_.own_operations) {
      Deviate(kLenientRedefined, fragment.name.range,
              "fragment `{}` redefines a standard operation, in whose place it is used", name);
    } else if (standard.valid()) {
      Report(kRedefinedOperation, fragment.name.range, "fragment `{}` redefines a standard operation", name)
          .Note(SignatureOf(standard).name.range, "the standard operation");
    }
  }
  if (fragment.has_error || IsProperties(fragment)) return;
  llvm::SmallVector<ast::Name, 8> parameters, results;
  for (const ast::Parameter& parameter : fragment.parameters) parameters.push_back(parameter.name);
  for (const ast::Result& result : fragment.results) results.push_back(result.name);
  CheckNames(parameters, results);
  in_generic_ = signature.is_generic;
  CheckParameters(fragment, signature);
  CheckResults(fragment, signature);
  CheckGenericUse(fragment, signature);
}

// Returns the fragment of an extension that `fragment` redefines. Fragments of the document override those of
// implicit extensions.
Callee Checker::FindTakenByExtension(const ast::Fragment& fragment) const {
  for (const Extension* extension : libraries_.extensions()) {
    if (extension->activation == Activation::kImplicit) continue;
    if (extension->dialect != dialect_ || kind_ != CheckedKind::kModel) continue;
    const Callee callee = libraries_.Get(*extension).FindOwn(fragment.name.symbol);
    if (!callee.valid()) continue;
    // A primitive of that name would be mistaken for the extension's.
    if (!fragment.has_body || Enables(document_, *extension, context_.symbols)) return callee;
  }
  return {};
}

// Parameters and results of one declaration have different names.
void Checker::CheckNames(llvm::ArrayRef<ast::Name> parameters, llvm::ArrayRef<ast::Name> results) {
  scope_.Clear();
  auto check = [this](const ast::Name& name, LocalKind kind, std::string_view what) {
    const Local* known = scope_.Find(name.symbol);
    if (known == nullptr) {
      scope_.Add(name.symbol, {.kind = kind, .declaration = name.range});
      return;
    }
    const std::string_view known_as = known->kind == LocalKind::kParameter ? "parameter" : "result";
    if (kind == LocalKind::kResult && known->kind == LocalKind::kParameter) {
      Report(kDuplicateName, name.range,
             "`{0}` is a parameter; a result has a name of its own, which `{1}({0})` may be assigned to",
             Text(name.symbol), dialect_.copy)
          .Note(known->declaration, "the parameter");
      return;
    }
    Report(kDuplicateName, name.range, "{} `{}` has the name of another {}", what, Text(name.symbol),
           known_as)
        .Note(known->declaration, "the other {}", known_as);
  };
  for (const ast::Name& name : parameters) check(name, LocalKind::kParameter, "parameter");
  for (const ast::Name& name : results) check(name, LocalKind::kResult, "result");
}

void Checker::CheckParameters(const ast::Fragment& fragment, Signature& signature) {
  const TypedName* attribute = nullptr;
  bool is_disordered = false;
  signature.parameters.reserve(fragment.parameters.size());
  for (const ast::Parameter& parameter : fragment.parameters) {
    const TypeId type = ResolveType(parameter.type);
    signature.parameters.push_back({parameter.name, type, parameter.default_value});
    if (!types_.ContainsTensor(type) && !IsError(type)) {
      if (attribute == nullptr) attribute = &signature.parameters.back();
    } else if (dialect_.tensors_first && !IsError(type) && attribute != nullptr) {
      DiagnosticBuilder builder =
          Report(kParameterOrder, parameter.name.range, "tensor parameter `{}` must precede the attributes",
                 Text(parameter.name.symbol));
      if (!std::exchange(is_disordered, true)) FixParameterOrder(fragment, builder);
      builder.Note(attribute->name.range, "`{}` is an attribute", Text(attribute->name.symbol));
    }
    if (!parameter.default_value.valid()) continue;
    const TypeId value = CheckExpr(parameter.default_value);
    if (IsCastable(types_, dialect_, value, type)) continue;
    DiagnosticBuilder builder = Report(kDefaultType, expr(parameter.default_value).range,
                                       "the default of `{}` is of type `{}`; expected `{}`",
                                       Text(parameter.name.symbol), Text(value), Text(type));
    FixScalars(parameter.default_value, type, builder);
  }
  // Check invocations against the intended order.
  if (is_disordered) {
    std::stable_partition(
        signature.parameters.begin(), signature.parameters.end(),
        [this](const TypedName& parameter) { return types_.ContainsTensor(parameter.type); });
  }
}

// Moves tensors to the front and preserves the order otherwise.
void Checker::FixParameterOrder(const ast::Fragment& fragment, DiagnosticBuilder& builder) {
  const auto range_of = [&](const ast::Parameter& parameter) {
    const SourceRange type = document_.types[parameter.type].range;
    return Cover(parameter.name.range,
                 parameter.default_value.valid() ? expr(parameter.default_value).range : type);
  };
  const SourceRange whole =
      Cover(range_of(fragment.parameters.front()), range_of(fragment.parameters.back()));
  if (SourceText(whole).find_first_of("#\n") != std::string_view::npos) return;
  std::string tensors, attributes;
  for (const ast::Parameter& parameter : fragment.parameters) {
    std::string& list = types_.ContainsTensor(ResolveType(parameter.type)) ? tensors : attributes;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", SourceText(range_of(parameter)));
  }
  builder.Fix(whole, fmt::format("{}, {}", tensors, attributes));
}

// Only operations with bodies have `tensor<>` as a result: the bodies determine the data types of the
// outputs.
void Checker::CheckResults(const ast::Fragment& fragment, Signature& signature) {
  signature.results.reserve(fragment.results.size());
  for (const ast::Result& result : fragment.results) {
    const TypeId type = ResolveType(result.type);
    signature.results.push_back({result.name, type, {}});
    if (dialect_.attribute_results || IsError(type)) continue;
    const SourceRange range = document_.types[result.type].range;
    if (!types_.OnlyTensors(type)) {
      Report(kAttributeResult, range, "result `{}` is of type `{}`; results of fragments are tensors",
             Text(result.name.symbol), Text(type));
    } else if (types_.ContainsUnbound(type) && kind_ == CheckedKind::kLibrary) {
      signature.runs_bodies = true;
    } else if (types_.ContainsUnbound(type)) {
      Report(kUnboundResult, range, "result `{}` is of type `{}`, whose data type is unknown",
             Text(result.name.symbol), Text(type));
    }
  }
}

// A fragment is generic if and only if `?` is in its declaration.
void Checker::CheckGenericUse(const ast::Fragment& fragment, Signature& signature) {
  if (!dialect_.generics) return;
  bool is_used = false;
  bool has_error = false;
  auto look = [&](const TypedName& name) {
    is_used |= types_.ContainsGeneric(name.type);
    has_error |= IsError(name.type);
  };
  for (const TypedName& parameter : signature.parameters) look(parameter);
  for (const TypedName& result : signature.results) look(result);
  const std::string_view name = Text(fragment.name.symbol);
  if (is_used && !signature.is_generic) {
    SourceRange behind = fragment.name.range;
    behind.begin = behind.end;
    Report(kGenericUndeclared, fragment.name.range,
           "fragment `{}` has parameters or results of the type `?` but is not declared as `{}<?>`", name,
           name)
        .Fix(behind, "<?>");
  }
  if (!is_used && !has_error && signature.is_generic) {
    Report(kGenericUnused, fragment.generic_range,
           "generic fragment `{}` has neither a parameter nor a result of the type `?`", name)
        .Fix(fragment.generic_range, "");
    signature.generic_default = scalar_;  // The fragment's callers are correct.
  }
}

TypeId Checker::ResolvePrimitive(ast::PrimitiveName name) {
  switch (name) {
    case ast::PrimitiveName::kInteger:
    case ast::PrimitiveName::kExtent:  // the dialect rules report the wrong one
      return integer_;
    case ast::PrimitiveName::kScalar:
      return scalar_;
    case ast::PrimitiveName::kLogical:
      return logical_;
    case ast::PrimitiveName::kString:
      return string_;
    case ast::PrimitiveName::kGeneric:
      return dialect_.generics ? types_.Primitive(TypeKind::kGeneric) : error_;
  }
  return error_;
}

TypeId Checker::ResolveType(ast::TypeId id) {
  // A loop instead of recursion, because the syntax does not bound `T[][]..`.
  const SourceRange range = document_.types[id].range;
  size_t dimensions = 0;
  while (const auto* array = std::get_if<ast::ArrayType>(&document_.types[id].node)) {
    id = array->item;
    ++dimensions;
  }
  const ast::Type& base = document_.types[id];
  TypeId type = error_;
  if (const auto* primitive = std::get_if<ast::PrimitiveType>(&base.node)) {
    type = ResolvePrimitive(primitive->name);
  } else if (const auto* tensor = std::get_if<ast::TensorType>(&base.node)) {
    const TypeId any = types_.Primitive(TypeKind::kAny);
    const bool has_element = dialect_.tensor_types && tensor->element.has_value();
    // A missing data type was reported; scalar is the intended one.
    const TypeId unbound = dialect_.tensor_types && !tensor->has_brackets ? scalar_ : any;
    type = types_.Tensor(has_element ? ResolvePrimitive(*tensor->element) : unbound);
  } else if (const auto* tuple = std::get_if<ast::TupleType>(&base.node)) {
    type = ResolveTuple(base, *tuple);
  }
  for (size_t i = 0; i < dimensions && !IsError(type); ++i) type = Bounded(types_.Array(type), range);
  return type;
}

TypeId Checker::ResolveTuple(const ast::Type& type, const ast::TupleType& tuple) {
  llvm::SmallVector<TypeId, 4> items;
  for (ast::TypeId item : tuple.items) items.push_back(ResolveType(item));
  const TypeId resolved = types_.Tuple(items);
  if (!dialect_.mixed_tuples && !dialect_.loose_values && !IsError(resolved) &&
      types_.ContainsTensor(resolved) && !types_.OnlyTensors(resolved)) {
    Report(kMixedTuple, type.range, "the tuple type `{}` mixes tensors and attributes", Text(resolved));
  }
  return Bounded(resolved, type.range);
}

}  // namespace nnefc::semantics
