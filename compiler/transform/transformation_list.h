#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// The id of the anchor at which the graph of NNEF operations is lowered:
// whatever stands before it sees that graph, whatever stands behind it the graph
// of OpenVINO operations.
inline constexpr std::string_view kLowering = "Lowering";

// The transformations of one compilation, in the order in which they run.
class TransformationList {
 public:
  TransformationList() = default;
  TransformationList(TransformationList&&) = default;
  TransformationList& operator=(TransformationList&&) = default;

  void Add(std::unique_ptr<Transformation> transformation);
  template <typename T, typename... Args>
  T& Add(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    T& added = *made;
    Add(std::move(made));
    return added;
  }

  // The transformation that a name means (see Names); null if there is none.
  Transformation* Find(std::string_view name) const;
  // The name that may have been meant; "" if none is near.
  std::string Nearest(std::string_view name) const;
  // The transformation that a name means; null if there is none, which is told.
  Transformation* FindOrReport(std::string_view name, Emitter& emitter) const;
  size_t size() const { return all_.size(); }

  // Switches transformations on and off; `where` names come from: a variable of
  // the environment, an option. A name that means none is told.
  void Switch(const Names& names, bool enabled, std::string_view where, Emitter& emitter);
  // What the environment says: MO_ENABLED_TRANSFORMS and NNEFC_ENABLED_TRANSFORMS,
  // then MO_DISABLED_TRANSFORMS and NNEFC_DISABLED_TRANSFORMS, names between
  // commas. What is in both is off.
  void SwitchByEnvironment(Emitter& emitter);

  // Gives all the configuration of the compilation, and adds a transformation for
  // each id whose entries say which operation takes the place of sub-graphs. An
  // entry that is none's is told.
  void Configure(const std::shared_ptr<const Configuration>& configuration, Emitter& emitter);

  // All, disabled ones too, in the order of `DeterminedOrder` by the last part
  // of their class names. Nothing, and a diagnostic, if two have one id, if some
  // wait for each other, or if one would not stand on its phase's side of
  // lowering.
  std::optional<std::vector<Transformation*>> Order(Emitter& emitter) const;

 private:
  bool HasUniqueNames(Emitter& emitter) const;
  bool StandsRight(const std::vector<Transformation*>& order, Emitter& emitter) const;

  struct Entry {
    std::unique_ptr<Transformation> transformation;
    std::string class_name;
    std::string last_parts;  // "front.MishFusion"
  };

  static bool IsCalled(const Entry& entry, std::string_view name);
  std::optional<size_t> IndexOf(std::string_view name) const;

  std::vector<Entry> all_;
};

// Adds the anchors of the phases: LoadFinish, FrontStart, FrontFinish, Lowering,
// PreMiddleStart, MiddleStart, MiddleFinish, PostMiddleStart, BackStart,
// BackFinish. They change nothing.
void RegisterAnchors(TransformationList& list);

}  // namespace nnefc::transform
