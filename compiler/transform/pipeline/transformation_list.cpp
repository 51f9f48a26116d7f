// The list of transformations and anchors, in the order of execution.

#include "compiler/transform/pipeline/transformation_list.h"

#include <cstdlib>

#include "compiler/support/diagnostics/suggest.h"
#include "compiler/transform/configuration/configured.h"
#include "compiler/transform/guard.h"
#include "compiler/transform/pipeline/order.h"
#include "compiler/transform/rules.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::transform {
namespace {

// Returns the last component of a qualified class name: `a::B` in C++, `a.B` in other languages.
std::string LastPart(std::string_view class_name) {
  const size_t end = class_name.find_last_of(":.");
  return std::string(end == std::string_view::npos ? class_name : class_name.substr(end + 1));
}

// Returns the last two components of a qualified C++ class name, with a dot: `front.MishFusion`.
std::string LastTwoParts(const std::string& class_name) {
  llvm::SmallVector<llvm::StringRef, 6> parts;
  llvm::StringRef(class_name).split(parts, "::");
  if (parts.size() == 1) return class_name;
  return fmt::format("{}.{}", parts[parts.size() - 2].str(), parts.back().str());
}

// Returns true if `name` is a class name with dots, or its last components, at least two.
bool IsEndOf(std::string_view class_name, std::string_view name) {
  if (name.find('.') == std::string_view::npos || !class_name.ends_with(name)) return false;
  return class_name.size() == name.size() || class_name[class_name.size() - name.size() - 1] == '.';
}

// Returns the last two components of the class that has this name in the Model Optimizer, whose packages
// start with the phase: `front.MishFusion` for `extensions.front.Mish_fusion.MishFusion`; "" for other names.
std::string FromModelOptimizer(std::string_view name) {
  llvm::StringRef path(name.data(), name.size());
  const bool is_in_package = path.consume_front("extensions.") || path.consume_front("openvino.tools.mo.") ||
                             path.consume_front("mo.");
  if (!is_in_package || path.count('.') < 2) return {};
  const llvm::StringRef phase = path.split('.').first, class_name = path.rsplit('.').second;
  // The class in `GatherNormalizer.py`.
  if (phase == "back" && class_name == "GatherTreeNormalizer") return "back.GatherNormalizer";
  return fmt::format("{}.{}", phase.str(), class_name.str());
}

Names SplitNames(const char* text) {
  Names names;
  llvm::SmallVector<llvm::StringRef, 8> parts;
  llvm::StringRef(text == nullptr ? "" : text).split(parts, ',', -1, false);
  for (llvm::StringRef part : parts) names.push_back(part.str());
  return names;
}

}  // namespace

void TransformationList::Add(std::unique_ptr<Transformation> transformation) {
  Entry entry{.transformation = std::move(transformation)};
  entry.class_name = entry.transformation->class_name();
  const bool is_foreign = !entry.transformation->foreign_class.empty();
  entry.last_parts = is_foreign ? entry.class_name : LastTwoParts(entry.class_name);
  all_.push_back(std::move(entry));
}

bool TransformationList::IsCalled(const Entry& entry, std::string_view name) {
  if (entry.transformation->id == name) return !name.empty();
  if (entry.transformation->is_anchor()) return false;
  return entry.class_name == name || IsEndOf(entry.last_parts, name);
}

std::optional<size_t> TransformationList::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < all_.size(); ++i) {
    if (IsCalled(all_[i], name)) return i;
  }
  const std::string built_in = FromModelOptimizer(name);
  for (size_t i = 0; i < all_.size() && !built_in.empty(); ++i) {
    const Transformation& transformation = *all_[i].transformation;
    const bool is_own = transformation.plugin.empty() && transformation.foreign_class.empty();
    if (is_own && all_[i].last_parts == built_in) return i;
  }
  return std::nullopt;
}

Transformation* TransformationList::Find(std::string_view name) const {
  const std::optional<size_t> index = IndexOf(name);
  return index ? all_[*index].transformation.get() : nullptr;
}

