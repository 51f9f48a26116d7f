// Checks of constructs that the grammar accepts but the document's dialect does not.

#include "compiler/semantics/dialect_rules.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "compiler/semantics/extensions.h"
#include "compiler/semantics/rules.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/rules.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::semantics {
namespace {

// Maximum length of a rewritten text in bytes.
constexpr uint32_t kMaxFixLength = 1000;

// Returns the names of the extensions that a line may enable.
std::vector<std::string_view> KnownExtensions() {
  std::vector<std::string_view> names;
  for (const Extension& extension : Extensions()) {
    if (extension.activation == Activation::kLine) names.push_back(extension.name);
  }
  return names;
}

// Checks dialect rules by scanning the node stores instead of walking trees: order is irrelevant.
class DialectRules {
 public:
  DialectRules(const ast::Document& document, const ast::Dialect& dialect, CheckedKind kind, Context& context,
               Deviations& deviations)
      : document_(document),
        kind_(kind),
        context_(context),
        deviations_(deviations),
        dialect_(dialect),
        strict_(EnabledDialect(document, context.symbols)) {}

  void Check() {
    CheckExtensions();
    CheckTypes();
    CheckDeclarations();
    MarkStatements();
    for (size_t i = 0; i < document_.exprs.size(); ++i) CheckExpr(ast::ExprId(static_cast<int32_t>(i)));
    ReportOperators();
    CheckQuotedNames();
  }

 private:
  template <typename... Args>
  DiagnosticBuilder Report(const Rule& rule, SourceRange range, fmt::format_string<Args...> format,
                           Args&&... args) {
    std::vector<DiagnosticNote> notes;
    if (rule.label.starts_with("dialect.") && !document_.reading.empty() &&
        !std::exchange(is_explained_, true))
      notes.push_back({document_.version_range.valid() ? document_.version_range : range, document_.reading});
    return {&context_.emitter,
            {&rule,
             rule.severity,
             range,
             fmt::format(format, std::forward<Args>(args)...),
             std::move(notes),
             {}}};
  }
  // Returns an empty text for the missing name of a broken declaration.
  std::string_view Text(Symbol symbol) const { return symbol.valid() ? context_.symbols.Text(symbol) : ""; }
  std::string_view SourceText(SourceRange range) const {
    return context_.sources.Text(range.file).substr(range.begin, range.end - range.begin);
  }
  std::string_view SourceText(ast::ExprId id) const { return SourceText(document_.exprs[id].range); }

  void CheckExtensions();
  void ReportUnknownExtension(const ast::Name& name);
  bool IsOtherInteger(ast::PrimitiveName name) const {
    return (name == ast::PrimitiveName::kExtent || name == ast::PrimitiveName::kInteger) &&
           ast::Spelling(name) == other_.integer;
  }
  void CheckTypes();
  void CheckDeclarations();
  void CheckFragment(const ast::Fragment& fragment);
  void CheckName(const ast::Name& name);
  void CheckQuotedNames();
  void MarkStatements();
  void CheckLeft(ast::ExprId left);
  void CheckExpr(ast::ExprId id);
  void CheckComprehension(const ast::Expr& expr, const ast::ComprehensionExpr& comprehension);
  void ReportTypeArgument(const ast::InvocationExpr& invocation);
  bool IsOperatorExpression(ast::ExprId id) const;
  ast::ExprId WithoutBrackets(ast::ExprId id) const;
  void ReportBrackets(std::string_view extension);
  bool IsSubscriptOfTensor(ast::ExprId id) const;
  std::string_view NestedCallAt(SourceRange range) const;
  void ReportOperators();

