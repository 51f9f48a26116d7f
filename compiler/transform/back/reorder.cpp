// Transformations that swap the order of operations.

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::back {

class ShufflenetReLUReorder : public BackReplacementPattern {
 public:
  std::string_view Description() const override {
    return "In ReLU, Reshape, Transpose, Reshape, Convolution with padding the ReLU moves in front of the "
           "convolution. Disabled, since it gains nothing on processors.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4,2,2]} : f32[1,4,2,2]
%1 = opset1.ReLU "relu" (%0) : f32[1,4,2,2]
%2 = opset1.Const "five" : i64[5] = dense<i64[5]: 1, 2, 2, 2, 2>
%3 = opset1.Reshape "r1" (%1, %2) {special_zero = false} : f32[1,2,2,2,2]
%4 = opset1.Const "order" : i64[5] = dense<i64[5]: 0, 2, 1, 3, 4>
%5 = opset1.Transpose "t" (%3, %4) : f32[1,2,2,2,2]
%6 = opset1.Const "four" : i64[4] = dense<i64[4]: 1, 4, 2, 2>
%7 = opset1.Reshape "r2" (%5, %6) {special_zero = false} : f32[1,4,2,2]
%8 = opset1.Parameter "w" {element_type = f32, shape = shape[1,4,1,1]} : f32[1,4,1,1]
%9 = opset1.Convolution "c" (%7, %8) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 0], pads_end = [0, 0]} : f32[1,1,3,2]
opset1.Result "y" (%9)
)";
  }
  ShufflenetReLUReorder() { enabled = false; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("relu", "opset.ReLU"), Op("reshape1", "opset.Reshape"),
                      Op("transpose", "opset.Transpose"), Op("reshape2", "opset.Reshape"),
                      Op("conv", "opset.Convolution")},
            .edges = {{"relu", "reshape1", {0}},
                      {"reshape1", "transpose", {0}},
                      {"transpose", "reshape2", {0}},
                      {"reshape2", "conv", {0}}}};
  }
  void ReplacePattern(Graph& graph, const Match& match) override {
    const Node relu = match["relu"];
    const Node conv = match["conv"];
    for (const char* alias : {"relu", "reshape1", "transpose", "reshape2"}) {
      if (!OnlyDestination(match[alias].out_port(0))) return;
    }
    const auto pads = [&](std::string_view name) {
      return llvm::any_of(conv.ir().Ints(name), [](int64_t pad) { return pad != 0; });
    };
    if (!pads("pads_begin") && !pads("pads_end")) return;
    const Port before = relu.in_port(0).GetSource();
    match["reshape1"].in_port(0).Connect(before);
    relu.in_port(0).Connect(match["reshape2"].out_port(0));
    conv.in_port(0).Connect(relu.out_port(0));
    for (const char* alias : {"relu", "reshape1", "transpose", "reshape2"})
      graph.MarkForInference(match[alias], true);
  }
};

void RegisterReorder(TransformationList& list) {
  list.Add<back::ShufflenetReLUReorder>();
}

}  // namespace nnefc::transform::back
