// The parser of configuration files for transformations.

#include "compiler/transform/configuration/configuration.h"

#include <map>
#include <regex>
#include <set>

#include "compiler/support/diagnostics/suggest.h"
#include "compiler/support/text/json_value.h"
#include "compiler/transform/rules.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::transform {
namespace {

constexpr std::string_view kKeys[] = {"custom_attributes",
                                      "id",
                                      "include_inputs_to_sub_graph",
                                      "include_outputs_to_sub_graph",
                                      "inputs",
                                      "instances",
                                      "match_kind",
                                      "op",
                                      "outputs"};

std::string List(llvm::ArrayRef<std::string_view> names) {
  std::string text;
  for (std::string_view name : names) text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
  return text;
}

// Converts a list to a typed list if all items have type T, as for attributes of documents.
template <typename T>
std::optional<std::vector<T>> Packed(const std::vector<ir::Attribute>& items) {
  std::vector<T> packed;
  for (const ir::Attribute& item : items) {
    const T* value = item.get<T>();
    if (value == nullptr) return std::nullopt;
    packed.push_back(*value);
  }
  return packed;
}

class EntryReader {
 public:
  EntryReader(const JsonValue& entry, Emitter& emitter) : entry_(entry), emitter_(emitter) {}

  // Reads the entry; nothing on errors.
  std::optional<ReplacementDescription> Read() {
    if (entry_.get<JsonValue::Members>() == nullptr) {
      Wrong(entry_.range, "an entry of the configuration must be an object");
      return std::nullopt;
    }
    CheckKeys(entry_, kKeys);
    ReadId();
    const bool has_kind = ReadKind();
    ReadAttributes();
    if (has_kind) ReadInstances();
    ReadInputs();
    if (const JsonValue* outputs = entry_.Find("outputs")) made_.outputs = ReadPorts(*outputs, "`outputs`");
    CheckTwice(made_.outputs, "outputs");
    if (const JsonValue* op = entry_.Find("op")) ReadOp(*op);
    CheckAttributesOfOp();
    for (std::string_view key : {"include_inputs_to_sub_graph", "include_outputs_to_sub_graph"})
      ReadInclude(key);
    if (!ok_) return std::nullopt;
    return std::move(made_);
  }

 private:
  template <typename... Args>
  void Wrong(SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    ok_ = false;
    emitter_.Emit(kConfigValue, range, "{}", fmt::format(format, std::forward<Args>(args)...));
  }

  void CheckKeys(const JsonValue& object, llvm::ArrayRef<std::string_view> known) {
    for (const JsonValue::Member& member : *object.get<JsonValue::Members>()) {
      if (llvm::is_contained(known, member.key)) continue;
      Suggestion meant(member.key);
      for (std::string_view key : known) meant.Offer(key);
      emitter_.Emit(kConfigKey, member.key_range, "there is no key `{}` here; {}", member.key,
                    meant.best().empty() ? "there are " + List(known)
                                         : fmt::format("did you mean `{}`?", meant.best()));
    }
  }

  const JsonValue* Require(std::string_view key) {
    const JsonValue* found = entry_.Find(key);
    if (found == nullptr) Wrong(entry_.range, "the entry has no `{}`", key);
    return found;
  }

  // Returns a non-empty string; nothing on errors.
  std::optional<std::string> Text(const JsonValue& value, std::string_view what) {
    const auto* text = value.get<std::string>();
    if (text != nullptr && !text->empty()) return *text;
    Wrong(value.range, "{} must be text that is not empty", what);
    return std::nullopt;
  }

  std::optional<std::string> Expression(const JsonValue& value, std::string_view what) {
    std::optional<std::string> text = Text(value, what);
    if (!text) return std::nullopt;
    try {
      const std::regex compiled(*text);
      return text;
    } catch (const std::regex_error&) {
      Wrong(value.range,
            "`{}` is not a regular expression; write `\\\\` before a bracket that stands for itself", *text);
      return std::nullopt;
    }
  }

  void ReadId() {
    const JsonValue* id = Require("id");
    if (id == nullptr) return;
    if (const auto text = Text(*id, "`id`")) made_.id = *text;
    made_.range = id->range;
  }

  bool ReadKind() {
    const JsonValue* kind = Require("match_kind");
    if (kind == nullptr) return false;
    for (MatchKind known : {MatchKind::kPoints, MatchKind::kScope, MatchKind::kGeneral}) {
      const auto* text = kind->get<std::string>();
      if (text == nullptr || *text != Name(known)) continue;
      made_.kind = known;
      return true;
    }
    Wrong(kind->range, "`match_kind` must be `points`, `scope` or `general`");
    return false;
  }

