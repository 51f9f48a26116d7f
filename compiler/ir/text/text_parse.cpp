// The parser of the textual form of graphs.

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/text/text.h"
#include "compiler/ir/text/text_values.h"

namespace nnefc::ir {

namespace {

// The parsed text of an output, after the colon.
struct OutputText {
  TypeText type;
  std::vector<std::string> names;
  std::optional<TensorValue> value;
};

class GraphParser {
 public:
  GraphParser(TextScanner& scanner, const OpRegistry& registry, int depth)
      : scanner_(scanner), registry_(registry), depth_(depth) {}

  std::unique_ptr<Graph> Parse() {
    if (depth_ > kMaxBodyNesting) {
      scanner_.Error(kTextNesting, "bodies are nested more than {} deep", kMaxBodyNesting);
      return nullptr;
    }
    if (!scanner_.Expect("graph")) return nullptr;
    std::optional<std::string> name = scanner_.String();
    if (!name || !scanner_.Expect("{")) return nullptr;
    graph_ = std::make_unique<Graph>(&registry_, std::move(*name));
    while (!scanner_.Accept("}")) {
      if (!(scanner_.AtWord("sinks") ? ParseSinks() : ParseNode())) return nullptr;
    }
    return std::move(graph_);
  }

 private:
  // The left-hand side `%3:2 =`. A node without it has no outputs and no number.
  struct NodeLabel {
    SourceRange range;
    std::optional<int32_t> number;
    int32_t num_outputs = 0;
  };

  std::optional<NodeLabel> ParseLabel() {
    NodeLabel label;
    label.range = scanner_.Here();
    if (!scanner_.Accept("%")) return label;
    const std::optional<int32_t> number = scanner_.Index();
    if (!number) return std::nullopt;
    label.number = *number;
    label.num_outputs = 1;
    if (scanner_.Accept(":")) {
      const std::optional<int32_t> count = scanner_.Index();
      if (!count) return std::nullopt;
      label.num_outputs = *count;
    }
    if (!scanner_.Expect("=")) return std::nullopt;
    if (values_.count(*number) == 0) return label;
    scanner_.ErrorAt(kTextRepeatedValue, label.range, "`%{}` was defined before", *number);
    return std::nullopt;
  }

  OpId ParseOperation() {
    const SourceRange range = scanner_.Here();
    const std::optional<std::string> set = scanner_.Word();
    if (!set || !scanner_.Expect(".")) return OpId();
    const std::optional<std::string> name = scanner_.Word();
    if (!name) return OpId();
    const OpId op = registry_.Find(*set, *name);
    if (!op.valid())
      scanner_.ErrorAt(kTextUnknownOperation, range, "there is no operation `{}.{}`", *set, *name);
    return op;
  }

  // Parses a reference to an output. A sink without outputs is referred to as `%3`.
  std::optional<OutputPort> ParsePort(bool is_sink = false) {
    const SourceRange range = scanner_.Here();
    if (!scanner_.Expect("%")) return std::nullopt;
    const std::optional<int32_t> number = scanner_.Index();
    if (!number) return std::nullopt;
    int32_t index = 0;
    if (scanner_.Accept(".")) {
      const std::optional<int32_t> given = scanner_.Index();
      if (!given) return std::nullopt;
      index = *given;
    }
    const auto value = values_.find(*number);
    const int32_t least = is_sink ? 1 : 0;
    const bool known =
        value != values_.end() && index < std::max(graph_->node(value->second).num_outputs(), least);
    if (known) return OutputPort{value->second, index};
    scanner_.ErrorAt(kTextUnknownValue, range, "`%{}.{}` is not defined before its use", *number, index);
    return std::nullopt;
  }

  std::optional<std::vector<OutputPort>> ParsePorts(bool are_sinks = false) {
    std::vector<OutputPort> ports;
    if (!scanner_.Expect("(")) return std::nullopt;
    if (scanner_.Accept(")")) return ports;
    do {
      const std::optional<OutputPort> port = ParsePort(are_sinks);
      if (!port) return std::nullopt;
      ports.push_back(*port);
    } while (scanner_.Accept(","));
    if (!scanner_.Expect(")")) return std::nullopt;
    return ports;
  }

  // Parses `segments [1,1,0]`, whose items must add up to the number of inputs.
  std::optional<std::vector<int32_t>> ParseSegments(size_t num_inputs) {
    std::vector<int32_t> segments;
    if (!scanner_.Accept("segments")) return segments;
    const SourceRange range = scanner_.Here();
    if (!scanner_.Expect("[")) return std::nullopt;
    int64_t sum = 0;
    do {
      const std::optional<int32_t> count = scanner_.Index();
      if (!count) return std::nullopt;
      segments.push_back(*count);
      sum += *count;
    } while (scanner_.Accept(","));
    if (!scanner_.Expect("]")) return std::nullopt;
    if (sum == static_cast<int64_t>(num_inputs)) return segments;
    scanner_.ErrorAt(kTextSyntax, range, "the segments add up to {} inputs; expected {}", sum, num_inputs);
    return std::nullopt;
  }

