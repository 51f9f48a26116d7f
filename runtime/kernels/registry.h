#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "compiler/ir/plan_functions.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/implementation.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime::kernels {

// Creates a kernel for a request, or declines it. The planner then tries the unfused node or another backend.
using KernelFactory = std::function<std::optional<PreparedKernel>(const KernelRequest&)>;

// The arguments of a reference kernel: dense row-major views and the attributes of its node.
struct ReferenceRun {
  const ir::Node& node;
  const KernelRun& run;

  size_t num_inputs() const { return run.inputs.size(); }
  size_t num_outputs() const { return run.outputs.size(); }
  const tensor::TensorView& input(size_t index) const { return run.input(index); }
  const tensor::MutableTensorView& output(size_t index = 0) const { return run.output(index); }
};
using ReferenceFunction = FaultOr<Success> (*)(const ReferenceRun&);

// A node with known shapes that may be a view of its first input.
struct ViewRequest {
  const ir::Node& node;
  const tensor::ElementsView& source;                // view of the first input
  llvm::ArrayRef<const tensor::TensorView*> inputs;  // all inputs; the first one has no data
  llvm::ArrayRef<Shape> outputs;
  size_t output = 0;

  const tensor::TensorView& input(size_t index) const { return *inputs[index]; }
};
// Returns the view of the first input that forms the output, or a fault if there is none.
using ViewFunction = FaultOr<tensor::ElementsView> (*)(const ViewRequest&);

// Copies the elements selected by `view` to the outputs.
FaultOr<Success> CopyViews(const ReferenceRun& run, ViewFunction view);

enum class Aliasing : uint8_t {
  kNone,
  kInPlace,  // output 0 may overwrite an input of the same type and shape
};

// A chain of nodes that the backend may run as one step: `main`, then each of `posts` applied to the previous
// result.
struct FusionGroup {
  ir::NodeId main;
  std::vector<ir::NodeId> posts = {};
  // Index of the post-operation that starts a second group if they do not all fit in one step.
  std::optional<size_t> second = std::nullopt;
};
using FusionFinder = std::vector<FusionGroup> (*)(const ir::Graph&);
// Returns the names of the transformations (compiler/transform/target) that make a graph use operations with
// faster kernels. Without `rewrites`, only those that mark nodes.
using TransformationRequest = std::vector<std::string> (*)(Precision, bool rewrites);
// A cache of numbers derived from constants.
class ConstantNumbers {
 public:
  using Find = llvm::function_ref<std::vector<float>()>;
  ConstantNumbers() = default;
  ConstantNumbers(const ConstantNumbers&) = delete;
  ConstantNumbers& operator=(const ConstantNumbers&) = delete;
  virtual ~ConstantNumbers() = default;
  // Returns the cached result of `find`, calling it if necessary. `what` identifies the computation, and the
  // result has `count` numbers or none.
  virtual std::vector<float> Get(const TensorValue& value, std::string_view what, size_t count,
                                 Find find) = 0;
};
// Returns the quantization of the constant filter of a convolution or matmul.
using FilterQuantizer = ir::FilterQuantization (*)(const ir::Node& node, const TensorValue& filter,
                                                   ConstantNumbers& numbers);
// Returns the times by which regions are quantized or not on this processor; null if they always are.
using TimeFinder = const ir::StepTimes* (*)();
// Creates a kernel that copies a value from one layout to another; null is row-major.
using ReorderFactory = std::shared_ptr<const Kernel> (*)(ElementType, llvm::ArrayRef<int64_t> shape,
                                                         const tensor::Layout& from,
                                                         const tensor::Layout& to);
// Returns a layout for the concatenation of parts along `axis` in which the parts are contiguous, or nothing.
using JoinedLayout = std::optional<tensor::Layout> (*)(llvm::ArrayRef<ValueInfo> parts,
                                                       const ValueInfo& whole, int64_t axis);
