#pragma once

#include <string_view>

#include "llvm/ADT/ArrayRef.h"

namespace nnefc::ast {

// A second name for an operation in the text of a specification.
struct OldName {
  std::string_view old;
  std::string_view name;
};

// A dialect of NNEF, as switches for the differences between the two specifications. A document's dialect is
// one of the two constants below; enabled extensions turn switches on (semantics/extensions.h).
struct Dialect {
  static const Dialect kProvisional;
  static const Dialect kRatified;

  std::string_view name;     // "ratified"
  std::string_view title;    // "ratified NNEF 1.0"
  char specification = 'R';  // prefix of the sections in diagnostics: R or P

  // ---- 3.1, 3.2: the text ----
  llvm::ArrayRef<std::string_view> keywords;  // words that are names in the other dialect (3.1)
  std::string_view integer;                   // the integer type and the cast to it (3.2)
  bool semicolons = false;          // `;` ends every statement (R 3.2.1); else optional after assignments
  bool extensions = false;          // extension lines (R 3.2.4)
  bool fragments = false;           // definitions of fragments (P 3.2.2); an extension (R 3.2.2)
  bool bodiless_fragments = false;  // fragments without a body: custom primitives (R 3.2.2)
  bool operators = false;           // operator expressions (P 3.2.3); an extension (R 3.2.3)
  bool flat_graph = false;          // operators in fragments only, not in the graph (P 3.2.4)
  bool loops_first = false;         // `[for i in a yield e]` (R 3.2.3), else `[e for i in a]` (P 3.2.3)
  bool membership = false;          // the operator `in` (R 3.2.3)
  bool tuple_parentheses = false;   // parentheses required around a tuple on the right (R 3.2.1)
  bool generics = false;            // `f<?>`, and the type `?` (R 3.3.2)
  bool tensor_types = false;        // `tensor<scalar>` (R 3.2.2), else `tensor`

  // ---- 3.3: the meaning ----
  bool tensors_first = false;          // tensors precede attributes among parameters (R 3.3.2)
  bool attribute_results = false;      // results of fragments may be attributes (P 3.3.1)
  bool mixed_tuples = false;           // tuples of tensors and attributes (P 3.3.1)
  bool positional_attributes = false;  // attributes without their names (tolerated; P 3.3.1)
  bool exact_literals = false;         // a literal for a tensor has the tensor's data type (R 3.3.2, P 3.3.2)
  bool passed_tuples = false;          // several results as one argument (P 3.3.3)
  bool counted_arrays = false;         // one name may denote an array only if its length is known (R 3.3.2)
  bool external_parameters = false;    // every `external` is a parameter of the graph (R 3.3.2)
  bool fragment_variables = false;     // `variable` and `update` in fragments (P 3.3, C.1)
  bool at_least_two_extents = false;   // `shape_of` returns at least two extents (P 3.3.3)
  bool deprecations = false;           // warnings for `shape_of`, named tensors .. (R 3.3.2, 3.3.3, 4.9.5)

  // ---- 4, 5: operations and files ----
  std::string_view copy;              // the operation of a unary `+` (3.2.3)
  llvm::ArrayRef<OldName> old_names;  // tolerated (P 7)
  bool coordinates = false;           // coordinates as a data type of tensors (P 4.3.3)
  bool any_label = false;             // labels may contain any characters; unique as written (P 4.1.3)
  bool nested_tensors = false;        // arrays of literals for tensors in graph.quant (R 5.3)
  bool untyped_results = false;       // tensors whose data type only expansion knows, results of an extension
  bool open_extents = false;          // extents of 0 of `external` are known at run time only (P 4.1.1)
  // ---- lenient mode: deviations of exporters from the specifications ----
  bool lenient = false;             // each deviation below is reported, once per rule
  bool loose_values = false;        // numbers, arrays and tensors convert if one meaning remains
  bool surplus_arguments = false;   // surplus arguments are ignored
  bool reassignment = false;        // names may be reassigned; later uses see the later value
  bool own_operations = false;      // fragments may have the names of standard operations
  bool values_in_graph = false;     // names in the graph's body may denote numbers and arrays
  bool non_finite = false;          // `inf` and `nan` as numbers
  bool quoted_names = false;        // `i"conv1.out"`
  bool empty_declarations = false;  // fragments without parameters, with data of their own
  // Some standard operations have tract's semantics, and lines of graph.quant state the types in which
  // operations compute.
  bool vendor_meanings = false;
  // The dialect's operations differ from the ratified ones: expansion translates them, `upgrade` rewrites the
  // document.
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

// Returns the other one of the two dialects.
inline const Dialect& Other(const Dialect& dialect) {
  return dialect == Dialect::kRatified ? Dialect::kProvisional : Dialect::kRatified;
}

}  // namespace nnefc::ast
