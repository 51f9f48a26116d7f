// Cases of pattern matching, written from the definition of a match and not from the algorithm: a graph and a
// pattern in short form, and every match.

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "compiler/ir/algorithms/infer.h"
#include "compiler/transform/pattern.h"
#include "fmt/core.h"
#include "tests/unit/compiler/transform/transform_support.h"

namespace nnefc::transform {
namespace {

// Makes a graph of a text such as "r=ReLU(x) s=Split(x,k)[2] m=Multiply(s.1,r)". Nodes are of the newest
// versions of their operations. `x` is a parameter of f32[4,2] and `k` a constant 0; `[2]` is the number of
// outputs. Values without a reader are results.
ir::Graph MakeGraph(const std::string& text) {
  ir::Graph graph(&ir::StandardOps());
  std::map<std::string, ir::NodeId> nodes;
  nodes["x"] = ir::AddParameter(graph, "x", ElementType::kF32, {4, 2});
  nodes["k"] = ir::AddConst(graph, TensorValue::FromInts({}, {0}), "k");
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    const size_t open = word.find('(');
    const size_t close = word.find(')');
    std::vector<ir::OutputPort> inputs;
    std::istringstream sources(word.substr(open + 1, close - open - 1));
    for (std::string source; std::getline(sources, source, ',');) {
      const size_t dot = source.find('.');
      const int32_t port = dot == std::string::npos ? 0 : std::stoi(source.substr(dot + 1));
      inputs.push_back({nodes.at(source.substr(0, dot)), port});
    }
    const std::string op = word.substr(equals + 1, open - equals - 1);
    const int32_t outputs = close + 1 < word.size() ? std::stoi(word.substr(close + 2)) : 1;
    ir::NodeSpec spec{.op = ir::StandardOps().FindNewest(op),
                      .name = word.substr(0, equals),
                      .inputs = inputs,
                      .num_outputs = outputs};
    if (op == "Split") spec.attributes.Set("num_splits", outputs);
    if (op == "Concat") spec.attributes.Set("axis", 0);
    if (op == "Elu") spec.attributes.Set("alpha", 2.0);
    nodes[word.substr(0, equals)] = graph.AddNode(std::move(spec));
  }
  for (ir::NodeId id : graph.nodes()) {
    for (int32_t i = 0; id != nodes["k"] && i < graph.node(id).num_outputs(); ++i) {
      if (graph.node(id).uses(i).empty()) ir::AddResult(graph, "", graph.node(id).port(i));
    }
  }
  Emitter emitter;
  EXPECT_TRUE(ir::InferGraph(graph, emitter)) << text;
  return graph;
}

std::vector<int32_t> PortsOf(const std::string& text) {
  std::vector<int32_t> ports;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) ports.push_back(std::stoi(item));
  return ports;
}

// Makes a pattern of a text such as "a:ReLU d:# b: | a>d:out=1 d>b:in=0,1". First nodes by alias and
// operation, with `#` for data and nothing for any operation; then edges.
Pattern MakePattern(const std::string& text) {
  Pattern pattern;
  std::istringstream words(text);
  bool in_edges = false;
  for (std::string word; words >> word;) {
    if (word == "|") {
      in_edges = true;
      continue;
    }
    if (!in_edges) {
      const size_t colon = word.find(':');
      const std::string op = word.substr(colon + 1);
      pattern.nodes.push_back(op == "#" ? Data(word.substr(0, colon)) : Op(word.substr(0, colon), op));
      continue;
    }
    std::istringstream parts(word);
    std::string part;
    std::getline(parts, part, ':');
    const size_t arrow = part.find('>');
    PatternEdge edge{part.substr(0, arrow), part.substr(arrow + 1)};
    while (std::getline(parts, part, ':')) {
      if (part.starts_with("in=")) edge.in = PortsOf(part.substr(3));
      if (part.starts_with("out=")) edge.out = PortsOf(part.substr(4));
    }
    pattern.edges.push_back(edge);
  }
  return pattern;
}

