#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_schema.h"
#include "compiler/lower/table.h"
#include "compiler/transform/transformation.h"

namespace nnefc::runtime {
class KernelRegistry;
}  // namespace nnefc::runtime

namespace nnefc::plugin {

// Makes a transformation, anew for each compilation.
using TransformationFactory = std::function<std::unique_ptr<transform::Transformation>()>;
// Adds kernels to the registry of an executable.
using KernelAdder = std::function<void(runtime::KernelRegistry&)>;

// A folder among what `--extensions` names, and what a plug-in finds in it.
struct ExtensionFolder {
  std::string path;
  std::vector<TransformationFactory> transformations;
  std::string mistake;  // why it cannot be loaded; empty if it was
};
// Loads all folders that are named, in their order: a later one may replace what an earlier one has.
using FolderLoader = std::function<void(std::vector<ExtensionFolder>&)>;

// What a plug-in brings, as it registers it.
class Registrar {
 public:
  // A transformation that is made of copies of the arguments.
  template <typename T, typename... Args>
  void AddTransformation(Args... args) {
    AddTransformation(
        [args...]() -> std::unique_ptr<transform::Transformation> { return std::make_unique<T>(args...); });
  }
  void AddTransformation(TransformationFactory make) { transformations_.push_back(std::move(make)); }

  // An operation: its row needs a shape function, and a set of the plug-in's own, which
  // OpenVINO IR has as the `version` of the layer. Of the set `nnef`, whose operations
  // documents invoke, the inputs, attributes and results are those of its declaration in
  // a library of the plug-in.
  void AddOperation(ir::OpInfo row) { operations_.push_back(std::move(row)); }
  // How an operation of the set `nnef` that the plug-in adds is lowered. Without, it stays
  // as it is, for a kernel of its own.
  void AddLowering(std::string operation, lower::LowerFunction lowering) {
    lowerings_.emplace_back(std::move(operation), lowering);
  }
  // A kernel of an operation that the plug-in adds; see AddKernel of nnefc/extension.h.
  void AddKernel(std::string set, std::string operation, KernelAdder add) {
    kernels_.push_back({std::move(set), std::move(operation), std::move(add)});
  }
  // Fragments that documents of the ratified dialect know as though they were of the
  // standard library, unless they define one of the same name: primitives, which are
  // operations that the plug-in adds, and compounds. `name` is what messages call it.
  void AddLibrary(std::string name, std::string text) {
    libraries_.emplace_back(std::move(name), std::move(text));
  }
  // What loads folders; that of the first plug-in which has one does.
  void SetFolderLoader(FolderLoader load) { folder_loader_ = std::move(load); }

  struct Kernel {
    std::string set;
    std::string operation;
    KernelAdder add;
  };
  const std::vector<TransformationFactory>& transformations() const { return transformations_; }
  const std::vector<ir::OpInfo>& operations() const { return operations_; }
  const std::vector<std::pair<std::string, lower::LowerFunction>>& lowerings() const { return lowerings_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const std::vector<std::pair<std::string, std::string>>& libraries() const { return libraries_; }
  const FolderLoader& folder_loader() const { return folder_loader_; }

 private:
  std::vector<TransformationFactory> transformations_;
  std::vector<ir::OpInfo> operations_;
  std::vector<std::pair<std::string, lower::LowerFunction>> lowerings_;
  std::vector<Kernel> kernels_;
  std::vector<std::pair<std::string, std::string>> libraries_;
  FolderLoader folder_loader_;
};

}  // namespace nnefc::plugin
