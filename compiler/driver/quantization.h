#pragma once

#include <string>
#include <vector>

#include "compiler/expand/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/package/dat.h"
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

  // The line of the variable with the label; null if there is none.
  const TensorQuantization* FindVariable(const std::string& label) const;

 private:
  std::vector<TensorQuantization> lines_;
  llvm::StringMap<size_t> variables_;  // label in lower case -> index in lines_
};

// How the items of `dat`, a tensor file that was quantized so, are read; nothing
// for an operation that is not of the standard, which was emitted.
std::optional<DatQuantization> ToDatQuantization(const TensorQuantization& line, const DatFile& dat,
                                                 Context& context);

}  // namespace nnefc
