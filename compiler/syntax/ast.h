#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/ids.h"
#include "compiler/support/text/source.h"
#include "compiler/support/text/symbol.h"
#include "compiler/syntax/dialect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"

namespace nnefc::ast {

struct ExprTag;
struct TypeTag;
struct FragmentTag;
using ExprId = TypedId<ExprTag>;
using TypeId = TypedId<TypeTag>;  // a type as written; semantics has its own types
using FragmentId = TypedId<FragmentTag>;

// A name and its source range.
struct Name {
  Symbol symbol;
  SourceRange range;
};

// ---- expressions (right and left values) ----

// A name used as a value: `input`
struct IdentifierExpr {
  Symbol name;
};
// An integer: `42`. Out-of-range digits are reported when parsed and become 0.
struct IntegerLiteral {
  int64_t value = 0;
};
// A number with a fraction or an exponent: `0.5`, `1e3`
struct ScalarLiteral {
  double value = 0;
};
// A string: `'constant'`, with escapes resolved
struct StringLiteral {
  Symbol value;
};
// A logical constant: `true`
struct LogicalLiteral {
  bool value = false;
};
// An array of expressions: `[a, b]`
struct ArrayExpr {
  llvm::ArrayRef<ExprId> items;
};
// A tuple: `(a, b)`, or `a, b` where parentheses are optional
struct TupleExpr {
  llvm::ArrayRef<ExprId> items;
  bool parenthesized = true;
};
// An expression in parentheses, `(a)`; preserved for the formatter
struct ParenExpr {
  ExprId inner;
};
enum class UnaryOperator : uint8_t { kPlus, kMinus, kNot };
struct UnaryExpr {
  UnaryOperator op;
  ExprId operand;
};
enum class BinaryOperator : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kLt,
  kLe,
  kGt,
  kGe,
  kEq,
  kNe,
  kAnd,
  kOr,
  kIn,
};
struct BinaryExpr {
  BinaryOperator op;
  ExprId left;
  ExprId right;
  SourceRange op_range;
};
// A conditional expression: `value if condition else otherwise`
struct SelectExpr {
  ExprId condition;
  ExprId value;
  ExprId otherwise;
};
// An iterator of a comprehension: `i in items`
struct Iterator {
  Name name;
  ExprId iterable;
};
// An array comprehension: `[for i in a, j in b if c yield e]` (ratified) or `[e for i in a if c]`
// (provisional: one iterator).
struct ComprehensionExpr {
  llvm::ArrayRef<Iterator> iterators;
  ExprId condition;  // invalid if there is none
  ExprId body;
  bool loops_first = true;  // `[for .. yield ..]`
};
// An item or a slice: `a[1]`, `a[1:]`. In a slice, begin and end are invalid where omitted.
struct SubscriptExpr {
  ExprId base;
  ExprId begin;
  ExprId end;
  bool is_range = false;
};
enum class Builtin : uint8_t { kShapeOf, kLengthOf, kRangeOf, kInteger, kExtent, kScalar, kLogical, kString };
// A call of a built-in function or a cast: `shape_of(x)`, `extent(s)`
struct BuiltinExpr {
  Builtin builtin;
  SourceRange name_range;
  ExprId argument;
};

enum class PrimitiveName : uint8_t {
  kInteger,
  kExtent,
  kScalar,
  kLogical,
  kString,
  kGeneric
};  // kGeneric is `?`

// An argument of an invocation: `x` or `stride = [1,1]`
struct Argument {
  std::optional<Name> name;
  ExprId value;
};
// An invocation of an operation or fragment: `conv<scalar>(x, filter, stride = [2,2])`
struct InvocationExpr {
  Name callee;
  std::optional<PrimitiveName> type_argument;
  Symbol unknown_type;  // a word between `<` and `>` that is not a type
  SourceRange type_argument_range;
  llvm::ArrayRef<Argument> arguments;
};
// An expression that could not be parsed; its text was reported.
struct ErrorExpr {};

// A pointer to a large node in the document's memory; keeps the variant of the frequent small nodes small.
template <typename T>
struct Kept {
  const T* value = nullptr;
  const T& operator*() const { return *value; }
  const T* operator->() const { return value; }
};

using ExprNode =
    std::variant<ErrorExpr, IdentifierExpr, IntegerLiteral, ScalarLiteral, StringLiteral, LogicalLiteral,
                 ArrayExpr, Kept<TupleExpr>, ParenExpr, UnaryExpr, Kept<BinaryExpr>, SelectExpr,
                 Kept<ComprehensionExpr>, SubscriptExpr, Kept<BuiltinExpr>, Kept<InvocationExpr>>;

// Returns the node as a Kept T, or null if it is of another kind.
template <typename T>
const T* Find(const ExprNode& node) {
  const auto* kept = std::get_if<Kept<T>>(&node);
  return kept == nullptr ? nullptr : kept->value;
}
template <typename T>
bool Is(const ExprNode& node) {
  return std::holds_alternative<Kept<T>>(node);
}

struct Expr {
  SourceRange range;
  ExprNode node;
};
static_assert(sizeof(Expr) <= 40, "a network has a million of them");

// ---- types ----

