// Operations that change places.

#include "compiler/transform/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace back {

// ReLU -> Reshape -> Transpose -> Reshape -> Convolution with padding: the ReLU moves
// in front of the convolution. Disabled, since it gains nothing on processors.
class ShufflenetReLUReorder : public BackReplacementPattern {
 public:
  ShufflenetReLUReorder() { enabled = false; }

 protected:
  Pattern GetPattern() const override {
    return {.nodes = {Op("relu", "ReLU"), Op("reshape1", "Reshape"), Op("transpose", "Transpose"),
                      Op("reshape2", "Reshape"), Op("conv", "Convolution")},
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

}  // namespace back

void RegisterReorder(TransformationList& list) {
  list.Add<back::ShufflenetReLUReorder>();
}

}  // namespace nnefc::transform
