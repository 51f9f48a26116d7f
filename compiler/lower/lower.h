#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "compiler/ir/graph.h"
#include "compiler/lower/arithmetic/quantized_type.h"
#include "compiler/lower/table.h"
#include "compiler/support/context.h"

namespace nnefc::lower {

// Returns the data of a variable with the given type and shape, or nothing after an error that it reported.
using VariableData = std::function<std::optional<TensorValue>(
    const std::string& label, ElementType type, const ir::PartialShape& shape, const ir::Origin& origin)>;

struct LowerOptions {
  // Null: variables become Const nodes without a value (`compile` of a bare document, structure only).
  VariableData variable_data;
  // Returns the lowering of an operation that has no built-in one. If null, or if it returns null, the
  // operation is preserved.
  std::function<LowerFunction(const std::string& operation)> find_lowering = nullptr;
  // Preserves operations of the set "nnef" that the runtime computes with one kernel and OpenVINO with
  // several operations: `round`, `log2`, and linear quantization between constants.
  bool keeps_exact_operations = false;
  // Quantized types of tensors in the graph's own body, as a vendor's documents declare them; operations then
  // compute quantized values (quantized.h). Null: tensors have real values.
  const QuantizedTypes* quantized = nullptr;
};

// Lowers a graph of NNEF operations (set "nnef") to one of OpenVINO operations, node by node (README.md).
// Parameters and results retain their order and names. A node's name is the NNEF identifier that it came
// from; an output with an NNEF identifier has it as tensor name. Operations without an OpenVINO form remain
// nodes of the set "nnef"; nodes of other sets are copied. Emits errors and returns null after one.
[[nodiscard]] std::unique_ptr<ir::Graph> LowerGraph(const ir::Graph& graph, const LowerOptions& options,
                                                    Context& context);

}  // namespace nnefc::lower
