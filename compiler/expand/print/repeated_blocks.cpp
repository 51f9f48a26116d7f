// The search for repeated blocks of operations.

#include "compiler/expand/print/repeated_blocks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/expand/print/literals.h"
#include "compiler/ir/algorithms/copy.h"
#include "fmt/format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::expand::print {
namespace {

using ir::Node;
using ir::NodeId;
using ir::OutputPort;

// The largest block, and the number of blocks of all sizes that are compared.
constexpr size_t kMaxLength = 256;
constexpr size_t kMaxCompared = 2'500'000;
// The largest number of arguments and results of a fragment that is still readable.
constexpr size_t kMaxTensors = 40;
// A fragment takes this many lines in addition to its operations.
constexpr int64_t kLinesOfFragment = 4;
constexpr int64_t kMinSavedLines = 2;
// Operations with more outputs are in no block.
constexpr int32_t kMaxOutputs = 1024;

bool IsLiteral(const Node& node) {
  return node.name().empty() && node.Is(ir::OpRole::kConstant) && node.output().names.empty();
}

// An input of an operation. `kind` is part of its key.
struct Operand {
  OutputPort port;
  int32_t producer = -1;  // the operation that computes it; -1: it is from outside of all blocks
  bool is_literal = false;
};

// An operation that may be in a block.
struct Operation {
  NodeId node;
  int key = 0;  // equal for equal operations, attributes, element types and literals
  std::vector<Operand> operands;
  bool may_repeat = true;
};

using Block = std::pair<size_t, size_t>;  // the first operation, the number of operations

class Finder {
 public:
  Finder(const ir::Graph& graph, llvm::ArrayRef<NodeId> order)
      : graph_(graph), index_of_(graph.node_bound(), -1) {
    for (NodeId id : order) {
      const Node& node = graph.node(id);
      if (IsOutside(node)) continue;
      index_of_[static_cast<size_t>(id.index)] = static_cast<int32_t>(operations_.size());
      operations_.push_back(OperationOf(node));
    }
    is_covered_.assign(operations_.size(), false);
  }

  std::vector<RepeatedBlock> Find() {
    HashBlocks();
    std::vector<RepeatedBlock> blocks;
    while (const std::optional<Candidate> best = FindBest()) {
      RepeatedBlock block{.name = NameOf(best->firsts.front(), best->length), .instances = {}};
      for (size_t first : best->firsts) {
        std::fill_n(is_covered_.begin() + static_cast<std::ptrdiff_t>(first), best->length, true);
        block.instances.push_back(InstanceAt({first, best->length}));
      }
      blocks.push_back(std::move(block));
    }
    return blocks;
  }

 private:
  struct Candidate {
    size_t length = 0;
    std::vector<size_t> firsts;
    int64_t saved = 0;
  };

  // True for nodes that no block contains: the interface of the graph, its data, and constants that several
  // operations use.
  bool IsOutside(const Node& node) const {
    if (node.Is(ir::OpRole::kParameter) || node.Is(ir::OpRole::kResult) || node.Is(ir::OpRole::kExternal) ||
        node.Is(ir::OpRole::kVariable))
      return true;
    return node.Is(ir::OpRole::kConstant) && (IsLiteral(node) || node.uses().size() != 1 ||
                                              graph_.node(node.uses()[0].node).Is(ir::OpRole::kResult));
  }

  Operation OperationOf(const Node& node) {
    Operation operation{.node = node.id()};
    std::string key = fmt::format("{}.{}", node.set(), node.type());
    for (const auto& [name, value] : node.attributes())
      key += fmt::format("|{}={}", name, AttributeLiteral(value));
    for (int32_t count : node.segments()) key += fmt::format("/{}", count);
    for (const ir::Output& output : node.outputs()) key += fmt::format(">{}", Name(output.type));
    for (OutputPort port : node.inputs()) {
      const Node& producer = graph_.node(port.node);
      Operand operand{.port = port, .producer = index_of_[static_cast<size_t>(port.node.index)]};
      if (IsLiteral(producer)) {
        operand.is_literal = true;
        key += fmt::format("<{}", AttributeLiteral(producer.attribute("value")));
      } else {
        key += fmt::format("<{}", Name(producer.output(port.index).type));
      }
      operation.operands.push_back(operand);
    }
    operation.key = keys_.try_emplace(key, static_cast<int>(keys_.size())).first->second;
    // Operations with bodies and side effects remain where they are, and so do those of other sets.
    operation.may_repeat = node.set() == ir::kNnefSet && node.bodies().empty() && !node.info().is_sink &&
                           node.num_outputs() <= kMaxOutputs;
    return operation;
  }

