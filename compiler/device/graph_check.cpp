// Checks of the operations and tensors of a graph against a profile.

#include "compiler/device/graph_check.h"

#include <algorithm>

#include "compiler/device/rules.h"
#include "compiler/expand/print/literals.h"
#include "compiler/ir/wording.h"
#include "fmt/format.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::device {
namespace {

std::string_view TypeName(ElementType type) {
  if (type == ElementType::kString) return "string";
  if (type == ElementType::kBoolean) return "logical";
  return IsInteger(type) ? "integer" : "scalar";
}

// Returns an attribute that is no list as a number; nothing for other values.
std::optional<double> NumberOf(const ir::Attribute& attribute) {
  if (attribute.get<int64_t>() != nullptr || attribute.get<double>() != nullptr) return attribute.AsDouble();
  return std::nullopt;
}

// Returns the items of a list or tuple.
std::vector<ir::Attribute> ItemsOf(const ir::Attribute& attribute) {
  std::vector<ir::Attribute> items;
  const auto append = [&](const auto& list) {
    for (const auto& item : list) items.emplace_back(item);
  };
  if (const auto* integers = attribute.get<ir::Attribute::Integers>()) append(*integers);
  if (const auto* scalars = attribute.get<ir::Attribute::Scalars>()) append(*scalars);
  if (const auto* strings = attribute.get<ir::Attribute::Strings>()) append(*strings);
  if (const auto* list = attribute.get<ir::AttributeList>()) append(list->items);
  if (const auto* logicals = attribute.get<ir::Attribute::Logicals>()) {
    for (const bool item : *logicals) items.emplace_back(item);
  }
  return items;
}

// Returns true if an attribute is a value of a profile. Tuples are lists there.
bool Equals(const ir::Attribute& attribute, const JsonValue& value) {
  if (const auto number = NumberOf(attribute)) {
    if (const auto* integer = value.get<int64_t>()) return static_cast<double>(*integer) == *number;
    const auto* scalar = value.get<double>();
    return scalar != nullptr && *scalar == *number;
  }
  if (const auto* logical = attribute.get<bool>()) {
    const auto* other = value.get<bool>();
    return other != nullptr && *other == *logical;
  }
  if (const auto* text = attribute.get<std::string>()) {
    const auto* other = value.get<std::string>();
    return other != nullptr && *other == *text;
  }
  const auto* items = value.get<JsonValue::Items>();
  if (items == nullptr || !attribute.IsList()) return false;
  const std::vector<ir::Attribute> own = ItemsOf(attribute);
  return std::equal(own.begin(), own.end(), items->begin(), items->end(), Equals);
}

// Returns true if an alternative is the attribute, or all its items are allowed. An empty list must be an
// alternative itself.
bool Allows(const AllowedValues& allowed, const ir::Attribute& attribute) {
  for (const AllowedValues::Alternative& alternative : allowed.alternatives) {
    const auto* value = std::get_if<JsonValue>(&alternative);
    if (value != nullptr && Equals(attribute, *value)) return true;
  }
  if (const auto number = NumberOf(attribute)) return allowed.AllowsNumber(*number);
  if (!attribute.IsList() || attribute.ListSize() == 0) return false;
  return llvm::all_of(ItemsOf(attribute), [&](const ir::Attribute& item) { return Allows(allowed, item); });
}

// Returns the value of an attribute, given or by default, if it is not allowed; otherwise null.
const ir::Attribute* ForbiddenValue(const ir::Node& node, const std::string& name,
                                    const AllowedValues& allowed) {
  const ir::AttributeInfo* info = node.info().FindAttribute(name);
  const ir::Attribute* value = node.attributes().Find(name);
  if (value == nullptr && info != nullptr && info->fallback) value = &*info->fallback;
  return value == nullptr || Allows(allowed, *value) ? nullptr : value;
}

// Returns the list of the profile that an operation must be in; null if it allows all.
const AllowedOperations* ListFor(const Profile& profile, const ir::Node& node) {
  const bool is_standard = ir::StandardOps().Find(ir::kNnefSet, node.type()).valid();
  const auto& allowed = is_standard ? profile.operations : profile.custom_operations;
  return allowed ? &*allowed : nullptr;
}

// The violations of one node, collected by rule: diagnostics of one rule at one place are reported once.
class NodeCheck {
 public:
  NodeCheck(const GraphCheck& check, const ir::Graph& graph, const ir::Node& node)
      : check_(check), profile_(check.profile), graph_(graph), node_(node) {}