  std::optional<std::vector<OutputText>> ParseOutputs(int32_t count) {
    std::vector<OutputText> outputs;
    if (count == 0) return outputs;
    if (!scanner_.Expect(":")) return std::nullopt;
    for (int32_t i = 0; i < count; ++i) {
      if (i > 0 && !scanner_.Expect(",")) return std::nullopt;
      OutputText output;
      const std::optional<TypeText> type = ParseTypeText(scanner_);
      if (!type) return std::nullopt;
      output.type = *type;
      if (scanner_.Accept("as")) {
        std::optional<std::vector<std::string>> names = ParseNamesText(scanner_);
        if (!names) return std::nullopt;
        output.names = std::move(*names);
      }
      if (scanner_.Accept("=")) {
        output.value = ParseDenseText(scanner_);
        if (!output.value) return std::nullopt;
      }
      outputs.push_back(std::move(output));
    }
    return outputs;
  }

  bool ParseNode() {
    const uint32_t begin = scanner_.position();
    const std::optional<NodeLabel> label = ParseLabel();
    if (!label) return false;
    NodeSpec spec;
    spec.op = ParseOperation();
    if (!spec.op.valid()) return false;
    std::optional<std::string> name = scanner_.String();
    if (!name) return false;
    spec.name = std::move(*name);
    std::vector<OutputPort> inputs;
    if (scanner_.Peek() == '(') {
      std::optional<std::vector<OutputPort>> ports = ParsePorts();
      if (!ports) return false;
      inputs = std::move(*ports);
    }
    const std::optional<std::vector<int32_t>> segments = ParseSegments(inputs.size());
    if (!segments) return false;
    std::optional<AttributeMap> rt_info;
    if (!ParseAttributeMaps(spec.attributes, rt_info)) return false;
    std::optional<std::vector<OutputText>> outputs = ParseOutputs(label->num_outputs);
    if (!outputs) return false;
    spec.inputs = inputs;
    spec.segments = *segments;
    spec.num_outputs = label->num_outputs;
    spec.origin.range = scanner_.RangeFrom(begin);
    const NodeId id = graph_->AddNode(std::move(spec));
    Complete(id, std::move(*outputs), rt_info);
    if (label->number) values_.emplace(*label->number, id);
    return !scanner_.AtWord("bodies") || ParseBodies(id);
  }

  bool ParseAttributeMaps(AttributeMap& attributes, std::optional<AttributeMap>& rt_info) {
    if (scanner_.Peek() == '{') {
      std::optional<AttributeMap> parsed = ParseAttributesText(scanner_);
      if (!parsed) return false;
      attributes = std::move(*parsed);
    }
    if (!scanner_.Accept("rt")) return !scanner_.failed();
    rt_info = ParseAttributesText(scanner_);
    return rt_info.has_value();
  }

  void Complete(NodeId id, std::vector<OutputText> outputs, const std::optional<AttributeMap>& rt_info) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const OutputPort port{id, static_cast<int32_t>(i)};
      graph_->SetOutputType(port, outputs[i].type.type, std::move(outputs[i].type.shape));
      graph_->SetOutputNames(port, std::move(outputs[i].names));
      graph_->SetOutputValue(port, std::move(outputs[i].value));
    }
    if (rt_info) {
      for (const auto& [name, value] : *rt_info) graph_->SetRtInfo(id, name, value);
    }
    const Node& node = graph_->node(id);
    if (node.Is(OpRole::kResult)) graph_->AddToResults(id);
    if (node.Is(OpRole::kExternal)) graph_->AddToParameters(id);
    if (!node.Is(OpRole::kParameter)) return;
    graph_->AddToParameters(id);
    const Attribute* shape = node.attributes().Find("shape");
    if (shape == nullptr || shape->get<PartialShape>() != nullptr) return;
    const bool empty = shape->IsList() && shape->ListSize() == 0;
    if (!empty && shape->get<Attribute::Integers>() == nullptr) return;
    llvm::SmallVector<Dim, 4> dims;
    for (const int64_t extent : empty ? Attribute::Integers{} : shape->AsInts()) {
      if (extent < -1) return;  // the check of attributes reports it
      dims.push_back(extent == -1 ? Dim() : Dim(extent));
    }
    graph_->SetAttribute(id, "shape", PartialShape(llvm::ArrayRef<Dim>(dims)));
  }

