#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/expand/expand.h"
#include "compiler/expand/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/arithmetic/quantized_type.h"
#include "compiler/package/model.h"
#include "compiler/package/tensors/dat.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::driver {

// The quantization of a graph's tensors, from graph.quant.
class QuantizationTable {
 public:
  QuantizationTable() = default;
  // Requires a `graph` of NNEF operations. Emits an error for arguments that do not broadcast to the
  // quantized tensor (R 5.3).
  QuantizationTable(std::vector<expand::TensorQuantization> lines, const ir::Graph& graph, Context& context);

  // Returns the line for the variables of a key (ir::ops::VariableKey), or null.
  const expand::TensorQuantization* FindVariable(const std::string& key) const;
  // Returns the lines for tensors that must be quantized at run time: all except variables whose tensor files
  // contain quantized values.
  std::vector<expand::TensorQuantization> LinesToCompute(const ir::Graph& graph,
                                                         const package::ModelContainer& model) const;
  // Returns the lines that declare 8-bit types by zero point and scale, as in a vendor's documents.
  lower::QuantizedTypes Types() const;

 private:
  std::vector<expand::TensorQuantization> lines_;
  llvm::StringMap<size_t> variables_;  // ir::ops::VariableKey -> index in lines_
};

// A graph.quant file, checked against its model.
struct [[nodiscard]] ModelQuantization {
  std::unique_ptr<semantics::CheckedDocument> document;
  QuantizationTable table;  // empty after errors
  bool complete = false;    // without errors
};
// Returns the tensor names of a graph.quant file, as far as it can be parsed.
std::set<std::string, std::less<>> QuantizedNames(FileId text, const ast::Dialect& dialect, Context& context);
// Parses and checks the text of a graph.quant file. `expanded` is the model's expansion; if it is incomplete,
// every key is accepted as a tensor name.
ModelQuantization CheckModelQuantization(FileId text, const semantics::CheckedDocument& model,
                                         const expand::ExpandedDocument& expanded,
                                         const semantics::StandardLibrary& library, ir::OpRegistry& registry,
                                         Context& context);

// Returns the decoding of the items of `dat`, a tensor file quantized by `line`. Emits an error and returns
// nothing for an operation outside the standard.
[[nodiscard]] std::optional<package::DatQuantization> ToDatQuantization(
    const expand::TensorQuantization& line, const package::DatFile& dat, Context& context);

}  // namespace nnefc::driver