std::string TransformationList::Nearest(std::string_view name) const {
  // A class without its phase, or with another one.
  const std::string class_name = LastPart(name);
  for (const Entry& entry : all_) {
    if (!entry.transformation->is_anchor() && LastPart(entry.class_name) == class_name)
      return entry.last_parts;
  }
  Suggestion suggestion(name);
  for (const Entry& entry : all_) {
    if (entry.transformation->is_anchor()) continue;
    if (!entry.transformation->id.empty()) suggestion.Offer(entry.transformation->id);
    suggestion.Offer(entry.last_parts);
  }
  return std::string(suggestion.best());
}

Transformation* TransformationList::FindOrReport(std::string_view name, Emitter& emitter) const {
  if (Transformation* found = Find(name)) return found;
  const std::string meant = Nearest(name);
  emitter.Emit(kUnknown, {}, "there is no transformation `{}`{}", name,
               meant.empty() ? "" : fmt::format("; did you mean `{}`?", meant));
  return nullptr;
}

bool TransformationList::Configure(const std::shared_ptr<const Configuration>& configuration,
                                   Emitter& emitter) {
  llvm::StringSet<> with_op;
  for (const ReplacementDescription& description : configuration->entries) {
    if (!description.op.empty() && with_op.insert(description.id).second)
      Add<FrontReplacementFromConfigFileOp>(description.id);
  }
  llvm::StringSet<> used;
  for (const Entry& entry : all_) {
    const std::string_view id = entry.transformation->replacement_id();
    if (!Guarded(*entry.transformation, "Configure", emitter,
                 [&] { entry.transformation->Configure(configuration); }))
      return false;
    if (!id.empty()) used.insert(llvm::StringRef(id.data(), id.size()));
  }
  for (const ReplacementDescription& description : configuration->entries) {
    if (used.contains(description.id)) continue;
    Suggestion meant(description.id);
    for (const Entry& entry : all_) meant.Offer(entry.transformation->replacement_id());
    emitter.Emit(kConfigUnused, description.range, "no transformation acts on the entry `{}`; {}",
                 description.id,
                 meant.best().empty() ? "give it an `op`, or load the transformation"
                                      : fmt::format("did you mean `{}`?", meant.best()));
  }
  return true;
}

void TransformationList::Switch(const Names& names, bool enabled, std::string_view where, Emitter& emitter) {
  for (const std::string& name : names) {
    if (Transformation* found = Find(name)) {
      found->enabled = enabled;
      found->switched_by = std::string(where);
      continue;
    }
    const std::string meant = Nearest(name);
    emitter.Emit(kUnknownName, {}, "{} names `{}`, which is not a transformation{}", where, name,
                 meant.empty() ? "; `nnefc transform --list-transformations` shows all"
                               : fmt::format("; did you mean `{}`?", meant));
  }
}

void TransformationList::SwitchByEnvironment(Emitter& emitter) {
  for (const char* variable : {"MO_ENABLED_TRANSFORMS", "NNEFC_ENABLED_TRANSFORMS"})
    Switch(SplitNames(std::getenv(variable)), true, variable, emitter);
  for (const char* variable : {"MO_DISABLED_TRANSFORMS", "NNEFC_DISABLED_TRANSFORMS"})
    Switch(SplitNames(std::getenv(variable)), false, variable, emitter);
}

bool TransformationList::HasUniqueNames(Emitter& emitter) const {
  llvm::StringSet<> names;
  for (const Entry& entry : all_) {
    const std::string name = entry.transformation->name();
    if (names.insert(name).second) continue;
    emitter.Emit(kDuplicate, {}, "two transformations are called `{}`; an id belongs to one", name);
    return false;
  }
  return true;
}

bool TransformationList::IsWellPlaced(const std::vector<Transformation*>& order, Emitter& emitter) const {
  bool is_lowered = false;
  for (const Transformation* transformation : order) {
    if (transformation->id == kLowering) is_lowered = true;
    if (transformation->is_anchor()) continue;
    const bool is_early = transformation->phase() <= Phase::kFront;
    if (is_early != is_lowered) continue;
    emitter.Emit(kMisplaced, {}, "`{}` of the {} phase would run {} the graph is lowered; {}",
                 transformation->name(), Name(transformation->phase()), is_lowered ? "after" : "before",
                 is_lowered ? "let it run before `FrontFinish`" : "let it run after `PreMiddleStart`");
    return false;
  }
  return true;
}

