// What is done to a graph of known shapes before its nodes get kernels: constant
// matrices are transposed. What is better for whoever runs the graph is done by
// compiler/transform.

#include "runtime/fast/families.h"
#include "runtime/kernels/attributes.h"
#include "runtime/tensor/tensor_view.h"

namespace nnefc::runtime {

namespace {

const TensorValue* ConstantOf(const ir::Graph& graph, ir::OutputPort port) {
  const ir::Node& node = graph.node(port.node);
  return node.Is(ir::OpRole::kConst) && node.output().value ? &*node.output().value : nullptr;
}

// Replaces a constant right side [inputs, outputs] by its transpose, the way
// in which oneDNN wants the weights of an inner product.
void TransposeConstant(ir::Graph& graph, ir::OpId mat_mul, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op() != mat_mul || node.Bool("transpose_b")) return;
  const TensorValue* matrix = ConstantOf(graph, node.input(1));
  if (matrix == nullptr || matrix->type() != ElementType::kF32 || matrix->rank() != 2) return;
  const ir::PartialShape& left = graph.output(node.input(0)).shape;
  if (!left.rank_known() || left.rank() < 2) return;
  const TensorValue source = matrix->Aligned(alignof(float));
  const int64_t rows = source.shape()[0];
  const int64_t columns = source.shape()[1];
  const TensorValue transposed =
      TensorValue::Make<float>(ElementType::kF32, {columns, rows}, [&](std::span<float> out) {
        CopyElements(
            TensorView(ElementType::kF32, {columns, rows}, Strides{1, columns}, source.bytes()),
            MutableTensorView(ElementType::kF32, {columns, rows}, reinterpret_cast<std::byte*>(out.data())));
      });
  const ir::NodeId constant = graph.AddConst(transposed, graph.node(node.input(1).node).name());
  graph.SetInput(id, 1, {constant, 0});
  graph.SetAttribute(id, "transpose_b", true);
}

}  // namespace

void RewriteForOneDnn(ir::Graph& graph) {
  const std::optional<std::vector<ir::NodeId>> order = graph.TopologicalOrder();
  if (!order) return;
  const ir::OpId mat_mul = graph.registry().Find("opset1", "MatMul");
  for (ir::NodeId id : *order) TransposeConstant(graph, mat_mul, id);
  graph.EraseDeadNodes();
}

}  // namespace nnefc::runtime
