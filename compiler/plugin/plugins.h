#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/op_registry.h"
#include "compiler/lower/table.h"
#include "compiler/plugin/registrar.h"
#include "compiler/plugin/shared_library.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/transform/pipeline/transformation_list.h"

namespace nnefc::plugin {

// The plug-ins of a run and their contributions, immutable once loaded. Every owner of a graph, diagnostic or
// transformation that may come from a plug-in also shares ownership of this object, since it unloads the code
// when destroyed.
class Plugins {
 public:
  // Loads files in order, then folders; a plug-in must provide the loader of folders. Duplicates are loaded
  // once. Errors are stored for Report: at most one per path, and the other contributions of such a plug-in
  // are ignored.
  static std::shared_ptr<const Plugins> Load(const std::vector<std::string>& paths);

  // Returns true if there were no errors.
  bool ok() const { return mistakes_.empty(); }
  // Reports the errors. `environment_failed` is set if a file cannot be read.
  void Report(Emitter& emitter, bool& environment_failed) const;

  // Returns the standard library with the fragments of the plug-ins.
  const semantics::StandardLibrary& library() const {
    return library_ != nullptr ? *library_ : semantics::StandardLibrary::Shared();
  }
  // Adds new instances of the transformations. Emits an error if one cannot be created.
  [[nodiscard]] bool AddTransformations(transform::TransformationList& list, Emitter& emitter) const;
  void AddOperations(ir::OpRegistry& registry) const;
  // Returns a lowering in addition to the standard ones; null if no plug-in has one with that name.
  lower::LowerFunction FindLowering(const std::string& operation) const;
  // Throws std::runtime_error with the name of the plug-in if one of its functions throws.
  void AddKernels(runtime::kernels::KernelRegistry& registry) const;

 private:
  struct Mistake {
    const Rule* rule;
    std::string message;
  };
  // The contributions of one path.
  struct Plugin {
    std::string path;
    std::shared_ptr<const SharedLibrary> code;  // outlives its registrations
    Registrar registrar;
    std::vector<ir::OpInfo> rows;
  };

  // The plug-in of each contribution, with a key such as "transformation MishFusion".
  using Owners = std::map<std::string, std::string>;

  void LoadOne(const std::string& path);
  void LoadFolders(const std::vector<std::string>& paths);
  // Runs the registration function of the plug-in; stores an error and returns false if it throws.
  bool RunRegistration(Plugin& plugin);
  // Returns whether the registrations are complete and unique.
  bool IsSound(Plugin& plugin);
  bool HasSoundTransformations(const Plugin& plugin);
  // Returns whether a transformation describes itself without exceptions.
  bool Describes(const Plugin& plugin, const transform::Transformation& made);
  bool HasSoundLibraries(const Plugin& plugin);
  bool HasSoundOperations(Plugin& plugin);
  bool HasSoundRow(Plugin& plugin, const ir::OpInfo& row);
  bool Owns(const Plugin& plugin, std::string name);
  // Completes the rows of NNEF operations from their declarations.
  void DeclareOperations();
  void RequireOperations();
  template <typename... Args>
  bool Fail(const Rule& rule, const std::string& path, fmt::format_string<Args...> format, Args&&... args) {
    mistakes_.push_back(
        {&rule, fmt::format("plug-in `{}`: {}", path, fmt::format(format, std::forward<Args>(args)...))});
    return false;
  }

  std::deque<Plugin> plugins_;
  std::vector<Mistake> mistakes_;
  Owners owners_;
  std::unique_ptr<const semantics::StandardLibrary> library_;
};

}  // namespace nnefc::plugin
