// The pages of transformations.

#include "compiler/driver/compilation.h"
#include "compiler/transform/pipeline/standard.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "nlohmann/json.hpp"
#include "tools/api/explain/pages.h"
#include "tools/api/explain/paint.h"
#include "tools/api/facts/transformation_example.h"

namespace nnefc::api {
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

std::optional<std::string> TransformationText(const std::string& name, const plugin::Plugins& plugins,
                                              PageForm form) {
  const TransformationList list = MakeList(plugins);
  const Transformation* found = FindTransformation(list, name);
  if (found == nullptr || found->is_anchor()) return std::nullopt;
  const TransformationExample example = RunExample(*found, list, plugins);
  if (form == PageForm::kJson) {
    return nlohmann::ordered_json({{"transformation", found->name()},
                                   {"phase", transform::Name(found->phase())},
                                   {"kind", found->kind()},
                                   {"enabled", found->enabled},
                                   {"after", found->RunAfter()},
                                   {"before", found->RunBefore()},
                                   {"description", found->Description()},
                                   {"example", example.before},
                                   {"becomes", example.after}})
               .dump(2) +
           "\n";
  }
  const Painter paint(form == PageForm::kColored);
  std::string text =
      fmt::format("{}: a transformation of the {} phase, {}, {}\n", paint.Head(found->name()),
                  transform::Name(found->phase()), found->kind(), found->enabled ? "enabled" : "disabled");
  if (!found->Description().empty()) text += fmt::format("\n{}\n", found->Description());
  const transform::Names after = found->RunAfter();
  const transform::Names before = found->RunBefore();
  if (!after.empty() || !before.empty()) text += "\n";
  if (!after.empty()) text += fmt::format("It runs after `{}`.\n", fmt::join(after, "`, `"));
  if (!before.empty()) text += fmt::format("It runs before `{}`.\n", fmt::join(before, "`, `"));
  if (example.before.empty()) return text;
  text += fmt::format("\nBefore:\n\n{}\nAfter:\n\n{}", IndentedLines(example.before),
                      IndentedLines(example.after));
  return text;
}

}  // namespace nnefc::api
