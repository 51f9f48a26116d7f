#include "compiler/semantics/checks/declarations.h"

#include <algorithm>
#include <utility>

#include "compiler/semantics/checks/expressions.h"
#include "compiler/semantics/suggestions/literals.h"

namespace nnefc::semantics::checks {
namespace {

// Returns the fragment of an extension that `fragment` redefines. Fragments of the document override those of
// implicit extensions.
Callee FindTakenByExtension(const CheckContext& check, const ast::Fragment& fragment) {
  for (const Extension* extension : check.libraries.extensions()) {
    if (extension->activation == Activation::kImplicit) continue;
    if (extension->dialect != check.dialect || check.kind != CheckedKind::kModel) continue;
    const Callee callee = check.libraries.Get(*extension).FindOwn(fragment.name.symbol);
    if (!callee.valid()) continue;
    // A primitive of that name would be mistaken for the extension's.
    if (!fragment.has_body || Enables(check.document, *extension, check.context.symbols)) return callee;
  }
  return {};
}

TypeId ResolveType(CheckContext& check, ast::TypeId id);

TypeId ResolveTuple(CheckContext& check, const ast::Type& type, const ast::TupleType& tuple) {
  llvm::SmallVector<TypeId, 4> items;
  for (ast::TypeId item : tuple.items) items.push_back(ResolveType(check, item));
  const TypeId resolved = check.types.Tuple(items);
  if (!check.dialect.mixed_tuples && !check.dialect.loose_values && !check.IsError(resolved) &&
      check.types.ContainsTensor(resolved) && !check.types.OnlyTensors(resolved)) {
    check.Report(kMixedTuple, type.range, "the tuple type `{}` mixes tensors and attributes",
                 check.Text(resolved));
  }
  return check.Bounded(resolved, type.range);
}

TypeId ResolveType(CheckContext& check, ast::TypeId id) {
  // A loop instead of recursion, because the syntax does not bound `T[][]..`.
  const SourceRange range = check.document.types[id].range;
  size_t dimensions = 0;
  while (const auto* array = std::get_if<ast::ArrayType>(&check.document.types[id].node)) {
    id = array->item;
    ++dimensions;
  }
  const ast::Type& base = check.document.types[id];
  TypeId type = check.error;
  if (const auto* primitive = std::get_if<ast::PrimitiveType>(&base.node)) {
    type = ResolvePrimitive(check, primitive->name);
  } else if (const auto* tensor = std::get_if<ast::TensorType>(&base.node)) {
    const TypeId any = check.types.Primitive(TypeKind::kAny);
    const bool has_element = check.dialect.tensor_types && tensor->element.has_value();
    // A missing data type was reported; scalar is the intended one.
    const TypeId unbound = check.dialect.tensor_types && !tensor->has_brackets ? check.scalar : any;
    type = check.types.Tensor(has_element ? ResolvePrimitive(check, *tensor->element) : unbound);
  } else if (const auto* tuple = std::get_if<ast::TupleType>(&base.node)) {
    type = ResolveTuple(check, base, *tuple);
  }
  for (size_t i = 0; i < dimensions && !check.IsError(type); ++i)
    type = check.Bounded(check.types.Array(type), range);
  return type;
}

// Moves tensors to the front and preserves the order otherwise.
void FixParameterOrder(CheckContext& check, const ast::Fragment& fragment, DiagnosticBuilder& builder) {
  const auto range_of = [&](const ast::Parameter& parameter) {
    const SourceRange type = check.document.types[parameter.type].range;
    return Cover(parameter.name.range,
                 parameter.default_value.valid() ? check.expr(parameter.default_value).range : type);
  };
  const SourceRange whole =
      Cover(range_of(fragment.parameters.front()), range_of(fragment.parameters.back()));
  if (check.SourceText(whole).find_first_of("#\n") != std::string_view::npos) return;
  std::string tensors, attributes;
  for (const ast::Parameter& parameter : fragment.parameters) {
    std::string& list = check.types.ContainsTensor(ResolveType(check, parameter.type)) ? tensors : attributes;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", check.SourceText(range_of(parameter)));
  }
  builder.Fix(whole, fmt::format("{}, {}", tensors, attributes));
}

void CheckParameters(CheckContext& check, const ast::Fragment& fragment, Signature& signature) {
  const TypedName* attribute = nullptr;
  bool is_disordered = false;
  signature.parameters.reserve(fragment.parameters.size());
  for (const ast::Parameter& parameter : fragment.parameters) {
    const TypeId type = ResolveType(check, parameter.type);
    signature.parameters.push_back({parameter.name, type, parameter.default_value});
    if (!check.types.ContainsTensor(type) && !check.IsError(type)) {
      if (attribute == nullptr) attribute = &signature.parameters.back();
    } else if (check.dialect.tensors_first && !check.IsError(type) && attribute != nullptr) {
      DiagnosticBuilder builder = check.Report(kParameterOrder, parameter.name.range,
                                               "tensor parameter `{}` must precede the attributes",
                                               check.Text(parameter.name.symbol));
      if (!std::exchange(is_disordered, true)) FixParameterOrder(check, fragment, builder);
      builder.Note(attribute->name.range, "`{}` is an attribute", check.Text(attribute->name.symbol));
    }
    if (!parameter.default_value.valid()) continue;
    const TypeId value = CheckExpr(check, parameter.default_value);
    if (check.IsCastable(value, type)) continue;
    DiagnosticBuilder builder =
        check.Report(kDefaultType, check.expr(parameter.default_value).range,
                     "the default of `{}` is of type `{}`; expected `{}`", check.Text(parameter.name.symbol),
                     check.Text(value), check.Text(type));
    suggestions::FixScalars(check, parameter.default_value, type, builder);
  }
  // Check invocations against the intended order.
  if (is_disordered) {
    std::stable_partition(
        signature.parameters.begin(), signature.parameters.end(),
        [&](const TypedName& parameter) { return check.types.ContainsTensor(parameter.type); });
  }
}

// Returns true if a parameter names a fragment, `body` or `then_body`.
bool HasBodyParameter(const CheckContext& check, const Signature& signature) {
  return std::any_of(
      signature.parameters.begin(), signature.parameters.end(), [&](const TypedName& parameter) {
        const std::string_view name = check.Text(parameter.name.symbol);
        return check.Kind(parameter.type) == TypeKind::kString && (name == "body" || name.ends_with("_body"));
      });
}

// Only operations of extensions have `tensor<>` as a result: bodies or attributes determine the data types of
// the outputs.
void CheckResults(CheckContext& check, const ast::Fragment& fragment, Signature& signature) {
  signature.results.reserve(fragment.results.size());
  for (const ast::Result& result : fragment.results) {
    const TypeId type = ResolveType(check, result.type);
    signature.results.push_back({result.name, type, {}});
    if (check.dialect.attribute_results || check.IsError(type)) continue;
    const SourceRange range = check.document.types[result.type].range;
    if (!check.types.OnlyTensors(type)) {
      check.Report(kAttributeResult, range, "result `{}` is of type `{}`; results of fragments are tensors",
                   check.Text(result.name.symbol), check.Text(type));
    } else if (check.types.ContainsUnbound(type) && check.kind == CheckedKind::kLibrary) {
      signature.runs_bodies = HasBodyParameter(check, signature);
    } else if (check.types.ContainsUnbound(type)) {
      check.Report(kUnboundResult, range, "result `{}` is of type `{}`, whose data type is unknown",
                   check.Text(result.name.symbol), check.Text(type));
    }
  }
}

// A fragment is generic if and only if `?` is in its declaration.
void CheckGenericUse(CheckContext& check, const ast::Fragment& fragment, Signature& signature) {
  if (!check.dialect.generics) return;
  bool is_used = false;
  bool has_error = false;
  auto look = [&](const TypedName& name) {
    is_used |= check.types.ContainsGeneric(name.type);
    has_error |= check.IsError(name.type);
  };
  for (const TypedName& parameter : signature.parameters) look(parameter);
  for (const TypedName& result : signature.results) look(result);
  const std::string_view name = check.Text(fragment.name.symbol);
  if (is_used && !signature.is_generic) {
    SourceRange behind = fragment.name.range;
    behind.begin = behind.end;
    check
        .Report(kGenericUndeclared, fragment.name.range,
                "fragment `{}` has parameters or results of the type `?` but is not declared as `{}<?>`",
                name, name)
        .Fix(behind, "<?>");
  }
  if (!is_used && !has_error && signature.is_generic) {
    check
        .Report(kGenericUnused, fragment.generic_range,
                "generic fragment `{}` has neither a parameter nor a result of the type `?`", name)
        .Fix(fragment.generic_range, "");
    signature.generic_default = check.scalar;  // The fragment's callers are correct.
  }
}

// Returns true if `signature` has the types and the names of parameters of a standard operation.
bool DeclaresSame(const CheckContext& check, const Signature& signature, Callee standard) {
  const Signature& other = check.SignatureOf(standard);
  const TypeTable& types = standard.document->types();
  const auto has_type = [&](const TypedName& own, const TypedName& theirs) {
    return check.Text(own.type) == types.Text(theirs.type, check.dialect);
  };
  const auto is_same = [&](const TypedName& own, const TypedName& theirs) {
    return own.name.symbol == theirs.name.symbol && has_type(own, theirs);
  };
  return std::equal(signature.parameters.begin(), signature.parameters.end(), other.parameters.begin(),
                    other.parameters.end(), is_same) &&
         std::equal(signature.results.begin(), signature.results.end(), other.results.begin(),
                    other.results.end(), has_type);
}

// Checks that a fragment has the name of no standard operation. In lenient mode, its body takes the place of
// the operation's. Without a body, the operation itself is used, and must have the same parameters.
void CheckRedefinition(CheckContext& check, const ast::Fragment& fragment, const Signature& signature) {
  if (check.tables.library == nullptr) return;
  Callee standard = check.tables.library->Find(fragment.name.symbol);
  const bool is_known = standard.valid();
  if (!is_known) standard = FindTakenByExtension(check, fragment);
  if (!standard.valid()) return;
  const std::string_view name = check.Text(fragment.name.symbol);
  const bool is_usable = fragment.has_body || (is_known && DeclaresSame(check, signature, standard));
  if (check.dialect.own_operations && is_usable) {
    check.Deviate(kLenientRedefined, fragment.name.range,
                  "fragment `{}` redefines a standard operation, in whose place it is used", name);
    return;
  }
  check
      .Report(kRedefinedOperation, fragment.name.range, "fragment `{}` redefines a standard operation{}",
              name, check.dialect.own_operations ? " and has no body" : "")
      .Note(check.SignatureOf(standard).name.range, "the standard operation");
}

void DeclareFragment(CheckContext& check, ast::FragmentId id) {
  const ast::Fragment& fragment = check.document.fragments[id];
  Signature& signature = check.tables.signatures[static_cast<size_t>(id.index)];
  signature.name = fragment.name;
  signature.has_body = fragment.has_body;
  signature.is_generic = fragment.is_generic && check.dialect.generics;
  if (signature.is_generic && fragment.generic_default.has_value()) {
    signature.generic_default = ResolvePrimitive(check, *fragment.generic_default);
    if (check.Kind(signature.generic_default) == TypeKind::kGeneric) {
      check.Report(kGenericDefault, fragment.generic_range, "the default of `?` cannot be `?` itself");
      signature.generic_default = check.error;
    }
  }
  if (!fragment.name.symbol.valid()) return;
  const auto [entry, inserted] = check.tables.by_name.try_emplace(fragment.name.symbol, id);
  if (!inserted) {
    check
        .Report(kDuplicateFragment, fragment.name.range, "fragment `{}` is defined twice",
                check.Text(fragment.name.symbol))
        .Note(check.document.fragments[entry->second].name.range, "first defined here");
  }
  if (!fragment.has_error && !check.IsProperties(fragment)) {
    llvm::SmallVector<ast::Name, 8> parameters, results;
    for (const ast::Parameter& parameter : fragment.parameters) parameters.push_back(parameter.name);
    for (const ast::Result& result : fragment.results) results.push_back(result.name);
    CheckNames(check, parameters, results);
    check.body.is_generic = signature.is_generic;
    CheckParameters(check, fragment, signature);
    CheckResults(check, fragment, signature);
    CheckGenericUse(check, fragment, signature);
  }
  if (inserted) CheckRedefinition(check, fragment, signature);
}

}  // namespace

void DeclareFragments(CheckContext& check) {
  for (size_t i = 0; i < check.document.fragments.size(); ++i) {
    const ast::FragmentId id(static_cast<int32_t>(i));
    check.has_error = false;
    DeclareFragment(check, id);
    if (check.has_error || check.document.fragments[id].has_error) {
      check.tables.unsound[i] = true;
      check.tables.broken[i] = true;
    }
  }
}

void CheckNames(CheckContext& check, llvm::ArrayRef<ast::Name> parameters,
                llvm::ArrayRef<ast::Name> results) {
  check.body.scope.Clear();
  auto add = [&](const ast::Name& name, LocalKind kind, std::string_view what) {
    const Local* known = check.body.scope.Find(name.symbol);
    if (known == nullptr) {
      check.body.scope.Add(name.symbol, {.kind = kind, .declaration = name.range});
      return;
    }
    const std::string_view known_as = known->kind == LocalKind::kParameter ? "parameter" : "result";
    if (kind == LocalKind::kResult && known->kind == LocalKind::kParameter) {
      check
          .Report(kDuplicateName, name.range,
                  "`{0}` is a parameter; a result has a name of its own, which `{1}({0})` may be assigned to",
                  check.Text(name.symbol), check.dialect.copy)
          .Note(known->declaration, "the parameter");
      return;
    }
    check
        .Report(kDuplicateName, name.range, "{} `{}` has the name of another {}", what,
                check.Text(name.symbol), known_as)
        .Note(known->declaration, "the other {}", known_as);
  };
  for (const ast::Name& name : parameters) add(name, LocalKind::kParameter, "parameter");
  for (const ast::Name& name : results) add(name, LocalKind::kResult, "result");
}

TypeId ResolvePrimitive(CheckContext& check, ast::PrimitiveName name) {
  switch (name) {
    case ast::PrimitiveName::kInteger:
    case ast::PrimitiveName::kExtent:  // the dialect rules report the wrong one
      return check.integer;
    case ast::PrimitiveName::kScalar:
      return check.scalar;
    case ast::PrimitiveName::kLogical:
      return check.logical;
    case ast::PrimitiveName::kString:
      return check.string;
    case ast::PrimitiveName::kGeneric:
      return check.dialect.generics ? check.types.Primitive(TypeKind::kGeneric) : check.error;
  }
  return check.error;
}

}  // namespace nnefc::semantics::checks