// Returns the names of each match in the order of the pattern's aliases, "a,b", sorted; data are `node.port`.
std::set<std::string> Find(ir::Graph& ir, const Pattern& pattern) {
  Graph graph(ir);
  std::set<std::string> found;
  for (const Match& match : FindMatches(graph, pattern)) {
    std::string names;
    for (const PatternNode& node : pattern.nodes) {
      names += (names.empty() ? "" : ",") + match.at(node.alias).name();
      if (node.is_data) names += "." + std::to_string(match.Data(node.alias).index());
    }
    EXPECT_TRUE(found.insert(names).second) << "found twice: " << names;
  }
  return found;
}

struct PatternCase {
  const char* name;
  const char* graph;
  const char* pattern;
  std::set<std::string> matches;
};

const PatternCase kCases[] = {
    // Edges have a direction, and end in the nodes of the pattern.
    {"an edge", "r=ReLU(x) t=Tanh(r)", "a:ReLU b:Tanh | a>b", {"r,t"}},
    {"an edge the other way", "r=ReLU(x) t=Tanh(r)", "a:ReLU b:Tanh | b>a", {}},
    {"a node between", "r=ReLU(x) q=Abs(r) t=Tanh(q)", "a:ReLU b:Tanh | a>b", {}},
    {"other consumers", "r=ReLU(x) t=Tanh(r) n=Abs(r) e=Exp(t)", "a:ReLU b:Tanh | a>b", {"r,t"}},
    {"other producers", "r=ReLU(x) q=Abs(x) m=Add(q,r)", "a:ReLU b:Add | a>b", {"r,m"}},
    {"one of each", "r=ReLU(x) t=Tanh(r) u=Tanh(r)", "a:ReLU b:Tanh | a>b", {"r,t", "r,u"}},
    {"one node", "r=ReLU(x) s=ReLU(r)", "a:ReLU", {"r", "s"}},
    {"more nodes than the graph has", "r=ReLU(x)", "a:ReLU b:ReLU c:ReLU d:ReLU e:ReLU f:ReLU |", {}},

    // Induced: only the edges of the pattern.
    {"a shortcut within the match",
     "s=SoftPlus(x) t=Tanh(s) m=Multiply(s,t)",
     "s:SoftPlus t:Tanh m:Multiply | s>t t>m",
     {}},
    {"a shortcut to another node",
     "s=SoftPlus(x) t=Tanh(s) m=Multiply(x,t) n=Multiply(s,x)",
     "s:SoftPlus t:Tanh m:Multiply | s>t t>m",
     {"s,t,m"}},
    {"a shortcut that the pattern has",
     "s=SoftPlus(x) t=Tanh(s) m=Multiply(s,t)",
     "s:SoftPlus t:Tanh m:Multiply | s>t t>m s>m",
     {"s,t,m"}},
    {"the long way that the pattern has not",
     "r=ReLU(x) t=Tanh(r) e=Exp(t) m=Add(e,r)",
     "a:ReLU b:Tanh c:Exp d:Add | a>b b>c c>d",
     {}},
    {"two parts without an edge", "r=ReLU(x) s=ReLU(x)", "a:ReLU b:ReLU |", {"r,s", "s,r"}},
    {"two parts that the graph joins", "r=ReLU(x) s=ReLU(r)", "a:ReLU b:ReLU |", {}},
    {"two parts of three in a row", "r=ReLU(x) s=ReLU(r) t=ReLU(s)", "a:ReLU b:ReLU |", {"r,t", "t,r"}},
    {"two parts, one of two nodes",
     "r=ReLU(x) t=Tanh(r) e=Exp(x) f=Exp(t)",
     "a:ReLU b:Tanh c:Exp | a>b",
     {"r,t,e"}},

    // Parallel edges are counted.
    {"one edge where there are two", "r=ReLU(x) m=Multiply(r,r)", "a:ReLU b:Multiply | a>b", {}},
    {"two edges where there are two", "r=ReLU(x) m=Multiply(r,r)", "a:ReLU b:Multiply | a>b a>b", {"r,m"}},
    {"two edges where there is one", "r=ReLU(x) m=Multiply(r,x)", "a:ReLU b:Multiply | a>b a>b", {}},
    {"two of three", "r=ReLU(x) c=Concat(r,r,r)", "a:ReLU b:Concat | a>b a>b", {}},
    {"three of three", "r=ReLU(x) c=Concat(r,r,r)", "a:ReLU b:Concat | a>b a>b a>b", {"r,c"}},
    {"one edge each", "r=ReLU(x) s=ReLU(x) m=Add(r,s)", "a:ReLU b:Add | a>b", {"r,m", "s,m"}},
    {"parallel edges with swapped ports",
     "r=ReLU(x) m=Add(r,r)",
     "a:ReLU b:Add | a>b:in=1 a>b:in=0",
     {"r,m"}},
    {"parallel edges with one port twice", "r=ReLU(x) m=Add(r,r)", "a:ReLU b:Add | a>b:in=1 a>b:in=1", {}},
    {"parallel edges, one with a port", "r=ReLU(x) m=Add(r,r)", "a:ReLU b:Add | a>b a>b:in=0", {"r,m"}},
    {"parallel edges that must share",
     "r=ReLU(x) c=Concat(r,r,r)",
     "a:ReLU b:Concat | a>b:in=0,1 a>b:in=0,1 a>b:in=0,1",
     {}},
    {"parallel edges that a greedy choice misses",
     "r=ReLU(x) c=Concat(r,r,r)",
     "a:ReLU b:Concat | a>b:in=0,1,2 a>b:in=0,1 a>b:in=0",
     {"r,c"}},

    // Ports.
    {"the input", "r=ReLU(x) m=Subtract(x,r)", "a:ReLU b:Subtract | a>b:in=1", {"r,m"}},
    {"another input", "r=ReLU(x) m=Subtract(x,r)", "a:ReLU b:Subtract | a>b:in=0", {}},
    {"an input that there is not", "r=ReLU(x) m=Subtract(x,r)", "a:ReLU b:Subtract | a>b:in=7", {}},
    {"an output", "s=Split(x,k)[2] r=ReLU(s.1) t=ReLU(s.0)", "a:Split b:ReLU | a>b:out=1", {"s,r"}},
    {"an output and an input",
     "s=Split(x,k)[2] m=Subtract(s.1,s.0)",
     "a:Split b:Subtract | a>b:out=1:in=0 a>b:out=0:in=1",
     {"s,m"}},
    {"outputs the wrong way round",
     "s=Split(x,k)[2] m=Subtract(s.1,s.0)",
     "a:Split b:Subtract | a>b:out=0:in=0 a>b:out=1:in=1",
     {}},

    // No commutation: each operand order is a separate match.
    {"symmetric", "r=ReLU(x) s=ReLU(x) m=Add(r,s)", "a:ReLU b:ReLU c:Add | a>c b>c", {"r,s,m", "s,r,m"}},
    {"symmetric but for a port",
     "r=ReLU(x) s=ReLU(x) m=Add(r,s)",
     "a:ReLU b:ReLU c:Add | a>c:in=0 b>c",
     {"r,s,m"}},
    {"six ways",
     "r=ReLU(x) s=ReLU(x) t=ReLU(x) c=Concat(r,s,t)",
     "a:ReLU b:ReLU c:ReLU d:Concat | a>d b>d c>d",
     {"r,s,t,c", "r,t,s,c", "s,r,t,c", "s,t,r,c", "t,r,s,c", "t,s,r,c"}},
    {"one node for two aliases", "r=ReLU(x) m=Add(r,r)", "a:ReLU b:ReLU c:Add | a>c b>c", {}},
    {"a diamond",
     "r=ReLU(x) p=Abs(r) q=Abs(r) m=Add(p,q)",
     "a:ReLU b:Abs c:Abs d:Add | a>b a>c b>d c>d",
     {"r,p,q,m", "r,q,p,m"}},
    {"a diamond that is open",
     "r=ReLU(x) p=Abs(r) q=Abs(r) m=Add(p,q)",
     "a:ReLU b:Abs c:Abs d:Add | a>b a>c b>d",
     {}},
    {"a circle", "r=ReLU(x) s=ReLU(r)", "a:ReLU b:ReLU | a>b b>a", {}},

    // Operations.
    {"any operation", "r=ReLU(x) t=Tanh(r)", "a: b:Tanh | a>b", {"r,t"}},
    {"any two operations", "r=ReLU(x)", "a: b: | a>b", {"x,r", "r,"}},
    {"case counts", "r=ReLU(x)", "a:Relu", {}},
    {"a set", "r=ReLU(x) s=SoftPlus(r)", "a:opset1.ReLU b:opset4.SoftPlus | a>b", {"r,s"}},
    {"another set", "r=ReLU(x)", "a:opset4.ReLU", {}},
    {"a set that there is not", "r=ReLU(x)", "a:nosuch.ReLU", {}},
    {"parameters and constants are nodes",
     "s=Split(x,k)[2]",
     "a:Parameter b:Const c:Split | a>c b>c",
     {"x,k,s"}},

    // Data are separate vertices.
    {"data between", "r=ReLU(x) t=Tanh(r)", "a:ReLU d:# b:Tanh | a>d d>b", {"r,r.0,t"}},
    {"data that two read", "r=ReLU(x) t=Tanh(r) e=Exp(r)", "d:# b:Tanh c:Exp | d>b d>c", {"r.0,t,e"}},
    {"data read twice, one edge", "r=ReLU(x) m=Add(r,r)", "d:# b:Add | d>b", {}},
    {"data read twice, two edges", "r=ReLU(x) m=Add(r,r)", "d:# b:Add | d>b d>b", {"r.0,m"}},
    {"one output for two data", "r=ReLU(x) m=Add(r,r)", "d:# e:# b:Add | d>b e>b", {}},
    {"two outputs for two data", "s=Split(x,k)[2]", "a:Split d:# e:# | a>d a>e", {"s,s.0,s.1", "s,s.1,s.0"}},
    {"two outputs by port", "s=Split(x,k)[2]", "a:Split d:# e:# | a>d:out=1 a>e", {"s,s.1,s.0"}},
    {"data of no node of the pattern", "r=ReLU(x)", "d:# a:ReLU | d>a", {"x.0,r"}},
    {"data that nobody reads", "r=ReLU(x) t=Tanh(r)", "d:# | ", {"x.0", "k.0", "r.0", "t.0"}},
    {"data apart from a node", "r=ReLU(x) t=Tanh(r)", "d:# a:ReLU |", {"k.0,r", "t.0,r"}},
    {"data hide the edge between nodes",
     "r=ReLU(x) t=Tanh(r) m=Add(r,t)",
     "a:ReLU d:# b:Tanh e:# c:Add | a>d d>b b>e e>c d>c",
     {"r,r.0,t,t.0,m"}},
    {"data with an edge too few",
     "r=ReLU(x) t=Tanh(r) m=Add(r,t)",
     "a:ReLU d:# b:Tanh e:# c:Add | a>d d>b b>e e>c",
     {}},
};

