#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/expand/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

namespace nnefc::expand {

class InstanceRecord;  // instances.h

// The purpose of an expanded graph; it determines the valid constructs.
enum class Purpose : uint8_t {
  kValidate,  // everything valid
  kExecute,   // same: everything valid can run
  // Only documents with a ratified form are valid: the extents of externals must be known (P 4.1.1), and
  // tensors must not store coordinates of windows (P 4.3.3).
  kPrint,
};

struct ExpandOptions {
  // Shapes of externals that override the document's: `--input-shape`.
  std::map<std::string, Shape> input_shapes;
  // Names of standard compounds to expand in addition to the document's fragments, or "all": `--lower`.
  std::vector<std::string> lower;
  Purpose purpose = Purpose::kExecute;
  // Returns the data of a variable, for attributes that depend on it; nothing if there is none. Null: no
  // variable has data.
  std::function<std::optional<TensorValue>(const std::string& label, ElementType type)> variable_data;
  // Returns the document of a submodel by its path of labels, such as `encoder/head`; null after an error,
  // which it reports at `range`. If not set, submodels are errors.
  std::function<const semantics::CheckedDocument*(const std::string& path, SourceRange range)> submodel;
  // Binds each symbol without a known extent to an arbitrary extent, a trial extent. Documents whose
  // operations depend on symbols can then be validated, but not executed or printed.
  bool tries_symbols = false;
  // Lines of the document's graph.quant file: each of their tensors is quantized right after its computation
  // (R 7.1, P 7.1).
  std::vector<TensorQuantization> quantize;
  // Tensors with quantized types in graph.quant, as in tract's dialect.
  std::set<std::string, std::less<>> quantized;
  // Changes the complete graph, for a device that does not accept all attribute values; null: no change.
  std::function<void(ir::Graph&)> replace_attributes;
  // If not null: records the instantiations of the document's fragments.
  InstanceRecord* record = nullptr;
};

// The result of expanding a document.
struct [[nodiscard]] ExpandedDocument {
  // The graph of NNEF operations; null if the document has no graph to expand. After errors, also those of
  // earlier stages, it lacks the parts that depend on them.
  std::shared_ptr<const ir::Graph> graph;
  // True if there is no error, neither here nor in the document.
  bool complete = false;
  // The shapes of externals with trial extents (ExpandOptions::tries_symbols), keyed by name, as declared:
  // with an unknown extent for each symbol. Empty if there are none.
  std::map<std::string, ir::PartialShape> open_shapes;
  // The extents of externals with symbols as text, `2*S`.
  std::map<std::string, std::vector<std::string>> open_extents;
  // True if each symbol without a known extent has a trial extent (ExpandOptions::tries_symbols), also one
  // that no external has.
  bool is_trial() const { return has_trial_extents; }
  bool has_trial_extents = false;
  // Diagnostics of the expansion.
  std::vector<Diagnostic> diagnostics;
};

// Evaluates a checked document's graph: instantiates the document's fragments and computes attributes. The
// result is a graph of NNEF operations (set "nnef", in the ratified form); their shapes are inferred as the
// graph grows. Operations that the document declares without a body are added to the registry. Errors are
// emitted with the stack of fragments.
//
// Conventions of the nnef set: a node has all attributes of the ratified declaration, defaults included. A
// generic operation's type is the attribute "dtype" ("scalar", "integer", "logical", "string"). An output's
// first name is its NNEF identifier. A literal for a tensor is a `constant` of shape [] and one value.
ExpandedDocument ExpandDocument(const semantics::CheckedDocument& document,
                                const semantics::StandardLibrary& library, ir::OpRegistry& registry,
                                const ExpandOptions& options, Context& context);

}  // namespace nnefc::expand