  void Run() {
    if (IsLiteral()) return;
    if (const OperationLimits* limits = CheckOperation()) {
      for (const auto& [name, allowed] : limits->attributes) CheckAttribute(name, allowed);
      for (int32_t i = 0; i < node_.num_outputs(); ++i)
        CheckTensor(node_.output(i), limits->results, ResultName(i));
      CheckInputs(*limits);
      if (limits->kernel) CheckKernel(*limits->kernel);
    }
    for (int32_t i = 0; i < node_.num_outputs(); ++i)
      CheckTensor(node_.output(i), profile_.tensors, ResultName(i));
    for (const Violations& violations : by_rule_) Report(violations);
  }

 private:
  struct Violations {
    const Rule* rule;
    std::vector<std::string> texts;
    std::vector<DiagnosticNote> notes;
  };

  void Add(const Rule& rule, std::string text, std::vector<DiagnosticNote> notes) {
    auto found = llvm::find_if(by_rule_, [&](const Violations& each) { return each.rule == &rule; });
    if (found == by_rule_.end()) found = by_rule_.insert(by_rule_.end(), Violations{&rule, {}, {}});
    if (!llvm::is_contained(found->texts, text)) found->texts.push_back(std::move(text));
    for (DiagnosticNote& note : notes) {
      const bool is_new = llvm::none_of(found->notes, [&](const DiagnosticNote& other) {
        return other.range == note.range && other.message == note.message;
      });
      if (is_new) found->notes.push_back(std::move(note));
    }
  }
  template <typename... Args>
  static DiagnosticNote Note(const ProfileEntry& entry, fmt::format_string<Args...> format, Args&&... args) {
    return {entry.range, fmt::format("`{}` of the profile {}", entry.pointer,
                                     fmt::format(format, std::forward<Args>(args)...))};
  }

  void Report(const Violations& violations) const {
    const std::string texts = fmt::format("{}", fmt::join(violations.texts, "; "));
    check_.emitter.Emit(*violations.rule, node_.origin().range, "{}", texts)
        .Notes(violations.notes)
        .Notes(ir::StackNotes(node_.origin().frame));
  }

  // True of a number in an argument, such as the default bias of conv: a constant of rank 0 without a
  // statement, which the device need not store.
  bool IsLiteral() const {
    const ir::Output& output = node_.output();
    return node_.Is(ir::OpRole::kConstant) && output.names.empty() && output.shape.rank_known() &&
           output.shape.rank() == 0;
  }

  std::string ResultName(int32_t index) const {
    const ir::Output& output = node_.output(index);
    return output.names.empty() ? node_.name() : output.names.front();
  }

  // Returns the limits of the operation; null if it has none, or is not allowed.
  const OperationLimits* CheckOperation() {
    const AllowedOperations* allowed = ListFor(profile_, node_);
    if (allowed == nullptr) return nullptr;
    const auto found = allowed->by_name.find(node_.type());
    if (found != allowed->by_name.end()) return &found->second;
    // A stated constant of rank 0 may be written as a literal.
    const ir::PartialShape& shape = node_.output().shape;
    if (node_.Is(ir::OpRole::kConstant) && shape.rank_known() && shape.rank() == 0) return nullptr;
    std::vector<DiagnosticNote> notes = {Note(allowed->entry, "lists {} operation{}, without `{}`",
                                              allowed->by_name.size(),
                                              allowed->by_name.size() == 1 ? "" : "s", node_.type())};
    const std::string_view written = ir::OperationName(node_);
    Add(kOperation,
        written == node_.type() ? fmt::format("the device has no operation `{}`", written)
                                : fmt::format("the device has no operation `{}`, the ratified form of `{}`",
                                              node_.type(), written),
        std::move(notes));
    const std::string advice = check_.advice ? check_.advice(node_.type()) : std::string();
    if (!advice.empty()) by_rule_.back().notes.push_back({SourceRange(), advice});
    return nullptr;
  }

