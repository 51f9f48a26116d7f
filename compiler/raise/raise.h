#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/graph.h"
#include "compiler/support/context.h"

namespace nnefc::raise {

// The operations of the raised graph.
enum class Target : uint8_t {
  kRatified,  // those of the specification
  kTract,     // those that tract reads: of the specification, and of its registries
  kNnefc,     // those of the specification, and those of the extension NNEFC_opset, so that every OpenVINO
              // operation has a form
};
// Returns the target by its name on the command line, "ratified", "tract" or "nnefc"; nothing for other
// names.
std::optional<Target> ParseTarget(std::string_view name);

// The largest numbers of steps of recurrent layers, and of nodes of loops, that a model has when they are
// written one after another.
inline constexpr int64_t kMaxUnrolledSteps = 8192;
inline constexpr int64_t kMaxUnrolledNodes = 65'536;

struct RaiseOptions {
  Target target = Target::kRatified;
  // Computes the constant parts of the graph: weights that are stored compressed, shapes, axes. Never null.
  ir::Evaluator evaluate;
  // Computes batch normalizations with constant parameters as a part of the convolution before them, or as a
  // product and a sum.
  bool folds_batch_normalization = false;
  // Writes the steps of recurrent layers as standard operations, one after another.
  bool unrolls = false;
  // Repeats tensors in the document, and does not compute constants of repeated elements: the extents are
  // samples of open ones.
  bool keeps_repetition = false;
};
// True if the node repeats scalars or logicals: its result has more elements than its inputs.
bool IsRepetition(const ir::Graph& graph, const ir::Node& node);

// A graph of NNEF operations and the data of its variables.
struct RaisedGraph {
  std::unique_ptr<ir::Graph> graph;
  std::map<std::string, TensorValue> data;  // key: label
  // The names of the source's tensors and the identifiers that replace them, in order.
  std::vector<std::pair<std::string, std::string>> names;
};

// Raises a graph of OpenVINO operations to one of NNEF operations that computes the same values, node by node
// (README.md). Inputs and outputs retain their order and, as far as they are identifiers, their names.
// Operations without an exact form are all reported. Returns nothing after an error.
[[nodiscard]] std::optional<RaisedGraph> RaiseGraph(const ir::Graph& source, const RaiseOptions& options,
                                                    Context& context);

}  // namespace nnefc::raise