  bool ParseSinks() {
    if (!scanner_.Expect("sinks")) return false;
    const std::optional<std::vector<OutputPort>> sinks = ParsePorts(/*are_sinks=*/true);
    if (!sinks) return false;
    std::vector<NodeId> nodes;
    for (OutputPort port : *sinks) nodes.push_back(port.node);
    graph_->OrderSinks(nodes);
    return true;
  }

  // ---- bodies ----

  bool ParseBodies(NodeId id) {
    if (!scanner_.Expect("bodies") || !scanner_.Expect("{")) return false;
    while (!scanner_.Accept("}")) {
      Body body;
      std::optional<std::string> role = scanner_.String();
      if (!role) return false;
      body.role = std::move(*role);
      if (!ParsePortMap(body)) return false;
      body.graph = GraphParser(scanner_, registry_, depth_ + 1).Parse();
      if (body.graph == nullptr) return false;
      graph_->AddBody(id, std::move(body));
    }
    return true;
  }

  bool ParsePortMap(Body& body) {
    while (!scanner_.failed()) {
      if (scanner_.Accept("input")) {
        if (!ParseMapping(body.inputs.emplace_back())) return false;
      } else if (scanner_.Accept("output")) {
        if (!ParseMapping(body.outputs.emplace_back())) return false;
      } else if (scanner_.Accept("back")) {
        BackEdge& edge = body.back_edges.emplace_back();
        if (!ParseArrow(edge.result, edge.parameter)) return false;
      } else {
        return true;
      }
    }
    return false;
  }

  // Parses `1 -> 0`. The outer index -1 is a value that the loop itself provides.
  bool ParseArrow(int32_t& from, int32_t& to) {
    const SourceRange range = scanner_.Here();
    const std::optional<int64_t> first = scanner_.Integer();
    if (!first || !scanner_.Expect("->")) return false;
    const std::optional<int32_t> second = scanner_.Index();
    if (!second) return false;
    if (*first < -1 || *first >= INT32_MAX) {
      scanner_.ErrorAt(kTextSyntax, range, "`{}` is not an index", *first);
      return false;
    }
    from = static_cast<int32_t>(*first);
    to = *second;
    return true;
  }

  bool ParseField(std::string_view name, int64_t& value) {
    if (!scanner_.Expect(name)) return false;
    const std::optional<int64_t> parsed = scanner_.Integer();
    if (parsed) value = *parsed;
    return parsed.has_value();
  }

  template <typename Mapping>
  bool ParseMapping(Mapping& mapping) {
    if (!ParseArrow(mapping.external, mapping.internal)) return false;
    if (!scanner_.Accept("slice")) return !scanner_.failed();
    int64_t axis = 0;
    if (!scanner_.Expect("(") || !ParseField("axis", axis) || !scanner_.Expect(",")) return false;
    if (!ParseField("start", mapping.start) || !scanner_.Expect(",")) return false;
    if (!ParseField("end", mapping.end) || !scanner_.Expect(",")) return false;
    if (!ParseField("stride", mapping.stride) || !scanner_.Expect(",")) return false;
    if (!ParseField("part", mapping.part_size) || !scanner_.Expect(")")) return false;
    mapping.axis = axis;
    return true;
  }

  TextScanner& scanner_;
  const OpRegistry& registry_;
  int depth_;
  std::unique_ptr<Graph> graph_;
  std::unordered_map<int32_t, NodeId> values_;
};

// Returns violations in bodies of NNEF operations. Inference does not change bodies whose types are known, so
// the types that the text declares must be correct.
std::vector<std::string> BodyViolations(const Graph& graph) {
  for (NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    for (const Body& body : node.bodies()) {
      if (node.set() != kNnefSet || IsUntaken(graph, node, body)) continue;
      if (std::vector<std::string> violations = VerifyInferred(*body.graph, PortNames::kAny);
          !violations.empty()) {
        return violations;
      }
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<Graph> ParseGraph(FileId file, const OpRegistry& registry, Context& context,
                                  std::shared_ptr<const Buffer> elements) {
  TextScanner scanner(file, context, std::move(elements));
  std::unique_ptr<Graph> graph = GraphParser(scanner, registry, 0).Parse();
  if (graph == nullptr) return nullptr;
  if (!scanner.AtEnd()) {
    scanner.Error(kTextSyntax, "expected the end of the text behind the graph");
    return nullptr;
  }
  std::vector<std::string> violations = Verify(*graph);
  if (violations.empty()) violations = BodyViolations(*graph);
  for (const std::string& violation : violations) {
    context.emitter.Emit(kTextInvalidGraph, scanner.RangeFrom(0), "{}", violation);
  }
  return violations.empty() ? std::move(graph) : nullptr;
}

}  // namespace nnefc::ir
