#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/lower/quantized_type.h"
#include "compiler/lower/table.h"
#include "compiler/support/context.h"

namespace nnefc {

// Gives the data of a variable, of the type and shape asked for, or nothing if
// there are none; the provider has told the user why.
using VariableData = std::function<std::optional<TensorValue>(
    const std::string& label, ElementType type, const ir::PartialShape& shape, const ir::Origin& origin)>;

struct LowerOptions {
  // Null: variables become Const nodes without a value (`compile` of a bare
  // document, shapes and structure only).
  VariableData variable_data;
  // The lowering of an operation that has none of ours; null, or nothing asked: it stays.
  std::function<lower::LowerFunction(const std::string& operation)> find_lowering = nullptr;
  // Operations that the runtime computes with one kernel, and OpenVINO with several operations, stay in the
  // set "nnef": `round`, `log2`, and linear quantization between constants.
  bool keeps_exact_operations = false;
  // Quantized types of tensors in the graph's own body, as a vendor's documents declare them: operations
  // compute in such values (quantized.h). Null: tensors hold numbers.
  const QuantizedTypes* quantized = nullptr;
};

// Lowers a graph of NNEF operations (set "nnef") to one of OpenVINO operations
// (node by node; see README.md). Parameters keep their order and names, results
// keep theirs; each node's name is the NNEF identifier it came from, and each
// output that had an NNEF identifier keeps it as tensor name. What has no
// OpenVINO form stays a node of the set "nnef"; what is of another set stays as it is. Null if a mistake was
// emitted.
[[nodiscard]] std::unique_ptr<ir::Graph> LowerGraph(const ir::Graph& graph, const LowerOptions& options,
                                                    Context& context);

}  // namespace nnefc
