#pragma once

#include <string_view>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ast {

// A name that the text of a specification gives an operation beside its own.
struct OldName {
  std::string_view old;
  std::string_view name;
};

// What a document may say and how it is read, as switches by which the two
// specifications differ. A document's dialect is one of the two below; the
// extensions that it enables turn switches on (semantics/extensions.h).
struct Dialect {
  static const Dialect kProvisional;
  static const Dialect kRatified;

  std::string_view name;     // "ratified"
  std::string_view title;    // "ratified NNEF 1.0"
  char specification = 'R';  // whose sections diagnostics name

  // ---- 3.1, 3.2: the text ----
  llvm::ArrayRef<std::string_view> keywords;  // that the other dialect takes as names (3.1)
  std::string_view integer;                   // the type of whole numbers, and the cast to it (3.2)
  bool semicolons = false;          // `;` ends every statement (R 3.2.1); else it may end an assignment
  bool extensions = false;          // lines of extensions (R 3.2.4)
  bool fragments = false;           // definitions of fragments (P 3.2.2); an extension (R 3.2.2)
  bool bodiless_fragments = false;  // fragments without a body, which are custom primitives (R 3.2.2)
  bool operators = false;           // operator expressions (P 3.2.3); an extension (R 3.2.3)
  bool flat_graph = false;          // for fragments alone, not for the graph (P 3.2.4)
  bool loops_first = false;         // `[for i in a yield e]` (R 3.2.3), else `[e for i in a]` (P 3.2.3)
  bool membership = false;          // the operator `in` (R 3.2.3)
  bool tuple_parentheses = false;   // needed around a tuple on the right (R 3.2.1)
  bool generics = false;            // `f<?>`, and the type `?` (R 3.3.2)
  bool tensor_types = false;        // `tensor<scalar>` (R 3.2.2), else `tensor`

  // ---- 3.3: the meaning ----
  bool tensors_first = false;          // among parameters (R 3.3.2)
  bool attribute_results = false;      // results of fragments may be attributes (P 3.3.1)
  bool mixed_tuples = false;           // of tensors and attributes (P 3.3.1)
  bool positional_attributes = false;  // attributes without their names (tolerated; P 3.3.1)
  bool exact_literals = false;         // a value for a tensor is of its data type (R 3.3.2, P 3.3.2)
  bool passed_tuples = false;          // several results as one argument (P 3.3.3)
  bool counted_arrays = false;         // one name covers an array only if its length is known (R 3.3.2)
  bool external_parameters = false;    // every `external` is a parameter of the graph (R 3.3.2)
  bool fragment_variables = false;     // `variable` and `update` in fragments (P 3.3, C.1)
  bool at_least_two_extents = false;   // `shape_of` tells no fewer (P 3.3.3)
  bool deprecations = false;           // of `shape_of`, named tensors and more (R 3.3.2, R 3.3.3, R 4.9.5)

  // ---- 4, 5: operations and files ----
  std::string_view copy;              // the operation behind a unary `+` (3.2.3)
  llvm::ArrayRef<OldName> old_names;  // tolerated (P 7)
  bool coordinates = false;           // a data type of tensors (P 4.3.3)
  bool any_label = false;             // labels of any characters, unique as written (P 4.1.3)
  bool nested_tensors = false;        // arrays of literals for tensors in graph.quant (R 5.3)
  // ---- lenient reading: what exporters write beside the specifications ----
  bool lenient = false;             // what of the following is made use of is told, once for each rule
  bool loose_values = false;        // numbers, arrays and tensors for one another if one meaning is left
  bool surplus_arguments = false;   // are left out
  bool reassignment = false;        // of a name: the later value counts from there on
  bool own_operations = false;      // fragments that have the names of standard operations
  bool values_in_graph = false;     // names in the graph's body for numbers and arrays
  bool non_finite = false;          // `inf` and `nan` as numbers
  bool quoted_names = false;        // `i"conv1.out"`
  bool empty_declarations = false;  // fragments without parameters, which hold data of their own
  // Some standard operations mean what tract means by them, and lines of graph.quant are types in which
  // operations compute.
  bool vendor_meanings = false;
  // Its operations are not those of the ratified dialect: expansion translates
  // them, `upgrade` the document.
  bool translated = false;

  friend bool operator==(const Dialect& a, const Dialect& b) { return a.name == b.name; }
};

inline constexpr std::string_view kProvisionalKeywords[] = {"extent"};
inline constexpr OldName kProvisionalOldNames[] = {{"quantize_linear", "linear_quantize"}};
inline constexpr std::string_view kRatifiedKeywords[] = {"version", "extension", "integer", "yield"};

inline constexpr Dialect Dialect::kProvisional = {
    .name = "provisional",
    .title = "provisional NNEF 1.0",
    .specification = 'P',
    .keywords = kProvisionalKeywords,
    .integer = "extent",
    .fragments = true,
    .operators = true,
    .flat_graph = true,
    .attribute_results = true,
    .mixed_tuples = true,
    .positional_attributes = true,
    .passed_tuples = true,
    .fragment_variables = true,
    .at_least_two_extents = true,
    .copy = "idn",
    .old_names = kProvisionalOldNames,
    .coordinates = true,
    .any_label = true,
    .translated = true,
};

inline constexpr Dialect Dialect::kRatified = {
    .name = "ratified",
    .title = "ratified NNEF 1.0",
    .specification = 'R',
    .keywords = kRatifiedKeywords,
    .integer = "integer",
    .semicolons = true,
    .extensions = true,
    .bodiless_fragments = true,
    .loops_first = true,
    .membership = true,
    .tuple_parentheses = true,
    .generics = true,
    .tensor_types = true,
    .tensors_first = true,
    .exact_literals = true,
    .counted_arrays = true,
    .external_parameters = true,
    .deprecations = true,
    .copy = "copy",
    .nested_tensors = true,
};

// The dialect that is not this one.
inline const Dialect& Other(const Dialect& dialect) {
  return dialect == Dialect::kRatified ? Dialect::kProvisional : Dialect::kRatified;
}

}  // namespace nnefc::ast