std::optional<std::vector<Transformation*>> TransformationList::Order(Emitter& emitter) const {
  if (!HasUniqueNames(emitter)) return std::nullopt;
  std::vector<std::string> names;
  names.reserve(all_.size());
  for (const Entry& entry : all_) {
    // The text after the last component only orders transformations that share it.
    const std::string& id = entry.transformation->id;
    const std::string own = entry.transformation->is_anchor() ? id : LastPart(entry.class_name);
    names.push_back(fmt::format("{} {} {}", own, entry.class_name, id));
  }
  std::vector<std::pair<size_t, size_t>> edges;
  for (size_t i = 0; i < all_.size(); ++i) {
    const Transformation& transformation = *all_[i].transformation;
    Names before, after;
    const bool is_known =
        Guarded(transformation, "RunBefore", emitter, [&] { before = transformation.RunBefore(); }) &&
        Guarded(transformation, "RunAfter", emitter, [&] { after = transformation.RunAfter(); });
    if (!is_known) return std::nullopt;
    for (const std::string& name : before) {
      if (const std::optional<size_t> later = IndexOf(name)) edges.emplace_back(i, *later);
    }
    for (const std::string& name : after) {
      if (const std::optional<size_t> earlier = IndexOf(name)) edges.emplace_back(*earlier, i);
    }
  }
  const auto sorted = DeterminedOrder(names, edges);
  if (const auto* cycle = std::get_if<Cycle>(&sorted)) {
    std::string path;
    for (size_t member : cycle->members) path += fmt::format("`{}` -> ", all_[member].transformation->name());
    emitter.Emit(kCycle, {}, "transformations wait for each other: {}`{}`", path,
                 all_[cycle->members.front()].transformation->name());
    return std::nullopt;
  }
  std::vector<Transformation*> order;
  for (size_t index : std::get<std::vector<size_t>>(sorted))
    order.push_back(all_[index].transformation.get());
  if (!IsWellPlaced(order, emitter)) return std::nullopt;
  return order;
}

// ---- anchors ----

namespace {

class Anchor : public Transformation {
 public:
  Anchor(std::string name, Phase phase, std::string after) : phase_(phase), after_(std::move(after)) {
    id = std::move(name);
  }
  Phase phase() const override { return phase_; }
  std::string_view kind() const override { return "anchor"; }
  Names RunBefore() const override { return {}; }
  Names RunAfter() const override { return {after_}; }
  void FindAndReplacePattern(Graph&) override {}
  bool is_anchor() const override { return true; }

 private:
  Phase phase_;
  std::string after_;
};

}  // namespace

void RegisterAnchors(TransformationList& list) {
  list.Add<Anchor>("LoadFinish", Phase::kLoad, "");
  list.Add<Anchor>("FrontStart", Phase::kFront, "LoadFinish");
  list.Add<Anchor>("FrontFinish", Phase::kFront, "FrontStart");
  list.Add<Anchor>(std::string(kLowering), Phase::kMiddle, "FrontFinish");
  list.Add<Anchor>("PreMiddleStart", Phase::kMiddle, std::string(kLowering));
  list.Add<Anchor>("MiddleStart", Phase::kMiddle, "PreMiddleStart");
  list.Add<Anchor>("MiddleFinish", Phase::kMiddle, "MiddleStart");
  list.Add<Anchor>("PostMiddleStart", Phase::kMiddle, "MiddleFinish");
  list.Add<Anchor>("BackStart", Phase::kBack, "PostMiddleStart");
  list.Add<Anchor>("BackFinish", Phase::kBack, "BackStart");
  list.Add<Anchor>("TargetStart", Phase::kTarget, "BackFinish");
  list.Add<Anchor>("TargetFinish", Phase::kTarget, "TargetStart");
}

}  // namespace nnefc::transform