TEST(PatternCasesTest, EveryMatchAndNoOther) {
  for (const PatternCase& item : kCases) {
    SCOPED_TRACE(item.name);
    ir::Graph graph = MakeGraph(item.graph);
    EXPECT_EQ(Find(graph, MakePattern(item.pattern)), item.matches);
  }
}

class PatternAttributesTest : public ::testing::Test {
 protected:
  std::set<std::string> FindElu(std::string attribute, AttributeTest test) {
    ir::Graph graph = MakeGraph("e=Elu(x)");
    graph.SetAttribute(graph.node(graph.results()[0]).input(0).node, "list", ir::Attribute::Integers{1, 2});
    return Find(graph, {.nodes = {Op("e", "Elu", {{std::move(attribute), std::move(test)}})}, .edges = {}});
  }
  const std::set<std::string> none_ = {};
  const std::set<std::string> found_ = {"e"};
};

TEST_F(PatternAttributesTest, Values) {
  EXPECT_EQ(FindElu("alpha", ir::Attribute(2.0)), found_);
  EXPECT_EQ(FindElu("alpha", ir::Attribute(3.0)), none_);
  EXPECT_EQ(FindElu("alpha", ir::Attribute("2.0")), none_);
  EXPECT_EQ(FindElu("beta", ir::Attribute(2.0)), none_);
}

