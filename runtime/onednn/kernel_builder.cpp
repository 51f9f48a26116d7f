// The builder of kernels that run a oneDNN primitive.

#include "runtime/onednn/kernel_builder.h"

#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {

using fast::memory::BlockedFormat;

namespace {

using Binding = OneDnnKernelBuilder::Binding;

// The memory objects of a step, kept between runs.
class PrimitiveState final : public kernels::KernelState {
 public:
  explicit PrimitiveState(std::unique_ptr<library::PrimitiveCall> made) : call(std::move(made)) {}

  std::unique_ptr<library::PrimitiveCall> call;
  llvm::SmallVector<void*, 8> addresses;
};

class PrimitiveKernel final : public kernels::Kernel {
 public:
  PrimitiveKernel(std::shared_ptr<const library::Primitive> primitive,
                  std::vector<library::Primitive::BoundArgument> arguments, std::vector<Binding> bindings,
                  std::vector<float> numbers)
      : primitive_(std::move(primitive)),
        arguments_(std::move(arguments)),
        bindings_(std::move(bindings)),
        numbers_(std::move(numbers)),
        threads_(tensor::CurrentThreads()) {}

  std::string implementation() const override { return "onednn:" + primitive_->implementation(); }
  std::unique_ptr<kernels::KernelState> NewState() const override {
    return std::make_unique<PrimitiveState>(primitive_->NewCall(arguments_));
  }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const std::unique_ptr<kernels::KernelState> temporary = run.state == nullptr ? NewState() : nullptr;
    auto& state = static_cast<PrimitiveState&>(run.state == nullptr ? *temporary : *run.state);
    state.addresses.clear();
    for (const Binding& binding : bindings_) state.addresses.push_back(AddressOf(run, binding));
    // The thread count for which the primitive was created.
    const tensor::ThreadScope scope(threads_);
    const std::string error = state.call->Run(state.addresses);
    if (!error.empty()) return kernels::KernelFault("oneDNN: {}", error);
    return Success();
  }

 private:
  // oneDNN has mutable pointers for inputs but does not write to them.
  void* AddressOf(const kernels::KernelRun& run, const Binding& binding) const {
    switch (binding.source) {
      case Binding::Source::kInput:
        return const_cast<std::byte*>(run.input(binding.index).bytes());
      case Binding::Source::kOutput:
        return run.output(binding.index).mutable_bytes();
      case Binding::Source::kNumber:
        return const_cast<float*>(&numbers_[binding.index]);
      case Binding::Source::kScratch:
        return run.scratch;
    }
    return nullptr;
  }

  std::shared_ptr<const library::Primitive> primitive_;
  std::vector<library::Primitive::BoundArgument> arguments_;
  std::vector<Binding> bindings_;  // one per argument
  std::vector<float> numbers_;
  int threads_;
};

}  // namespace

OneDnnKernelBuilder::OneDnnKernelBuilder(const kernels::KernelRequest& request,
                                         std::shared_ptr<const library::Primitive> primitive)
    : request_(request), primitive_(std::move(primitive)) {
  prepared_.inputs.resize(request.inputs.size());
  prepared_.outputs.resize(request.outputs.size());
}

void OneDnnKernelBuilder::Bind(Argument argument, const BlockedFormat& format, Binding::Source source,
                               size_t index) {
  arguments_.push_back({argument, format});
  bindings_.push_back({source, index});
}