  const ast::Document& document_;
  const CheckedKind kind_;
  Context& context_;
  Deviations& deviations_;
  const ast::Dialect& dialect_;
  const ast::Dialect strict_;  // without lenient mode
  const ast::Dialect& other_ = ast::Other(dialect_);
  std::vector<bool> is_left_, is_right_;  // indexed by ExprId: a whole side of an assignment
  std::set<int32_t> iterators_;           // names of all comprehensions' iterators
  // Expressions that require the extension for operator expressions.
  std::vector<SourceRange> operators_;
  std::vector<ast::ExprId> brackets_;
  bool only_brackets_ = true;
  bool is_explained_ = false;  // the reason for the chosen dialect was reported
};

void DialectRules::CheckExtensions() {
  for (const ast::Extension& statement : document_.extensions) {
    if (!dialect_.extensions) {
      Report(kDialectExtension, statement.range,
             "`extension` belongs to the ratified dialect; a provisional document enables nothing")
          .Fix(statement.range, "");
      continue;
    }
    bool reported = false;
    for (const ExtensionUse& use : ExtensionsIn(statement, context_.symbols)) {
      if (use.extension == nullptr) {
        // Vendors write arguments of an extension after its name: report only the first unknown word.
        if (!std::exchange(reported, true)) ReportUnknownExtension(use.name.front());
      } else if (use.is_misspelt) {
        const ast::Name& name = use.name.front();
        DiagnosticBuilder builder =
            Report(kUnknownExtension, name.range, "unknown extension `{}`; did you mean `{}`?",
                   Text(name.symbol), use.extension->name);
        if (use.has_safe_spelling) builder.Fix(name.range, std::string(use.extension->name));
      } else if (statement.tail.valid() && use.extension->arguments != Extension::kRest) {
        Report(ast::kUnexpectedToken, statement.tail, "expected `;`, found `{}`", SourceText(statement.tail));
      }
    }
  }
}

// R 3.2.4: the name of an extension begins with KHR, EXT or the name of a vendor.
void DialectRules::ReportUnknownExtension(const ast::Name& name) {
  const std::string_view text = Text(name.symbol), prefix = text.substr(0, text.find('_'));
  const bool is_vendors =
      prefix.size() < text.size() && !prefix.empty() && prefix != "KHR" && prefix != "EXT";
  Report(kUnknownExtension, name.range, "unknown extension `{}`{}; known are `{}`", text,
         is_vendors ? fmt::format(" of the vendor `{}`", prefix) : "", fmt::join(KnownExtensions(), "`, `"));
}

void DialectRules::CheckTypes() {
  for (const ast::Type& type : document_.types) {
    if (const auto* primitive = std::get_if<ast::PrimitiveType>(&type.node)) {
      if (IsOtherInteger(primitive->name)) {
        Report(kDialectType, type.range, "`{}` belongs to the {} dialect; the type is `{}` here",
               other_.integer, other_.name, dialect_.integer)
            .Fix(type.range, std::string(dialect_.integer));
      }
      if (!dialect_.generics && primitive->name == ast::PrimitiveName::kGeneric) {
        Report(kDialectType, type.range, "the generic type `?` belongs to the ratified dialect");
      }
      continue;
    }
    const auto* tensor = std::get_if<ast::TensorType>(&type.node);
    if (tensor == nullptr) continue;
    if (dialect_.tensor_types && !tensor->has_brackets) {
      Report(kDialectType, type.range,
             "`tensor` without a data type belongs to the provisional dialect; write `tensor<scalar>` here")
          .Fix(type.range, "tensor<scalar>");
    } else if (dialect_.tensor_types && tensor->element == ast::PrimitiveName::kExtent) {
      Report(kDialectType, type.range,
             "`extent` belongs to the provisional dialect; the type is `integer` here")
          .Fix(type.range, "tensor<integer>");
    } else if (!dialect_.tensor_types && tensor->has_brackets) {
      Report(kDialectType, type.range, "`{}` belongs to the ratified dialect; the type is `tensor` here",
             SourceText(type.range))
          .Fix(type.range, "tensor");
    }
  }
}

void DialectRules::CheckName(const ast::Name& name) {
  // Keywords that both dialects share are tokens and never reach this function.
  const std::string_view text = Text(name.symbol);
  if (!ast::IsSoftKeyword(text, dialect_)) return;
  Report(kKeywordName, name.range, "`{}` is a keyword of the {} dialect and cannot be a name", text,
         dialect_.name);
}

// Reports each quoted name once, with fixes for all its occurrences.
void DialectRules::CheckQuotedNames() {
  std::map<std::string_view, std::vector<SourceRange>> strict;
  for (const SourceRange& range : document_.quoted_names) {
    if (dialect_.quoted_names) {
      deviations_.Note(kLenientQuoted, range,
                       fmt::format("the name `{}` stands in quotes", SourceText(range)));
    } else {
      strict[SourceText(range)].push_back(range);
    }
  }
  const std::string_view text = context_.sources.Text(document_.file);
  for (const auto& [written, places] : strict) {
    const std::string_view name = written.substr(2, written.size() - 3);
    const std::string right = ast::NearestName(name);
    const bool is_free =
        ast::IsPlainName(right) && (right == name || text.find(right) == std::string_view::npos);
    DiagnosticBuilder builder =
        Report(kQuotedName, places.front(),
               "the name `{}` stands in quotes; names are of letters, digits and `_`", written);
    if (!is_free) continue;
    for (const SourceRange& place : places) builder.Fix(place, right);
  }
}

void DialectRules::CheckDeclarations() {
  for (const ast::Fragment& fragment : document_.fragments) CheckFragment(fragment);
  for (const ast::Graph& graph : document_.graphs) {
    CheckName(graph.name);
    for (const ast::Name& name : graph.parameters) CheckName(name);
    for (const ast::Name& name : graph.results) CheckName(name);
  }
  if (strict_.fragments || document_.fragments.empty()) return;
  const std::string_view extension = ExtensionFor(&ast::Dialect::fragments).name;
  const ast::Fragment& first = *document_.fragments.begin();
  if (dialect_.fragments) {
    deviations_.Note(kLenientFragments, first.keyword_range,
                     fmt::format("fragments are defined without `extension {};`", extension));
    return;
  }
  DiagnosticBuilder builder = Report(kMissingFragmentExtension, first.keyword_range,
                                     "fragment definitions need `extension {};`", extension);
  FixExtension(document_, extension, builder);
}

void DialectRules::CheckFragment(const ast::Fragment& fragment) {
  CheckName(fragment.name);
  if (fragment.parameters.empty() && !fragment.has_error && !dialect_.empty_declarations) {
    Report(ast::kEmptyList, fragment.parameters_range, "expected at least one parameter of the fragment `{}`",
           Text(fragment.name.symbol));
  }
  for (const ast::Parameter& parameter : fragment.parameters) CheckName(parameter.name);
  for (const ast::Result& result : fragment.results) CheckName(result.name);
  if (fragment.is_generic && !dialect_.generics) {
    Report(kDialectGeneric, fragment.generic_range,
           "generic fragments belong to the ratified dialect; `tensor` takes any data type here")
        .Fix(fragment.generic_range, "");
  }
  if (!dialect_.bodiless_fragments && !fragment.has_body && !fragment.has_error &&
      kind_ != CheckedKind::kLibrary) {
    Report(kDialectBody, fragment.name.range,
           "`{}` has no body; fragments without one belong to the ratified dialect",
           Text(fragment.name.symbol));
  }
}

void DialectRules::MarkStatements() {
  for (const ast::Expr& expr : document_.exprs) {
    const auto* comprehension = ast::Find<ast::ComprehensionExpr>(expr.node);
    if (comprehension == nullptr) continue;
    for (const ast::Iterator& iterator : comprehension->iterators)
      iterators_.insert(iterator.name.symbol.index);
  }
  is_left_.resize(document_.exprs.size());
  is_right_.resize(document_.exprs.size());
  auto mark = [this](llvm::ArrayRef<ast::Assignment> body) {
    for (const ast::Assignment& assignment : body) {
      CheckLeft(assignment.left);
      is_left_[static_cast<size_t>(assignment.left.index)] = true;
      is_right_[static_cast<size_t>(assignment.right.index)] = true;
      is_right_[static_cast<size_t>(WithoutBrackets(assignment.right).index)] = true;
      const ast::ExprNode& right = document_.exprs[assignment.right].node;
      // 3.2.1: in flat syntax the right side is an invocation.
      if (!ast::Is<ast::InvocationExpr>(right) && !std::holds_alternative<ast::ErrorExpr>(right) &&
          !IsSubscriptOfTensor(assignment.right)) {
        operators_.push_back(document_.exprs[assignment.right].range);
        only_brackets_ &=
            ast::Is<ast::InvocationExpr>(document_.exprs[WithoutBrackets(assignment.right)].node);
      }
    }
  };
  for (const ast::Fragment& fragment : document_.fragments) mark(fragment.body);
  for (const ast::Graph& graph : document_.graphs) mark(graph.body);
  for (const ast::Quantization& entry : document_.quantizations) {
    if (entry.invocation.valid()) is_right_[static_cast<size_t>(entry.invocation.index)] = true;
  }
}

// Recursion is bounded by the nesting limit of the syntax.
void DialectRules::CheckLeft(ast::ExprId left) {
  const ast::Expr& expr = document_.exprs[left];
  if (const auto* identifier = std::get_if<ast::IdentifierExpr>(&expr.node)) {
    CheckName({identifier->name, expr.range});
  } else if (const auto* array = std::get_if<ast::ArrayExpr>(&expr.node)) {
    for (ast::ExprId item : array->items) CheckLeft(item);
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(expr.node)) {
    for (ast::ExprId item : tuple->items) CheckLeft(item);
  }
}

void DialectRules::CheckExpr(ast::ExprId id) {
  const ast::Expr& expr = document_.exprs[id];
  if (IsOperatorExpression(id) && !IsSubscriptOfTensor(id)) {
    operators_.push_back(expr.range);
    if (std::holds_alternative<ast::ParenExpr>(expr.node)) {
      brackets_.push_back(id);
    } else {
      only_brackets_ = false;
    }
  }
  if (const auto* comprehension = ast::Find<ast::ComprehensionExpr>(expr.node)) {
    CheckComprehension(expr, *comprehension);
  } else if (const auto* binary = ast::Find<ast::BinaryExpr>(expr.node)) {
    if (!dialect_.membership && binary->op == ast::BinaryOperator::kIn) {
      Report(kDialectIn, binary->op_range, "the operator `in` belongs to the ratified dialect");
    }
  } else if (const auto* invocation = ast::Find<ast::InvocationExpr>(expr.node)) {
    if (!invocation->type_argument.has_value() && !invocation->unknown_type.valid()) return;
    if (!dialect_.generics) {
      ReportTypeArgument(*invocation);
    } else if (invocation->type_argument == ast::PrimitiveName::kExtent) {
      Report(kDialectType, invocation->type_argument_range,
             "`extent` belongs to the provisional dialect; the type is `integer` here")
          .Fix(invocation->type_argument_range, "integer");
    }
  } else if (const auto* tuple = ast::Find<ast::TupleExpr>(expr.node)) {
    if (!dialect_.tuple_parentheses || tuple->parenthesized || is_left_[static_cast<size_t>(id.index)])
      return;
    Report(kDialectTuple, expr.range,
           "a tuple without parentheses on the right belongs to the provisional dialect; write `(..)` here")
        .Fix(expr.range, fmt::format("({})", SourceText(expr.range)));
  }
}

// Reports a type argument in the provisional dialect.
void DialectRules::ReportTypeArgument(const ast::InvocationExpr& invocation) {
  const SourceRange place = invocation.type_argument_range;
  // Tensors without a type argument are `scalar`.
  const bool is_default = invocation.type_argument == ast::PrimitiveName::kScalar;
  Report(kDialectGeneric, place, "type arguments belong to the ratified dialect; `{}` takes none here",
         Text(invocation.callee.symbol))
      .Fix({place.file, invocation.callee.range.end, place.end + 1}, "",
           is_default ? Applicability::kSafe : Applicability::kUnsafe);
}

void DialectRules::CheckComprehension(const ast::Expr& expr, const ast::ComprehensionExpr& comprehension) {
  for (const ast::Iterator& iterator : comprehension.iterators) CheckName(iterator.name);
  if (comprehension.loops_first == dialect_.loops_first) return;
  // Fixes of nested comprehensions would repeat their text at each level.
  const bool has_fix = expr.range.end - expr.range.begin < kMaxFixLength;
  std::string loop;
  for (const ast::Iterator& iterator : comprehension.iterators) {
    if (!has_fix) break;
    loop += fmt::format("{}{} in {}", loop.empty() ? "for " : ", ", Text(iterator.name.symbol),
                        SourceText(iterator.iterable));
  }
  if (comprehension.condition.valid() && has_fix)
    loop += fmt::format(" if {}", SourceText(comprehension.condition));
  if (dialect_.loops_first) {
    DiagnosticBuilder builder = Report(kDialectComprehension, expr.range,
                                       "this form of array comprehension belongs to the provisional dialect; "
                                       "write `[for .. in .. yield ..]` here");
    if (has_fix) builder.Fix(expr.range, fmt::format("[{} yield {}]", loop, SourceText(comprehension.body)));
    return;
  }
  const bool is_single = comprehension.iterators.size() == 1;
  DiagnosticBuilder builder = Report(
      kDialectComprehension, expr.range,
      "this form of array comprehension belongs to the ratified dialect; write `[.. for .. in ..]` here{}",
      is_single ? "" : ", with one iterator");
  if (is_single && has_fix)
    builder.Fix(expr.range, fmt::format("[{} {}]", SourceText(comprehension.body), loop));
}

// Returns true for an operator expression of 3.2.3. Flat syntax excludes these.
bool DialectRules::IsOperatorExpression(ast::ExprId id) const {
  const ast::ExprNode& node = document_.exprs[id].node;
  if (ast::Is<ast::InvocationExpr>(node)) return !is_right_[static_cast<size_t>(id.index)];
  if (const auto* unary = std::get_if<ast::UnaryExpr>(&node)) {
    const ast::ExprNode& operand = document_.exprs[unary->operand].node;
    const bool is_number = std::holds_alternative<ast::IntegerLiteral>(operand) ||
                           std::holds_alternative<ast::ScalarLiteral>(operand);
    return unary->op != ast::UnaryOperator::kMinus || !is_number;
  }
  return ast::Is<ast::BinaryExpr>(node) || std::holds_alternative<ast::SelectExpr>(node) ||
         ast::Is<ast::ComprehensionExpr>(node) || std::holds_alternative<ast::SubscriptExpr>(node) ||
         ast::Is<ast::BuiltinExpr>(node) || std::holds_alternative<ast::ParenExpr>(node);
}

// Returns true for `x[0]` on a tensor in the body of a graph; the checker reports that with a more specific
// message.
bool DialectRules::IsSubscriptOfTensor(ast::ExprId id) const {
  const auto* subscript = std::get_if<ast::SubscriptExpr>(&document_.exprs[id].node);
  if (subscript == nullptr) return false;
  const auto* base = std::get_if<ast::IdentifierExpr>(&document_.exprs[subscript->base].node);
  if (base == nullptr || iterators_.contains(base->name.index)) return false;
  const SourceRange range = document_.exprs[id].range;
  return llvm::any_of(document_.graphs, [&](const ast::Graph& graph) {
    return range.begin >= graph.range.begin && range.end <= graph.range.end;
  });
}

ast::ExprId DialectRules::WithoutBrackets(ast::ExprId id) const {
  while (const auto* brackets = std::get_if<ast::ParenExpr>(&document_.exprs[id].node)) id = brackets->inner;
  return id;
}

// Reports brackets that group nothing, if the document has no other operator.
void DialectRules::ReportBrackets(std::string_view extension) {
  llvm::sort(brackets_, [&](ast::ExprId a, ast::ExprId b) {
    const SourceRange left = document_.exprs[a].range, right = document_.exprs[b].range;
    return left.begin != right.begin ? left.begin < right.begin : left.end > right.end;
  });
  DiagnosticBuilder builder = Report(kMissingOperatorExtension, document_.exprs[brackets_.front()].range,
                                     "brackets around one value are an operator expression, which needs "
                                     "`extension {};`; leave them out",
                                     extension);
  uint32_t end = 0;  // end of the outermost brackets being removed
  for (ast::ExprId id : brackets_) {
    const SourceRange range = document_.exprs[id].range;
    if (range.end <= end) continue;
    end = range.end;
    builder.Fix(range, std::string(SourceText(WithoutBrackets(id))));
  }
}

// Returns the operation whose invocation has this range; empty if it is another expression.
std::string_view DialectRules::NestedCallAt(SourceRange range) const {
  for (const ast::Expr& expr : document_.exprs) {
    const auto* call = ast::Find<ast::InvocationExpr>(expr.node);
    if (call != nullptr && expr.range.begin == range.begin && expr.range.end == range.end)
      return Text(call->callee.symbol);
  }
  return "";
}

// Reports once per document, or per graph, at the first location: one missing line is one error.
void DialectRules::ReportOperators() {
  if (kind_ != CheckedKind::kModel || operators_.empty()) return;
  auto starts_first = [](const SourceRange& a, const SourceRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  if (!strict_.operators) {
    const std::string_view extension = ExtensionFor(&ast::Dialect::operators).name;
    if (dialect_.operators) {
      for (const SourceRange& range : operators_) {
        deviations_.Note(kLenientOperators, range,
                         fmt::format("an operator expression stands without `extension {};`", extension));
      }
      return;
    }
    if (only_brackets_) return ReportBrackets(extension);
    const SourceRange first = *std::min_element(operators_.begin(), operators_.end(), starts_first);
    const std::string_view call = NestedCallAt(first);
    DiagnosticBuilder builder =
        call.empty()
            ? Report(kMissingOperatorExtension, first,
                     "operator expressions need `extension {};`; without it arguments are literals, names, "
                     "arrays and tuples",
                     extension)
            : Report(
                  kMissingOperatorExtension, first,
                  "an invocation as an argument needs `extension {};`, or a name of its own: `t = {}(..);`",
                  extension, call);
    FixExtension(document_, extension, builder);
    return;
  }
  if (!dialect_.flat_graph) return;
  for (const ast::Graph& graph : document_.graphs) {
    const SourceRange* first = nullptr;
    for (const SourceRange& range : operators_) {
      if (range.begin < graph.range.begin || range.end > graph.range.end) continue;
      if (first == nullptr || starts_first(range, *first)) first = &range;
    }
    if (first == nullptr) continue;
    Report(kGraphNotFlat, *first,
           "the body of a graph is restricted to flat syntax: invocations of literals, names, arrays and "
           "tuples");
  }
}

}  // namespace

void FixExtension(const ast::Document& document, std::string_view extension, DiagnosticBuilder& builder) {
  if (!document.has_version) return;
  SourceRange place = document.extensions.empty() ? document.version_range : document.extensions.back().range;
  place.begin = place.end;
  builder.Fix(place, fmt::format("\nextension {};", extension));
}

void CheckDialectRules(const ast::Document& document, const ast::Dialect& dialect, CheckedKind kind,
                       Context& context, Deviations& deviations) {
  DialectRules(document, dialect, kind, context, deviations).Check();
}

}  // namespace nnefc::semantics