TEST_F(PatternAttributesTest, Lists) {
  EXPECT_EQ(FindElu("list", ir::Attribute(ir::Attribute::Integers{1, 2})), found_);
  EXPECT_EQ(FindElu("list", ir::Attribute(ir::Attribute::Integers{2, 1})), none_);
  EXPECT_EQ(FindElu("list", ir::Attribute(ir::Attribute::Integers{1})), none_);
  EXPECT_EQ(FindElu("list", ir::Attribute(1)), none_);
}

TEST_F(PatternAttributesTest, Predicates) {
  const auto is_absent = [](const ir::Attribute* value) { return value == nullptr; };
  const auto is_large = [](const ir::Attribute* value) { return value != nullptr && value->AsDouble() > 1; };
  EXPECT_EQ(FindElu("beta", is_absent), found_);
  EXPECT_EQ(FindElu("alpha", is_absent), none_);
  EXPECT_EQ(FindElu("alpha", is_large), found_);
  EXPECT_EQ(FindElu("beta", is_large), none_);
}

// Every match is found before the first is replaced: in a row of four, the middle pair loses a node. New
// nodes are not searched.
class Pairs : public FrontReplacementSubgraph {
 protected:
  Pattern GetPattern() const override { return MakePattern("a:ReLU b:ReLU | a>b"); }
  void ReplaceSubGraph(Graph& graph, const Match& match) override {
    const Node made =
        graph.CreateNode("ReLU", {match["a"].in_port(0).GetSource()}, {.name = match["b"].name() + "'"});
    match["b"].out_port(0).GetConnection().SetSource(made.out_port(0));
    graph.Remove(match["b"]);
    graph.Remove(match["a"]);
  }
};