  void ReadAttributes() {
    const JsonValue* attributes = entry_.Find("custom_attributes");
    if (attributes == nullptr) return;
    const auto* members = attributes->get<JsonValue::Members>();
    if (members == nullptr) return Wrong(attributes->range, "`custom_attributes` must be an object");
    made_.custom_json = *attributes;
    for (const JsonValue::Member& member : *members) {
      if (const auto value = ReadAttribute(member.value)) made_.custom_attributes.Set(member.key, *value);
    }
  }

  // Checks the attributes of an entry with an `op`: its node gets them.
  void CheckAttributesOfOp() {
    const auto* members = made_.op.empty() ? nullptr : made_.custom_json.get<JsonValue::Members>();
    if (members == nullptr) return;
    for (const JsonValue::Member& member : *members) {
      if (made_.custom_attributes.Find(member.key) == nullptr &&
          member.value.get<std::nullptr_t>() == nullptr)
        Wrong(member.value.range,
              "an attribute of a node must be a number, text, a logical value or a list of these");
    }
  }

  // Returns nothing for null and objects, since nodes have no such attributes.
  static std::optional<ir::Attribute> ReadAttribute(const JsonValue& value) {
    if (const auto* logical = value.get<bool>()) return ir::Attribute(*logical);
    if (const auto* integer = value.get<int64_t>()) return ir::Attribute(*integer);
    if (const auto* scalar = value.get<double>()) return ir::Attribute(*scalar);
    if (const auto* text = value.get<std::string>()) return ir::Attribute(*text);
    const auto* list = value.get<JsonValue::Items>();
    if (list == nullptr) return std::nullopt;
    std::vector<ir::Attribute> items;
    for (const JsonValue& item : *list) {
      std::optional<ir::Attribute> read = ReadAttribute(item);
      if (!read) return std::nullopt;
      items.push_back(std::move(*read));
    }
    if (items.empty()) return ir::Attribute();
    if (auto integers = Packed<int64_t>(items)) return ir::Attribute(std::move(*integers));
    if (auto strings = Packed<std::string>(items)) return ir::Attribute(std::move(*strings));
    if (auto logicals = Packed<bool>(items)) return ir::Attribute(std::move(*logicals));
    // A mix of integers and scalars becomes a list of scalars.
    ir::Attribute::Scalars scalars;
    for (const ir::Attribute& item : items) {
      if (item.get<double>() != nullptr || item.get<int64_t>() != nullptr) scalars.push_back(item.AsDouble());
    }
    if (scalars.size() == items.size()) return ir::Attribute(std::move(scalars));
    return ir::Attribute(ir::AttributeList{std::move(items)});
  }

  void ReadInstances() {
    if (made_.kind == MatchKind::kGeneral) return;
    const JsonValue* instances = Require("instances");
    if (instances == nullptr) return;
    if (made_.kind == MatchKind::kPoints) return ReadPoints(*instances);
    const auto* list = instances->get<JsonValue::Items>();
    if (list == nullptr || list->empty())
      return Wrong(instances->range, "`instances` of a scope must be a list of regular expressions of names");
    for (const JsonValue& item : *list) {
      if (const auto text = Expression(item, "an instance of a scope")) made_.scopes.push_back(*text);
    }
  }

  void ReadPoints(const JsonValue& instances) {
    if (instances.get<JsonValue::Members>() == nullptr)
      return Wrong(instances.range,
                   "`instances` of points must be an object with `start_points` and `end_points`");
    CheckKeys(instances, {"end_points", "start_points"});
    for (const auto& [key, points] :
         {std::pair("start_points", &made_.start_points), std::pair("end_points", &made_.end_points)}) {
      const JsonValue* list = instances.Find(key);
      const auto* items = list == nullptr ? nullptr : list->get<JsonValue::Items>();
      if (items == nullptr || items->empty()) {
        Wrong(list == nullptr ? instances.range : list->range, "`{}` must be a list of names of nodes", key);
        continue;
      }
      for (const JsonValue& item : *items) {
        const auto name = Text(item, "the name of a node");
        if (!name) continue;
        if (llvm::is_contained(*points, *name)) Wrong(item.range, "`{}` has `{}` twice", key, *name);
        points->push_back(*name);
      }
    }
  }

  void ReadInputs() {
    const JsonValue* inputs = entry_.Find("inputs");
    if (inputs == nullptr) return;
    const auto* list = inputs->get<JsonValue::Items>();
    if (list == nullptr)
      return Wrong(inputs->range, "`inputs` must be a list with a list of nodes and ports for each tensor");
    std::vector<NodePort> all;
    for (const JsonValue& item : *list) {
      std::vector<NodePort> ports = ReadPorts(item, "an item of `inputs`");
      if (ports.empty() && ok_)
        Wrong(item.range, "an item of `inputs` must name the nodes that read the tensor");
      all.insert(all.end(), ports.begin(), ports.end());
      made_.inputs.push_back(std::move(ports));
    }
    CheckTwice(all, "inputs");
  }

