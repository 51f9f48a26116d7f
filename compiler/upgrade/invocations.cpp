// The rewriting of invocations from the provisional to the ratified dialect.

#include <algorithm>

#include "compiler/expand/provisional_names.h"
#include "compiler/upgrade/rewriter.h"

namespace nnefc::upgrade {
namespace {

// Returns an attribute that is equal in all nodes, or null.
const ir::Attribute* Common(const std::vector<const ir::Node*>& nodes, std::string_view name) {
  const ir::Attribute* common = nodes.front()->attributes().Find(name);
  for (const ir::Node* node : nodes) {
    const ir::Attribute* attribute = node->attributes().Find(name);
    if (common == nullptr || attribute == nullptr || !(*attribute == *common)) return nullptr;
  }
  return common;
}

std::optional<ast::PrimitiveName> PrimitiveOf(std::string_view name) {
  for (ast::PrimitiveName primitive : {ast::PrimitiveName::kInteger, ast::PrimitiveName::kScalar,
                                       ast::PrimitiveName::kLogical, ast::PrimitiveName::kString}) {
    if (ast::Spelling(primitive) == name) return primitive;
  }
  return std::nullopt;
}

}  // namespace

ast::ExprNode Rewriter::CopyInvocation(ast::ExprId id, const ast::InvocationExpr& invocation) {
  ast::InvocationExpr copy = invocation;
  const semantics::Binding* binding = translates() ? source_.document.binding(id) : nullptr;
  llvm::SmallVector<ast::Argument, 8> arguments;
  if (binding == nullptr) {  // also in an unchecked body
    if (Text(copy.callee.symbol) == "quantize_linear") copy.callee = Named("linear_quantize");
    for (const ast::Argument& argument : invocation.arguments) {
      arguments.push_back({argument.name, Copy(argument.value)});
      if (argument.name && !keeps_ranges_) arguments.back().name->range = SourceRange();
    }
    copy.arguments = out_->Keep<ast::Argument>(arguments);
    return out_->Keep(copy);
  }
  for (const ast::Argument& argument : invocation.arguments)
    has_operators_ |= ast::Is<ast::InvocationExpr>(old().exprs[argument.value].node);
  const semantics::Signature& called = binding->callee.document->signature(binding->callee.fragment);
  const bool is_own = binding->callee.document == &source_.document;
  const std::string_view name = Text(called.name.symbol);
  const std::string ratified(is_own ? std::string_view() : expand::RatifiedName(name));
  copy.callee = is_own ? Rename(invocation.callee)
                       : ast::Name{context_.symbols.Intern(ratified), invocation.callee.range};
  CopyArguments(invocation, called, ratified, arguments);
  if (!is_own) {
    if (expand::IsPlanewise(name))
      arguments.push_back({Named("groups"), Add(SourceRange(), ast::IntegerLiteral{0})});
    TakeFromExpansion(id, ratified, copy, arguments);
  }
  copy.arguments = out_->Keep<ast::Argument>(arguments);
  return out_->Keep(copy);
}

// Writes tensors as positional arguments as far as all preceding ones are present, and attributes as named
// arguments (R 3.3.2).
void Rewriter::CopyArguments(const ast::InvocationExpr& invocation, const semantics::Signature& called,
                             std::string_view ratified, llvm::SmallVectorImpl<ast::Argument>& arguments) {
  // The tensors of the ratified declaration, in order.
  const llvm::SmallVector<Symbol, 8> tensors = TensorParameters(called, ratified);
  llvm::SmallVector<std::optional<ast::Argument>, 8> positional(tensors.size());
  llvm::SmallVector<ast::Argument, 8> named;
  // Comments among arguments refer to adjacent arguments.
  const bool keeps_names = HasCommentAmong(invocation.arguments);
  for (size_t i = 0; i < invocation.arguments.size(); ++i) {
    const ast::Argument& argument = invocation.arguments[i];
    const ast::ExprId value = Copy(argument.value);
    const auto parameter = std::find_if(
        called.parameters.begin(), called.parameters.end(), [&](const semantics::TypedName& candidate) {
          return argument.name ? candidate.name.symbol == argument.name->symbol
                               : &candidate == called.parameters.data() + i;
        });
    if (parameter == called.parameters.end()) continue;
    const ast::Name name = ParameterName(ratified, *parameter, argument);
    const auto tensor = std::find(tensors.begin(), tensors.end(), name.symbol);
    if (tensor == tensors.end() || (keeps_names && argument.name)) {
      named.push_back({name, value});
    } else {
      positional[static_cast<size_t>(tensor - tensors.begin())] = {name, value};
    }
  }
  bool in_place = true;
  for (std::optional<ast::Argument>& argument : positional) {
    in_place = in_place && argument.has_value();
    if (!argument) continue;
    if (in_place) argument->name = std::nullopt;
    arguments.push_back(*argument);
  }
  arguments.append(named.begin(), named.end());
}

bool Rewriter::HasCommentAmong(llvm::ArrayRef<ast::Argument> arguments) const {
  if (arguments.size() < 2) return false;
  const uint32_t begin = old().exprs[arguments.front().value].range.begin;
  const uint32_t end = old().exprs[arguments.back().value].range.begin;
  const auto& comments = old().comments;
  const auto next = std::partition_point(comments.begin(), comments.end(), [&](const ast::Comment& comment) {
    return comment.range.begin < begin;
  });
  return next != comments.end() && next->range.begin < end;
}

// Returns the tensor parameters. `ratified` is empty for a fragment of the document; its tensors then precede
// its attributes.
llvm::SmallVector<Symbol, 8> Rewriter::TensorParameters(const semantics::Signature& called,
                                                        std::string_view ratified) {
  const semantics::Callee target =
      ratified.empty() ? semantics::Callee() : source_.ratified.Find(context_.symbols.Intern(ratified));
  const semantics::Signature& declared =
      target.valid() ? target.document->signature(target.fragment) : called;
  const semantics::TypeTable& types = target.valid() ? source_.ratified.types() : source_.document.types();
  llvm::SmallVector<Symbol, 8> tensors;
  for (const semantics::TypedName& parameter : declared.parameters) {
    if (!types.ContainsTensor(parameter.type)) continue;
    tensors.push_back(ratified.empty() ? Rename(parameter.name).symbol : parameter.name.symbol);
  }
  return tensors;
}

// Returns the ratified parameter name; `ratified` is empty for a fragment of the document.
ast::Name Rewriter::ParameterName(std::string_view ratified, const semantics::TypedName& parameter,
                                  const ast::Argument& argument) {
  const SourceRange range = argument.name ? argument.name->range : SourceRange();
  if (ratified.empty()) return Rename({parameter.name.symbol, range});
  const semantics::Callee target = source_.ratified.Find(context_.symbols.Intern(ratified));
  if (target.valid()) {
    for (const semantics::TypedName& candidate : target.document->signature(target.fragment).parameters) {
      if (expand::ProvisionalParameter(ratified, Text(candidate.name.symbol)) == Text(parameter.name.symbol))
        return {candidate.name.symbol, range};
    }
  }
  return {parameter.name.symbol, range};
}

void Rewriter::TakeFromExpansion(ast::ExprId id, std::string_view ratified, ast::InvocationExpr& invocation,
                                 llvm::SmallVectorImpl<ast::Argument>& arguments) {
  const SourceRange range = old().exprs[id].range;
  auto found = nodes_.find({range.begin, range.end});
  if (found == nodes_.end()) return;
  const ir::OpId wanted = source_.expanded.registry().Find(ir::kNnefSet, ratified);
  Nodes nodes;
  for (const ir::Node* node : found->second) {
    if (node->op() == wanted) nodes.push_back(node);
  }
  const semantics::Callee target = source_.ratified.Find(context_.symbols.Intern(ratified));
  if (nodes.empty() || !target.valid()) return;
  const semantics::Signature& signature = target.document->signature(target.fragment);
  const semantics::TypeTable& types = source_.ratified.types();
  const ir::Attribute* dtype = Common(nodes, "dtype");
  if (!invocation.type_argument && dtype != nullptr && signature.generic_default.valid() &&
      dtype->AsString() != types.Text(signature.generic_default, ast::Dialect::kRatified)) {
    invocation.type_argument = PrimitiveOf(dtype->AsString());
  }
  for (const semantics::TypedName& parameter : signature.parameters) {
    if (types.Kind(parameter.type) != semantics::TypeKind::kArray || types.ContainsTensor(parameter.type))
      continue;
    const ir::Attribute* value = Common(nodes, Text(parameter.name.symbol));
    if (value != nullptr && value->IsList()) CompleteList(parameter, *value, arguments);
  }
}

// Extends a list to its length in the expansion; the written items are preserved.
void Rewriter::CompleteList(const semantics::TypedName& parameter, const ir::Attribute& value,
                            llvm::SmallVectorImpl<ast::Argument>& arguments) {
  auto argument = std::find_if(arguments.begin(), arguments.end(), [&](const ast::Argument& candidate) {
    return candidate.name && candidate.name->symbol == parameter.name.symbol;
  });
  const size_t length = value.ListSize();
  if (argument == arguments.end()) {
    // Omitted lists keep their default, `[]` for windows, unless expansion added items.
    if (length > 0 && parameter.default_value.valid()) {
      const auto* list =
          std::get_if<ast::ArrayExpr>(&source_.ratified.ast().exprs[parameter.default_value].node);
      if (list != nullptr && list->items.empty())
        arguments.push_back({ast::Name{parameter.name.symbol, SourceRange()}, Literal(value)});
    }
    return;
  }
  const std::optional<size_t> written = LengthOf(argument->value);
  if (!written || *written == length) return;
  const ast::Expr expr = out_->exprs[argument->value];
  if (const auto* array = std::get_if<ast::ArrayExpr>(&expr.node)) {
    llvm::SmallVector<ast::ExprId, 8> items(
        array->items.begin(), array->items.begin() + static_cast<std::ptrdiff_t>(std::min(*written, length)));
    items.append(Items(value, items.size()));
    argument->value = Add(expr.range, ast::ArrayExpr{out_->Keep<ast::ExprId>(items)});
    return;
  }
  if (*written > length) return;
  const ast::ExprId rest =
      Add(SourceRange(), ast::ArrayExpr{out_->Keep<ast::ExprId>(Items(value, *written))});
  argument->value =
      Add(expr.range,
          out_->Keep(ast::BinaryExpr{ast::BinaryOperator::kAdd, argument->value, rest, SourceRange()}));
}

// Returns the number of items of a list expression such as `[a, b]` or `[a] * 2`, if known.
std::optional<size_t> Rewriter::LengthOf(ast::ExprId list) const {
  const ast::ExprNode& node = out_->exprs[list].node;
  if (const auto* array = std::get_if<ast::ArrayExpr>(&node)) return array->items.size();
  const auto* binary = ast::Find<ast::BinaryExpr>(node);
  if (binary == nullptr) return std::nullopt;
  const std::optional<size_t> left = LengthOf(binary->left);
  if (!left) return std::nullopt;
  if (binary->op == ast::BinaryOperator::kAdd) {
    const std::optional<size_t> right = LengthOf(binary->right);
    return right ? std::optional(*left + *right) : std::nullopt;
  }
  const auto* count = std::get_if<ast::IntegerLiteral>(&out_->exprs[binary->right].node);
  constexpr int64_t kMost = 1000;
  if (binary->op != ast::BinaryOperator::kMul || count == nullptr || count->value < 0 || count->value > kMost)
    return std::nullopt;
  return *left * static_cast<size_t>(count->value);
}

ast::ExprId Rewriter::Literal(const ir::Attribute& value) {
  if (const auto* integer = value.get<int64_t>()) {
    if (*integer >= 0) return Add(SourceRange(), ast::IntegerLiteral{*integer});
    const ast::ExprId digits = Add(SourceRange(), ast::IntegerLiteral{-*integer});
    return Add(SourceRange(), ast::UnaryExpr{ast::UnaryOperator::kMinus, digits});
  }
  const auto* list = value.get<ir::AttributeList>();
  const llvm::SmallVector<ast::ExprId, 8> items = Items(value, 0);
  const llvm::ArrayRef<ast::ExprId> kept = out_->Keep<ast::ExprId>(items);
  if (list != nullptr && list->is_tuple) return Add(SourceRange(), out_->Keep(ast::TupleExpr{kept, true}));
  return Add(SourceRange(), ast::ArrayExpr{kept});
}

// Returns literals for the items of a list from `first` on; completed lists have integers or pairs of them.
llvm::SmallVector<ast::ExprId, 8> Rewriter::Items(const ir::Attribute& list, size_t first) {
  llvm::SmallVector<ast::ExprId, 8> items;
  if (const auto* integers = list.get<ir::Attribute::Integers>()) {
    for (size_t i = first; i < integers->size(); ++i) items.push_back(Literal((*integers)[i]));
  } else if (const auto* values = list.get<ir::AttributeList>()) {
    for (size_t i = first; i < values->items.size(); ++i) {
      const ir::Attribute& item = values->items[i];
      const bool is_pair = item.get<ir::Attribute::Integers>() != nullptr;
      const llvm::SmallVector<ast::ExprId, 8> pair =
          is_pair ? Items(item, 0) : llvm::SmallVector<ast::ExprId, 8>();
      items.push_back(
          is_pair ? Add(SourceRange(), out_->Keep(ast::TupleExpr{out_->Keep<ast::ExprId>(pair), true}))
                  : Literal(item));
    }
  }
  return items;
}

}  // namespace nnefc::upgrade
