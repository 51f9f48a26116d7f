// The numbering of window coordinates in provisional documents with windows of several sizes.

#include "compiler/expand/provisional/coordinates.h"

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/expand/rules.h"
#include "compiler/ir/ops/windows/sliding_window.h"
#include "compiler/support/tensor/trailing_ones.h"
#include "fmt/format.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace nnefc::expand::provisional {
namespace {

using Size = ir::Attribute::Integers;

// Node and index of an output.
using Key = std::pair<int32_t, int32_t>;

// Operations whose tensors of coordinates are connected: they are read together, or copied from each other.
struct Group {
  std::vector<ir::NodeId> windows;  // operations with a window that produce or read them
  std::vector<Size> sizes;          // of these windows, without trailing ones
};

// Returns the coordinates that a node reads or produces; none for other nodes.
std::vector<Key> CoordinatesOf(const ir::Graph& graph, const ir::Node& node) {
  std::vector<Key> keys;
  auto add = [&](ir::OutputPort port) {
    if (IsInteger(graph.output(port).type)) keys.emplace_back(port.node.index, port.index);
  };
  for (ir::OutputPort input : node.inputs()) add(input);
  for (int32_t i = 0; i < node.num_outputs(); ++i) add(node.port(i));
  return keys;
}

// Numbers the coordinates of a group within the smallest window that covers all of its windows. Emits an
// error if the group cannot be printed, or if a window has a lower rank than the common one.
void Renumber(ir::Graph& graph, const Group& group, Purpose purpose, Emitter& emitter) {
  Size common;
  for (const Size& size : group.sizes) {
    common.resize(std::max(common.size(), size.size()), 1);
    for (size_t i = 0; i < size.size(); ++i) common[i] = std::max(common[i], size[i]);
  }
  for (ir::NodeId id : group.windows) {
    const ir::Node& node = graph.node(id);
    const Size own = node.attribute("size").AsInts();
    if (WithoutTrailingOnes(own).equals(common)) continue;
    if (purpose == Purpose::kPrint || common.size() > own.size()) {
      emitter
          .Emit(
              kCoordinate, node.origin().range,
              "the window of `{}` has the size [{}], but its indices meet those of windows of the size "
              "[{}]{}",
              node.type(), fmt::join(own, ","), fmt::join(common, ","),
              purpose == Purpose::kPrint ? ", which has no ratified form" : "; expected windows of one rank")
          .Notes(ir::StackNotes(node.origin().frame));
      return;
    }
    Size attribute = common;
    attribute.resize(own.size(), 1);
    graph.SetAttribute(id, ir::ops::kIndexSize, attribute);
  }
}

}  // namespace

void NumberCoordinates(ir::Graph& graph, Purpose purpose, Emitter& emitter) {
  llvm::EquivalenceClasses<Key> meeting;
  std::vector<ir::NodeId> windows;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.set() != ir::kNnefSet) continue;
    const std::vector<Key> keys = CoordinatesOf(graph, node);
    if (keys.empty()) continue;
    for (const Key& key : keys) meeting.unionSets(keys.front(), key);
    const ir::Attribute* size = node.attributes().Find("size");
    if (size != nullptr && size->get<Size>() != nullptr) windows.push_back(id);
  }
  std::map<Key, Group> groups;
  for (ir::NodeId id : windows) {
    Group& group = groups[meeting.getLeaderValue(CoordinatesOf(graph, graph.node(id)).front())];
    group.windows.push_back(id);
    group.sizes.push_back(WithoutTrailingOnes(graph.node(id).attribute("size").AsInts()).vec());
  }
  for (const auto& [leader, group] : groups) {
    const bool one = std::all_of(group.sizes.begin(), group.sizes.end(),
                                 [&](const Size& size) { return size == group.sizes.front(); });
    if (!one) Renumber(graph, group, purpose, emitter);
  }
}

}  // namespace nnefc::expand::provisional
