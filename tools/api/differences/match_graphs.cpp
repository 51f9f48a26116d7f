// The matching of two graphs.

#include "tools/api/differences/match_graphs.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <unordered_map>

#include "compiler/support/files/digest.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::api {
namespace {

using Kind = OutlineNode::Kind;

// The number of rounds of the refinement by surroundings: the largest distance in edges of a node that
// counts.
constexpr int kRounds = 4;
// The maximum number of cells of the table of the last step.
constexpr size_t kMaxCells = 4'000'000;

// Numbers texts; equal texts have the same number.
class Interner {
 public:
  size_t Number(std::string text) {
    return numbers_.try_emplace(std::move(text), numbers_.size()).first->second;
  }

 private:
  std::unordered_map<std::string, size_t> numbers_;
};

// Returns a text without ambiguity about the end of each part.
void AddPart(std::string& key, std::string_view part) {
  key += fmt::format("{}:", part.size());
  key += part;
}

std::string DataKey(const TensorValue& value) {
  const Digest digest = DigestOf({value.bytes(), value.byte_size()});
  return fmt::format("{} {} {}", Name(value.type()), ToString(value.shape()), ToHex(digest));
}

std::vector<size_t> NumberComputations(const GraphOutline& graph, const std::vector<size_t>& sources,
                                       Interner& interner);

// Returns a key of the operation with its attributes, without its bodies and inputs.
std::string AttributesKey(const OutlineNode& node) {
  std::string key;
  AddPart(key, node.set);
  AddPart(key, node.type);
  for (const auto& [name, value] : AllAttributes(node)) {
    AddPart(key, name);
    AddPart(key, value);
  }
  for (const int32_t count : node.segments) key += fmt::format(" {}", count);
  return key;
}

// Returns a key of the role, the connections and the computations of a body.
std::string BodyKey(const OutlineBody& body, Interner& interner) {
  std::string key;
  AddPart(key, body.role);
  AddPart(key, body.connections);
  // Parameters of bodies are identified by their order, constants by their data.
  std::vector<size_t> sources(body.graph.nodes.size(), 0);
  for (size_t i = 0; i < body.graph.inputs.size(); ++i)
    sources[body.graph.inputs[i]] = interner.Number(fmt::format("parameter {}", i));
  for (size_t i = 0; i < sources.size(); ++i) {
    const OutlineNode& source = body.graph.nodes[i];
    if (source.kind == Kind::kVariable)
      sources[i] = interner.Number("data " + (source.value ? DataKey(*source.value) : source.name));
  }
  const std::vector<size_t> numbers = NumberComputations(body.graph, sources, interner);
  for (const GraphOutline::Result& result : body.graph.outputs)
    key += fmt::format(" {}.{}", numbers[result.node], result.output);
  return key;
}

// Returns a key of the operation with its attributes and bodies, without its inputs.
std::string OperationKey(const OutlineNode& node, Interner& interner) {
  std::string key = AttributesKey(node);
  for (const OutlineBody& body : node.bodies) key += BodyKey(body, interner);
  return key;
}

// Returns a number for each node, equal for equal computations. `sources` has those of inputs and variables.
std::vector<size_t> NumberComputations(const GraphOutline& graph, const std::vector<size_t>& sources,
                                       Interner& interner) {
  std::vector<size_t> numbers = sources;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const OutlineNode& node = graph.nodes[i];
    if (node.kind == Kind::kInput || node.kind == Kind::kVariable) continue;
    std::string key;
    if (node.kind == Kind::kLiteral) {
      key = "literal " + (node.value ? DataKey(*node.value) : fmt::format("{} {}", node.type, node.name));
    } else {
      key = "computed " + OperationKey(node, interner);
      for (const auto& [input, output] : node.inputs) key += fmt::format(" {}.{}", numbers[input], output);
    }
    numbers[i] = interner.Number(std::move(key));
  }
  return numbers;
}

// A graph of the two, with the numbers of its nodes.
struct Side {
  const GraphOutline& graph;
  std::vector<std::optional<size_t>>& partners;
  std::vector<size_t> operations = {};    // numbers of OperationKey
  std::vector<size_t> computations = {};  // numbers of the computation of a node
  std::vector<size_t> uses = {};          // numbers of its uses
  // The inputs that read each node: user, index of the input, output of the node.
  struct Use {
    size_t user;
    size_t input;
    int32_t output;
  };
  std::vector<std::vector<Use>> users = {};

