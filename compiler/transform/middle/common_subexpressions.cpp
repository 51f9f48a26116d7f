// Common subexpression elimination.

#include <map>

#include "compiler/ir/algorithms/random.h"
#include "compiler/transform/pipeline/standard.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::transform::middle {

class MergeEqualNodes : public MiddleReplacementPattern {
 public:
  std::string_view Description() const override {
    return "Of nodes of one operation with equal attributes and the same inputs, in either order if it is "
           "commutative, only the first remains. Equal constants of at most 64 bytes count as the same "
           "input. Nodes with state or bodies and nodes of unknown operations are not changed.";
  }
  std::string_view Example() const override {
    return R"(%0 = opset1.Parameter "x" {element_type = f32, shape = shape[2,3]} : f32[2,3]
%1 = opset1.Abs "a" (%0) : f32[2,3]
%2 = opset1.Abs "b" (%0) : f32[2,3]
%3 = opset1.Add "s" (%1, %2) : f32[2,3]
opset1.Result "y" (%3)
)";
  }
  Names RunAfter() const override { return {"middle.RemoveIdentity", "MiddleStart"}; }

  void FindAndReplacePattern(Graph& graph) override {
    llvm::DenseMap<size_t, llvm::SmallVector<ir::NodeId, 1>> candidates_by_hash;
    std::map<std::string, ir::OutputPort> constants;
    llvm::DenseMap<int32_t, ir::OutputPort> equal_constants;
    const ir::Graph& ir = graph.ir();
    // Maps each small constant to the first one equal to it.
    const auto canonical = [&](ir::OutputPort port) {
      const auto found = equal_constants.find(port.node.index);
      return found == equal_constants.end() ? port : found->second;
    };
    const std::optional<std::vector<ir::NodeId>> order = ir::TopologicalOrder(ir);
    if (!order) throw Error("the graph contains a cycle");
    for (ir::NodeId id : *order) {
      const ir::Node& node = ir.node(id);
      if (node.Is(ir::OpRole::kConst)) {
        if (const auto key = KeyOf(node))
          equal_constants[id.index] = constants.try_emplace(*key, node.port()).first->second;
        continue;
      }
      if (!IsPure(node)) continue;
      // The hash is independent of the order of inputs.
      size_t inputs = 0;
      for (ir::OutputPort input : node.inputs())
        inputs += llvm::hash_combine(canonical(input).node.index, input.index);
      const size_t hash = llvm::hash_combine(node.op().index, node.num_inputs(), node.num_outputs(), inputs);
      llvm::SmallVector<ir::NodeId, 1>& candidates = candidates_by_hash[hash];
      const auto equal =
          llvm::find_if(candidates, [&](ir::NodeId other) { return Equal(ir.node(other), node, canonical); });
      if (equal == candidates.end()) {
        candidates.push_back(id);
        continue;
      }
      bool is_bypassed = true;
      for (int32_t i = 0; i < node.num_outputs(); ++i)
        is_bypassed &= graph.Bypass(Node(graph, id).out_port(i), Node(graph, *equal).out_port(i));
      if (is_bypassed) graph.Remove(Node(graph, id));
    }
  }

 private:
  // Larger constants are equal only if they are the same node.
  static constexpr size_t kMaxConstantBytes = 64;

  // Returns a key that equal constants share; nothing if the constant is large.
  static std::optional<std::string> KeyOf(const ir::Node& constant) {
    const std::optional<TensorValue>& value = constant.output().value;
    if (!value || value->byte_size() > kMaxConstantBytes) return std::nullopt;
    return fmt::format("{} {} ", static_cast<int>(value->type()), nnefc::ToString(value->shape())) +
           std::string(reinterpret_cast<const char*>(value->bytes()), value->byte_size());
  }

  // Returns true for a node whose outputs depend only on its inputs and attributes.
  static bool IsPure(const ir::Node& node) {
    const ir::OpInfo& info = node.info();
    const bool computes = node.Is(ir::OpRole::kComputation) || node.Is(ir::OpRole::kView);
    return computes && info.infer != nullptr && !info.is_source && !info.is_sink &&
           !ir::DrawsRandomNumbers(info) && node.num_inputs() > 0 && node.bodies().empty();
  }

  // Returns true if two nodes have equal outputs. `canonical` maps an output to the first one equal to it.
  template <typename Canonical>
  static bool Equal(const ir::Node& a, const ir::Node& b, const Canonical& canonical) {
    if (a.op() != b.op() || a.num_inputs() != b.num_inputs() || a.num_outputs() != b.num_outputs() ||
        a.segments() != b.segments() || !(a.attributes() == b.attributes()))
      return false;
    const auto equal = [&](int32_t i, int32_t k) { return canonical(a.input(i)) == canonical(b.input(k)); };
    if (MayCommute(a) && equal(0, 1) && equal(1, 0)) return true;
    for (int32_t i = 0; i < a.num_inputs(); ++i) {
      if (!equal(i, i)) return false;
    }
    return true;
  }

  // With PDPD broadcasting only the second input is broadcast to the first.
  static bool MayCommute(const ir::Node& node) {
    const ir::Attribute* broadcast = node.attributes().Find("auto_broadcast");
    return node.info().is_commutative && (broadcast == nullptr || broadcast->AsString() == "numpy");
  }
};

void RegisterCommonSubexpressions(TransformationList& list) {
  list.Add<MergeEqualNodes>();
}

}  // namespace nnefc::transform::middle