class PatternReplacementTest : public TransformTest {};

TEST_F(PatternReplacementTest, MatchesThatLostANodeAreLeftOut) {
  ir::Graph graph = MakeGraph("p=ReLU(x) q=ReLU(p) r=ReLU(q) s=ReLU(r)");
  TransformationList list;
  RegisterAnchors(list);
  list.Add<Pairs>();
  EXPECT_EQ(Run(list, graph, Side::kBeforeLowering),
            "transform.notice: transformation `nnefc::transform::Pairs`: a match was left out: an earlier "
            "replacement removed a node of it");
  EXPECT_EQ(Brief(graph), "Parameter(x) Const(k) ReLU(q': x) ReLU(s': q') Result(: s')");
}

// All assignments of graph vertices to pattern vertices, each tested against the definition.
class BruteForce {
 public:
  BruteForce(const ir::Graph& graph, const Pattern& pattern) : graph_(graph), pattern_(pattern) {
    for (const PatternNode& node : pattern.nodes) has_data_ |= node.is_data;
  }

  std::set<std::string> Run() {
    Extend();
    return found_;
  }

 private:
  struct Vertex {
    ir::NodeId node;
    int32_t port = -1;  // of data
    friend bool operator==(const Vertex&, const Vertex&) = default;
  };

  std::vector<Vertex> Candidates(const PatternNode& wanted) const {
    std::vector<Vertex> vertices;
    for (ir::NodeId id : graph_.nodes()) {
      if (!wanted.is_data && (wanted.op.empty() || graph_.node(id).type() == wanted.op))
        vertices.push_back({id});
      for (int32_t i = 0; wanted.is_data && i < graph_.node(id).num_outputs(); ++i)
        vertices.push_back({id, i});
    }
    return vertices;
  }

  // Returns the edges between two vertices as (out, in); data have one known port.
  std::vector<std::pair<int32_t, int32_t>> Edges(Vertex from, Vertex to) const {
    std::vector<std::pair<int32_t, int32_t>> edges;
    if (from.port >= 0 && to.port >= 0) return edges;
    if (to.port >= 0) {
      if (from.node == to.node) edges.emplace_back(to.port, -1);
      return edges;
    }
    for (int32_t i = 0; i < graph_.node(to.node).num_inputs(); ++i) {
      const ir::OutputPort source = graph_.node(to.node).input(i);
      if (source.node != from.node || (from.port >= 0 && source.index != from.port)) continue;
      if (from.port < 0 && has_data_) continue;
      edges.emplace_back(source.index, i);
    }
    return edges;
  }

  bool Fits(const std::string& from, const std::string& to, std::vector<std::pair<int32_t, int32_t>> edges) {
    std::vector<const PatternEdge*> wanted;
    for (const PatternEdge& edge : pattern_.edges) {
      if (edge.from == from && edge.to == to) wanted.push_back(&edge);
    }
    if (wanted.size() != edges.size()) return false;
    std::sort(edges.begin(), edges.end());
    do {
      bool all = true;
      for (size_t i = 0; i < edges.size(); ++i) {
        const auto allows = [](const std::vector<int32_t>& ports, int32_t port) {
          return ports.empty() || std::find(ports.begin(), ports.end(), port) != ports.end();
        };
        all &= allows(wanted[i]->out, edges[i].first) && allows(wanted[i]->in, edges[i].second);
      }
      if (all) return true;
    } while (std::next_permutation(edges.begin(), edges.end()));
    return false;
  }

