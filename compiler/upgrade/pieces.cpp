// Statements that replace a graph statement: operations of its expansion, and invocations of preserved
// fragments.

#include "compiler/upgrade/pieces.h"

#include <algorithm>

#include "compiler/expand/print/literals.h"
#include "fmt/core.h"

namespace nnefc::upgrade {

using expand::FragmentInstance;
using expand::InstanceValue;

namespace {

// The maximum number of failed invocations in one statement before it becomes operations entirely.
constexpr int kMaxAttempts = 64;

bool IsLiteral(const ir::Node& node) {
  return node.name().empty() && node.Is(ir::OpRole::kConstant) && node.output().names.empty();
}

// Collects the tensors of a result; returns false for other values.
bool Tensors(const InstanceValue& value, std::vector<ir::OutputPort>& ports) {
  if (value.kind == InstanceValue::Kind::kTensor) {
    ports.push_back(value.port);
    return true;
  }
  if (value.kind != InstanceValue::Kind::kArray || value.items.empty()) return false;
  return std::all_of(value.items.begin(), value.items.end(), [&](const InstanceValue& item) {
    return item.kind == InstanceValue::Kind::kTensor && Tensors(item, ports);
  });
}

}  // namespace

PieceFinder::PieceFinder(const Source& source, Rewriter& rewriter) : source_(source), rewriter_(rewriter) {
  for (const FragmentInstance& instance : source.instances) by_frame_[instance.frame.get()] = &instance;
}

std::vector<Piece> PieceFinder::Find(size_t statement, const Choice& choice) {
  const std::vector<size_t>& lines = source_.flat_statements[statement];
  for (int attempt = 0;; ++attempt) {
    Memo memo;
    std::vector<Piece> pieces;
    llvm::DenseSet<const FragmentInstance*> ended;  // the lines of an instantiation must be contiguous
    bool again = false;
    for (size_t line : lines) {
      const ir::Node& node = source_.expanded.node(source_.lines[line].node);
      const FragmentInstance* instance = operations_only_.count(statement) == 0
                                             ? Outermost(node.origin().frame.get(), choice, memo)
                                             : nullptr;
      if (instance != nullptr && !pieces.empty() && pieces.back().instance == instance) {
        pieces.back().lines.push_back(line);
        continue;
      }
      if (instance != nullptr && !ended.insert(instance).second) {
        Refuse(*instance);
        again = true;
      }
      pieces.push_back({{line}, instance, instance == nullptr ? source_.lines[line].text : std::string()});
    }
    for (Piece& piece : pieces) {
      if (piece.instance == nullptr) continue;
      if (CanInvoke(piece)) piece.text = InvocationText(*piece.instance);
      if (!piece.text.empty()) continue;
      Refuse(*piece.instance);
      again = true;
    }
    if (!again) return pieces;
    if (attempt >= kMaxAttempts) RefuseStatement(statement);
  }
}

// Returns the outermost instantiation around a node that can become an invocation, or null.
const FragmentInstance* PieceFinder::Outermost(const ir::Frame* innermost, const Choice& choice,
                                               Memo& memo) const {
  std::vector<const ir::Frame*> frames;
  const FragmentInstance* found = nullptr;
  for (const ir::Frame* frame = innermost; frame != nullptr; frame = frame->parent.get()) {
    auto known = memo.find(frame);
    if (known != memo.end()) {
      found = known->second;
      break;
    }
    frames.push_back(frame);
  }
  for (; !frames.empty(); frames.pop_back()) {
    const FragmentInstance* instance = found == nullptr ? InstanceOf(frames.back()) : nullptr;
    if (instance != nullptr && choice.keeps_fragment[static_cast<size_t>(instance->fragment.index)] &&
        !refused_.contains(instance)) {
      found = instance;
    }
    memo[frames.back()] = found;
  }
  return found;
}

// Returns whether the externally used outputs of a piece are exactly the results of its fragment, each once.
bool PieceFinder::CanInvoke(const Piece& piece) {
  llvm::DenseSet<int32_t> inside;
  for (size_t line : piece.lines) inside.insert(source_.lines[line].node.index);
  std::vector<ir::OutputPort> ports;
  for (const InstanceValue& result : piece.instance->results) {
    if (!Tensors(result, ports)) return false;
  }
  llvm::DenseSet<std::pair<int32_t, int32_t>> results;
  for (ir::OutputPort port : ports) {
    if (!inside.contains(port.node.index) || !results.insert({port.node.index, port.index}).second)
      return false;
  }
  for (size_t line : piece.lines) {
    const ir::Node& node = source_.expanded.node(source_.lines[line].node);
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const bool leaves = llvm::any_of(
          node.uses(i), [&](const ir::InputPort& use) { return !inside.contains(use.node.index); });
      if (leaves && !results.contains({node.id().index, i})) return false;
    }
  }
  return true;
}

// Returns the text of an invocation; empty if a value has no literal.
std::string PieceFinder::InvocationText(const FragmentInstance& instance) {
  const semantics::CheckedDocument& document = source_.document;
  const semantics::Signature& signature = document.signature(instance.fragment);
  const semantics::Binding* binding = document.binding(instance.call);
  if (binding == nullptr || binding->arguments.size() != signature.parameters.size()) return {};
  std::string text = "    ";
  for (size_t i = 0; i < instance.results.size(); ++i) {
    if (i > 0) text += ", ";
    if (!Append(instance.results[i], text)) return {};
  }
  text += fmt::format(" = {}(", rewriter_.NameOf(signature.name.symbol));
  // Positional tensors up to the last one present, then named attributes.
  size_t shown = 0;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (binding->arguments[i].valid() && document.types().ContainsTensor(signature.parameters[i].type))
      shown = i + 1;
  }
  bool first = true;
  for (bool tensors : {true, false}) {
    for (size_t i = 0; i < signature.parameters.size(); ++i) {
      const semantics::TypedName& parameter = signature.parameters[i];
      if (document.types().ContainsTensor(parameter.type) != tensors) continue;
      if (tensors ? i >= shown : !binding->arguments[i].valid()) continue;
      if (!std::exchange(first, false)) text += ", ";
      if (!tensors) text += fmt::format("{} = ", rewriter_.NameOf(parameter.name.symbol));
      if (!Append(instance.arguments[i], text)) return {};
    }
  }
  return text + ");\n";
}

// The recursion depth is the nesting depth of the value's type in the text.
bool PieceFinder::Append(const InstanceValue& value, std::string& text) const {
  switch (value.kind) {
    case InstanceValue::Kind::kUnknown:
      return false;
    case InstanceValue::Kind::kTensor:
      return AppendTensor(value.port, text);
    case InstanceValue::Kind::kLiteral:
      text += value.literal;
      return true;
    default:
      break;
  }
  const bool is_array = value.kind == InstanceValue::Kind::kArray;
  text += is_array ? '[' : '(';
  for (size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) text += ", ";
    if (!Append(value.items[i], text)) return false;
  }
  text += is_array ? ']' : ')';
  return true;
}

bool PieceFinder::AppendTensor(ir::OutputPort port, std::string& text) const {
  const ir::Node& node = source_.expanded.node(port.node);
  if (IsLiteral(node)) {
    const std::string list = expand::print::AttributeLiteral(node.attribute("value"));
    text += list.substr(1, list.size() - 2);
    return true;
  }
  const std::vector<std::string>& names = node.output(port.index).names;
  if (names.empty()) return false;
  text += source_.names.Of(names.front());
  return true;
}

}  // namespace nnefc::upgrade