  void CheckAttribute(const std::string& name, const AllowedValues& allowed) {
    const ir::Attribute* value = ForbiddenValue(node_, name, allowed);
    if (value == nullptr) return;
    Add(kAttribute,
        fmt::format("the device does not accept `{} = {}` of `{}`", ir::ArgumentName(node_, name),
                    expand::print::AttributeLiteral(*value), ir::OperationName(node_)),
        {Note(allowed.entry, "allows {}", Describe(allowed))});
  }

  void CheckInputs(const OperationLimits& limits) {
    const auto& inputs = node_.info().inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto found = limits.inputs.find(inputs[i].name);
      if (found == limits.inputs.end()) continue;
      for (ir::OutputPort port : node_.segment(static_cast<int32_t>(i))) {
        CheckTensor(
            graph_.output(port), found->second,
            fmt::format("{}` of `{}", ir::ArgumentName(node_, inputs[i].name), ir::OperationName(node_)));
      }
    }
  }

  void CheckTensor(const ir::Output& tensor, const TensorLimits& limits, const std::string& name) {
    const std::string_view type = TypeName(tensor.type);
    if (limits.types && !limits.types->Allows(type)) {
      Add(kType, fmt::format("`{}` has items of type `{}`", name, type),
          {Note(limits.types->entry, "allows {}", Describe(*limits.types))});
    }
    const ir::PartialShape& shape = tensor.shape;
    if (!shape.rank_known()) {
      const ProfileEntry* entry = limits.ranks         ? &limits.ranks->entry
                                  : limits.max_extents ? &limits.max_extents->entry
                                                       : nullptr;
      if (entry != nullptr) AddUnknown(name, *entry);
      return;
    }
    if (limits.ranks && !limits.ranks->AllowsNumber(static_cast<double>(shape.rank()))) {
      Add(kRank, fmt::format("`{}` has rank {}", name, shape.rank()),
          {Note(limits.ranks->entry, "allows {}", Describe(*limits.ranks))});
    }
    if (limits.max_extents && !check_.is_trial) CheckExtents(shape, *limits.max_extents, name);
  }

  void CheckExtents(const ir::PartialShape& shape, const MaxExtents& max, const std::string& name) {
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      const std::optional<int64_t> limit = max.Of(static_cast<size_t>(axis));
      if (!limit) continue;
      if (!shape[axis].known()) return AddUnknown(name, max.entry);
      if (shape[axis].value() <= *limit) continue;
      Add(kExtent, fmt::format("`{}` has extent {} along axis {}", name, shape[axis].value(), axis),
          {Note(max.entry, "allows at most {} there", *limit)});
    }
  }

  void AddUnknown(const std::string& name, const ProfileEntry& entry) {
    Add(kUnknownExtent,
        fmt::format("the extents of `{}` are unknown before execution; set those of inputs by "
                    "`--input-shape`, or remove what depends on data",
                    name),
        {Note(entry, "limits them")});
  }

  void CheckKernel(const AllowedValues& allowed) {
    if (node_.num_inputs() < 2 || check_.is_trial) return;
    const ir::PartialShape& filter = graph_.output(node_.input(1)).shape;
    if (!filter.rank_known()) return AddUnknown("filter", allowed.entry);
    for (int64_t axis = 2; axis < filter.rank(); ++axis) {
      if (!filter[axis].known()) return AddUnknown("filter", allowed.entry);
      if (allowed.AllowsNumber(static_cast<double>(filter[axis].value()))) continue;
      Add(kKernel,
          fmt::format("the filter of `{}` has extent {} along axis {}", ir::OperationName(node_),
                      filter[axis].value(), axis),
          {Note(allowed.entry, "allows {}", Describe(allowed))});
    }
  }

  const GraphCheck& check_;
  const Profile& profile_;
  const ir::Graph& graph_;
  const ir::Node& node_;
  std::vector<Violations> by_rule_;
};

}  // namespace