  void Extend() {
    if (chosen_.size() == pattern_.nodes.size()) {
      std::string names;
      for (const Vertex& vertex : chosen_) {
        names += (names.empty() ? "" : ",") + graph_.node(vertex.node).name();
        if (vertex.port >= 0) names += "." + std::to_string(vertex.port);
      }
      found_.insert(names);
      return;
    }
    const PatternNode& next = pattern_.nodes[chosen_.size()];
    for (const Vertex& vertex : Candidates(next)) {
      if (std::find(chosen_.begin(), chosen_.end(), vertex) != chosen_.end()) continue;
      bool fits = true;
      for (size_t i = 0; i < chosen_.size() && fits; ++i) {
        const std::string& other = pattern_.nodes[i].alias;
        fits = Fits(other, next.alias, Edges(chosen_[i], vertex)) &&
               Fits(next.alias, other, Edges(vertex, chosen_[i]));
      }
      if (!fits) continue;
      chosen_.push_back(vertex);
      Extend();
      chosen_.pop_back();
    }
  }

  const ir::Graph& graph_;
  const Pattern& pattern_;
  bool has_data_ = false;
  std::vector<Vertex> chosen_;
  std::set<std::string> found_;
};

class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761U + 1) {}
  size_t Roll(size_t sides) {
    state_ = state_ * 1664525U + 1013904223U;
    return (state_ >> 8) % sides;
  }

 private:
  uint32_t state_;
};

std::string RandomGraph(Dice& dice) {
  std::string text = "s=Split(x,k)[2]";
  std::vector<std::string> values = {"s.0", "s.1"};
  for (int i = 0; i < 7; ++i) {
    const std::string name = "n" + std::to_string(i);
    const std::string a = values[dice.Roll(values.size())];
    const std::string b = values[dice.Roll(values.size())];
    const size_t kind = dice.Roll(4);
    const char* const operation = kind == 0 ? "ReLU" : kind == 1 ? "Abs" : "Add";
    text += fmt::format(" {}={}({})", name, operation, kind < 2 ? a : fmt::format("{},{}", a, b));
    values.push_back(name);
  }
  return text;
}

std::string RandomPattern(Dice& dice, bool with_data) {
  static const char* const kOps[] = {"ReLU", "Abs", "Add", "Add", "Split", ""};
  const size_t count = 2 + dice.Roll(3);
  std::string text;
  std::vector<bool> is_data;
  for (size_t i = 0; i < count; ++i) {
    is_data.push_back(with_data && dice.Roll(2) == 0);
    text += "v" + std::to_string(i) + ":" + (is_data[i] ? "#" : kOps[dice.Roll(6)]) + " ";
  }
  text += "|";
  std::vector<bool> is_written(count);
  for (size_t i = 1; i < count; ++i) {
    const size_t other = dice.Roll(i);
    if (with_data && is_data[i] == is_data[other]) continue;
    if (is_data[i] && is_written[i]) continue;
    is_written[i] = true;
    for (size_t edges = 1 + dice.Roll(5) / 4; edges > 0; --edges) {
      text += " v" + std::to_string(other) + ">v" + std::to_string(i);
      if (is_data[i]) break;
      if (dice.Roll(4) == 0) text += ":in=" + std::to_string(dice.Roll(2));
    }
  }
  return text;
}

TEST(PatternCasesTest, RandomPatternsMatchWhatTheDefinitionSays) {
  size_t matches = 0;
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    Dice dice(seed);
    const std::string text = RandomGraph(dice);
    const Pattern pattern = MakePattern(RandomPattern(dice, seed % 2 == 1));
    ir::Graph graph = MakeGraph(text);
    // Results have no distinguishing names.
    int number = 0;
    for (ir::NodeId result : graph.results()) graph.SetName(result, "y" + std::to_string(number++));
    const std::set<std::string> expected = BruteForce(graph, pattern).Run();
    matches += expected.size();
    ASSERT_EQ(Find(graph, pattern), expected) << "seed " << seed << ": " << text;
  }
  EXPECT_GT(matches, 2000u);
}

}  // namespace
}  // namespace nnefc::transform