  // The operands of a block from outside, numbered by first use. Equal blocks have equal numbers.
  class Numbering {
   public:
    // Returns a number for an operand of operation `index` in a block that begins at `first`. Operands from
    // inside have numbers below 0.
    int64_t Of(const Operand& operand, size_t index, size_t first) {
      if (operand.is_literal) return 0;
      if (operand.producer >= static_cast<int64_t>(first)) {
        const int64_t distance = static_cast<int64_t>(index) - operand.producer;
        return -(distance * kMaxOutputs + operand.port.index) - 1;
      }
      const std::pair key(operand.port.node.index, operand.port.index);
      return numbers_.try_emplace(key, static_cast<int64_t>(numbers_.size()) + 1).first->second;
    }
    size_t size() const { return numbers_.size(); }

   private:
    llvm::SmallDenseMap<std::pair<int32_t, int32_t>, int64_t, 16> numbers_;
  };

  // Computes the hashes of all blocks, and retains those that occur twice.
  void HashBlocks() {
    const size_t max_length = std::min(kMaxLength, kMaxCompared / std::max<size_t>(operations_.size(), 1));
    std::vector<std::vector<std::pair<uint64_t, uint32_t>>> by_length(max_length + 1);
    for (size_t first = 0; first < operations_.size(); ++first) {
      Numbering numbering;
      uint64_t hash = 0;
      for (size_t index = first; index < operations_.size() && index - first < max_length; ++index) {
        const Operation& operation = operations_[index];
        if (!operation.may_repeat) break;
        hash = llvm::hash_combine(hash, operation.key);
        for (const Operand& operand : operation.operands)
          hash = llvm::hash_combine(hash, numbering.Of(operand, index, first));
        if (numbering.size() > kMaxTensors) break;
        const size_t length = index - first + 1;
        if (length >= 2) by_length[length].emplace_back(hash, static_cast<uint32_t>(first));
      }
    }
    for (size_t length = 2; length < by_length.size(); ++length) {
      auto& blocks = by_length[length];
      std::sort(blocks.begin(), blocks.end());
      for (size_t begin = 0, end = 0; begin < blocks.size(); begin = end) {
        while (end < blocks.size() && blocks[end].first == blocks[begin].first) ++end;
        if (end - begin < 2) continue;
        Candidate group{.length = length};
        for (size_t i = begin; i < end; ++i) group.firsts.push_back(blocks[i].second);
        if (Saved(length, group.firsts.size()) >= kMinSavedLines) groups_.push_back(std::move(group));
      }
      blocks.clear();
      blocks.shrink_to_fit();
    }
  }

  static int64_t Saved(size_t length, size_t count) {
    const auto lines = static_cast<int64_t>(length);
    const auto times = static_cast<int64_t>(count);
    return times * lines - times - lines - kLinesOfFragment;
  }

