// The registry of kernels, by operation.

#include "runtime/kernels/registry.h"

#include <exception>
#include <new>

namespace nnefc::runtime::kernels {

namespace {

// A reference function bound to a node. The plan's graph owns the node and outlives the kernel.
class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const ir::Node& node, ReferenceFunction function) : node_(node), function_(function) {}

  std::string implementation() const override { return "reference"; }
  // Functions of plug-ins may throw.
  FaultOr<Success> Run(const KernelRun& run) const override {
    try {
      return function_({node_, run});
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return KernelFault("the kernel of `{}` failed: {}", node_.type(), error.what());
    } catch (...) {
      return KernelFault("the kernel of `{}` failed: it threw something other than a std::exception",
                         node_.type());
    }
  }

 private:
  const ir::Node& node_;
  ReferenceFunction function_;
};

// A placeholder for a plug-in's kernel that could not be created; it reports the reason.
class FailedKernel final : public Kernel {
 public:
  explicit FailedKernel(std::string message) : message_(std::move(message)) {}

  std::string implementation() const override { return "failed"; }
  FaultOr<Success> Run(const KernelRun&) const override { return KernelFault("{}", message_); }

 private:
  std::string message_;
};

// Returns the result of `call`, or of `otherwise` with the message of an exception.
template <typename Call, typename Otherwise>
auto CallForeign(std::string_view operation, const Call& call, const Otherwise& otherwise)
    -> decltype(call()) {
  constexpr std::string_view kMessage = "the kernel of `{}` failed: {}";
  try {
    return call();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return otherwise(fmt::format(kMessage, operation, error.what()));
  } catch (...) {
    return otherwise(fmt::format(kMessage, operation, "it threw something other than a std::exception"));
  }
}

// The state of a foreign kernel whose NewState threw.
struct FailedState final : public KernelState {
  explicit FailedState(std::string text) : message(std::move(text)) {}
  std::string message;
};

// A kernel of a plug-in. It may throw.
class ForeignKernel final : public Kernel {
 public:
  ForeignKernel(std::string operation, std::shared_ptr<const Kernel> kernel)
      : operation_(std::move(operation)), kernel_(std::move(kernel)) {}

  std::string implementation() const override {
    return CallForeign(
        operation_, [&] { return kernel_->implementation(); },
        [](const std::string&) { return std::string("plug-in"); });
  }
  std::unique_ptr<KernelState> NewState() const override {
    return CallForeign(
        operation_, [&] { return kernel_->NewState(); },
        [](const std::string& message) -> std::unique_ptr<KernelState> {
          return std::make_unique<FailedState>(message);
        });
  }
  FaultOr<Success> Run(const KernelRun& run) const override {
    if (const auto* failed = dynamic_cast<const FailedState*>(run.state))
      return KernelFault("{}", failed->message);
    return CallForeign(
        operation_, [&] { return kernel_->Run(run); },
        [](const std::string& message) -> FaultOr<Success> { return KernelFault("{}", message); });
  }

 private:
  std::string operation_;
  std::shared_ptr<const Kernel> kernel_;
};

KernelFactory ForeignFactory(const std::string& operation, KernelFactory factory) {
  return [operation, factory = std::move(factory)](const KernelRequest& request) {
    std::optional<PreparedKernel> prepared = CallForeign(
        operation, [&] { return factory(request); },
        [&](const std::string& message) -> std::optional<PreparedKernel> {
          PreparedKernel failed{.kernel = std::make_shared<FailedKernel>(message)};
          failed.inputs.resize(request.inputs.size());
          failed.outputs.resize(request.outputs.size());
          return failed;
        });
    if (!prepared || prepared->kernel == nullptr) return std::optional<PreparedKernel>();
    prepared->kernel = std::make_shared<ForeignKernel>(operation, std::move(prepared->kernel));
    return prepared;
  };
}

int InPlaceInput(const KernelRequest& request) {
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const ValueInfo& input = request.inputs[i];
    if (input.type == request.outputs[0].type && input.shape == request.outputs[0].shape)
      return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

FaultOr<Success> CopyViews(const ReferenceRun& run, ViewFunction view) {
  const tensor::TensorView& input = run.input(0);
  const tensor::ElementsView source{.shape = input.shape(), .strides = input.strides()};
  llvm::SmallVector<Shape, 2> outputs;
  for (const tensor::MutableTensorView* output : run.run.outputs) outputs.push_back(output->shape());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const FaultOr<tensor::ElementsView> seen =
        view({.node = run.node, .source = source, .inputs = run.run.inputs, .outputs = outputs, .output = i});
    if (!seen) return seen.error();
    if (run.output(i).volume() == 0) continue;
    const int64_t offset = seen->offset * static_cast<int64_t>(input.element_bytes());
    tensor::CopyElements(tensor::TensorView(input.type(), seen->shape, seen->strides, input.bytes() + offset),
                         run.output(i));
  }
  return Success();
}

