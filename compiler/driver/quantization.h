#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/expand/expand.h"
#include "compiler/expand/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/lower/quantized_type.h"
#include "compiler/package/dat.h"
#include "compiler/package/model.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc {

// What graph.quant says of the tensors of a graph.
class QuantizationTable {
 public:
  QuantizationTable() = default;
  // `graph` is of NNEF operations. Emits arguments that do not broadcast to
  // the tensor that is quantized (R 5.3).
  QuantizationTable(std::vector<TensorQuantization> lines, const ir::Graph& graph, Context& context);

  // The line of the variables of a key (ir::VariableKey); null if there is none.
  const TensorQuantization* FindVariable(const std::string& key) const;
  // The lines by which tensors of the graph are quantized as they are computed: not
  // those of variables whose tensor files hold their codes.
  std::vector<TensorQuantization> LinesToCompute(const ir::Graph& graph, const ModelContainer& model) const;
  // The lines that are types of 8 bits, as a vendor's documents have them: of zero points and scales.
  QuantizedTypes Types() const;

 private:
  std::vector<TensorQuantization> lines_;
  llvm::StringMap<size_t> variables_;  // ir::VariableKey -> index in lines_
};

// A graph.quant file that was checked against its model.
struct [[nodiscard]] ModelQuantization {
  std::unique_ptr<CheckedDocument> document;
  QuantizationTable table;  // empty after mistakes
  bool complete = false;    // there was none
};
// The names of tensors in the text of a graph.quant file, as far as it can be read.
std::set<std::string, std::less<>> QuantizedNames(FileId text, const ast::Dialect& dialect, Context& context);
// Parses and checks the text of a graph.quant file. `expanded` is what the model
// expands to: of one that lacks something every key may name a tensor.
ModelQuantization CheckModelQuantization(FileId text, const CheckedDocument& model, const Expanded& expanded,
                                         const StandardLibrary& library, ir::OpRegistry& registry,
                                         Context& context);

// How the items of `dat`, a tensor file that was quantized so, are read; nothing
// for an operation that is not of the standard, which was emitted.
std::optional<DatQuantization> ToDatQuantization(const TensorQuantization& line, const DatFile& dat,
                                                 Context& context);

}  // namespace nnefc
