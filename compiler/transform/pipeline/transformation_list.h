#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/transform/transformation.h"

namespace nnefc::transform {

// The id of the anchor where the graph of NNEF operations is lowered: transformations before it operate on
// that graph, those after it on the graph of OpenVINO operations.
inline constexpr std::string_view kLowering = "Lowering";

// The transformations of one compilation.
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

  // Returns the transformation with a name (see Names), or null.
  Transformation* Find(std::string_view name) const;
  // Returns the name that was probably intended; "" if none is near.
  std::string Nearest(std::string_view name) const;
  // Returns the transformation with a name; reports an unknown name and returns null.
  Transformation* FindOrReport(std::string_view name, Emitter& emitter) const;
  size_t size() const { return all_.size(); }

  // Enables or disables transformations; `where` is the source of the names: an environment variable or an
  // option. Reports unknown names.
  void Switch(const Names& names, bool enabled, std::string_view where, Emitter& emitter);
  // Applies the environment variables MO_ENABLED_TRANSFORMS and NNEFC_ENABLED_TRANSFORMS, then
  // MO_DISABLED_TRANSFORMS and NNEFC_DISABLED_TRANSFORMS (comma-separated names). Disabling wins.
  void SwitchByEnvironment(Emitter& emitter);

  // Passes the configuration of the compilation to all transformations, and adds one for each id whose
  // entries have an `op`. Reports entries that no transformation uses. Returns false after an error.
  [[nodiscard]] bool Configure(const std::shared_ptr<const Configuration>& configuration, Emitter& emitter);

  // Returns all transformations, including disabled ones, in the order of `DeterminedOrder` by the last
  // component of their class names. Emits a diagnostic and returns nothing for duplicate ids, for a
  // dependency cycle, or if one would be on the wrong side of lowering for its phase.
  [[nodiscard]] std::optional<std::vector<Transformation*>> Order(Emitter& emitter) const;

 private:
  [[nodiscard]] bool HasUniqueNames(Emitter& emitter) const;
  [[nodiscard]] bool IsWellPlaced(const std::vector<Transformation*>& order, Emitter& emitter) const;

  struct Entry {
    std::unique_ptr<Transformation> transformation;
    std::string class_name;
    std::string last_parts;  // "front.MishFusion"; the whole name of a class in another language
  };

  static bool IsCalled(const Entry& entry, std::string_view name);
  std::optional<size_t> IndexOf(std::string_view name) const;

  std::vector<Entry> all_;
};

// Adds the anchors of the phases: LoadFinish, FrontStart, FrontFinish, Lowering, PreMiddleStart, MiddleStart,
// MiddleFinish, PostMiddleStart, BackStart, BackFinish, TargetStart, TargetFinish. They change nothing.
void RegisterAnchors(TransformationList& list);

}  // namespace nnefc::transform
