// The printer of the textual form of graphs.

#include <algorithm>
#include <cmath>

#include "compiler/ir/text/text.h"
#include "compiler/ir/text/text_values.h"
#include "fmt/core.h"

namespace nnefc::ir {

namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (code < 0x20 || code == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned>(code));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Returns an identifier unchanged, other text in quotes.
std::string Word(std::string_view text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  const bool starts_well = !text.empty() && plain(text.front()) &&
                           !(text.front() >= '0' && text.front() <= '9') && text.front() != '-';
  return starts_well && std::all_of(text.begin(), text.end(), plain) ? std::string(text) : Quoted(text);
}

// Returns the shortest text that reads back as the same value and is not an integer literal.
template <typename T>
std::string Real(T value) {
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";
  return text;
}

template <typename List, typename Print>
std::string Joined(const List& items, Print print) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    text += print(items[i]);
  }
  return text;
}

// True if the elements, printed as numbers, read back as the same bytes.
bool PrintsAsNumbers(const TensorValue& value) {
  if (BitWidth(value.type()) == 0 || IsStorageOnly(value.type())) return false;
  if (value.type() == ElementType::kBoolean) {
    return std::all_of(value.bytes(), value.bytes() + value.byte_size(),
                       [](std::byte b) { return b == std::byte{0} || b == std::byte{1}; });
  }
  if (!IsFloat(value.type())) return value.type() != ElementType::kU64;
  for (int64_t i = 0; i < value.volume(); ++i) {
    if (std::isnan(value.ElementAsDouble(i))) return false;
  }
  return true;
}

std::string Dense(const TensorValue& value, const PrintOptions& options) {
  std::string text =
      fmt::format("dense<{}{}:", Name(value.type()), ToString(llvm::ArrayRef<int64_t>(value.shape())));
  if (options.max_constant_elements >= 0 && value.volume() > options.max_constant_elements) {
    text += fmt::format(" #{:016x}", Digest(value));
    if (options.keep && BitWidth(value.type()) > 0) text += fmt::format(" @{}", options.keep(value));
    return text + ">";
  }
  if (!PrintsAsNumbers(value)) {
    text += " 0x";
    for (size_t i = 0; i < value.byte_size(); ++i) {
      text += fmt::format("{:02x}", static_cast<unsigned>(value.bytes()[i]));
    }
    return text + ">";
  }
  for (int64_t i = 0; i < value.volume(); ++i) {
    text += i == 0 ? " " : ", ";
    if (value.type() == ElementType::kF32) {
      text += Real(static_cast<float>(value.ElementAsDouble(i)));
    } else if (IsFloat(value.type())) {
      text += Real(value.ElementAsDouble(i));
    } else {
      text += fmt::format("{}", value.ElementAsInt(i));
    }
  }
  return text + ">";
}

// True if the items, written in brackets, would read back as a packed list.
bool LooksPacked(const AttributeList& list) {
  const auto all = [&](auto has_kind) { return std::all_of(list.items.begin(), list.items.end(), has_kind); };
  if (list.items.empty()) return false;
  return all([](const Attribute& item) { return item.get<int64_t>() != nullptr; }) ||
         all([](const Attribute& item) { return item.get<double>() != nullptr; }) ||
         all([](const Attribute& item) { return item.get<bool>() != nullptr; }) ||
         all([](const Attribute& item) { return item.get<std::string>() != nullptr; });
}

std::string AttributeText(const Attribute& attribute, const PrintOptions& options);

struct AttributePrinter {
  const PrintOptions& options;

  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return Real(value); }
  std::string operator()(const std::string& value) const { return Quoted(value); }
  std::string operator()(const Attribute::Integers& items) const {
    if (items.empty()) return "integers[]";
    return "[" + Joined(items, [](int64_t item) { return fmt::format("{}", item); }) + "]";
  }
  std::string operator()(const Attribute::Scalars& items) const {
    if (items.empty()) return "scalars[]";
    return "[" + Joined(items, [](double item) { return Real(item); }) + "]";
  }
  std::string operator()(const Attribute::Logicals& items) const {
    if (items.empty()) return "logicals[]";
    return "[" + Joined(items, [](bool item) { return std::string(item ? "true" : "false"); }) + "]";
  }
  std::string operator()(const Attribute::Strings& items) const {
    if (items.empty()) return "strings[]";
    return "[" + Joined(items, [](const std::string& item) { return Quoted(item); }) + "]";
  }
  std::string operator()(const AttributeList& list) const {
    const std::string items =
        Joined(list.items, [&](const Attribute& i) { return AttributeText(i, options); });
    if (list.is_tuple) return "(" + items + ")";
    return (LooksPacked(list) ? "list[" : "[") + items + "]";
  }
  std::string operator()(ElementType type) const { return std::string(Name(type)); }
  std::string operator()(const PartialShape& shape) const {
    return (shape.known() ? "shape" : "") + ToString(shape);
  }
  std::string operator()(const TensorValue& value) const {
    return value.valid() ? Dense(value, options) : "dense<none>";
  }
};

std::string AttributeText(const Attribute& attribute, const PrintOptions& options) {
  return std::visit(AttributePrinter{options}, attribute.value());
}

class GraphPrinter {
 public:
  GraphPrinter(const Graph& graph, const PrintOptions& options, int indent, std::string& text)
      : graph_(graph), options_(options), indent_(indent), numbers_(graph.node_bound(), -1), text_(text) {}

  void Print() {
    text_ += fmt::format("graph {} {{\n", Quoted(graph_.name()));
    const std::vector<NodeId> order = PrintOrder();
    int number = 0;
    for (NodeId id : order) numbers_[static_cast<size_t>(id.index)] = number++;
    for (NodeId id : order) PrintNode(graph_.node(id));
    PrintSinks(order);
    text_ += std::string(static_cast<size_t>(indent_), ' ') + "}";
  }

