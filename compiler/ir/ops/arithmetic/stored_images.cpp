// The storage of images in plans with bf16 multiplication.

#include "compiler/ir/ops/arithmetic/stored_images.h"

namespace nnefc::ir::ops {

namespace {

constexpr std::string_view kF32Images = "f32_images";

}  // namespace

void MarkF32Images(Graph& graph, NodeId node) {
  graph.SetRtInfo(node, kF32Images, true);
}

bool HasF32Images(const Node& node) {
  return node.rt_info().Find(kF32Images) != nullptr;
}

}  // namespace nnefc::ir::ops
