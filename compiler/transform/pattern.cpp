// Matching of patterns of nodes in a graph.

#include "compiler/transform/pattern.h"

#include <algorithm>
#include <tuple>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::transform {

PatternNode Op(std::string alias, std::string op,
               std::vector<std::pair<std::string, AttributeTest>> attributes) {
  return {.alias = std::move(alias), .op = std::move(op), .attributes = std::move(attributes)};
}

PatternNode Data(std::string alias, std::function<bool(const ir::Output&)> test) {
  return {.alias = std::move(alias), .is_data = true, .data = std::move(test)};
}

// ---- CheckPattern ----

std::string CheckPattern(const Pattern& pattern) {
  if (pattern.nodes.empty()) return "the pattern has no nodes";
  llvm::StringMap<const PatternNode*> nodes;
  for (const PatternNode& node : pattern.nodes) {
    if (node.alias.empty()) return "a node of the pattern has no alias";
    if (!nodes.try_emplace(node.alias, &node).second)
      return fmt::format("the pattern has two nodes `{}`", node.alias);
  }
  llvm::StringMap<std::string> writers;
  for (const PatternEdge& edge : pattern.edges) {
    for (const std::string& alias : {edge.from, edge.to}) {
      if (!nodes.count(alias))
        return fmt::format("an edge of the pattern names `{}`, which is none of its nodes", alias);
    }
    const bool from_data = nodes[edge.from]->is_data;
    if (edge.from == edge.to)
      return fmt::format("an edge of the pattern leads from `{0}` to `{0}`", edge.from);
    if (from_data && nodes[edge.to]->is_data)
      return fmt::format("an edge of the pattern joins `{}` and `{}`, which are both data", edge.from,
                         edge.to);
    if (!nodes[edge.to]->is_data) continue;
    const auto [writer, is_new] = writers.try_emplace(edge.to, edge.from);
    if (!is_new) return fmt::format("`{}` and `{}` both write `{}`", writer->second, edge.from, edge.to);
  }
  return "";
}

// ---- Match ----

const Match::Entry& Match::Find(std::string_view alias) const {
  for (const Entry& entry : entries_) {
    if (entry.alias == alias) return entry;
  }
  std::string known;
  for (const Entry& entry : entries_) known += fmt::format("{}`{}`", known.empty() ? "" : ", ", entry.alias);
  throw Error("the match has no `{}`; it has {}", alias, known);
}

Node Match::at(std::string_view alias) const {
  return Find(alias).node;
}

Port Match::Data(std::string_view alias) const {
  const Entry& entry = Find(alias);
  if (!entry.output) throw Error("`{}` of the match is a node, not data", alias);
  return entry.node.out_port(*entry.output);
}

bool Match::Has(std::string_view alias) const {
  return llvm::any_of(entries_, [&](const Entry& entry) { return entry.alias == alias; });
}

std::vector<std::pair<std::string, Node>> Match::nodes() const {
  std::vector<std::pair<std::string, Node>> found;
  for (const Entry& entry : entries_) {
    if (!entry.output) found.emplace_back(entry.alias, entry.node);
  }
  return found;
}

bool Match::exists() const {
  return llvm::all_of(entries_, [](const Entry& entry) { return entry.node.exists(); });
}

// ---- FindMatches ----

namespace {

// The counterpart of a pattern node in the graph: a node, or an output of one.
struct Vertex {
  ir::NodeId node;
  int32_t output = -1;  // set for data
  friend bool operator==(Vertex, Vertex) = default;
};

// An edge of the graph with its two ports; -1 for data.
struct Edge {
  int32_t out;
  int32_t in;
};

bool SameValue(const ir::Attribute& a, const ir::Attribute& b) {
  if (a == b) return true;
  const auto number = [](const ir::Attribute& attribute) -> std::optional<double> {
    if (const auto* integer = attribute.get<int64_t>()) return static_cast<double>(*integer);
    if (const auto* scalar = attribute.get<double>()) return *scalar;
    return std::nullopt;
  };
  const std::optional<double> left = number(a), right = number(b);
  return left && right && *left == *right;
}

class Matcher {
 public:
  Matcher(Graph& graph, const Pattern& pattern) : graph_(graph), ir_(graph.ir()), pattern_(pattern) {
    llvm::StringMap<size_t> index;
    for (const PatternNode& node : pattern.nodes) {
      index[node.alias] = index.size();
      has_data_ |= node.is_data;
      ops_.push_back(ir_.registry().FindNamed(node.op));
    }
    for (const PatternEdge& edge : pattern.edges)
      edges_[{static_cast<int>(index[edge.from]), static_cast<int>(index[edge.to])}].push_back(&edge);
    for (const Node& node : graph.GetNodes()) by_op_[node.ir().op().index].push_back(node.id());
    chosen_.resize(pattern.nodes.size());
    ChooseOrder();
  }

