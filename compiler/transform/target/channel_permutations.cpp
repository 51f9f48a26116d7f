// Chains of concatenations, slices and shuffles of channels before a convolution. An image is an f32 tensor
// of shape [N, C, spatial..].

#include <algorithm>
#include <map>

#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/target/quantizations.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform::target {

namespace {

// Maximum source images per gather.
constexpr size_t kMaxImages = 16;
// Maximum channels tracked, in all images of the graph together.
constexpr int64_t kMaxChannels = 1 << 20;
// Minimum channels of a gathered image: one block of the layout nChw16c.
constexpr size_t kMinChannels = 16;

using Channels = std::vector<int64_t>;
// The channels of input 0 that form each output of a node.
using Moves = std::vector<Channels>;

std::optional<Channels> ConstantInts(const ir::Graph& graph, ir::OutputPort port) {
  const std::optional<TensorValue>& value = graph.output(port).value;
  if (!value) return std::nullopt;
  Channels numbers;
  for (int64_t i = 0; i < value->volume(); ++i) numbers.push_back(value->ElementAsInt(i));
  return numbers;
}

std::optional<int64_t> ConstantInt(const ir::Graph& graph, ir::OutputPort port) {
  const std::optional<Channels> numbers = ConstantInts(graph, port);
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

// Returns true if the axis is that of channels.
bool IsOfChannels(int64_t axis, const Shape& images) {
  return (axis < 0 ? axis + static_cast<int64_t>(images.size()) : axis) == 1;
}

// Returns the order of channels viewed as [groups, channels / groups] and transposed.
Channels Shuffled(int64_t channels, int64_t groups) {
  Channels order;
  for (int64_t i = 0; i < channels; ++i) order.push_back(i % groups * (channels / groups) + i / groups);
  return order;
}

std::optional<Moves> MovesOfShuffle(const ir::Graph&, const ir::Node& node, const Shape& images) {
  if (!IsOfChannels(node.Int("axis"), images)) return std::nullopt;
  return Moves{Shuffled(images[1], node.Int("group"))};
}

std::optional<Moves> MovesOfSplit(const ir::Graph& graph, const ir::Node& node, const Shape& images) {
  const std::optional<int64_t> axis = ConstantInt(graph, node.input(1));
  if (!axis || !IsOfChannels(*axis, images)) return std::nullopt;
  Moves moves;
  int64_t next = 0;
  for (const ir::Output& output : node.outputs()) {
    Channels& part = moves.emplace_back();
    for (int64_t i = 0; i < output.shape.known_extents()[1]; ++i) part.push_back(next++);
  }
  return moves;
}

// Slice-8 along channels only.
std::optional<Moves> MovesOfSlice(const ir::Graph& graph, const ir::Node& node, const Shape& images) {
  if (node.num_inputs() != 5) return std::nullopt;
  const std::optional<int64_t> start = ConstantInt(graph, node.input(1));
  const std::optional<int64_t> step = ConstantInt(graph, node.input(3));
  const std::optional<int64_t> axis = ConstantInt(graph, node.input(4));
  if (!start || !step || !axis || !IsOfChannels(*axis, images) || *step <= 0) return std::nullopt;
  const int64_t first = std::clamp<int64_t>(*start < 0 ? *start + images[1] : *start, 0, images[1]);
  Channels part;
  for (int64_t i = 0; i < node.output().shape.known_extents()[1]; ++i) part.push_back(first + i * *step);
  return Moves{part};
}

// Computes the channel permutation of a node with input 0 of shape `images`, or nothing if the node does
// anything else.
using Mover = std::optional<Moves> (*)(const ir::Graph&, const ir::Node&, const Shape& images);

// Returns null for operations that do not permute channels.
Mover MoverOf(const ir::Node& node) {
  switch (node.info().rearrangement) {
    case ir::Rearrangement::kShuffleChannels:
      return MovesOfShuffle;
    case ir::Rearrangement::kSplit:
      return MovesOfSplit;
    case ir::Rearrangement::kSlice:
      return MovesOfSlice;
    default:
      return nullptr;
  }
}

class ChannelPermutations {
 public:
  explicit ChannelPermutations(Graph& graph) : edited_(graph), graph_(graph.ir()) {}

  void Run() {
    for (ir::NodeId id : edited_.Order()) {
      const ir::Node& node = graph_.node(id);
      if (node.Is(ir::Contraction::kConvolution) || node.Is(ir::Contraction::kGroupConvolution)) {
        GatherFor(node);
      } else {
        Follow(node);
      }
    }
    if (!gathered_.empty()) edited_.CleanUp();
  }

 private:
  // A channel of a source image.
  struct Channel {
    ir::OutputPort image;
    int64_t index;
  };
  // The sources of the channels of an image that such a chain computes.
  struct Moved {
    std::vector<Channel> channels;
    bool is_more_than_joined;  // the chain has other nodes than concatenations
  };
  using Key = std::pair<int32_t, int32_t>;
  static Key KeyOf(ir::OutputPort port) { return {port.node.index, port.index}; }

  // Returns the shape if the output is an f32 image.
  std::optional<Shape> ImagesOf(ir::OutputPort port) const {
    const ir::Output& output = graph_.output(port);
    std::optional<Shape> shape = output.shape.extents();
    if (!shape || output.type != ElementType::kF32 || shape->size() < 3 || shape->size() > 5)
      return std::nullopt;
    return shape;
  }

  // Returns the source channels; those of the image itself if it was not moved.
  Moved MovedOf(ir::OutputPort port, const Shape& images) const {
    if (const auto found = moved_.find(KeyOf(port)); found != moved_.end()) return found->second;
    Moved moved{.channels = {}, .is_more_than_joined = false};
    for (int64_t i = 0; i < images[1]; ++i) moved.channels.push_back({port, i});
    return moved;
  }

  // Records the source channels of the node's outputs if it only permutes or selects channels.
  void Follow(const ir::Node& node) {
    if (node.num_inputs() == 0) return;
    if (node.Is(ir::Rearrangement::kConcat)) return FollowConcat(node);
    const Mover mover = MoverOf(node);
    const ir::Node* shuffle = node.Is(ir::Rearrangement::kReshape) ? ShuffleOf(node) : nullptr;
    if (mover == nullptr && shuffle == nullptr) return;
    const ir::OutputPort from = (shuffle == nullptr ? node : *shuffle).input(0);
    const std::optional<Shape> images = ImagesOf(from);
    if (!images || !KeepsPixels(node, *images) || !Remembers((*images)[1])) return;
    const std::optional<Moves> moves =
        mover != nullptr ? mover(graph_, node, *images)
                         : std::optional(Moves{Shuffled(
                               (*images)[1], graph_.output(shuffle->port()).shape.known_extents()[1])});
    if (!moves) return;
    const Moved before = MovedOf(from, *images);
    for (size_t i = 0; i < moves->size(); ++i) {
      Moved& moved = moved_[KeyOf(node.port(static_cast<int32_t>(i)))];
      moved.is_more_than_joined = true;
      for (int64_t channel : (*moves)[i])
        moved.channels.push_back(before.channels[static_cast<size_t>(channel)]);
    }
  }

  // Returns whether the outputs are images that differ from the input only in their channels.
  bool KeepsPixels(const ir::Node& node, const Shape& images) const {
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const std::optional<Shape> shape = ImagesOf(node.port(i));
      if (!shape || shape->size() != images.size()) return false;
      for (size_t axis = 0; axis < shape->size(); ++axis) {
        if (axis != 1 && (*shape)[axis] != images[axis]) return false;
      }
    }
    return true;
  }

  // Returns the first Reshape of the three nodes that exporters use for a shuffle: [N, C, ..] to [N, G, C /
  // G, ..], transpose of axes 1 and 2, and back. Returns null if `node` is not the last one.
  const ir::Node* ShuffleOf(const ir::Node& node) const {
    const ir::Node& transpose = graph_.node(node.input(0).node);
    if (!transpose.Is(ir::Rearrangement::kTranspose)) return nullptr;
    const ir::Node& first = graph_.node(transpose.input(0).node);
    if (!first.Is(ir::Rearrangement::kReshape)) return nullptr;
    const std::optional<Shape> images = ImagesOf(first.input(0));
    const std::optional<Shape> grouped = first.output().shape.extents();
    if (!images || !grouped || grouped->size() != images->size() + 1) return nullptr;
    Shape joined = *grouped;
    joined[1] *= joined[2];
    joined.erase(joined.begin() + 2);
    if (joined != *images || node.output().shape.extents() != images) return nullptr;
    Channels swapped;
    for (size_t axis = 0; axis < grouped->size(); ++axis) swapped.push_back(static_cast<int64_t>(axis));
    std::swap(swapped[1], swapped[2]);
    return ConstantInts(graph_, transpose.input(1)) == swapped ? &first : nullptr;
  }

  void FollowConcat(const ir::Node& node) {
    const std::optional<Shape> whole = ImagesOf(node.port());
    if (!whole || !IsOfChannels(node.Int("axis"), *whole)) return;
    // Extents of a part may be unknown even if those of the others determine the result's.
    if (!llvm::all_of(node.inputs(), [&](ir::OutputPort port) { return ImagesOf(port).has_value(); })) return;
    if (!Remembers((*whole)[1])) return;
    Moved joined{.channels = {}, .is_more_than_joined = false};
    for (ir::OutputPort port : node.inputs()) {
      const Moved part = MovedOf(port, *ImagesOf(port));
      joined.channels.insert(joined.channels.end(), part.channels.begin(), part.channels.end());
      joined.is_more_than_joined |= part.is_more_than_joined;
    }
    if (ImagesIn(joined).size() <= kMaxImages) moved_[KeyOf(node.port())] = std::move(joined);
  }

  // Counts channels to be tracked; returns false beyond kMaxChannels.
  bool Remembers(int64_t channels) {
    if (channels > kMaxChannels - remembered_) return false;
    remembered_ += channels;
    return true;
  }

  static std::vector<ir::OutputPort> ImagesIn(const Moved& moved) {
    std::vector<ir::OutputPort> images;
    for (const Channel& channel : moved.channels) {
      if (images.empty() || (images.back() != channel.image && !llvm::is_contained(images, channel.image)))
        images.push_back(channel.image);
    }
    return images;
  }

  // Replaces the input of a convolution by a Gather. Inputs with fewer channels than kMinChannels, and chains
  // of concatenations alone, remain.
  void GatherFor(const ir::Node& convolution) {
    const ir::OutputPort port = convolution.input(0);
    const auto found = moved_.find(KeyOf(port));
    if (found == moved_.end() || !found->second.is_more_than_joined) return;
    if (found->second.channels.size() < kMinChannels || StaysQuantized(convolution)) return;
    auto gathered = gathered_.find(KeyOf(port));
    if (gathered == gathered_.end())
      gathered = gathered_.emplace(KeyOf(port), Gather(found->second, port)).first;
    Node(edited_, convolution.id()).in_port(0).Connect(gathered->second);
  }

  // Returns whether a convolution with 8-bit filter reads an image that only Split, Concat and MaxPool move
  // since a quantization, the same for all parts. Kernels of 8 bits move it without a Gather.
  bool StaysQuantized(const ir::Node& convolution) const {
    const ir::PlanFunctions* plan = edited_.plan();
    const TensorValue* filter = ConstantF32(graph_, convolution.input(1));
    if (plan == nullptr || plan->quantize_filter == nullptr || filter == nullptr) return false;
    constexpr size_t kMaxSteps = 64;
    std::vector<ir::OutputPort> images = {convolution.input(0)};
    std::optional<ir::ops::LinearQuantization> first;
    for (size_t step = 0; step < images.size(); ++step) {
      if (step == kMaxSteps) return false;
      const ir::Node& node = graph_.node(images[step].node);
      const bool is_joined = node.Is(ir::Rearrangement::kConcat) && ir::ops::JoinsImages(graph_, node);
      const bool is_pooled = images[step].index == 0 && node.Is(ir::Pooling::kMax);
      if (is_joined) {
        images.insert(images.end(), node.inputs().begin(), node.inputs().end());
      } else if (is_pooled || ir::ops::SplitsImages(graph_, node)) {
        images.push_back(node.input(0));
      } else {
        const std::optional<ir::ops::LinearQuantization> range = RangeOf(graph_, node);
        if (!range) return false;
        if (!first) first = range;
        if (range->scale != first->scale || range->zero != first->zero) return false;
      }
    }
    return first && !plan->quantize_filter(convolution, *filter).scales.empty();
  }

  // Adds the nodes that compute the image at `port` from its source images.
  Port Gather(const Moved& moved, ir::OutputPort port) {
    const std::string name = graph_.node(port.node).name();
    const ir::Origin origin = graph_.node(port.node).origin();
    const std::vector<ir::OutputPort> images = ImagesIn(moved);
    std::map<Key, int64_t> begins;
    int64_t next = 0;
    for (ir::OutputPort image : images) {
      begins[KeyOf(image)] = next;
      next += (*ImagesOf(image))[1];
    }
    Channels indices;
    for (const Channel& channel : moved.channels)
      indices.push_back(begins.at(KeyOf(channel.image)) + channel.index);
    std::vector<Port> sources;
    sources.reserve(images.size());
    for (ir::OutputPort image : images) sources.emplace_back(edited_, image.node, image.index, true);
    Graph::Spec joined{.name = name};
    joined.attributes.Set("axis", 1);
    const Port whole = edited_.CreateNode("opset1.Concat", sources, std::move(joined)).out_port(0);
    const auto constant = [&](TensorValue value) {
      return edited_.CreateConst(std::move(value), name).out_port(0);
    };
    const Shape count{static_cast<int64_t>(indices.size())};
    const Port order = constant(TensorValue::FromInts(count, indices));
    const Port axis = constant(TensorValue::FromInts({}, {1}));
    return edited_.CreateNode("opset8.Gather", {whole, order, axis}, {.name = name, .origin = origin})
        .out_port(0);
  }

  Graph& edited_;
  const ir::Graph& graph_;  // the same graph
  std::map<Key, Moved> moved_;
  int64_t remembered_ = 0;  // number of channels
  std::map<Key, Port> gathered_;
};

}  // namespace

class FuseChannelPermutations : public TargetReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Chains of concatenations, slices and shuffles of channels before a convolution become one Concat "
           "of the "
           "source images and one Gather of channels, which run as one step.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[1,16,2,2]} : f32[1,16,2,2]
%1 = opset1.ShuffleChannels "s" (%0) {axis = 1, group = 2} : f32[1,16,2,2]
%2 = opset1.Parameter "w" {element_type = f32, shape = shape[1,16,1,1]} : f32[1,16,1,1]
%3 = opset1.Convolution "c" (%1, %2) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : f32[1,1,2,2]
opset1.Result "y" (%3)
)";
  }
  Names RunAfter() const override { return {"target.RemoveQuantizationAfterMoves", "TargetStart"}; }
  void FindAndReplacePattern(Graph& graph) override { ChannelPermutations(graph).Run(); }
};

void RegisterChannelPermutations(TransformationList& list) {
  list.Add<target::FuseChannelPermutations>();
}

}  // namespace nnefc::transform::target