void OneDnnKernelBuilder::AddInput(Argument argument, size_t index, const BlockedFormat& format) {
  prepared_.inputs[index] = fast::memory::LayoutOf(format);
  Bind(argument, format, Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddReshapedInput(Argument argument, size_t index, const BlockedFormat& format) {
  prepared_.inputs[index] =
      fast::memory::LayoutOf(fast::memory::RowMajorFormat(request_.inputs[index].shape, format.type));
  Bind(argument, format, Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddInputIn(Role role, size_t index, fast::memory::BlockedLayout::Form form) {
  const BlockedFormat format = primitive_->format({role});
  prepared_.inputs[index] = std::make_shared<fast::memory::BlockedLayout>(format, std::move(form));
  Bind({role}, format, Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddQuantizedInput(Role role, size_t index,
                                            const fast::memory::ValueQuantization& codes,
                                            const BlockedFormat& format) {
  prepared_.inputs[index] = fast::memory::QuantizedLayout(format, codes);
  Bind({role}, primitive_->format({role}), Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddQuantizedOutput(const fast::memory::ValueQuantization& codes,
                                             const BlockedFormat& format) {
  prepared_.outputs[0] = fast::memory::QuantizedLayout(format, codes);
  Bind({Role::kResult}, primitive_->format({Role::kResult}), Binding::Source::kOutput, 0);
}

void OneDnnKernelBuilder::AddInputAs(Role role, size_t index, const BlockedFormat& format) {
  prepared_.inputs[index] = fast::memory::LayoutOf(format);
  Bind({role}, primitive_->format({role}), Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddOutputAs(const BlockedFormat& format) {
  prepared_.outputs[0] = fast::memory::LayoutOf(format);
  Bind({Role::kResult}, primitive_->format({Role::kResult}), Binding::Source::kOutput, 0);
}

void OneDnnKernelBuilder::AddReshapedQuantizedInput(Role role, size_t index,
                                                    const fast::memory::ValueQuantization& codes) {
  prepared_.inputs[index] =
      fast::memory::QuantizedLayout(fast::memory::RowMajorFormat(request_.inputs[index].shape), codes);
  Bind({role}, primitive_->format({role}), Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddReshapedQuantizedOutput(const fast::memory::ValueQuantization& codes) {
  prepared_.outputs[0] =
      fast::memory::QuantizedLayout(fast::memory::RowMajorFormat(request_.outputs[0].shape), codes);
  Bind({Role::kResult}, primitive_->format({Role::kResult}), Binding::Source::kOutput, 0);
}

void OneDnnKernelBuilder::AddOrderedInput(Role role, size_t index, fast::memory::AxisOrder order) {
  const BlockedFormat format = primitive_->format({role});
  if (!(format == fast::memory::OrderedFormat(format.shape(), order)))
    prepared_.inputs[index] = std::make_shared<fast::memory::BlockedLayout>(
        format, fast::memory::BlockedLayout::Form{.order = std::move(order)});
  Bind({role}, format, Binding::Source::kInput, index);
}

void OneDnnKernelBuilder::AddOutput(const BlockedFormat& format) {
  prepared_.outputs[0] = fast::memory::LayoutOf(format);
  Bind({Role::kResult}, format, Binding::Source::kOutput, 0);
}

void OneDnnKernelBuilder::AddReshapedOutput(const BlockedFormat& format) {
  Bind({Role::kResult}, format, Binding::Source::kOutput, 0);
}

void OneDnnKernelBuilder::AddNumbers(Argument argument, llvm::ArrayRef<float> numbers,
                                     const BlockedFormat& format) {
  Bind(argument, format, Binding::Source::kNumber, numbers_.size());
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
}

void OneDnnKernelBuilder::RequireInPlace(int input, const BlockedFormat& format,
                                         const fast::memory::ValueQuantization* codes) {
  prepared_.inputs[static_cast<size_t>(input)] =
      codes != nullptr ? fast::memory::QuantizedLayout(format, *codes) : fast::memory::LayoutOf(format);
  prepared_.in_place = input;
  prepared_.in_place_required = true;
}

kernels::PreparedKernel OneDnnKernelBuilder::Finish() {
  prepared_.scratch_bytes = primitive_->scratch_bytes();
  if (prepared_.scratch_bytes > 0) Bind({Role::kScratch}, {}, Binding::Source::kScratch, 0);
  prepared_.kernel = std::make_shared<PrimitiveKernel>(std::move(primitive_), std::move(arguments_),
                                                       std::move(bindings_), std::move(numbers_));
  return std::move(prepared_);
}

}  // namespace nnefc::runtime::onednn
