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

// What an attribute of a matched node must be: a value, or what a function says
// of it. The function is given null where the node has no such attribute.
using AttributePredicate = std::function<bool(const ir::Attribute*)>;
using AttributeTest = std::variant<ir::Attribute, AttributePredicate>;

// What a node that matches is. Operations are written "opset1.Multiply" or "Multiply"
// (ir::OpRegistry::FindNamed).
struct PatternNode {
  std::string alias;
  // Empty: any operation.
  std::string op = {};
  std::vector<std::pair<std::string, AttributeTest>> attributes = {};
  // A vertex of data, as patterns of the middle and back phases name them: an
  // output of a node with its shape and value. `op` and `attributes` are not
  // looked at.
  bool is_data = false;
  std::function<bool(const ir::Output&)> data = {};
  // Any test beside these.
  std::function<bool(const Node&)> test = {};
};

// A node or vertex of data of a pattern; an operation that matches is named by
// its type.
PatternNode Op(std::string alias, std::string op,
               std::vector<std::pair<std::string, AttributeTest>> attributes = {});
PatternNode Data(std::string alias, std::function<bool(const ir::Output&)> test = {});

// `from` produces what `to` consumes. `in` are ports of the consumer, `out` of
// the producer; each empty for any. Between a node and data one of them is known.
struct PatternEdge {
  std::string from;
  std::string to;
  std::vector<int32_t> in = {};
  std::vector<int32_t> out = {};
};

// A sub-graph to be found. A match has exactly the edges of the pattern between
// the nodes that are matched (an induced sub-graph), parallel ones counted;
// other edges into and out of it are of no interest. Inputs are not commuted,
// and a symmetric pattern is matched every way round.
struct Pattern {
  std::vector<PatternNode> nodes;
  std::vector<PatternEdge> edges;
};

// What is wrong with a pattern, or "": no node, an alias that is missing or
// there twice, an edge that names none, data that is joined to data or written
// by two nodes.
std::string CheckPattern(const Pattern& pattern);

// Nodes of a graph by the aliases of a pattern.
class Match {
 public:
  // The node of an alias; of data, the node whose output it is. An Error for
  // an alias that the pattern has not.
  Node at(std::string_view alias) const;
  Node operator[](std::string_view alias) const { return at(alias); }
  // The output that an alias of data is.
  Port Data(std::string_view alias) const;
  bool Has(std::string_view alias) const;
  // Nodes in the order of the pattern, without data.
  std::vector<std::pair<std::string, Node>> nodes() const;
  // True while no matched node was removed.
  bool exists() const;

  struct Entry {
    std::string alias;
    Node node;
    std::optional<int32_t> output;  // of data
  };
  explicit Match(std::vector<Entry> entries) : entries_(std::move(entries)) {}

 private:
  const Entry& Find(std::string_view alias) const;

  std::vector<Entry> entries_;
};

// Every match of a pattern, those first whose first node stands first in the
// graph. Takes time by the nodes that may match, not by the product of nodes. An Error if
// CheckPattern objects, or if there are more than `kMostMatches`.
inline constexpr size_t kMostMatches = 1'000'000;
std::vector<Match> FindMatches(Graph& graph, const Pattern& pattern);

}  // namespace nnefc::transform
