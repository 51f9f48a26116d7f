#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/op_schema.h"
#include "compiler/lower/table.h"
#include "compiler/transform/transformation.h"

namespace nnefc::runtime::kernels {
class KernelRegistry;
}  // namespace nnefc::runtime::kernels

namespace nnefc::plugin {

// Creates a transformation for one compilation.
using TransformationFactory = std::function<std::unique_ptr<transform::Transformation>()>;
// Adds kernels to the registry of an executable.
using KernelAdder = std::function<void(runtime::kernels::KernelRegistry&)>;

// The kernel of an operation.
struct RegisteredKernel {
  std::string set;
  std::string operation;
  KernelAdder add;
};

// A folder among the paths of `--extensions`, with its contributions found by a plug-in.
struct ExtensionFolder {
  std::string path;
  std::vector<TransformationFactory> transformations;
  std::vector<ir::OpInfo> operations;
  std::vector<RegisteredKernel> kernels;
  std::string mistake;  // reason for a failure; empty on success
};
// Loads all folders in order; a later one may replace contributions of an earlier one.
using FolderLoader = std::function<void(std::vector<ExtensionFolder>&)>;

// A plug-in's registrations.
class Registrar {
 public:
  // Registers a transformation that is constructed from copies of the arguments.
  template <typename T, typename... Args>
  void AddTransformation(Args... args) {
    AddTransformation(
        [args...]() -> std::unique_ptr<transform::Transformation> { return std::make_unique<T>(args...); });
  }
  void AddTransformation(TransformationFactory make) { transformations_.push_back(std::move(make)); }

  // Registers an operation. Its row needs a shape function and a set that belongs to the plug-in, the
  // `version` of the layer in OpenVINO IR. Documents invoke operations of the set `nnef`; their inputs,
  // attributes and results come from a declaration in a library of the plug-in.
  void AddOperation(ir::OpInfo row) { operations_.push_back(std::move(row)); }
  // Registers the lowering of an operation that the plug-in adds to the set `nnef`. Without it the operation
  // is not lowered and needs a kernel.
  void AddLowering(std::string operation, lower::LowerFunction lowering) {
    lowerings_.emplace_back(std::move(operation), lowering);
  }
  // Registers a kernel of an operation of the plug-in; see AddKernel of nnefc/extension.h.
  void AddKernel(std::string set, std::string operation, KernelAdder add) {
    kernels_.push_back({std::move(set), std::move(operation), std::move(add)});
  }
  // Registers fragments that documents of the ratified dialect can use like those of the standard library,
  // unless they define one with the same name: primitives (operations of the plug-in) and compounds. `name`
  // is used in messages.
  void AddLibrary(std::string name, std::string text) {
    libraries_.emplace_back(std::move(name), std::move(text));
  }
  // Sets the loader of folders; the first plug-in with one provides it.
  void SetFolderLoader(FolderLoader load) { folder_loader_ = std::move(load); }

  using Kernel = RegisteredKernel;
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
