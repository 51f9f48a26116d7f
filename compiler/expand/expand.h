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

namespace nnefc {

class InstanceRecord;  // instances.h

// What an expanded graph is for, which decides what it may hold.
enum class Purpose : uint8_t {
  kJudge,    // all that is valid
  kExecute,  // the same: all that is valid runs
  kPrint,    // only what has a ratified form: no open extents (P 4.1.1), no coordinates as data (P 4.3.3)
};

struct ExpandOptions {
  // Shapes of externals that override the document's: `--input-shape`.
  std::map<std::string, Shape> input_shapes;
  // Standard compounds to expand too: names, or "all".
  std::vector<std::string> lower;
  Purpose purpose = Purpose::kExecute;
  // The data of a variable, where an attribute asks for it; nothing if there are
  // none. Null: no variable has data.
  std::function<std::optional<TensorValue>(const std::string& label, ElementType type)> variable_data;
  // The document of a model inside, by the labels that lead there, as `encoder/head`;
  // null after a mistake, which was emitted. None: no model has others inside.
  std::function<const CheckedDocument*(const std::string& path, SourceRange place)> submodel;
  // Symbols that no input tells stand for some extent: to try a document whose
  // operations depend on them.
  bool tries_symbols = false;
  // Lines of the document's graph.quant file: each of their tensors is quantized as
  // soon as it is computed (R 7.1, P 7.1).
  std::vector<TensorQuantization> quantize;
  // The tensors to which graph.quant gives quantized types, as a vendor's dialect has them.
  std::set<std::string, std::less<>> quantized;
  // If given: what fragments of the document were instantiated with.
  InstanceRecord* record = nullptr;
};

// What a document expands to.
struct [[nodiscard]] Expanded {
  // Of NNEF operations; null if the document has no graph to expand. After
  // mistakes, those of earlier stages too, it lacks what depends on them.
  std::unique_ptr<ir::Graph> graph;
  // True if there is no mistake: neither here nor in the document.
  bool complete = false;
  // Of a trial: the shapes of externals as they are, by name, where symbols
  // leave extents open; otherwise none.
  std::map<std::string, ir::PartialShape> open_shapes;
  bool is_trial() const { return !open_shapes.empty(); }
  // What was told here.
  std::vector<Diagnostic> diagnostics;
};

// Evaluates a checked document's graph: fragments of the document are
// instantiated, attributes computed, and what remains is a graph of NNEF
// operations (set "nnef", in the ratified dialect's terms) whose shapes are
// inferred as it grows. Mistakes are emitted with the stack of fragments.
//
// Conventions of the nnef set: attributes are those of the ratified
// declaration, all of them, defaults included; a generic operation's type is
// the attribute "dtype" ("scalar", "integer", "logical", "string"); an output's
// first name is its NNEF identifier; a literal given for a tensor is a
// `constant` of shape [] and one value.
Expanded ExpandDocument(const CheckedDocument& document, const StandardLibrary& library,
                        ir::OpRegistry& registry, const ExpandOptions& options, Context& context);

}  // namespace nnefc