  bool IsUnmatchedOperation(size_t node) const {
    return graph.nodes[node].kind == Kind::kOperation && !partners[node];
  }
  std::vector<size_t> UnmatchedOperations() const {
    std::vector<size_t> unmatched;
    for (const size_t node : graph.operations) {
      if (!partners[node]) unmatched.push_back(node);
    }
    return unmatched;
  }
};

class GraphMatcher {
 public:
  GraphMatcher(const GraphOutline& old_graph, const GraphOutline& new_graph, InputPairing pairing,
               GraphMatching& matching)
      : matching_(matching),
        pairing_(pairing),
        old_{.graph = old_graph, .partners = matching.new_of_old},
        new_{.graph = new_graph, .partners = matching.old_of_new} {
    matching.new_of_old.resize(old_graph.nodes.size());
    matching.old_of_new.resize(new_graph.nodes.size());
  }

  void Match() {
    if (pairing_ == InputPairing::kByName) PairByName(Kind::kInput);
    PairInputsByIndex();
    PairByName(Kind::kVariable);
    PairVariablesByData();
    for (Side* side : {&old_, &new_}) NumberUpwards(*side);
    for (Side* side : {&old_, &new_}) NumberDownwards(*side);
    PairBy([&](const Side& side, size_t node) { return WithName(side, node, side.computations[node]); });
    PairBy([&](const Side& side, size_t node) {
      return fmt::format("{} {}", side.computations[node], side.uses[node]);
    });
    PairBy([&](const Side& side, size_t node) { return fmt::format("{}", side.computations[node]); });
    PairBy([&](const Side& side, size_t node) { return WithName(side, node, side.uses[node]); });
    PairBy([&](const Side& side, size_t node) { return fmt::format("{}", side.uses[node]); });
    PairBy([&](const Side& side, size_t node) {
      return WithName(side, node, interner_.Number(side.graph.nodes[node].type));
    });
    PairBySurroundings();
    PairInOrder([](const Side& side, size_t node) { return side.operations[node]; });
    PairInOrder([&](const Side& side, size_t node) { return interner_.Number(side.graph.nodes[node].type); });
    matching_.old_computations = std::move(old_.computations);
    matching_.new_computations = std::move(new_.computations);
  }

 private:
  void Pair(size_t before, size_t after) {
    matching_.new_of_old[before] = after;
    matching_.old_of_new[after] = before;
  }

  static std::string WithName(const Side& side, size_t node, size_t number) {
    std::string key = fmt::format("{} ", number);
    for (const Port& port : side.graph.nodes[node].outputs) AddPart(key, port.name);
    return key;
  }

  // Pairs nodes of a kind with equal names.
  void PairByName(Kind kind) {
    std::map<std::string, std::deque<size_t>> named;
    for (size_t i = 0; i < old_.graph.nodes.size(); ++i) {
      if (old_.graph.nodes[i].kind == kind) named[old_.graph.nodes[i].name].push_back(i);
    }
    for (size_t i = 0; i < new_.graph.nodes.size(); ++i) {
      if (new_.graph.nodes[i].kind != kind) continue;
      const auto found = named.find(new_.graph.nodes[i].name);
      if (found == named.end() || found->second.empty()) continue;
      Pair(found->second.front(), i);
      found->second.pop_front();
    }
  }

  // Pairs the inputs without a partner.
  void PairInputsByIndex() {
    const size_t count = std::min(old_.graph.inputs.size(), new_.graph.inputs.size());
    for (size_t i = 0; i < count; ++i) {
      const size_t before = old_.graph.inputs[i];
      const size_t after = new_.graph.inputs[i];
      if (!old_.partners[before] && !new_.partners[after]) Pair(before, after);
    }
  }