void KernelRegistry::Add(Backend backend, std::initializer_list<std::string_view> sets, std::string_view name,
                         KernelFactory factory) {
  for (std::string_view set : sets) {
    const bool inserted =
        factories_.emplace(std::tuple(backend, std::string(set), std::string(name)), factory).second;
    NNEFC_CHECK(inserted);
  }
}

void KernelRegistry::AddTables(Backend backend, std::initializer_list<std::string_view> sets,
                               std::string_view name, llvm::ArrayRef<ImplementationTable> tables,
                               KernelFactory factory) {
  if (factory == nullptr)
    factory = [tables](const KernelRequest& request) { return ChooseImplementation(tables, request); };
  Add(backend, sets, name, std::move(factory));
  for (std::string_view set : sets) tables_[{backend, std::string(set), std::string(name)}] = tables;
}

std::vector<std::string_view> KernelRegistry::Ways(Backend backend, std::string_view set,
                                                   std::string_view name) const {
  std::vector<std::string_view> ids;
  const auto found = tables_.find(std::tuple(backend, set, name));
  if (found == tables_.end()) return ids;
  for (const ImplementationTable& table : found->second) {
    for (const Implementation& row : table.implementations) {
      if (!llvm::is_contained(ids, row.id)) ids.push_back(row.id);
    }
  }
  return ids;
}

void KernelRegistry::AddReference(std::initializer_list<std::string_view> sets, std::string_view name,
                                  ReferenceFunction function, Aliasing aliasing) {
  Add(Backend::kReference, sets, name,
      [function, aliasing](const KernelRequest& request) -> std::optional<PreparedKernel> {
        if (!request.posts.empty()) return std::nullopt;
        PreparedKernel prepared;
        prepared.kernel = std::make_shared<ReferenceKernel>(*request.node, function);
        prepared.inputs.resize(request.inputs.size());
        for (size_t i = 0; i < request.inputs.size(); ++i) {
          if (tensor::StridesOf(request.inputs[i].layout) != nullptr)
            prepared.inputs[i] = request.inputs[i].layout;
        }
        prepared.outputs.resize(request.outputs.size());
        if (aliasing == Aliasing::kInPlace) prepared.in_place = InPlaceInput(request);
        return prepared;
      });
}

void KernelRegistry::AddView(std::initializer_list<std::string_view> sets, std::string_view name,
                             ViewFunction view) {
  for (std::string_view set : sets) views_[{std::string(set), std::string(name)}] = view;
}

ViewFunction KernelRegistry::FindView(std::string_view set, std::string_view name) const {
  const auto found = views_.find(std::tuple(set, name));
  return found == views_.end() ? nullptr : found->second;
}

void KernelRegistry::AcceptStrides(Backend backend, std::initializer_list<std::string_view> sets,
                                   std::string_view name, int32_t count) {
  for (std::string_view set : sets) strided_inputs_[{backend, std::string(set), std::string(name)}] = count;
}

bool KernelRegistry::AcceptsStrides(Backend backend, const ir::Node& node, int32_t input) const {
  const auto found = strided_inputs_.find(std::tuple(backend, node.set(), node.type()));
  return found != strided_inputs_.end() && input < found->second;
}

FaultOr<Success> KernelRegistry::AddForeign(const std::function<void(KernelRegistry&)>& add) {
  KernelRegistry added;
  try {
    add(added);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return KernelFault("{}", error.what());
  } catch (...) {
    return KernelFault("kernels cannot be added: their factory threw something other than a std::exception");
  }
  for (auto& [key, factory] : added.factories_) {
    const auto& [backend, set, name] = key;
    const std::string operation = fmt::format("{}.{}", set, name);
    if (!factories_.emplace(key, ForeignFactory(operation, std::move(factory))).second)
      return KernelFault("`{}` has a kernel already", operation);
  }
  tables_.insert(added.tables_.begin(), added.tables_.end());
  strided_inputs_.insert(added.strided_inputs_.begin(), added.strided_inputs_.end());
  views_.insert(added.views_.begin(), added.views_.end());
  return Success();
}

const KernelFactory* KernelRegistry::Find(Backend backend, std::string_view set,
                                          std::string_view name) const {
  auto found = factories_.find(std::tuple(backend, set, name));
  return found == factories_.end() ? nullptr : &found->second;
}

KernelRegistry::BackendHooks KernelRegistry::hooks(Backend backend) const {
  auto found = hooks_.find(backend);
  return found == hooks_.end() ? BackendHooks{} : found->second;
}

}  // namespace nnefc::runtime::kernels