// The location of a part of a value in a backend layout. `part` is a view in terms of row-major strides;
// empty if the part has no separate layout.
struct LayoutPart {
  tensor::Layout layout;
  size_t offset;  // in bytes
};
using PartOfLayout = std::optional<LayoutPart> (*)(const ValueInfo& whole, const tensor::ElementsView& part);
// Returns the layout of an f32 value reinterpreted with another shape and the same element order, or nothing
// if a copy is required.
using ReshapedLayout = std::optional<tensor::Layout> (*)(const tensor::Layout& layout,
                                                         llvm::ArrayRef<int64_t> from,
                                                         llvm::ArrayRef<int64_t> to);
// Returns the layout of the transpose of a row-major f32 tensor, in which each element keeps its address, or
// nothing. `shape` is that of the transpose, axis i of which is axis order[i] of the tensor.
using TransposedLayout = std::optional<tensor::Layout> (*)(llvm::ArrayRef<int64_t> shape,
                                                           llvm::ArrayRef<int64_t> order);

// The kernels of all backends, by operation.
class KernelRegistry {
 public:
  void Add(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
           KernelFactory factory);
  // Registers the implementations of an operation. The tables must outlive the registry; `factory` chooses
  // from them, by default with ChooseImplementation.
  void AddTables(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
                 llvm::ArrayRef<ImplementationTable> tables, KernelFactory factory = nullptr);
  // Registers a portable kernel for `name` in each of the operation sets.
  void AddReference(std::initializer_list<std::string_view> sets, std::string_view name,
                    ReferenceFunction function, Aliasing aliasing = Aliasing::kNone);
  // Registers the view function of an operation that only moves elements.
  void AddView(std::initializer_list<std::string_view> sets, std::string_view name, ViewFunction view);
  // The same, plus a portable kernel that copies the view.
  template <ViewFunction kView>
  void AddCopiedView(std::initializer_list<std::string_view> sets, std::string_view name) {
    AddReference(sets, name, [](const ReferenceRun& run) { return CopyViews(run, kView); });
    AddView(sets, name, kView);
    AcceptStrides(Backend::kReference, sets, name, 1);
  }
  // Returns null if there is none.
  ViewFunction FindView(std::string_view set, std::string_view name) const;

  // Declares that the kernels read the first `count` inputs with arbitrary strides if the last stride is 1.
  void AcceptStrides(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
                     int32_t count);
  bool AcceptsStrides(Backend backend, const ir::Node& node, int32_t input) const;

  // Adds the kernels and views registered by `add`, for instance those of a plug-in. Exceptions, and
  // operations that already have a kernel, are faults. Exceptions of these kernels become faults of the run.
  FaultOr<Success> AddForeign(const std::function<void(KernelRegistry&)>& add);

  // Returns null if there is none.
  const KernelFactory* Find(Backend backend, std::string_view set, std::string_view name) const;

  // Returns the ids of all implementations of an operation, each once (see KernelRequest::way).
  std::vector<std::string_view> Ways(Backend backend, std::string_view set, std::string_view name) const;

  // The optional functions of a backend with its own layouts; null if not supported.
  struct BackendHooks {
    TransformationRequest request_transformations = nullptr;
    FilterQuantizer quantize_filter = nullptr;
    TimeFinder times = nullptr;
    FusionFinder find_fusions = nullptr;
    ReorderFactory make_reorder = nullptr;
    JoinedLayout join = nullptr;
    PartOfLayout part = nullptr;
    ReshapedLayout reshape = nullptr;
    TransposedLayout transpose = nullptr;
  };
  void SetHooks(Backend backend, BackendHooks hooks) { hooks_[backend] = hooks; }
  BackendHooks hooks(Backend backend) const;

 private:
  std::map<std::tuple<Backend, std::string, std::string>, KernelFactory, std::less<>> factories_;
  std::map<std::tuple<Backend, std::string, std::string>, llvm::ArrayRef<ImplementationTable>, std::less<>>
      tables_;
  std::map<std::tuple<Backend, std::string, std::string>, int32_t, std::less<>> strided_inputs_;
  std::map<std::tuple<std::string, std::string>, ViewFunction, std::less<>> views_;
  std::map<Backend, BackendHooks> hooks_;
};

// Registers all portable kernels.
void RegisterReferenceKernels(KernelRegistry& registry);

}  // namespace nnefc::runtime::kernels