bool IsAccepted(const Profile& profile, const ir::Graph& graph, const ir::Node& node) {
  Emitter emitter;
  const GraphCheck check{.profile = profile, .emitter = emitter, .advice = nullptr};
  if (node.set() == ir::kNnefSet) NodeCheck(check, graph, node).Run();
  return !emitter.has_errors();
}

std::vector<std::string> ForbiddenAttributes(const Profile& profile, const ir::Node& node) {
  std::vector<std::string> names;
  const AllowedOperations* allowed = ListFor(profile, node);
  if (allowed == nullptr) return names;
  const auto found = allowed->by_name.find(node.type());
  if (found == allowed->by_name.end()) return names;
  for (const auto& [name, values] : found->second.attributes) {
    if (ForbiddenValue(node, name, values) != nullptr) names.push_back(name);
  }
  return names;
}

bool IsExecuted(const ir::Node& node) {
  return node.set() == ir::kNnefSet && !node.Is(ir::OpRole::kExternal) && !node.Is(ir::OpRole::kConstant) &&
         !node.Is(ir::OpRole::kVariable);
}

void GraphCheck::Check(const ir::Graph& graph) const {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.set() == ir::kNnefSet) NodeCheck(*this, graph, node).Run();
    for (const ir::Body& body : node.bodies()) Check(*body.graph);
  }
}

std::optional<int64_t> TensorBytes(const ir::PartialShape& shape, int64_t bits) {
  const std::optional<int64_t> volume = shape.volume();
  int64_t total = 0;
  if (!volume || __builtin_mul_overflow(*volume, bits, &total)) return std::nullopt;
  return total / 8 + (total % 8 != 0 ? 1 : 0);
}

std::optional<int64_t> ActivationBytes(const ir::Graph& graph, int64_t scalar_bits) {
  // The bytes that become needed or free at each step, by the index of the node.
  const std::vector<ir::NodeId> nodes = graph.nodes();
  std::vector<size_t> steps(graph.node_bound());
  for (size_t step = 0; step < nodes.size(); ++step) steps[static_cast<size_t>(nodes[step].index)] = step;
  std::vector<int64_t> starts(nodes.size() + 1), ends(nodes.size() + 1);
  int64_t total = 0;
  for (size_t step = 0; step < nodes.size(); ++step) {
    const ir::Node& node = graph.node(nodes[step]);
    if (node.set() != ir::kNnefSet || (!IsExecuted(node) && !node.Is(ir::OpRole::kExternal))) continue;
    for (int32_t i = 0; i < node.num_outputs(); ++i) {
      const ir::Output& output = node.output(i);
      const int64_t bits = output.type == ElementType::kF32 ? scalar_bits : BitWidth(output.type);
      const std::optional<int64_t> bytes = TensorBytes(output.shape, bits);
      // The sum bounds all sums below.
      if (!bytes || __builtin_add_overflow(total, *bytes, &total)) return std::nullopt;
      size_t last = step;
      for (const ir::InputPort& use : node.uses(i)) {
        const bool is_result = graph.node(use.node).set() != ir::kNnefSet;
        last = std::max(last, is_result ? nodes.size() - 1 : steps[static_cast<size_t>(use.node.index)]);
      }
      starts[node.Is(ir::OpRole::kExternal) ? 0 : step] += *bytes;
      ends[last] += *bytes;
    }
  }
  int64_t live = 0, most = 0;
  for (size_t step = 0; step < nodes.size(); ++step) {
    live += starts[step];
    most = std::max(most, live);
    live -= ends[step];
  }
  return most;
}

}  // namespace nnefc::device
