// Registry entries of operations that a plug-in's library declares.

#include "compiler/plugin/declared_row.h"

#include "compiler/expand/attributes.h"
#include "compiler/expand/literal_value.h"
#include "compiler/ir/ops/arguments.h"

namespace nnefc::plugin {

using semantics::TypeKind;

namespace {

// The maximum number of items in a default value.
constexpr int64_t kMaxItems = int64_t{1} << 20;

class RowFiller {
 public:
  RowFiller(ir::OpInfo& row, const semantics::Callee& declared, const SymbolTable& symbols)
      : row_(row),
        document_(*declared.document),
        types_(document_.types()),
        signature_(document_.signature(declared.fragment)),
        symbols_(symbols) {}

  std::string Fill() {
    for (const semantics::TypedName& parameter : signature_.parameters) {
      if (types_.ContainsTensor(parameter.type)) {
        AddInput(parameter);
      } else if (!AddAttribute(parameter)) {
        return fmt::format("`{}` of `{}` is of type {}, which no attribute has", TextOf(parameter), row_.name,
                           types_.Text(parameter.type, document_.dialect()));
      }
    }
    for (const semantics::TypedName& result : signature_.results)
      row_.outputs.push_back(TextOf(result) + (types_.Kind(result.type) == TypeKind::kArray ? "[]" : ""));
    row_.is_generic = signature_.is_generic;
    if (row_.check == nullptr) row_.check = ir::ops::CheckArguments;
    return {};
  }

 private:
  std::string TextOf(const semantics::TypedName& name) const {
    return std::string(symbols_.Text(name.name.symbol));
  }

  void AddInput(const semantics::TypedName& parameter) {
    const bool is_array = types_.Kind(parameter.type) == TypeKind::kArray;
    const semantics::TypeId tensor = is_array ? types_.Item(parameter.type) : parameter.type;
    ir::InputInfo input{
        .name = TextOf(parameter), .variadic = is_array, .optional = parameter.default_value.valid()};
    const TypeKind element = types_.Kind(types_.Element(tensor));
    input.generic = element == TypeKind::kGeneric;
    if (element == TypeKind::kScalar) input.types = ir::TypeClass::kFloat;
    if (element == TypeKind::kInteger) input.types = ir::TypeClass::kInteger;
    if (element == TypeKind::kLogical) input.types = ir::TypeClass::kBoolean;
    row_.inputs.push_back(std::move(input));
  }

  std::optional<ir::AttributeKind> KindOf(semantics::TypeId type) const {
    switch (types_.Kind(type)) {
      case TypeKind::kInteger:
        return ir::AttributeKind::kInt;
      case TypeKind::kScalar:
        return ir::AttributeKind::kDouble;
      case TypeKind::kLogical:
        return ir::AttributeKind::kBool;
      case TypeKind::kString:
        return ir::AttributeKind::kString;
      case TypeKind::kArray:
        break;
      default:
        return std::nullopt;
    }
    switch (types_.Kind(types_.Item(type))) {
      case TypeKind::kInteger:
        return ir::AttributeKind::kInts;
      case TypeKind::kScalar:
        return ir::AttributeKind::kDoubles;
      case TypeKind::kGeneric:
        return ir::AttributeKind::kGeneric;
      case TypeKind::kTuple:
        if (types_.Text(type, document_.dialect()) == "(integer,integer)[]") return ir::AttributeKind::kPairs;
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }

  bool AddAttribute(const semantics::TypedName& parameter) {
    const std::optional<ir::AttributeKind> kind = KindOf(parameter.type);
    if (!kind) return false;
    ir::AttributeInfo attribute{.name = TextOf(parameter), .kind = *kind};
    if (parameter.default_value.valid()) {
      expand::Heap heap(kMaxItems);
      expand::Fault fault;
      const auto value = expand::LiteralValue(document_.ast(), parameter.default_value, symbols_, heap);
      if (value) {
        attribute.fallback =
            expand::ToAttribute(*value, types_, parameter.type, TypeKind::kScalar,
                                {.parameter = attribute.name, .operation = row_.name}, fault);
      }
    }
    row_.attributes.push_back(std::move(attribute));
    return true;
  }

  ir::OpInfo& row_;
  const semantics::CheckedDocument& document_;
  const semantics::TypeTable& types_;
  const semantics::Signature& signature_;
  const SymbolTable& symbols_;
};

}  // namespace

std::string FillFromDeclaration(ir::OpInfo& row, const semantics::Callee& declared,
                                const SymbolTable& symbols) {
  return RowFiller(row, declared, symbols).Fill();
}

}  // namespace nnefc::plugin
