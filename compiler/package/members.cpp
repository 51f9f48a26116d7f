// The roles of files in a model, by their names.

#include "compiler/package/members.h"

namespace nnefc::package {

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<std::string> LabelOf(std::string_view member) {
  const std::string_view name = BaseName(member);
  if (!name.ends_with(kTensorSuffix) || name == kTensorSuffix || name.starts_with("._")) return std::nullopt;
  return std::string(member.substr(0, member.size() - kTensorSuffix.size()));
}

bool HoldsTensors(std::string_view member) {
  return member.ends_with(".safetensors") && !BaseName(member).starts_with("._");
}

bool IsData(std::string_view member) {
  return LabelOf(member) || HoldsTensors(member);
}

std::optional<std::string> InnerPath(std::string_view member) {
  if (BaseName(member).starts_with("._")) return std::nullopt;
  for (std::string_view suffix : kInnerSuffixes) {
    if (member.ends_with(suffix) && BaseName(member).size() > suffix.size())
      return std::string(member.substr(0, member.size() - suffix.size()));
  }
  return std::nullopt;
}

bool IsResource(std::string_view member) {
  return member.ends_with(kResourceSuffix) && !BaseName(member).starts_with("._");
}

bool IsInner(std::string_view member) {
  return InnerPath(member) || (member != kGraphFile && BaseName(member) == kGraphFile);
}

}  // namespace nnefc::package