 private:
  // Returns the print order. A graph with a cycle has no topological order and is printed in insertion order.
  std::vector<NodeId> PrintOrder() const {
    std::vector<bool> placed(graph_.node_bound(), false);
    std::vector<NodeId> order;
    const auto place = [&](NodeId id) {
      if (graph_.Contains(id) && !placed[static_cast<size_t>(id.index)]) order.push_back(id);
      if (graph_.Contains(id)) placed[static_cast<size_t>(id.index)] = true;
    };
    for (NodeId id : graph_.parameters()) place(id);
    for (NodeId id : graph_.results()) {
      if (graph_.Contains(id)) placed[static_cast<size_t>(id.index)] = true;
    }
    const std::optional<std::vector<NodeId>> sorted = TopologicalOrder(graph_);
    for (NodeId id : sorted ? *sorted : graph_.nodes()) place(id);
    for (NodeId id : graph_.results()) {
      if (graph_.Contains(id)) order.push_back(id);
    }
    return order;
  }

  std::string Port(OutputPort port) const {
    const int number = numbers_[static_cast<size_t>(port.node.index)];
    return port.index == 0 ? fmt::format("%{}", number) : fmt::format("%{}.{}", number, port.index);
  }

  void PrintNode(const Node& node) {
    text_ += std::string(static_cast<size_t>(indent_) + 2, ' ');
    const bool is_result = node.Is(OpRole::kResult) && node.num_outputs() == 0;
    if (node.num_outputs() == 1) {
      text_ += fmt::format("%{} = ", numbers_[static_cast<size_t>(node.id().index)]);
    } else if (!is_result) {
      text_ += fmt::format("%{}:{} = ", numbers_[static_cast<size_t>(node.id().index)], node.num_outputs());
    }
    text_ += fmt::format("{}.{} {}", Word(node.set()), Word(node.type()), Quoted(node.name()));
    if (node.num_inputs() > 0) {
      text_ += " (" + Joined(node.inputs(), [&](OutputPort port) { return Port(port); }) + ")";
    }
    if (!node.segments().empty()) {
      text_ += " segments [" + Joined(node.segments(), [](int32_t n) { return fmt::format("{}", n); }) + "]";
    }
    if (!node.attributes().empty()) text_ += " " + PrintAttributes(node.attributes(), options_);
    if (!node.rt_info().empty()) text_ += " rt " + PrintAttributes(node.rt_info(), options_);
    for (int32_t i = 0; i < node.num_outputs(); ++i) PrintOutput(node.output(i), i);
    if (!node.bodies().empty()) PrintBodies(node);
    text_ += '\n';
  }

  void PrintOutput(const Output& output, int32_t index) {
    text_ += fmt::format("{} {}{}", index == 0 ? " :" : ",", Name(output.type), ToString(output.shape));
    if (!output.names.empty()) {
      text_ += " as [" + Joined(output.names, [](const std::string& name) { return Quoted(name); }) + "]";
    }
    if (output.value) text_ += " = " + Dense(*output.value, options_);
  }

  template <typename Mapping>
  void PrintMapping(std::string_view keyword, const Mapping& mapping) {
    text_ += fmt::format(" {} {} -> {}", keyword, mapping.external, mapping.internal);
    if (mapping.axis) {
      text_ += fmt::format(" slice(axis {}, start {}, end {}, stride {}, part {})", *mapping.axis,
                           mapping.start, mapping.end, mapping.stride, mapping.part_size);
    }
  }

  void PrintBodies(const Node& node) {
    text_ += " bodies {\n";
    for (const Body& body : node.bodies()) {
      text_ += std::string(static_cast<size_t>(indent_) + 4, ' ') + Quoted(body.role);
      for (const InputMapping& mapping : body.inputs) PrintMapping("input", mapping);
      for (const OutputMapping& mapping : body.outputs) PrintMapping("output", mapping);
      for (const BackEdge& edge : body.back_edges)
        text_ += fmt::format(" back {} -> {}", edge.result, edge.parameter);
      text_ += ' ';
      GraphPrinter(*body.graph, options_, indent_ + 4, text_).Print();
      text_ += '\n';
    }
    text_ += std::string(static_cast<size_t>(indent_) + 2, ' ') + "}";
  }

  // Prints the sinks only if they differ from those that parsing adds automatically.
  void PrintSinks(const std::vector<NodeId>& order) {
    std::vector<NodeId> natural;
    for (NodeId id : order) {
      if (graph_.node(id).info().is_sink) natural.push_back(id);
    }
    if (graph_.sinks() == llvm::ArrayRef<NodeId>(natural)) return;
    text_ += std::string(static_cast<size_t>(indent_) + 2, ' ') + "sinks (" +
             Joined(graph_.sinks(),
                    [&](NodeId id) {
                      return Port({id, 0});
                    }) +
             ")\n";
  }

  const Graph& graph_;
  const PrintOptions& options_;
  int indent_;
  std::vector<int> numbers_;
  std::string& text_;
};

}  // namespace

std::string PrintAttributes(const AttributeMap& attributes, const PrintOptions& options) {
  std::string text = "{";
  for (const auto& [name, value] : attributes) {
    if (text.size() > 1) text += ", ";
    text += Word(name) + " = " + AttributeText(value, options);
  }
  return text + "}";
}

std::string PrintGraph(const Graph& graph, const PrintOptions& options) {
  std::string text;
  GraphPrinter(graph, options, 0, text).Print();
  return text + "\n";
}

}  // namespace nnefc::ir
