// Channels that are concatenated, sliced and shuffled before a convolution, against the reference kernels.

#include <random>

#include "tests/unit/runtime/engine/kernels/post_op_cases.h"

namespace nnefc::runtime::engine {
namespace {

constexpr char kGathered[] = "Concat+Gather";

class Moves {
 public:
  explicit Moves(unsigned seed) : random_(seed) {}

  int64_t Draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }

  ir::OutputPort Images(int64_t channels) {
    const Shape shape = {batch, channels, height, width};
    inputs.push_back(RandomTensor(shape, static_cast<unsigned>(inputs.size()) + 7));
    return g.Parameter("x" + std::to_string(inputs.size()), shape);
  }
  int64_t ChannelsOf(ir::OutputPort port) { return g.graph->output(port).shape.known_extents()[1]; }

  ir::OutputPort Slice(ir::OutputPort x, int64_t begin, int64_t end, int64_t step, int64_t axis = 1) {
    return g.Op("opset8", "Slice", {x, g.Ints({begin}), g.Ints({end}), g.Ints({step}), g.Ints({axis})});
  }
  ir::OutputPort Shuffle(ir::OutputPort x, int64_t groups) {
    ir::AttributeMap attributes;
    attributes.Set("axis", -3);
    attributes.Set("group", groups);
    return g.Op("ShuffleChannels", {x}, attributes);
  }
  ir::OutputPort ShuffleByTransposing(ir::OutputPort x, int64_t groups) {
    const int64_t channels = ChannelsOf(x);
    const auto grouped = g.Op("Reshape", {x, g.Ints({batch, groups, channels / groups, height, width})},
                              With("special_zero", false));
    const auto swapped = g.Op("Transpose", {grouped, g.Ints({0, 2, 1, 3, 4})});
    return g.Op("Reshape", {swapped, g.Ints({batch, channels, height, width})}, With("special_zero", false));
  }
  std::vector<ir::OutputPort> Split(ir::OutputPort x, const std::vector<int64_t>& lengths) {
    const auto axis = g.Const(TensorValue::FromInts({}, {1}));
    const auto first =
        g.Op("opset1", "VariadicSplit", {x, axis, g.Ints(lengths)}, {}, static_cast<int>(lengths.size()));
    std::vector<ir::OutputPort> parts;
    for (size_t i = 0; i < lengths.size(); ++i) parts.push_back({first.node, static_cast<int32_t>(i)});
    return parts;
  }
  ir::OutputPort Join(const std::vector<ir::OutputPort>& parts) {
    return g.Op("Concat", parts, With("axis", 1));
  }

  // Adds the result of a convolution of x.
  void Result(ir::OutputPort x, const std::string& name) {
    g.Result(g.Convolution(x, g.Weights({20, ChannelsOf(x), 3, 3}, 5), 1), name);
  }
  void Expect(const std::string& kernel) { ExpectAsReference(g, inputs, kernel); }

  TestGraph g;
  std::vector<TensorValue> inputs;
  int64_t batch = 1, height = 5, width = 7;

 private:
  std::mt19937 random_;
};

TEST(ChannelMovesTest, ShuffledAndSliced) {
  for (const int64_t batch : {1, 2}) {
    for (const int64_t channels : {16, 29, 58}) {
      Moves moves(1);
      moves.batch = batch;
      const auto joined = moves.Join({moves.Images(channels), moves.Images(channels)});
      const auto shuffled = moves.Shuffle(joined, 2);
      moves.Result(moves.Slice(shuffled, channels, 1000, 1), "second");
      moves.Result(moves.Slice(shuffled, 0, channels, 1), "first");
      moves.Expect(kGathered);
    }
  }
}

TEST(ChannelMovesTest, ShuffledByTransposing) {
  Moves moves(1);
  moves.Result(moves.ShuffleByTransposing(moves.Images(48), 3), "output");
  moves.Expect(kGathered);
}

TEST(ChannelMovesTest, FromTheEndAndByTwo) {
  Moves moves(1);
  const auto x = moves.Images(70);
  moves.Result(moves.Slice(x, -33, -1, 1), "last");
  moves.Result(moves.Slice(x, 3, 60, 2), "odd");
  moves.Result(moves.Slice(x, -200, 18, 1), "before the first");
  moves.Expect(kGathered);
}

// A value with other readers is also computed.
TEST(ChannelMovesTest, ResultsOfMovesStay) {
  Moves moves(1);
  const auto shuffled = moves.Shuffle(moves.Images(32), 4);
  moves.g.Result(shuffled, "shuffled");
  moves.Result(shuffled, "output");
  moves.Expect(kGathered);
}

TEST(ChannelMovesTest, MovesOfPixelsAreNotOfChannels) {
  Moves moves(1);
  const auto x = moves.Images(32);
  moves.Result(moves.Slice(x, 1, 4, 1, 2), "rows");
  moves.Result(moves.Slice(x, -1, -100, -1, 1), "backwards");
  ir::AttributeMap attributes;
  attributes.Set("axis", 3);
  attributes.Set("group", 7);
  moves.Result(moves.g.Op("ShuffleChannels", {x}, attributes), "columns");
  moves.Expect("");
}

// A channel of each image: the index of each batch element is another one.
TEST(ChannelMovesTest, ChannelsOfEachImage) {
  Moves moves(1);
  moves.batch = 2;
  const auto joined = moves.Join({moves.Images(16), moves.Images(16)});
  const auto axis = moves.g.Const(TensorValue::FromInts({}, {1}));
  moves.g.Result(
      moves.g.Op("opset8", "Gather", {joined, moves.g.Ints({30, 3}), axis}, With("batch_dims", int64_t{1})));
  moves.Expect("");
}

// Random chains of channel moves.
TEST(ChannelMovesTest, ChainsAtRandom) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Moves moves(seed);
    moves.batch = moves.Draw(1, 2);
    std::vector<ir::OutputPort> made;
    for (int64_t count = moves.Draw(1, 3); count > 0; --count)
      made.push_back(moves.Images(moves.Draw(1, 40)));
    const auto any = [&] {
      return made[static_cast<size_t>(moves.Draw(0, static_cast<int64_t>(made.size()) - 1))];
    };
    for (int step = 0; step < 8; ++step) {
      const auto x = any();
      const int64_t channels = moves.ChannelsOf(x);
      switch (moves.Draw(0, 4)) {
        case 0:
        case 1:
          if (channels < 200) made.push_back(moves.Join({x, any()}));
          break;
        case 2: {
          const int64_t begin = moves.Draw(0, channels - 1);
          made.push_back(moves.Slice(x, begin, moves.Draw(begin + 1, channels), moves.Draw(1, 2)));
          break;
        }
        case 3: {
          const int64_t groups = moves.Draw(1, 4);
          if (channels % groups != 0) break;
          made.push_back(moves.Draw(0, 1) == 0 ? moves.Shuffle(x, groups)
                                               : moves.ShuffleByTransposing(x, groups));
          break;
        }
        default: {
          const int64_t first = moves.Draw(1, channels);
          if (first == channels) break;
          for (ir::OutputPort part : moves.Split(x, {first, channels - first})) made.push_back(part);
        }
      }
    }
    for (size_t i = 0; i < made.size(); ++i) moves.Result(made[i], "output" + std::to_string(i));
    moves.Expect("");
  }
}

}  // namespace
}  // namespace nnefc::runtime::engine