  // Pairs variables that are in the graph with their data, if the data are equal.
  void PairVariablesByData() {
    std::map<std::string, std::deque<size_t>> equal;
    const auto is_candidate = [](const Side& side, size_t i) {
      const OutlineNode& node = side.graph.nodes[i];
      return node.kind == Kind::kVariable && node.value && !side.partners[i];
    };
    std::vector<size_t> added;
    for (size_t i = 0; i < new_.graph.nodes.size(); ++i) {
      if (is_candidate(new_, i)) added.push_back(i);
    }
    if (added.empty()) return;
    for (size_t i = 0; i < old_.graph.nodes.size(); ++i) {
      if (is_candidate(old_, i)) equal[DataKey(*old_.graph.nodes[i].value)].push_back(i);
    }
    if (equal.empty()) return;
    for (const size_t i : added) {
      const auto found = equal.find(DataKey(*new_.graph.nodes[i].value));
      if (found == equal.end() || found->second.empty()) continue;
      Pair(found->second.front(), i);
      found->second.pop_front();
    }
  }

  void NumberUpwards(Side& side) {
    const bool is_old = &side == &old_;
    std::vector<size_t> sources(side.graph.nodes.size(), 0);
    side.operations.resize(sources.size(), 0);
    for (size_t i = 0; i < sources.size(); ++i) {
      const OutlineNode& node = side.graph.nodes[i];
      if (node.kind == Kind::kInput || node.kind == Kind::kVariable) {
        const std::optional<size_t> partner = side.partners[i];
        sources[i] = interner_.Number(partner ? fmt::format("pair {}", is_old ? i : *partner)
                                              : fmt::format("{} {}", is_old ? "old" : "new", i));
      }
      if (node.kind == Kind::kOperation) side.operations[i] = interner_.Number(OperationKey(node, interner_));
    }
    side.computations = NumberComputations(side.graph, sources, interner_);
  }

  void NumberDownwards(Side& side) {
    const size_t count = side.graph.nodes.size();
    side.users.resize(count);
    side.uses.resize(count, 0);
    std::vector<std::vector<std::string>> read_by(count);
    for (size_t i = 0; i < side.graph.outputs.size(); ++i) {
      const GraphOutline::Result& result = side.graph.outputs[i];
      read_by[result.node].push_back(fmt::format("result {} {}", i, result.output));
    }
    for (size_t i = count; i-- > 0;) {
      const OutlineNode& node = side.graph.nodes[i];
      std::sort(read_by[i].begin(), read_by[i].end());
      std::string key = fmt::format("used {}", side.operations[i]);
      // Other operations that are inputs have uses of their own; data belong to the operation.
      for (const auto& [input, output] : node.inputs) {
        const bool is_operation = side.graph.nodes[input].kind == Kind::kOperation;
        key += is_operation ? " op" : fmt::format(" {}", side.computations[input]);
      }
      for (const std::string& use : read_by[i]) AddPart(key, use);
      side.uses[i] = interner_.Number(std::move(key));
      for (size_t k = 0; k < node.inputs.size(); ++k) {
        const auto [input, output] = node.inputs[k];
        side.users[input].push_back({i, k, output});
        read_by[input].push_back(fmt::format("{} {} {}", side.uses[i], k, output));
      }
    }
  }

  // Pairs unmatched operations with equal keys, in order.
  template <typename KeyOf>
  void PairBy(KeyOf key_of) {
    std::unordered_map<std::string, std::deque<size_t>> candidates;
    for (const size_t node : old_.UnmatchedOperations()) {
      // Operations without results, such as sinks, differ in their type alone.
      std::string key = key_of(old_, node);
      AddPart(key, old_.graph.nodes[node].type);
      candidates[key].push_back(node);
    }
    for (const size_t node : new_.UnmatchedOperations()) {
      std::string key = key_of(new_, node);
      AddPart(key, new_.graph.nodes[node].type);
      const auto found = candidates.find(key);
      if (found == candidates.end() || found->second.empty()) continue;
      Pair(found->second.front(), node);
      found->second.pop_front();
    }
  }

