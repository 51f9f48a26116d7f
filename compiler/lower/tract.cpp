// Primitives of tract's registries, in OpenVINO's operations.

#include <limits>

#include "compiler/lower/node_lowering.h"
#include "compiler/lower/reduce.h"
#include "compiler/lower/table.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::lower {

namespace {

void LowerErf(NodeLowering& n) {
  n.SetOutput(n.Unary("Erf", n.input(0)));
}

void LowerRoundEven(NodeLowering& n) {
  n.SetOutput(n.Add("opset5", "Round", {n.input(0)}, Attributes({{"mode", "half_to_even"}})));
}

// Convert rounds toward zero, as tract does.
void LowerToInteger(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset1", "Convert", {n.input(0)}, Attributes({{"destination_type", ElementType::kI64}})));
}

void LowerTractEinsum(NodeLowering& n) {
  std::vector<OutputPort> inputs;
  for (int32_t i = 0; i < n.num_inputs(); ++i) inputs.push_back(n.input(i));
  n.SetOutput(n.Add("opset7", "Einsum", inputs, Attributes({{"equation", n.String("expr")}})));
}

void LowerGatherElements(NodeLowering& n) {
  n.SetOutput(
      n.Add("opset6", "GatherElements", {n.input(0), n.input(1)}, Attributes({{"axis", n.Int("axis")}})));
}

void LowerScatterElements(NodeLowering& n) {
  static constexpr std::pair<std::string_view, std::string_view> kReductions[] = {
      {"none", "none"}, {"add", "sum"}, {"mul", "prod"}, {"min", "min"}, {"max", "max"}};
  const std::string reduction = n.String("reduction");
  const auto* found = llvm::find_if(kReductions, [&](const auto& each) { return each.first == reduction; });
  n.SetOutput(n.Add("opset12", "ScatterElementsUpdate",
                    {n.input(0), n.input(1), n.input(2), n.ConstInt(n.Int("axis"), "axis")},
                    Attributes({{"reduction", found->second}, {"use_init_val", true}})));
}

void LowerAddedMask(NodeLowering& n) {
  if (n.source_input(0).type != ElementType::kBoolean) {
    n.SetOutput(n.input(0));
    return;
  }
  const OutputPort zero = n.ConstFloat(0, "zero");
  const OutputPort lowest = n.ConstFloat(-std::numeric_limits<double>::infinity(), "lowest");
  n.SetOutput(n.Add("opset1", "Select", {n.input(0), zero, lowest}));
}

void LowerProductReduce(NodeLowering& n) {
  n.SetOutput(Reduce(n, "ReduceProd", n.input(0), n.Ints("axes")));
}

void LowerTractTopK(NodeLowering& n) {
  const ir::NodeId top = n.AddNode("opset3", "TopK", {n.input(0), n.ConstInt(n.Int("k"), "k")},
                                   Attributes({{"axis", n.Int("axis")},
                                               {"mode", n.Bool("largest") ? "max" : "min"},
                                               {"sort", "value"},
                                               {"index_element_type", ElementType::kI64}}),
                                   2);
  n.SetOutput(0, {top, 0});
  n.SetOutput(1, {top, 1});
}

}  // namespace

void RegisterTract(LoweringTable& table) {
  table["tract_core_erf"] = LowerErf;
  table["tract_core_round_even"] = LowerRoundEven;
  table["tract_core_to_integer"] = LowerToInteger;
  table["tract_core_einsum"] = LowerTractEinsum;
  table["tract_core_gather_elements"] = LowerGatherElements;
  table["tract_core_scatter_elements"] = LowerScatterElements;
  table["tract_core_product_reduce"] = LowerProductReduce;
  table["tract_transformers_added_mask"] = LowerAddedMask;
  table["tract_core_topk"] = LowerTractTopK;
}

}  // namespace nnefc::lower
