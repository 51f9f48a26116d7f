// Shape inference of OpenVINO's activations.

#include "compiler/ir/ops/opset/op_context.h"

namespace nnefc::ir::ops::opset {

namespace {

void InferActivation(OpContext& op) {
  op.CommonType(0, op.num_inputs());
  op.Set(op.type(0), op.shape(0));
}

// PReLU-1: a slope of one axis has one element or one per channel, also for data of rank 0. Any other slope
// broadcasts to the data by NumPy's rule without extending it.
void InferPRelu(OpContext& op) {
  InferActivation(op);
  if (!op.shape(0).known() || !op.shape(1).known()) return;
  const Shape data = op.shape(0).known_extents();
  const Shape slope = op.shape(1).known_extents();
  if (slope.size() == 1 && (slope[0] == 1 || (data.size() > 1 && slope[0] == data[1]))) return;
  bool fits = slope.size() <= data.size();
  for (size_t i = 0; fits && i < slope.size(); ++i)
    fits = slope[i] == 1 || slope[i] == data[i + data.size() - slope.size()];
  if (fits) return;
  op.Error(kOpsetBroadcast, "{} has the shape {}, which does not broadcast to {}", op.InputName(1),
           ToString(op.shape(1)), ToString(op.shape(0)));
}

// SoftMax-1, SoftMax-8 and LogSoftmax-5: the axis exists.
void InferSoftMax(OpContext& op) {
  const int64_t axis = op.Int("axis");
  if (axis < 0 && op.node().set() == "opset1") {
    op.Error(kOpsetAxis, "axis {} of `SoftMax` is negative", axis);
  } else if (op.shape(0).rank_known()) {
    op.NormalizeAxis(axis, op.shape(0).rank());
  }
  op.Set(op.type(0), op.shape(0));
}

}  // namespace

std::vector<OpInfo> ActivationRows() {
  std::vector<OpInfo> rows;
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "ReLU",
                          .inputs = {"data: number"},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kRelu,
                          .function_cost = FunctionCost::kLow}));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "Sigmoid",
                          .inputs = {"data: float"},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kSigmoid,
                          .function_cost = FunctionCost::kHigh}));
  const std::pair<std::string_view, ElementFunction> smooth[] = {{"SoftPlus", ElementFunction::kSoftPlus},
                                                                 {"Mish", ElementFunction::kMish},
                                                                 {"HSwish", ElementFunction::kHSwish}};
  for (const auto& [name, function] : smooth) {
    rows.push_back(MakeRow({.set = "opset4",
                            .name = name,
                            .inputs = {"data: float"},
                            .infer = Infer<InferActivation>,
                            .function = function,
                            .function_cost = FunctionCost::kHigh}));
  }
  rows.push_back(MakeRow({.set = "opset5",
                          .name = "HSigmoid",
                          .inputs = {"data: float"},
                          .infer = Infer<InferActivation>,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset9",
                          .name = "SoftSign",
                          .inputs = {"data: float"},
                          .infer = Infer<InferActivation>,
                          .function_cost = FunctionCost::kHigh}));
  const AttributeInfo gelu_mode{
      "approximation_mode", AttributeKind::kString, "ERF", {"ERF", "TANH", "erf", "tanh"}};
  rows.push_back(MakeRow({.set = "opset2",
                          .name = "Gelu",
                          .inputs = {"data: float"},
                          .implied = {gelu_mode},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kGelu,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset7",
                          .name = "Gelu",
                          .inputs = {"data: float"},
                          .attributes = {gelu_mode},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kGelu,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "HardSigmoid",
                          .inputs = {"data: float", "alpha: float 0", "beta: float 0"},
                          .infer = Infer<InferActivation>,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset5",
                          .name = "LogSoftmax",
                          .inputs = {"data: float"},
                          .attributes = {{"axis", AttributeKind::kInt, 1}},
                          .infer = Infer<InferSoftMax>}));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "Elu",
                          .inputs = {"data: float"},
                          .attributes = {{"alpha", AttributeKind::kDouble}},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kElu,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "Selu",
                          .inputs = {"data: float", "alpha: float one", "lambda: float one"},
                          .infer = Infer<InferActivation>,
                          .function_cost = FunctionCost::kHigh}));
  rows.push_back(MakeRow({.set = "opset1",
                          .name = "PReLU",
                          .inputs = {"data: float", "slope: float"},
                          .infer = Infer<InferPRelu>,
                          .function = ElementFunction::kPRelu,
                          .function_cost = FunctionCost::kLow}));
  rows.push_back(MakeRow({.set = "opset4",
                          .name = "Swish",
                          .inputs = {"data: float", "beta?: float 0"},
                          .infer = Infer<InferActivation>,
                          .function = ElementFunction::kSwish,
                          .function_cost = FunctionCost::kHigh}));
  for (std::string_view set : {"opset1", "opset8"}) {
    rows.push_back(MakeRow({.set = set,
                            .name = "SoftMax",
                            .inputs = {"data: float"},
                            .attributes = {{"axis", AttributeKind::kInt, 1}},
                            .infer = Infer<InferSoftMax>}));
  }
  return rows;
}

}  // namespace nnefc::ir::ops::opset
