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
#include "compiler/support/diagnostics.h"
#include "compiler/transform/transformation_list.h"

namespace nnefc::plugin {

// The plug-ins of a run and what they brought. Immutable once loaded; whatever holds a
// graph, a diagnostic or a transformation that may come from them holds this too, since
// their code goes when it goes.
class Plugins {
 public:
  // Loads files in order, then folders, which need a plug-in that loads them; what is named
  // twice is loaded once. What is wrong is kept for Report: one mistake a path, whose other
  // contributions do not count.
  static std::shared_ptr<const Plugins> Load(const std::vector<std::string>& paths);

  // True if nothing was wrong.
  bool ok() const { return mistakes_.empty(); }
  // Tells what was wrong. `environment_failed` is set if a file cannot be read.
  void Report(Emitter& emitter, bool& environment_failed) const;

  // The standard library with the fragments of the plug-ins.
  const StandardLibrary& library() const {
    return library_ != nullptr ? *library_ : StandardLibrary::Shared();
  }
  // Adds fresh transformations. One that cannot be made is emitted.
  void AddTransformations(transform::TransformationList& list, Emitter& emitter) const;
  void AddOperations(ir::OpRegistry& registry) const;
  // Beside the standard ones; null where the plug-ins have none of that name.
  lower::LowerFunction FindLowering(const std::string& operation) const;
  // Throws std::runtime_error, which names the plug-in, if a function of it throws.
  void AddKernels(runtime::KernelRegistry& registry) const;

 private:
  struct Mistake {
    const Rule* rule;
    std::string message;
  };
  // What came of one path.
  struct Plugin {
    std::string path;
    std::shared_ptr<const SharedLibrary> code;  // outlives what it registered
    Registrar registrar;
    std::vector<ir::OpInfo> rows;
  };

  // Who brings what, by its name with its kind before it: "transformation MishFusion".
  using Owners = std::map<std::string, std::string>;

  void LoadOne(const std::string& path);
  void LoadFolders(const std::vector<std::string>& paths);
  // Runs what the plug-in registers with; false, and a mistake, if it throws.
  bool RunRegistration(Plugin& plugin);
  // Whether what was registered is whole and nobody else's.
  bool IsSound(Plugin& plugin);
  bool HasSoundTransformations(const Plugin& plugin);
  // Whether a transformation answers without an exception what it is.
  bool Describes(const Plugin& plugin, const transform::Transformation& made);
  bool HasSoundLibraries(const Plugin& plugin);
  bool HasSoundOperations(Plugin& plugin);
  bool HasSoundRow(Plugin& plugin, const ir::OpInfo& row);
  bool Owns(const Plugin& plugin, std::string name);
  // Makes whole the rows of NNEF operations, from their declarations.
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
  std::unique_ptr<const StandardLibrary> library_;
};

}  // namespace nnefc::plugin
