// The document's names of operations and arguments, stored for messages.

#include "compiler/ir/wording.h"

namespace nnefc::ir {

namespace {

// The entry of rt_info: "provisional" or "ratified", the operation, then pairs of an argument's name in the
// row and in the document.
constexpr std::string_view kEntry = "wording";
constexpr std::string_view kProvisional = "provisional";
constexpr size_t kOperation = 1;
constexpr size_t kFirstArgument = 2;

const Attribute::Strings* Words(const Node& node) {
  const Attribute* entry = node.set() == kNnefSet ? node.rt_info().Find(kEntry) : nullptr;
  const auto* words = entry == nullptr ? nullptr : entry->get<Attribute::Strings>();
  return words != nullptr && words->size() >= kFirstArgument ? words : nullptr;
}

}  // namespace

void SetWording(Graph& graph, NodeId node, const Wording& wording) {
  Attribute::Strings words{std::string(wording.provisional ? kProvisional : "ratified"),
                           std::string(wording.operation)};
  for (const auto& [row, document] : wording.arguments) {
    words.emplace_back(row);
    words.emplace_back(document);
  }
  graph.SetRtInfo(node, kEntry, std::move(words));
}

std::string_view OperationName(const Node& node) {
  const Attribute::Strings* words = Words(node);
  return words == nullptr ? std::string_view(node.type()) : (*words)[kOperation];
}

std::string_view ArgumentName(const Node& node, std::string_view argument) {
  const Attribute::Strings* words = Words(node);
  for (size_t i = kFirstArgument; words != nullptr && i + 1 < words->size(); i += 2) {
    if ((*words)[i] == argument) return (*words)[i + 1];
  }
  return argument;
}

bool IsProvisional(const Node& node) {
  const Attribute::Strings* words = Words(node);
  return words != nullptr && words->front() == kProvisional;
}

}  // namespace nnefc::ir