  // Returns the equal blocks that save most, those of fewer tensors if others save as much.
  std::optional<Candidate> FindBest() {
    std::optional<Candidate> best;
    std::pair<int64_t, int64_t> best_rank;
    for (Candidate& group : groups_) {
      llvm::erase_if(group.firsts, [&](size_t first) { return IsCovered({first, group.length}); });
      if (Saved(group.length, group.firsts.size()) < std::max(kMinSavedLines, best ? best_rank.first : 0))
        continue;
      // Blocks whose results differ are different.
      std::map<std::vector<int64_t>, std::vector<size_t>> by_results;
      for (size_t first : group.firsts) {
        std::vector<size_t>& same = by_results[ResultsOf({first, group.length})];
        const bool is_apart = same.empty() || same.back() + group.length <= first;
        if (is_apart && (same.empty() || AreEqual(same.front(), first, group.length))) same.push_back(first);
      }
      for (auto& [results, firsts] : by_results) {
        const size_t tensors = results.size() + InstanceAt({firsts.front(), group.length}).arguments.size();
        const int64_t saved = Saved(group.length, firsts.size());
        const std::pair rank(saved, -static_cast<int64_t>(tensors));
        if (firsts.size() < 2 || saved < kMinSavedLines || results.empty() || tensors > kMaxTensors) continue;
        if (best && rank <= best_rank) continue;
        best = Candidate{.length = group.length, .firsts = firsts, .saved = saved};
        best_rank = rank;
      }
    }
    llvm::erase_if(groups_, [](const Candidate& group) {
      return Saved(group.length, group.firsts.size()) < kMinSavedLines;
    });
    return best;
  }

  bool IsCovered(Block block) const {
    const auto begin = is_covered_.begin() + static_cast<std::ptrdiff_t>(block.first);
    return std::any_of(begin, begin + static_cast<std::ptrdiff_t>(block.second),
                       [](bool each) { return each; });
  }

  // Returns true if both blocks are equal; their hashes are.
  bool AreEqual(size_t one, size_t other, size_t length) const {
    Numbering numbers, others;
    for (size_t k = 0; k < length; ++k) {
      const Operation& left = operations_[one + k];
      const Operation& right = operations_[other + k];
      if (left.key != right.key || left.operands.size() != right.operands.size()) return false;
      for (size_t i = 0; i < left.operands.size(); ++i) {
        if (numbers.Of(left.operands[i], one + k, one) != others.Of(right.operands[i], other + k, other))
          return false;
      }
    }
    return true;
  }

  // Returns the outputs of a block that are used outside, as the offset of their operation and their index.
  std::vector<int64_t> ResultsOf(Block block) const {
    std::vector<int64_t> results;
    for (size_t k = 0; k < block.second; ++k) {
      const Node& node = graph_.node(operations_[block.first + k].node);
      for (int32_t i = 0; i < node.num_outputs(); ++i) {
        const bool is_used_outside = llvm::any_of(node.uses(i), [&](ir::InputPort use) {
          const int32_t index = index_of_[static_cast<size_t>(use.node.index)];
          return index < static_cast<int64_t>(block.first) ||
                 index >= static_cast<int64_t>(block.first + block.second);
        });
        if (is_used_outside) results.push_back(static_cast<int64_t>(k) * kMaxOutputs + i);
      }
    }
    return results;
  }

  BlockInstance InstanceAt(Block block) const {
    BlockInstance instance;
    llvm::DenseSet<std::pair<int32_t, int32_t>> known;
    for (size_t k = 0; k < block.second; ++k) {
      const Operation& operation = operations_[block.first + k];
      instance.nodes.push_back(operation.node);
      for (const Operand& operand : operation.operands) {
        if (operand.is_literal || operand.producer >= static_cast<int64_t>(block.first)) continue;
        if (known.insert({operand.port.node.index, operand.port.index}).second)
          instance.arguments.push_back(operand.port);
      }
    }
    for (int64_t result : ResultsOf(block)) {
      const NodeId node = instance.nodes[static_cast<size_t>(result / kMaxOutputs)];
      instance.results.push_back({node, static_cast<int32_t>(result % kMaxOutputs)});
    }
    return instance;
  }

  // Returns a name of the first four different operations of a block.
  std::string NameOf(size_t first, size_t length) const {
    std::vector<std::string_view> names;
    for (size_t k = 0; k < length && names.size() < 4; ++k) {
      const Node& node = graph_.node(operations_[first + k].node);
      if (!node.Is(ir::OpRole::kConstant) && !llvm::is_contained(names, node.type()))
        names.push_back(node.type());
    }
    return fmt::format("{}_block", fmt::join(names, "_"));
  }