// A primitive type: `integer`, `?`
struct PrimitiveType {
  PrimitiveName name;
};
// A tensor type: `tensor` (provisional: no element), `tensor<scalar>`, `tensor<>` (any)
struct TensorType {
  std::optional<PrimitiveName> element;
  bool has_brackets = false;
};
struct ArrayType {
  TypeId item;
};
struct TupleType {
  llvm::ArrayRef<TypeId> items;
};
struct ErrorType {};

struct Type {
  SourceRange range;
  std::variant<ErrorType, PrimitiveType, TensorType, ArrayType, TupleType> node;
};

// ---- declarations ----

// A parameter of a fragment: `stride: integer[] = []`
struct Parameter {
  Name name;
  TypeId type;
  ExprId default_value;  // invalid if there is none
};
struct Result {
  Name name;
  TypeId type;
};

// An assignment: `y = relu(x);` If it could not be parsed, its right side is an ErrorExpr, and its left side
// is the parsed one where readable.
struct Assignment {
  SourceRange range;
  ExprId left;
  ExprId right;
  bool has_semicolon = false;
};

// A fragment: `fragment f<? = scalar>( x: tensor<?> ) -> ( y: tensor<?> ) { .. }`
struct Fragment {
  SourceRange range;
  SourceRange keyword_range;
  Name name;
  bool is_generic = false;
  std::optional<PrimitiveName> generic_default;
  SourceRange generic_range;
  llvm::ArrayRef<Parameter> parameters;  // may be empty here; the checker validates that
  SourceRange parameters_range;          // including `(` and `)`
  llvm::ArrayRef<Result> results;
  bool has_body = false;
  SourceRange body_range;       // including `{` and `}`
  SourceRange semicolon_range;  // for a declaration ended by `;`
  bool has_error = false;       // parameters and results could not be parsed; reported
  llvm::ArrayRef<Assignment> body;
};

// A graph: `graph net( input ) -> ( output ) { .. }`
struct Graph {
  SourceRange range;
  SourceRange keyword_range;
  Name name;
  bool has_error = false;  // parameters and results could not be parsed; reported
  llvm::ArrayRef<Name> parameters;
  llvm::ArrayRef<Name> results;
  SourceRange body_range;  // including `{` and `}`
  llvm::ArrayRef<Assignment> body;
};

// An extension line: `extension KHR_enable_fragment_definitions;`, `extension vendor_bound S >= 1;`
struct Extension {
  SourceRange range;
  llvm::ArrayRef<Name> names;
  SourceRange tail = {};  // the text after the names, `>= 1`; invalid if there is none
};

// Characters that separate words within a line, also in comments.
inline constexpr std::string_view kBlanks = " \t\r\v";

// A comment, `# text`, without the line end. It is `trailing` if code precedes it on its line.
struct Comment {
  SourceRange range;
  bool trailing = false;
};

// An entry of a graph.quant file: `"id": op(min = 0.0, ..);`
struct Quantization {
  Name key;
  ExprId invocation;
};

// A parsed text: immutable once built. Owns the memory of its lists.
struct Document {
  FileId file;
  bool complete = false;  // the whole text was parsed without errors
  Dialect dialect = Dialect::kRatified;
  // The reason for the chosen dialect, if the text has constructs of both dialects; empty otherwise.
  std::string reading;
  // ASCII spellings of words with confusable letters, by offset.
  std::map<uint32_t, std::string> respelled;
  bool has_version = false;
  SourceRange version_range;
  int version_major = 0;
  int version_minor = 0;
  std::vector<Extension> extensions;
  ValueStore<FragmentId, Fragment> fragments;
  std::vector<Graph> graphs;  // one, unless the text has errors or is a library
  std::vector<Quantization> quantizations;
  std::vector<Comment> comments;
  std::vector<SourceRange> quoted_names;  // `i"conv1.out"`, in parsing order

  ValueStore<ExprId, Expr> exprs;
  ValueStore<TypeId, Type> types;
  llvm::BumpPtrAllocator allocator;

  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // Returns the ASCII spelling of the word at `offset`, whose source text is `written`.
  std::string_view Spelling(uint32_t offset, std::string_view written) const {
    if (respelled.empty()) return written;
    const auto found = respelled.find(offset);
    return found == respelled.end() ? written : std::string_view(found->second);
  }

  // Copies `value` into the document's memory.
  template <typename T>
  Kept<T> Keep(const T& value) {
    static_assert(std::is_trivially_destructible_v<T>);
    return {new (allocator.Allocate<T>()) T(value)};
  }
  // Copies `items` into the document's memory.
  template <typename T>
  llvm::ArrayRef<T> Keep(llvm::ArrayRef<T> items) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (items.empty()) return {};
    T* copy = allocator.Allocate<T>(items.size());
    std::uninitialized_copy(items.begin(), items.end(), copy);
    return {copy, items.size()};
  }
};

// Returns true for a word that is a keyword of `dialect` but a plain name in the other dialect: `integer` and
// `yield` (ratified), `extent` (provisional). The parser accepts such words as names.
bool IsSoftKeyword(std::string_view word, const Dialect& dialect);

// Returns the source spelling: "+", "in", "shape_of", "integer", "?".
std::string_view Spelling(UnaryOperator op);
std::string_view Spelling(BinaryOperator op);
std::string_view Spelling(Builtin builtin);
std::string_view Spelling(PrimitiveName name);

}  // namespace nnefc::ast