  // Returns the colours of all nodes after each round: matched nodes have the colour of their pair, others
  // that of their operation, refined by the colours of their inputs and users.
  std::vector<std::vector<size_t>> Colours(const Side& side) {
    const bool is_old = &side == &old_;
    std::vector<size_t> colours(side.graph.nodes.size());
    for (size_t i = 0; i < colours.size(); ++i) {
      const std::optional<size_t> partner = side.partners[i];
      colours[i] = partner
                       ? interner_.Number(fmt::format("pair {}", is_old ? i : *partner))
                       : interner_.Number(fmt::format(
                             "kind {} {}", static_cast<int>(side.graph.nodes[i].kind), side.operations[i]));
    }
    std::vector<std::vector<size_t>> rounds = {colours};
    for (int round = 0; round < kRounds; ++round) {
      std::vector<size_t> refined = colours;
      for (size_t i = 0; i < colours.size(); ++i) {
        if (!side.IsUnmatchedOperation(i)) continue;
        std::string key = fmt::format("round {} {}", round, colours[i]);
        for (const auto& [input, output] : side.graph.nodes[i].inputs)
          key += fmt::format(" {}.{}", colours[input], output);
        std::vector<std::array<size_t, 3>> users;
        for (const Side::Use& use : side.users[i])
          users.push_back({colours[use.user], use.input, static_cast<size_t>(use.output)});
        std::sort(users.begin(), users.end());
        for (const auto& [user, input, output] : users) key += fmt::format(" <{},{},{}", user, input, output);
        refined[i] = interner_.Number(std::move(key));
      }
      colours = std::move(refined);
      rounds.push_back(colours);
    }
    return rounds;
  }

  void PairBySurroundings() {
    if (old_.UnmatchedOperations().empty() || new_.UnmatchedOperations().empty()) return;
    const std::vector<std::vector<size_t>> before = Colours(old_);
    const std::vector<std::vector<size_t>> after = Colours(new_);
    for (size_t round = kRounds; round > 0; --round) {
      PairBy([&](const Side& side, size_t node) {
        return fmt::format("{}", (&side == &old_ ? before : after)[round][node]);
      });
    }
  }

  // Pairs a longest common subsequence of the keys of unmatched operations, or equal keys in order if its
  // table would be too large.
  template <typename KeyOf>
  void PairInOrder(KeyOf key_of) {
    const std::vector<size_t> left = old_.UnmatchedOperations();
    const std::vector<size_t> right = new_.UnmatchedOperations();
    if (left.empty() || right.empty()) return;
    if (left.size() > kMaxCells / right.size())
      return PairBy([&](const Side& side, size_t node) { return fmt::format("{}", key_of(side, node)); });
    std::vector<size_t> before;
    std::vector<size_t> after;
    before.reserve(left.size());
    after.reserve(right.size());
    for (const size_t node : left) before.push_back(key_of(old_, node));
    for (const size_t node : right) after.push_back(key_of(new_, node));
    // lengths[i * columns + k]: of the suffixes from i and k.
    const size_t columns = after.size() + 1;
    std::vector<uint32_t> lengths((before.size() + 1) * columns, 0);
    for (size_t i = before.size(); i-- > 0;) {
      for (size_t k = after.size(); k-- > 0;) {
        lengths[i * columns + k] =
            before[i] == after[k] ? lengths[(i + 1) * columns + k + 1] + 1
                                  : std::max(lengths[(i + 1) * columns + k], lengths[i * columns + k + 1]);
      }
    }
    for (size_t i = 0, k = 0; i < before.size() && k < after.size();) {
      if (before[i] == after[k])
        Pair(left[i++], right[k++]);
      else if (lengths[(i + 1) * columns + k] >= lengths[i * columns + k + 1])
        ++i;
      else
        ++k;
    }
  }

  GraphMatching& matching_;
  InputPairing pairing_;
  Side old_;
  Side new_;
  Interner interner_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> AllAttributes(const OutlineNode& node) {
  std::vector<std::pair<std::string, std::string>> all = node.attributes;
  all.insert(all.end(), node.defaults.begin(), node.defaults.end());
  std::sort(all.begin(), all.end());
  return all;
}

bool IsSameOperation(const OutlineNode& before, const OutlineNode& after) {
  return AttributesKey(before) == AttributesKey(after);
}

bool IsSameBody(const OutlineBody& before, const OutlineBody& after) {
  Interner interner;
  return BodyKey(before, interner) == BodyKey(after, interner);
}

GraphMatching MatchGraphs(const GraphOutline& old_graph, const GraphOutline& new_graph,
                          InputPairing pairing) {
  GraphMatching matching;
  GraphMatcher(old_graph, new_graph, pairing, matching).Match();
  return matching;
}

}  // namespace nnefc::api