  const ir::Graph& graph_;
  std::vector<int32_t> index_of_;  // index: node; the operation, or -1
  std::vector<Operation> operations_;
  llvm::StringMap<int> keys_;
  std::vector<Candidate> groups_;  // blocks with equal hashes
  std::vector<bool> is_covered_;   // index: operation; true if a block has it
};

// Unique names of the tensors of a fragment.
class LocalNames {
 public:
  std::string Take(std::string wanted) {
    if (!taken_.insert(wanted).second) {
      int& number = next_.try_emplace(wanted, 2).first->second;
      const std::string base = std::move(wanted);
      do {
        wanted = fmt::format("{}_{}", base, number++);
      } while (!taken_.insert(wanted).second);
    }
    return wanted;
  }

  // Returns the first free `wanted_N`, from `wanted_1`.
  std::string TakeNumbered(const std::string& wanted) {
    int& number = numbers_.try_emplace(wanted, 1).first->second;
    while (true) {
      std::string name = fmt::format("{}_{}", wanted, number++);
      if (taken_.insert(name).second) return name;
    }
  }

 private:
  llvm::StringSet<> taken_;
  llvm::StringMap<int> next_, numbers_;
};

// Returns the name of the parameter of an operation that reads an input: `filter`.
std::string ParameterName(const Node& node, int32_t input) {
  int32_t first = 0;
  for (size_t i = 0; i < node.info().inputs.size(); ++i) {
    const auto count = static_cast<int32_t>(node.segment(static_cast<int32_t>(i)).size());
    if (input < first + count) return std::string(node.info().inputs[i].name);
    first += count;
  }
  return "input";
}

}  // namespace

std::vector<RepeatedBlock> FindRepeatedBlocks(const ir::Graph& graph, llvm::ArrayRef<ir::NodeId> order) {
  return Finder(graph, order).Find();
}

std::unique_ptr<ir::Graph> BodyOf(const RepeatedBlock& block, const ir::Graph& graph) {
  const BlockInstance& first = block.instances.front();
  auto body = std::make_unique<ir::Graph>(&graph.registry(), block.name);
  ir::NodeCopier copier(*body);
  LocalNames names;
  std::map<std::pair<int32_t, int32_t>, std::string> result_names;
  for (OutputPort port : first.results) result_names[{port.node.index, port.index}] = names.Take("output");
  const auto add_parameter = [&](OutputPort port, std::string_view wanted) {
    const std::string name = names.Take(std::string(wanted));
    const ir::Output& tensor = graph.output(port);
    const NodeId parameter = ir::AddParameter(*body, name, tensor.type, tensor.shape);
    body->SetOutputNames({parameter, 0}, {name});
    copier.Map(port, {parameter, 0});
  };
  for (OutputPort port : first.arguments) {
    // The name is that of the first operation's parameter that reads the argument.
    std::string name = "input";
    for (NodeId id : first.nodes) {
      const Node& node = graph.node(id);
      const auto found = llvm::find(node.inputs(), port);
      if (found == node.inputs().end()) continue;
      name = ParameterName(node, static_cast<int32_t>(found - node.inputs().begin()));
      break;
    }
    add_parameter(port, name);
  }
  for (NodeId id : first.nodes) {
    const Node& node = graph.node(id);
    for (OutputPort port : node.inputs()) {
      if (!copier.Mapped(port).valid() && IsLiteral(graph.node(port.node)))
        copier.Copy(graph.node(port.node));
    }
    const NodeId copy = copier.Copy(node);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const auto result = result_names.find({id.index, i});
      const std::string name =
          result != result_names.end() ? result->second : names.TakeNumbered(node.type());
      body->SetOutputNames({copy, i}, {name});
      if (i == 0) body->SetName(copy, name);
    }
  }
  for (OutputPort port : first.results)
    ir::AddResult(*body, result_names.at({port.node.index, port.index}), copier.Mapped(port));
  return body;
}

}  // namespace nnefc::expand::print
