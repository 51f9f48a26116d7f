#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/transform/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace nnefc::transform {

// The requirement on an attribute of a matched node: a value, or a predicate. The predicate's argument is
// null if the node has no such attribute.
using AttributePredicate = std::function<bool(const ir::Attribute*)>;
using AttributeTest = std::variant<ir::Attribute, AttributePredicate>;

// The requirements on a matched node. Operations are written "opset1.Multiply" or "Multiply"
// (ir::OpRegistry::FindNamed).
struct PatternNode {
  std::string alias;
  // The operation; empty accepts any.
  std::string op = {};
  std::vector<std::pair<std::string, AttributeTest>> attributes = {};
  // A data vertex, as in patterns of the middle and back phases: an output of a node with its shape and
  // value. `op` and `attributes` are ignored.
  bool is_data = false;
  std::function<bool(const ir::Output&)> data = {};
  // An additional predicate.
  std::function<bool(const Node&)> test = {};
};

// Return a pattern node for an operation of type `op`, or a data vertex.
PatternNode Op(std::string alias, std::string op,
               std::vector<std::pair<std::string, AttributeTest>> attributes = {});
PatternNode Data(std::string alias, std::function<bool(const ir::Output&)> test = {});

// An edge: `from` produces a value that `to` consumes. `in` are accepted ports of the consumer, `out` of the
// producer; empty accepts any. For an edge between a node and data only one of them applies.
struct PatternEdge {
  std::string from;
  std::string to;
  std::vector<int32_t> in = {};
  std::vector<int32_t> out = {};
};

// A sub-graph to search for. A match is an induced sub-graph: it has exactly the pattern's edges between the
// matched nodes, including parallel ones. Other edges into and out of the match are ignored. Inputs are not
// commuted, and a symmetric pattern matches in each orientation.
struct Pattern {
  std::vector<PatternNode> nodes;
  std::vector<PatternEdge> edges;
};

// Returns the error in a pattern, or "": an empty pattern, a missing or duplicate alias, an edge to an
// unknown alias, data connected to data or written by two nodes.
std::string CheckPattern(const Pattern& pattern);

// Nodes of a graph, by the aliases of a pattern.
class Match {
 public:
  // Returns the node of an alias; for data, the node with that output. Throws an Error for an unknown alias.
  Node at(std::string_view alias) const;
  Node operator[](std::string_view alias) const { return at(alias); }
  // Returns the output of a data alias.
  Port Data(std::string_view alias) const;
  // Returns true if the match has a node or output with the alias.
  bool Has(std::string_view alias) const;
  // Returns the nodes in the order of the pattern, without data.
  std::vector<std::pair<std::string, Node>> nodes() const;
  // Returns true while all matched nodes exist.
  bool exists() const;

  struct Entry {
    std::string alias;
    Node node;
    std::optional<int32_t> output;  // set for data
  };
  explicit Match(std::vector<Entry> entries) : entries_(std::move(entries)) {}

 private:
  const Entry& Find(std::string_view alias) const;

  std::vector<Entry> entries_;
};

// Returns all matches of a pattern, ordered by their first node's position in the graph. The time grows with
// the number of candidate nodes, not with its powers. Throws an Error if CheckPattern reports one, or if
// there are more than `kMaxMatches` matches.
inline constexpr size_t kMaxMatches = 1'000'000;
std::vector<Match> FindMatches(Graph& graph, const Pattern& pattern);

}  // namespace nnefc::transform