  std::vector<Match> Run() {
    Extend(0);
    llvm::sort(found_, [](const std::vector<Vertex>& a, const std::vector<Vertex>& b) {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](Vertex x, Vertex y) {
        return std::pair(x.node.index, x.output) < std::pair(y.node.index, y.output);
      });
    });
    std::vector<Match> matches;
    matches.reserve(found_.size());
    for (const std::vector<Vertex>& vertices : found_) {
      std::vector<Match::Entry> entries;
      for (size_t i = 0; i < vertices.size(); ++i) {
        std::optional<int32_t> output;
        if (vertices[i].output >= 0) output = vertices[i].output;
        entries.push_back({pattern_.nodes[i].alias, Node(graph_, vertices[i].node), output});
      }
      matches.emplace_back(std::move(entries));
    }
    return matches;
  }

 private:
  using Edges = std::vector<const PatternEdge*>;

  // The search for one pattern node: from an already matched one, or among all nodes.
  struct Step {
    size_t node = 0;
    int from = -1;              // the matched node
    bool against_edge = false;  // this node produces a value that the matched one reads
  };

  const Edges* EdgesOf(size_t from, size_t to) const {
    const auto found = edges_.find({static_cast<int>(from), static_cast<int>(to)});
    return found == edges_.end() ? nullptr : &found->second;
  }

  size_t Candidates(size_t node) const {
    if (pattern_.nodes[node].is_data || pattern_.nodes[node].op.empty()) return ir_.num_nodes();
    size_t count = 0;
    for (ir::OpId op : ops_[node]) {
      const auto found = by_op_.find(op.index);
      if (found != by_op_.end()) count += found->second.size();
    }
    return count;
  }

  // Orders the search: starts at the node with the fewest candidates and follows edges, preferably against
  // their direction, since a node has few inputs but any number of users.
  void ChooseOrder() {
    const size_t count = pattern_.nodes.size();
    std::vector<bool> done(count, false);
    while (order_.size() < count) {
      Step best;
      int best_rank = 3;
      for (size_t i = 0; i < count && best_rank > 0; ++i) {
        if (done[i]) continue;
        for (size_t j = 0; j < count; ++j) {
          if (!done[j]) continue;
          if (EdgesOf(i, j) != nullptr) best = {i, static_cast<int>(j), true}, best_rank = 0;
          if (best_rank > 1 && EdgesOf(j, i) != nullptr)
            best = {i, static_cast<int>(j), false}, best_rank = 1;
        }
      }
      if (best_rank > 1) {
        for (size_t i = 0; i < count; ++i) {
          if (done[i]) continue;
          if (best_rank == 3 || Candidates(i) < Candidates(best.node)) best = {i, -1, false};
          best_rank = 2;
        }
      }
      done[best.node] = true;
      order_.push_back(best);
    }
  }

  void Extend(size_t depth) {
    if (depth == order_.size()) {
      if (found_.size() == kMaxMatches) throw Error("the pattern has more than {} matches", kMaxMatches);
      found_.push_back(chosen_);
      return;
    }
    const Step& step = order_[depth];
    for (Vertex vertex : CandidatesOf(step)) {
      if (!Fits(step.node, vertex) || !Joins(depth, step.node, vertex)) continue;
      chosen_[step.node] = vertex;
      Extend(depth + 1);
    }
  }

  std::vector<Vertex> CandidatesOf(const Step& step) const {
    const bool wants_data = pattern_.nodes[step.node].is_data;
    std::vector<Vertex> found;
    const auto add = [&](Vertex vertex) {
      if (!llvm::is_contained(found, vertex)) found.push_back(vertex);
    };
    if (step.from < 0) {
      AddAll(step.node, found);
      return found;
    }
    const Vertex from = chosen_[static_cast<size_t>(step.from)];
    const ir::Node& node = ir_.node(from.node);
    if (step.against_edge) {
      if (from.output >= 0) return {Vertex{from.node}};
      for (ir::OutputPort input : node.inputs())
        add(wants_data ? Vertex{input.node, input.index} : Vertex{input.node});
      return found;
    }
    for (int32_t output = 0; output < node.num_outputs(); ++output) {
      if (from.output >= 0 && output != from.output) continue;
      if (wants_data) {
        found.push_back({from.node, output});
        continue;
      }
      for (ir::InputPort use : node.uses(output)) found.push_back({use.node});
    }
    if (!wants_data) {
      const auto before = [](Vertex a, Vertex b) { return a.node.index < b.node.index; };
      llvm::sort(found, before);
      found.erase(std::unique(found.begin(), found.end()), found.end());
    }
    return found;
  }

  void AddAll(size_t pattern_node, std::vector<Vertex>& found) const {
    const PatternNode& wanted = pattern_.nodes[pattern_node];
    if (!wanted.is_data && !wanted.op.empty()) {
      for (ir::OpId op : ops_[pattern_node]) {
        const auto candidates = by_op_.find(op.index);
        if (candidates == by_op_.end()) continue;
        for (ir::NodeId id : candidates->second) found.push_back({id});
      }
      return;
    }
    for (ir::NodeId id : ir_.nodes()) {
      if (!wanted.is_data) found.push_back({id});
      for (int32_t i = 0; wanted.is_data && i < ir_.node(id).num_outputs(); ++i) found.push_back({id, i});
    }
  }

  bool Fits(size_t pattern_node, Vertex vertex) const {
    const PatternNode& wanted = pattern_.nodes[pattern_node];
    const ir::Node& node = ir_.node(vertex.node);
    if (wanted.is_data) return !wanted.data || wanted.data(node.output(vertex.output));
    if (!wanted.op.empty() && !llvm::is_contained(ops_[pattern_node], node.op())) return false;
    for (const auto& [name, test] : wanted.attributes) {
      const ir::Attribute* attribute = node.attributes().Find(name);
      if (const auto* value = std::get_if<ir::Attribute>(&test)) {
        if (attribute == nullptr || !SameValue(*attribute, *value)) return false;
      } else if (!std::get<AttributePredicate>(test)(attribute)) {
        return false;
      }
    }
    return !wanted.test || wanted.test(Node(graph_, vertex.node));
  }

  // Returns true if a vertex differs from all chosen ones and has exactly the pattern's edges to and from
  // them.
  bool Joins(size_t depth, size_t node, Vertex vertex) const {
    for (size_t i = 0; i < depth; ++i) {
      const size_t other = order_[i].node;
      if (chosen_[other] == vertex) return false;
      if (!SameEdges(node, other, vertex, chosen_[other]) || !SameEdges(other, node, chosen_[other], vertex))
        return false;
    }
    return true;
  }

  bool SameEdges(size_t from, size_t to, Vertex producer, Vertex consumer) const {
    const Edges* wanted = EdgesOf(from, to);
    if (producer.output >= 0 && consumer.output >= 0) return wanted == nullptr;
    const bool both_nodes = producer.output < 0 && consumer.output < 0;
    // If the pattern contains data vertices, nodes are connected through them.
    if (both_nodes && has_data_ && wanted == nullptr) return true;
    const llvm::SmallVector<Edge, 4> there = EdgesBetween(producer, consumer);
    if (wanted == nullptr) return there.empty();
    return there.size() == wanted->size() && Assign(*wanted, there, 0, 0);
  }

  llvm::SmallVector<Edge, 4> EdgesBetween(Vertex producer, Vertex consumer) const {
    llvm::SmallVector<Edge, 4> edges;
    if (consumer.output >= 0) {
      if (consumer.node == producer.node) edges.push_back({consumer.output, -1});
      return edges;
    }
    const llvm::ArrayRef<ir::OutputPort> inputs = ir_.node(consumer.node).inputs();
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].node != producer.node) continue;
      if (producer.output < 0 || inputs[i].index == producer.output)
        edges.push_back({producer.output < 0 ? inputs[i].index : -1, static_cast<int32_t>(i)});
    }
    return edges;
  }

  // Returns true if each pattern edge can be assigned a distinct graph edge.
  static bool Assign(const Edges& wanted, llvm::ArrayRef<Edge> there, size_t next, uint64_t taken) {
    if (next == wanted.size()) return true;
    if (there.size() > 64) throw Error("more than 64 edges join two nodes of the pattern");
    const auto allows = [](const std::vector<int32_t>& ports, int32_t port) {
      return ports.empty() || port < 0 || llvm::is_contained(ports, port);
    };
    for (size_t i = 0; i < there.size(); ++i) {
      if (taken >> i & 1) continue;
      if (!allows(wanted[next]->in, there[i].in) || !allows(wanted[next]->out, there[i].out)) continue;
      if (Assign(wanted, there, next + 1, taken | uint64_t{1} << i)) return true;
    }
    return false;
  }

  Graph& graph_;
  const ir::Graph& ir_;
  const Pattern& pattern_;
  bool has_data_ = false;
  llvm::DenseMap<std::pair<int, int>, Edges> edges_;
  std::vector<std::vector<ir::OpId>> ops_;  // indexed by pattern node
  llvm::DenseMap<int32_t, std::vector<ir::NodeId>> by_op_;
  std::vector<Step> order_;
  std::vector<Vertex> chosen_;
  std::vector<std::vector<Vertex>> found_;
};

}  // namespace

std::vector<Match> FindMatches(Graph& graph, const Pattern& pattern) {
  if (std::string wrong = CheckPattern(pattern); !wrong.empty()) throw Error(wrong);
  return Matcher(graph, pattern).Run();
}

}  // namespace nnefc::transform