  std::vector<NodePort> ReadPorts(const JsonValue& value, std::string_view what) {
    std::vector<NodePort> ports;
    const auto* list = value.get<JsonValue::Items>();
    if (list == nullptr) {
      Wrong(value.range, "{} must be a list of objects with `node` and `port`", what);
      return ports;
    }
    for (const JsonValue& item : *list) {
      const JsonValue* node = item.Find("node");
      const JsonValue* port = item.Find("port");
      if (node == nullptr || port == nullptr) {
        Wrong(item.range, "a node of `inputs` and `outputs` must be an object with `node` and `port`");
        continue;
      }
      CheckKeys(item, {"node", "port"});
      const auto* number = port->get<int64_t>();
      if (number == nullptr || *number < 0 || *number > INT32_MAX) {
        Wrong(port->range, "`port` must be a number from 0 on");
        continue;
      }
      if (const auto pattern = Expression(*node, "`node`"))
        ports.push_back({*pattern, static_cast<int32_t>(*number)});
    }
    return ports;
  }

  void CheckTwice(const std::vector<NodePort>& ports, std::string_view key) {
    std::set<NodePort> seen;
    for (const NodePort& port : ports) {
      if (!seen.insert(port).second)
        Wrong(entry_.Find(key)->range, "`{}` has port {} of `{}` twice", key, port.port, port.node);
    }
  }

  void ReadOp(const JsonValue& op) {
    if (const auto text = Text(op, "`op`")) made_.op = *text;
    if (made_.kind == MatchKind::kGeneral && entry_.Find("match_kind") != nullptr)
      Wrong(op.range, "an entry of `match_kind` `general` has no sub-graph that `op` could replace");
  }

  void ReadInclude(std::string_view key) {
    const JsonValue* value = entry_.Find(key);
    if (value == nullptr) return;
    const bool* includes = value->get<bool>();
    if (includes == nullptr) return Wrong(value->range, "`{}` must be `true`", key);
    if (!*includes && made_.kind == MatchKind::kPoints)
      Wrong(value->range, "`{}` must be `true`: the points belong to the sub-graph", key);
  }

  const JsonValue& entry_;
  Emitter& emitter_;
  ReplacementDescription made_;
  bool ok_ = true;
};

// Validates ids: entries with the same id must have the same kind, and repeated ids are probably unintended.
bool CheckIds(const Configuration& configuration, Emitter& emitter) {
  std::map<std::string, const ReplacementDescription*> first;
  bool ok = true;
  for (const ReplacementDescription& entry : configuration.entries) {
    const auto [known, is_new] = first.try_emplace(entry.id, &entry);
    if (is_new) continue;
    if (known->second->kind == entry.kind) {
      emitter.Emit(kConfigSharedId, entry.range, "several entries have the id `{}`", entry.id)
          .Note(known->second->range, "the first one");
      continue;
    }
    ok = false;
    emitter
        .Emit(kConfigValue, entry.range,
              "entries of the id `{}` are of kind `{}` and `{}`; they must be of one", entry.id,
              Name(known->second->kind), Name(entry.kind))
        .Note(known->second->range, "the first one");
  }
  return ok;
}

}  // namespace

std::string_view Name(MatchKind kind) {
  switch (kind) {
    case MatchKind::kPoints:
      return "points";
    case MatchKind::kScope:
      return "scope";
    case MatchKind::kGeneral:
      return "general";
  }
  return "";
}

std::vector<const ReplacementDescription*> Configuration::Find(std::string_view id) const {
  std::vector<const ReplacementDescription*> found;
  for (const ReplacementDescription& entry : entries) {
    if (entry.id == id) found.push_back(&entry);
  }
  return found;
}

std::optional<Configuration> ReadConfiguration(FileId file, Context& context) {
  const JsonFormat format{
      &kConfigSyntax, &kConfigValue,
      R"(a list of objects, such as `[{"id": "Blocks", "match_kind": "scope", "instances": [".*/block"]}]`)"};
  const std::optional<JsonValue> json =
      ReadJson(context.sources.Text(file), file, 0, format, context.emitter);
  if (!json) return std::nullopt;
  const auto* items = json->get<JsonValue::Items>();
  if (items == nullptr) {
    context.emitter.Emit(kConfigValue, json->range, "the configuration must be a list of objects");
    return std::nullopt;
  }
  Configuration configuration;
  bool ok = true;
  for (const JsonValue& item : *items) {
    std::optional<ReplacementDescription> entry = EntryReader(item, context.emitter).Read();
    ok &= entry.has_value();
    if (entry) configuration.entries.push_back(std::move(*entry));
  }
  ok &= CheckIds(configuration, context.emitter);
  if (!ok) return std::nullopt;
  return configuration;
}

}  // namespace nnefc::transform
