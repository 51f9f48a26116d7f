#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/ids.h"
#include "compiler/support/source.h"
#include "compiler/support/symbol.h"
#include "compiler/syntax/dialect.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Allocator.h"

namespace nnefc::ast {

struct ExprTag;
struct TypeTag;
struct FragmentTag;
using ExprId = TypedId<ExprTag>;
using TypeId = TypedId<TypeTag>;  // a type as written; the checker's types are semantics' own
using FragmentId = TypedId<FragmentTag>;

// A name and where it stands.
struct Name {
  Symbol symbol;
  SourceRange range;
};

// ---- expressions (right and left values alike) ----

// `input`
struct IdentifierExpr {
  Symbol name;
};
// `42`; out-of-range digits were reported and give 0.
struct IntegerLiteral {
  int64_t value = 0;
};
// `0.5`, `1e3`
struct ScalarLiteral {
  double value = 0;
};
// `'constant'`, with escapes resolved
struct StringLiteral {
  Symbol value;
};
// `true`
struct LogicalLiteral {
  bool value = false;
};
// `[a, b]`
struct ArrayExpr {
  llvm::ArrayRef<ExprId> items;
};
// `(a, b)`, or `a, b` where parentheses are optional
struct TupleExpr {
  llvm::ArrayRef<ExprId> items;
  bool parenthesized = true;
};
// `(a)`, kept for the formatter
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
// `value if condition else otherwise`
struct SelectExpr {
  ExprId condition;
  ExprId value;
  ExprId otherwise;
};
// `i in items` of a comprehension
struct Iterator {
  Name name;
  ExprId iterable;
};
// `[for i in a, j in b if c yield e]` (ratified) or `[e for i in a if c]`
// (provisional: one iterator).
struct ComprehensionExpr {
  llvm::ArrayRef<Iterator> iterators;
  ExprId condition;  // invalid if there is none
  ExprId body;
  bool loops_first = true;  // `[for .. yield ..]`
};
// `a[1]`, `a[1:]`; for a range, begin and end are invalid where omitted.
struct SubscriptExpr {
  ExprId base;
  ExprId begin;
  ExprId end;
  bool is_range = false;
};
enum class Builtin : uint8_t { kShapeOf, kLengthOf, kRangeOf, kInteger, kExtent, kScalar, kLogical, kString };
// `shape_of(x)`, `extent(s)`
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

// `x` or `stride = [1,1]`
struct Argument {
  std::optional<Name> name;
  ExprId value;
};
// `conv<scalar>(x, filter, stride = [2,2])`
struct InvocationExpr {
  Name callee;
  std::optional<PrimitiveName> type_argument;
  Symbol unknown_type;  // a word between `<` and `>` that names no type
  SourceRange type_argument_range;
  llvm::ArrayRef<Argument> arguments;
};
// What could not be parsed; its text was reported.
struct ErrorExpr {};

// What is large, in the document's memory, so that the many small ones stay small.
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

// The kept T that a node is, or null.
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

// `integer`, `?`
struct PrimitiveType {
  PrimitiveName name;
};
// `tensor` (provisional: no element), `tensor<scalar>`, `tensor<>` (any)
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

// `stride: integer[] = []`
struct Parameter {
  Name name;
  TypeId type;
  ExprId default_value;  // invalid if there is none
};
struct Result {
  Name name;
  TypeId type;
};

// `y = relu(x);` An assignment that could not be parsed has a right side of
// ErrorExpr and, where readable, its left side.
struct Assignment {
  SourceRange range;
  ExprId left;
  ExprId right;
  bool has_semicolon = false;
};

// `fragment f<? = scalar>( x: tensor<?> ) -> ( y: tensor<?> ) { .. }`
struct Fragment {
  SourceRange range;
  SourceRange keyword_range;
  Name name;
  bool is_generic = false;
  std::optional<PrimitiveName> generic_default;
  SourceRange generic_range;
  llvm::ArrayRef<Parameter> parameters;  // none: the checker judges it
  SourceRange parameters_range;          // from `(` to `)`
  llvm::ArrayRef<Result> results;
  bool has_body = false;
  SourceRange body_range;       // from `{` to `}`
  SourceRange semicolon_range;  // of a declaration ended by `;`
  bool has_error = false;       // parameters and results could not be read, which was reported
  llvm::ArrayRef<Assignment> body;
};

// `graph net( input ) -> ( output ) { .. }`
struct Graph {
  SourceRange range;
  SourceRange keyword_range;
  Name name;
  bool has_error = false;  // parameters and results could not be read, which was reported
  llvm::ArrayRef<Name> parameters;
  llvm::ArrayRef<Name> results;
  SourceRange body_range;  // from `{` to `}`
  llvm::ArrayRef<Assignment> body;
};

// `extension KHR_enable_fragment_definitions;`, `extension vendor_bound S >= 1;`
struct Extension {
  SourceRange range;
  llvm::ArrayRef<Name> names;
  SourceRange tail = {};  // what follows the names, `>= 1`; invalid if nothing does
};

// What parts the words within a line, of comments too.
inline constexpr std::string_view kBlanks = " \t\r\v";

// `# text`, in document order, without the line end. A comment is `trailing`
// if code stands before it on its line.
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
  bool complete = false;  // all of the text was read: no mistake was told
  Dialect dialect = Dialect::kRatified;
  // Why the text was read in this dialect, if it has constructs of the other one too.
  std::string reading;
  // Words with letters that look like ASCII ones, by offset: their spelling in ASCII.
  std::map<uint32_t, std::string> respelled;
  bool has_version = false;
  SourceRange version_range;
  int version_major = 0;
  int version_minor = 0;
  std::vector<Extension> extensions;
  ValueStore<FragmentId, Fragment> fragments;
  std::vector<Graph> graphs;  // one, unless the text is wrong or a library
  std::vector<Quantization> quantizations;
  std::vector<Comment> comments;
  std::vector<SourceRange> quoted_names;  // `i"conv1.out"`, in the order in which they were read

  ValueStore<ExprId, Expr> exprs;
  ValueStore<TypeId, Type> types;
  llvm::BumpPtrAllocator allocator;

  Document() = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // The word at `offset`, which is written `written`, in ASCII.
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

// True for a word that is a keyword of that dialect but a plain name in the
// other: `integer` and `yield` (ratified), `extent` (provisional). The parser
// takes them as names.
bool IsSoftKeyword(std::string_view word, const Dialect& dialect);

// The source spelling: "+", "in", "shape_of", "integer", "?".
std::string_view Spelling(UnaryOperator op);
std::string_view Spelling(BinaryOperator op);
std::string_view Spelling(Builtin builtin);
std::string_view Spelling(PrimitiveName name);

}  // namespace nnefc::ast
