// Raising of OpenVINO's ShuffleChannels, DepthToSpace and SpaceToDepth to NNEF operations.

#include <numeric>

#include "compiler/raise/node_raising.h"
#include "compiler/raise/table.h"

namespace nnefc::raise {

namespace {

// ShuffleChannels: transposes [groups, channels / groups] of an axis.
void RaiseShuffleChannels(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const int64_t given = n.node().Int("axis");
  const auto axis = static_cast<size_t>(given < 0 ? given + n.input_rank(0) : given);
  const int64_t groups = n.node().Int("group");
  nnefc::Shape split(shape.begin(), shape.begin() + axis);
  split.push_back(groups);
  split.push_back(shape[axis] / groups);
  split.append(shape.begin() + axis + 1, shape.end());
  Integers order(split.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[axis], order[axis + 1]);
  const OutputPort grouped = n.Reshape(n.input(0), split, "grouped");
  n.SetOutput(n.Reshape(n.Transpose(grouped, order, "shuffled"), shape));
}

// DepthToSpace: [N, blocks.., C, D..] (blocks_first) or [N, C, blocks.., D..] to [N, C, D * block, ..].
void RaiseDepthToSpace(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const nnefc::Shape output = n.output_shape();
  const size_t spatial = shape.size() - 2;
  const bool blocks_first = n.node().String("mode") == "blocks_first";
  const Integers blocks(spatial, n.node().Int("block_size"));
  nnefc::Shape split{shape[0]};
  if (!blocks_first) split.push_back(output[1]);
  split.append(blocks.begin(), blocks.end());
  if (blocks_first) split.push_back(output[1]);
  split.append(shape.begin() + 2, shape.end());
  const auto channel = static_cast<int64_t>(blocks_first ? 1 + spatial : 1);
  const auto first_block = static_cast<int64_t>(blocks_first ? 1 : 2);
  Integers order{0, channel};
  for (size_t i = 0; i < spatial; ++i) {
    order.push_back(static_cast<int64_t>(2 + spatial + i));
    order.push_back(first_block + static_cast<int64_t>(i));
  }
  const OutputPort blocked = n.Reshape(n.input(0), split, "blocks");
  n.SetOutput(n.Reshape(n.Transpose(blocked, order, "places"), output));
}

// SpaceToDepth: [N, C, D * block, ..] to [N, blocks.., C, D..] (blocks_first) or [N, C, blocks.., D..].
void RaiseSpaceToDepth(NodeRaising& n) {
  const nnefc::Shape shape = n.input_shape(0);
  const nnefc::Shape output = n.output_shape();
  const size_t spatial = shape.size() - 2;
  const bool blocks_first = n.node().String("mode") == "blocks_first";
  nnefc::Shape split{shape[0], shape[1]};
  for (size_t i = 0; i < spatial; ++i) {
    split.push_back(output[2 + i]);
    split.push_back(n.node().Int("block_size"));
  }
  Integers order{0};
  if (!blocks_first) order.push_back(1);
  for (size_t i = 0; i < spatial; ++i) order.push_back(static_cast<int64_t>(3 + 2 * i));
  if (blocks_first) order.push_back(1);
  for (size_t i = 0; i < spatial; ++i) order.push_back(static_cast<int64_t>(2 + 2 * i));
  const OutputPort blocked = n.Reshape(n.input(0), split, "places");
  n.SetOutput(n.Reshape(n.Transpose(blocked, order, "blocks"), output));
}

}  // namespace

std::vector<RaiseEntry> RearrangingEntries() {
  return {{"ShuffleChannels", RaiseShuffleChannels},
          {"DepthToSpace", RaiseDepthToSpace},
          {"SpaceToDepth", RaiseSpaceToDepth}};
}

}  // namespace nnefc::raise
