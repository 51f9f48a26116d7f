#include "compiler/lower/branch_work.h"

#include <algorithm>

#include "llvm/ADT/StringSwitch.h"

namespace nnefc::lower {

namespace {

enum class Kind { kElements, kHeavy, kFree };

Kind KindOf(const ir::Node& node) {
  if (!node.bodies().empty()) return Kind::kHeavy;
  return llvm::StringSwitch<Kind>(node.type())
      .Cases("Convolution", "GroupConvolution", "ConvolutionBackpropData", "GroupConvolutionBackpropData",
             Kind::kHeavy)
      .Cases("MatMul", "Interpolate", "LSTMCell", "GRUCell", "RNNCell", Kind::kHeavy)
      .Cases("LSTMSequence", "GRUSequence", "RNNSequence", Kind::kHeavy)
      .Cases("Const", "Parameter", "Result", "Reshape", "Squeeze", "Unsqueeze", "ShapeOf", Kind::kFree)
      .Default(Kind::kElements);
}

int64_t Elements(const ir::Output& output) {
  return std::min(output.shape.volume().value_or(0), kRealWork);
}

}  // namespace

int64_t WorkOf(const ir::Graph& graph, const ir::Node& node) {
  switch (KindOf(node)) {
    case Kind::kHeavy:
      return kRealWork;
    case Kind::kFree:
      return 0;
    case Kind::kElements:
      break;
  }
  int64_t work = 0;
  for (ir::OutputPort input : node.inputs()) work = std::max(work, Elements(graph.output(input)));
  for (const ir::Output& output : node.outputs()) work = std::max(work, Elements(output));
  return work;
}

}  // namespace nnefc::lower
