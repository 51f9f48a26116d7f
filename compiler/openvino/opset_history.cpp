// The operations of OpenVINO's sets, and the versions that introduced them.

#include "compiler/openvino/opset_history.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/openvino/attribute_text.h"
#include "fmt/core.h"
#include "llvm/ADT/SmallString.h"

namespace nnefc::openvino {

namespace {

constexpr std::string_view kPrefix = "opset";
constexpr int64_t kHighestOpset = 17;

// The sets that introduced versions of an operation with several versions.
struct History {
  std::string_view name;
  std::vector<int64_t> sets;
};

const std::vector<History>& Histories() {
  static const std::vector<History> histories = {
      {"assign", {3, 6}},
      {"avgpool", {1, 14, 16}},
      {"batchnorminference", {1, 5}},
      {"broadcast", {1, 3}},
      {"deformableconvolution", {1, 8}},
      {"detectionoutput", {1, 8}},
      {"gather", {1, 7, 8}},
      {"gathernd", {5, 8}},
      {"gelu", {2, 7}},
      {"interpolate", {1, 4, 11}},
      {"lstmcell", {1, 4}},
      {"lstmsequence", {1, 5}},
      {"maxpool", {1, 8, 14}},
      {"multiclassnms", {8, 9}},
      {"mvn", {2, 6}},
      {"nonmaxsuppression", {1, 3, 4, 5, 9}},
      {"onehot", {1, 16}},
      {"pad", {1, 12}},
      {"priorbox", {1, 8}},
      {"proposal", {1, 4}},
      {"range", {1, 4}},
      {"readvalue", {3, 6}},
      {"roialign", {3, 9}},
      {"scatterelementsupdate", {3, 12}},
      {"scatterndupdate", {4, 15}},
      {"shapeof", {1, 3}},
      {"softmax", {1, 8}},
      {"squeeze", {1, 15}},
      {"topk", {1, 3, 11}},
  };
  return histories;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string Key(int64_t set, std::string_view lower_name) {
  return fmt::format("{}{}.{}", kPrefix, set, lower_name);
}

std::optional<int64_t> SetNumber(std::string_view version) {
  if (!version.starts_with(kPrefix)) return std::nullopt;
  const std::optional<int64_t> number = ParseInteger(version.substr(kPrefix.size()));
  if (!number || *number < 1 || *number > kHighestOpset) return std::nullopt;
  return number;
}

}  // namespace

OpsetIndex::OpsetIndex(const ir::OpRegistry& registry) {
  for (size_t i = 0; i < registry.size(); ++i) {
    const ir::OpId op(static_cast<int32_t>(i));
    const ir::OpInfo& info = registry.Info(op);
    if (info.infer == nullptr || info.set == ir::kNnefSet) continue;
    by_name_[fmt::format("{}.{}", info.set, Lower(info.name))] = op;
  }
}

ir::OpId OpsetIndex::Find(std::string_view type, std::string_view version) {
  llvm::SmallString<64> key(version);
  key += ' ';
  key += type;
  const auto [entry, is_new] = found_.try_emplace(key);
  if (is_new) entry->second = Search(type, version);
  return entry->second;
}

ir::OpId OpsetIndex::Search(std::string_view type, std::string_view version) const {
  std::optional<int64_t> set = SetNumber(version);
  std::string name = Lower(type);
  if (!set) return by_name_.lookup(fmt::format("{}.{}", version, name));  // a plug-in's set
  if (name == "constant") name = "const";                                 // the name of its class
  // Files of old converters use opset1 for these operations of opset2.
  if (*set == 1 && (name == "mvn" || name == "roipooling" || name == "reorgyolo")) set = 2;
  const auto find = [&](int64_t number) {
    const auto entry = by_name_.find(Key(number, name));
    return entry == by_name_.end() ? ir::OpId() : entry->second;
  };
  const std::vector<History>& histories = Histories();
  const auto history = std::find_if(histories.begin(), histories.end(),
                                    [&](const History& entry) { return entry.name == name; });
  if (history != histories.end()) {
    const auto later = std::upper_bound(history->sets.begin(), history->sets.end(), *set);
    return later == history->sets.begin() ? ir::OpId() : find(*std::prev(later));
  }
  for (int64_t number = *set; number >= 1; --number) {
    if (const ir::OpId op = find(number); op.valid()) return op;
  }
  return ir::OpId();
}

}  // namespace nnefc::openvino
