// The pages of transformations, printed by `nnefc explain`.

#include "tools/nnefc/explain/explain_transformation.h"

#include "compiler/driver/compilation.h"
#include "compiler/transform/pipeline/standard.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "llvm/ADT/StringRef.h"
#include "nlohmann/json.hpp"
#include "tools/api/facts/transformation_example.h"
#include "tools/nnefc/output/streams.h"

namespace nnefc::cli {
namespace {

using transform::Transformation;
using transform::TransformationList;

// Returns the transformations of a compilation without options.
TransformationList MakeList(const plugin::Plugins& plugins) {
  Context unheard;
  bool failed = false;
  std::optional<TransformationList> made = driver::MakeTransformations({}, plugins, unheard, failed);
  return made ? std::move(*made) : transform::StandardTransformations();
}

// Returns the last component of a class name, or the id if the transformation has one.
std::string ShortName(const Transformation& transformation) {
  const std::string name = transformation.name();
  const size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

// Returns the first transformation with this short name.
const Transformation* FindTransformation(const TransformationList& list, const std::string& name) {
  if (const Transformation* found = list.Find(name)) return found;
  Emitter unheard;
  const auto order = list.Order(unheard);
  if (!order) return nullptr;
  for (const Transformation* item : *order) {
    if (!item->is_anchor() && ShortName(*item) == name) return item;
  }
  return nullptr;
}

void PrintIndented(const std::string& head, const std::string& text) {
  Print("\n{}\n\n", head);
  llvm::StringRef rest(text);
  while (!rest.empty()) {
    const auto [line, after] = rest.split('\n');
    Print("    {}\n", std::string_view(line.data(), line.size()));
    rest = after;
  }
}

}  // namespace

std::vector<std::string> ExplainedTransformations(const plugin::Plugins& plugins) {
  std::vector<std::string> names;
  const TransformationList list = MakeList(plugins);
  Emitter unheard;
  if (const auto order = list.Order(unheard)) {
    for (const Transformation* item : *order) {
      if (!item->is_anchor()) names.push_back(ShortName(*item));
    }
  }
  return names;
}

bool ExplainTransformation(const std::string& name, const plugin::Plugins& plugins, bool as_json,
                           const Painter& paint) {
  const TransformationList list = MakeList(plugins);
  const Transformation* found = FindTransformation(list, name);
  if (found == nullptr || found->is_anchor()) return false;
  const api::TransformationExample example = api::RunExample(*found, list, plugins);
  if (as_json) {
    Print("{}\n", nlohmann::ordered_json({{"transformation", found->name()},
                                          {"phase", transform::Name(found->phase())},
                                          {"kind", found->kind()},
                                          {"enabled", found->enabled},
                                          {"after", found->RunAfter()},
                                          {"before", found->RunBefore()},
                                          {"description", found->Description()},
                                          {"example", example.before},
                                          {"becomes", example.after}})
                      .dump(2));
    return true;
  }
  Print("{}: a transformation of the {} phase, {}, {}\n", paint.Head(found->name()),
        transform::Name(found->phase()), found->kind(), found->enabled ? "enabled" : "disabled");
  if (!found->Description().empty()) Print("\n{}\n", found->Description());
  const transform::Names after = found->RunAfter();
  const transform::Names before = found->RunBefore();
  if (!after.empty() || !before.empty()) Print("\n");
  if (!after.empty()) Print("It runs after `{}`.\n", fmt::join(after, "`, `"));
  if (!before.empty()) Print("It runs before `{}`.\n", fmt::join(before, "`, `"));
  if (example.before.empty()) return true;
  PrintIndented("Before:", example.before);
  PrintIndented("After:", example.after);
  return true;
}

}  // namespace nnefc::cli
