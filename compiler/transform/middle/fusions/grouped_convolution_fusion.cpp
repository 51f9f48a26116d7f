// Fusion of convolutions of channel groups, as written for networks split across two devices.

#include <cstring>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/values.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::middle {

namespace {

// Concatenates values of the same type and shape; the result has the shape `shape`.
TensorValue Joined(llvm::ArrayRef<TensorValue> values, Shape shape) {
  const size_t size = values.front().byte_size();
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(size * values.size());
  if (buffer == nullptr) throw Error("no memory for joined constants");
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(buffer->mutable_data() + i * size, values[i].bytes(), size);
  return TensorValue(values.front().type(), std::move(shape), std::move(buffer));
}

}  // namespace

class GroupedConvolutionFusion : public MiddleReplacementPattern {
 public:
  GroupedConvolutionFusion() { force_clean_up = true; }
  std::string_view Description() const override {
    return "Channels that are split, convolved by constant filters of one shape and concatenated in the same "
           "order become one GroupConvolution; a constant bias of each part is added behind it.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,4,5,5]} : f32[1,4,5,5]
%1 = opset1.Const "axis" : i64[] = dense<i64[]: 1>
%2:2 = opset1.Split "halves" (%0, %1) {num_splits = 2} : f32[1,2,5,5], f32[1,2,5,5]
%3 = opset1.Const "v" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 1.0, 2.0>
%4 = opset1.Const "w" : f32[1,2,1,1] = dense<f32[1,2,1,1]: 3.0, 4.0>
%5 = opset1.Convolution "a" (%2, %3) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,1,5,5]
%6 = opset1.Convolution "b" (%2.1, %4) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,1,5,5]
%7 = opset1.Concat "c" (%5, %6) {axis = 1} : f32[1,2,5,5]
opset1.Result "y" (%7)
)";
  }
  void FindAndReplacePattern(Graph& graph) override {
    for (const Node& concat : graph.GetOpNodes("opset1.Concat")) {
      if (concat.exists()) Fuse(graph, concat);
    }
  }

 private:
  // The convolution of one output of the split, with its added bias.
  struct Branch {
    Node convolution;
    TensorValue filter;
    TensorValue bias;  // [1, channels, 1, ..]; invalid if there is none
  };

  static void Fuse(Graph& graph, const Node& concat) {
    const int32_t count = concat.num_in_ports();
    if (count < 2 || !IsAxisOfChannels(concat)) return;
    std::vector<Branch> branches;
    for (const Port& port : concat.in_ports()) {
      std::optional<Branch> branch = MatchBranch(port.GetSource());
      if (!branch || (!branches.empty() && !AreAlike(branches.front(), *branch))) return;
      branches.push_back(std::move(*branch));
    }
    const std::optional<Port> x = MatchSplit(branches);
    if (!x) return;
    Shape shape = branches.front().filter.shape();
    shape.insert(shape.begin(), count);
    const std::string& name = concat.name();
    const ir::Origin origin = concat.ir().origin();
    std::vector<TensorValue> filters, biases;
    for (const Branch& branch : branches) {
      filters.push_back(branch.filter);
      biases.push_back(branch.bias);
    }
    const Node filter = graph.CreateConst(Joined(filters, shape), name + "/filters");
    Node made =
        graph.CreateNode("opset1.GroupConvolution", {*x, filter.out_port(0)},
                         {.attributes = branches.front().convolution.ir().attributes(), .origin = origin});
    if (branches.front().bias.valid()) {
      Shape extents = branches.front().bias.shape();
      extents[1] *= count;
      const Node bias = graph.CreateConst(Joined(biases, extents), name + "/bias");
      made = graph.CreateNode("opset1.Add", {made.out_port(0), bias.out_port(0)}, {.origin = origin});
    }
    TakePlace(graph, concat, made);
  }

  static bool IsAxisOfChannels(const Node& concat) {
    const ir::PartialShape& shape = concat.out_port(0).shape();
    return shape.rank_known() &&
           (concat.ir().Int("axis") == 1 || concat.ir().Int("axis") + shape.rank() == 1);
  }

  static std::optional<Branch> MatchBranch(const Port& output) {
    if (!OnlyDestination(output)) return std::nullopt;
    const Node node = output.node();
    if (node.ir().Is(ir::ElementFunction::kAdd)) {
      for (int32_t i : {1, 0}) {
        const std::optional<TensorValue>& bias = node.in_port(i).value();
        if (!bias || !OnlyDestination(node.in_port(1 - i).GetSource())) continue;
        std::optional<Branch> branch = MatchConvolution(node.in_node(1 - i));
        if (!branch || !IsBias(*bias, *branch)) return std::nullopt;
        branch->bias = *bias;
        return branch;
      }
      return std::nullopt;
    }
    return MatchConvolution(node);
  }
  static std::optional<Branch> MatchConvolution(const Node& node) {
    if (!IsOperation(node, "opset1", "Convolution")) return std::nullopt;
    const std::optional<TensorValue>& filter = node.in_port(1).value();
    if (!filter || filter->byte_size() == 0 || BitWidth(filter->type()) < 8) return std::nullopt;
    return Branch{.convolution = node, .filter = *filter, .bias = {}};
  }
  // Returns whether `bias` has one element per output channel.
  static bool IsBias(const TensorValue& bias, const Branch& branch) {
    const Shape& filter = branch.filter.shape();
    Shape expected(filter.size(), 1);
    expected[1] = filter[0];
    return bias.shape() == expected && bias.type() == branch.filter.type();
  }
  static bool AreAlike(const Branch& a, const Branch& b) {
    return a.filter.shape() == b.filter.shape() && a.filter.type() == b.filter.type() &&
           a.bias.valid() == b.bias.valid() &&
           a.convolution.ir().attributes() == b.convolution.ir().attributes();
  }

  // Returns the input of a split along the channels whose i-th output is read only by the i-th branch.
  static std::optional<Port> MatchSplit(llvm::ArrayRef<Branch> branches) {
    const Node split = branches.front().convolution.in_node(0);
    const bool is_even = IsOperation(split, "opset1", "Split");
    if (!is_even && !IsOperation(split, "opset1", "VariadicSplit")) return std::nullopt;
    if (split.num_out_ports() != static_cast<int32_t>(branches.size())) return std::nullopt;
    const std::optional<std::vector<int64_t>> axis = KnownInts(split.in_port(1));
    const ir::PartialShape& shape = split.in_port(0).shape();
    if (!axis || axis->size() != 1 || !shape.rank_known()) return std::nullopt;
    if (axis->front() != 1 && axis->front() + shape.rank() != 1) return std::nullopt;
    for (size_t i = 0; i < branches.size(); ++i) {
      const Port part = split.out_port(static_cast<int32_t>(i));
      if (!(branches[i].convolution.in_port(0).GetSource() == part) || !OnlyDestination(part))
        return std::nullopt;
    }
    return split.in_port(0).GetSource();
  }
};

void RegisterGroupedConvolutionFusion(TransformationList& list) {
  list.Add<middle::GroupedConvolutionFusion>();
}

}  // namespace nnefc::transform::middle
