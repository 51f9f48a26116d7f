#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/kernels/backend.h"
#include "runtime/kernels/kernel.h"

namespace nnefc::runtime {

// Makes a kernel for a request, or declines it: another backend's kernel or
// an unfused one is asked next.
using KernelFactory = std::function<std::optional<PreparedKernel>(const KernelRequest&)>;

// What a reference kernel sees of a call: dense row-major views and the
// attributes of its node.
struct ReferenceRun {
  const ir::Node& node;
  const KernelRun& run;

  size_t num_inputs() const { return run.inputs.size(); }
  size_t num_outputs() const { return run.outputs.size(); }
  const TensorView& input(size_t index) const { return run.input(index); }
  const MutableTensorView& output(size_t index = 0) const { return run.output(index); }
};
using ReferenceFunction = FaultOr<Success> (*)(const ReferenceRun&);

// A node of known shapes whose output is to be a view of its first input.
struct ViewRequest {
  const ir::Node& node;
  const ElementsView& source;                // the first input
  llvm::ArrayRef<const TensorView*> inputs;  // all; there are no elements of the first
  llvm::ArrayRef<Shape> outputs;
  size_t output = 0;

  const TensorView& input(size_t index) const { return *inputs[index]; }
};
// Which elements of the first input the output consists of, or why there are none such.
using ViewFunction = FaultOr<ElementsView> (*)(const ViewRequest&);

// Copies what `view` gives.
FaultOr<Success> CopyViews(const ReferenceRun& run, ViewFunction view);

enum class Aliasing : uint8_t {
  kNone,
  kInPlace,  // output 0 may overwrite an input of the same type and shape
};

// A chain of nodes that the backend may run as one step: `main`, then each of
// `posts` on the result of the one before.
struct FusionGroup {
  ir::NodeId main;
  std::vector<ir::NodeId> posts = {};
  // Which of `posts` begins a group of its own where not all of them fit in one step.
  std::optional<size_t> second = std::nullopt;
};
using FusionFinder = std::vector<FusionGroup> (*)(const ir::Graph&, const llvm::DenseSet<ir::NodeId>& codes);
// What of a graph lies in codes of 8 bits.
struct CodedNodes {
  llvm::DenseSet<ir::NodeId> results;  // of nodes whose result is taken in codes, or made of such
  llvm::DenseMap<ir::NodeId, FilterCodes> filters;  // KernelRequest::filter_scales
};
// The only output of a node, of f32 and that shape, for these inputs; nothing if it cannot be computed.
using NodeEvaluator = llvm::function_ref<std::optional<TensorValue>(
    const ir::Node&, llvm::ArrayRef<TensorValue> inputs, const Shape& shape)>;
// Changes a graph to what the backend has faster kernels for.
using GraphRewriter = void (*)(ir::Graph&, Precision, NodeEvaluator);
// Numbers that were found out about constants, for who looks at one again.
class ConstantNumbers {
 public:
  using Find = llvm::function_ref<std::vector<float>()>;
  ConstantNumbers() = default;
  ConstantNumbers(const ConstantNumbers&) = delete;
  ConstantNumbers& operator=(const ConstantNumbers&) = delete;
  virtual ~ConstantNumbers() = default;
  // What `find` returns, `count` numbers or none, or returned before: `what` names what it finds.
  virtual std::vector<float> Get(const TensorValue& value, std::string_view what, size_t count,
                                 Find find) = 0;
};
using CodeFinder = CodedNodes (*)(const ir::Graph&, ConstantNumbers& numbers);
// Makes a kernel that copies a value from one layout to another; null is
// row-major.
using ReorderFactory = std::shared_ptr<const Kernel> (*)(ElementType, llvm::ArrayRef<int64_t> shape,
                                                         const Layout& from, const Layout& to);
// The layout of a concatenation of parts along `axis` in which they are
// contiguous; empty if there is none.
using JoinedLayout = std::optional<Layout> (*)(llvm::ArrayRef<ValueInfo> parts, const ValueInfo& whole,
                                               int64_t axis);
// Where elements of a value lie that are a part of it, by what the strides of a row-major value would be;
// empty if the part has no layout of its own.
struct LayoutPart {
  Layout layout;
  size_t offset;  // bytes
};
using PartOfLayout = std::optional<LayoutPart> (*)(const ValueInfo& whole, const ElementsView& part);
// The layout of a value of f32 whose elements, in their order, are seen in another shape; empty if there is
// none but by copying them.
using ReshapedLayout = std::optional<Layout> (*)(const Layout& layout, llvm::ArrayRef<int64_t> from,
                                                 llvm::ArrayRef<int64_t> to);

// The kernels of all backends, by operation.
class KernelRegistry {
 public:
  void Add(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
           KernelFactory factory);
  // Names the ways among which a factory chooses, for who measures which is the fastest: see
  // KernelRequest::way.
  void AddWays(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
               llvm::ArrayRef<std::string_view> ways);
  // A portable kernel of `name` in each of the operation sets.
  void AddReference(std::initializer_list<std::string_view> sets, std::string_view name,
                    ReferenceFunction function, Aliasing aliasing = Aliasing::kNone);
  // Of an operation that moves elements: what its outputs are views of.
  void AddView(std::initializer_list<std::string_view> sets, std::string_view name, ViewFunction view);
  // The same, and a portable kernel that copies them.
  template <ViewFunction kView>
  void AddCopiedView(std::initializer_list<std::string_view> sets, std::string_view name) {
    AddReference(sets, name, [](const ReferenceRun& run) { return CopyViews(run, kView); });
    AddView(sets, name, kView);
    AcceptStrides(Backend::kReference, sets, name, 1);
  }
  // Null if there is none.
  ViewFunction FindView(std::string_view set, std::string_view name) const;

  // Says that the kernels read the first `count` inputs with any strides of which the last is 1.
  void AcceptStrides(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
                     int32_t count);
  bool AcceptsStrides(Backend backend, const ir::Node& node, int32_t input) const;

  // Adds the kernels and views that `add` registers, which may be a plug-in's: what throws, and an
  // operation that has a kernel already, is a fault, and what they throw later is one of the run.
  FaultOr<Success> AddForeign(const std::function<void(KernelRegistry&)>& add);

  // Null if there is none.
  const KernelFactory* Find(Backend backend, std::string_view set, std::string_view name) const;

  llvm::ArrayRef<std::string> Ways(Backend backend, std::string_view set, std::string_view name) const;

  // What a backend with layouts of its own brings besides kernels; null for
  // what it does not have.
  struct BackendHooks {
    GraphRewriter rewrite = nullptr;
    CodeFinder find_codes = nullptr;
    FusionFinder find_fusions = nullptr;
    ReorderFactory make_reorder = nullptr;
    JoinedLayout join = nullptr;
    PartOfLayout part = nullptr;
    ReshapedLayout reshape = nullptr;
  };
  void SetHooks(Backend backend, BackendHooks hooks) { hooks_[backend] = hooks; }
  BackendHooks hooks(Backend backend) const;

 private:
  std::map<std::tuple<Backend, std::string, std::string>, KernelFactory, std::less<>> factories_;
  std::map<std::tuple<Backend, std::string, std::string>, std::vector<std::string>, std::less<>> ways_;
  std::map<std::tuple<Backend, std::string, std::string>, int32_t, std::less<>> strided_inputs_;
  std::map<std::tuple<std::string, std::string>, ViewFunction, std::less<>> views_;
  std::map<Backend, BackendHooks> hooks_;
};

// Registers the portable kernels: one Register<Family>() call each.
void RegisterReferenceKernels(KernelRegistry& registry);

}  // namespace nnefc::runtime
