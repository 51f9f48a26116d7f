#include "runtime/onednn/dnnl_kernel.h"

#include <new>
#include <unordered_map>

#include "fmt/core.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// The memory objects of a step, kept between runs: for small primitives creating them costs more than the
// computation.
class DnnState final : public KernelState {
 public:
  std::unordered_map<int, dnnl::memory> memories;
  std::vector<void*> handles;  // address bound to each argument
};

class DnnKernel final : public Kernel {
 public:
  DnnKernel(const dnnl::primitive& primitive, std::vector<DnnArgument> arguments, std::vector<float> numbers,
            std::string implementation)
      : primitive_(primitive),
        arguments_(std::move(arguments)),
        numbers_(std::move(numbers)),
        implementation_(std::move(implementation)),
        threads_(CurrentThreads()) {}

  std::string implementation() const override { return implementation_; }
  std::unique_ptr<KernelState> NewState() const override { return std::make_unique<DnnState>(); }

  FaultOr<Success> Run(const KernelRun& run) const override {
    return GuardedDnnRun(threads_, [&](dnnl::stream& stream) {
      DnnState* state = static_cast<DnnState*>(run.state);
      DnnState temporary;
      if (state == nullptr) state = &temporary;
      Bind(run, *state);
      primitive_.execute(stream, state->memories);
    });
  }

 private:
  void Bind(const KernelRun& run, DnnState& state) const {
    const bool first = state.handles.empty();
    if (first) state.handles.resize(arguments_.size(), nullptr);
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const DnnArgument& argument = arguments_[i];
      void* handle = Handle(run, argument);
      if (first) {
        state.memories.emplace(argument.id, dnnl::memory(argument.desc, DnnEngine(), handle));
      } else if (state.handles[i] != handle) {
        state.memories[argument.id].set_data_handle(handle);
      }
      state.handles[i] = handle;
    }
  }

  // oneDNN has mutable pointers for inputs but does not write to them.
  void* Handle(const KernelRun& run, const DnnArgument& argument) const {
    switch (argument.source) {
      case DnnArgument::Source::kInput:
        return const_cast<std::byte*>(run.input(argument.index).bytes());
      case DnnArgument::Source::kOutput:
        return run.output(argument.index).mutable_bytes();
      case DnnArgument::Source::kNumber:
        return const_cast<float*>(&numbers_[argument.index]);
      case DnnArgument::Source::kScratch:
        return run.scratch;
    }
    return nullptr;
  }

  dnnl::primitive primitive_;
  std::vector<DnnArgument> arguments_;
  std::vector<float> numbers_;
  std::string implementation_;
  int threads_;
};

// Returns the multiply-adds of a convolution, or the elements accessed by another operation.
int64_t WorkOf(const KernelRequest& request) {
  constexpr int64_t kEnough = int64_t{1} << 30;  // saturation bound; a sum of a few of these does not
                                                 // overflow
  const auto volume = [&](const Shape& shape) {
    return std::min<int64_t>(kEnough, Volume(shape).value_or(kEnough));
  };
  int64_t work = 0;
  for (const ValueInfo& input : request.inputs) work += volume(input.shape);
  for (const ValueInfo& output : request.outputs) work += volume(output.shape);
  const std::string& type = request.node->type();
  if (type.find("Convolution") != std::string::npos && request.inputs.size() > 1 &&
      !request.outputs.empty()) {
    const int64_t filter = volume(request.inputs[1].shape);
    const int64_t channels = request.outputs[0].shape.size() > 1 ? request.outputs[0].shape[1] : 1;
    work += volume(request.outputs[0].shape) * (filter / std::max<int64_t>(channels, 1));
  }
  return work;
}

}  // namespace

void SetInt8Scales(dnnl::primitive_attr& attributes, const DnnQuantization& source,
                   const std::vector<float>& scales) {
  constexpr int kSecondAxis = 1 << 1;
  attributes.set_output_scales(kSecondAxis, scales);
  if (source.zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {source.zero});
}

int ThreadsFor(const KernelRequest& request) {
  return WorkOf(request) < kParallelGrain ? 1 : CurrentThreads();
}

void AddDnnTables(KernelRegistry& registry, std::initializer_list<std::string_view> sets,
                  std::string_view name, llvm::ArrayRef<ImplementationTable> tables) {
  registry.AddTables(Backend::kFast, sets, name, tables, [tables](const KernelRequest& request) {
    try {
      const ThreadScope scope(ThreadsFor(request));  // the thread count of a primitive is fixed at creation
      return ChooseImplementation(tables, request);
    } catch (const dnnl::error&) {
      if (request.rejected != nullptr)
        request.rejected->push_back({"onednn", Reason("oneDNN failed to create a kernel")});
      return std::optional<PreparedKernel>();
    }
  });
}

DnnKernelBuilder::DnnKernelBuilder(const KernelRequest& request) : request_(request) {
  prepared_.inputs.resize(request.inputs.size());
  prepared_.outputs.resize(request.outputs.size());
}

dnnl::primitive_attr DnnKernelBuilder::Attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void DnnKernelBuilder::AddInput(int id, size_t index, const dnnl::memory::desc& desc) {
  prepared_.inputs[index] = LayoutOf(desc);
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddReshapedInput(int id, size_t index, const dnnl::memory::desc& desc) {
  prepared_.inputs[index] = LayoutOf(PlainDesc(request_.inputs[index].shape, TypeOf(desc)));
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddInputIn(int id, size_t index, const dnnl::memory::desc& desc,
                                  DnnLayout::Form form) {
  prepared_.inputs[index] = std::make_shared<DnnLayout>(desc, std::move(form));
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddQuantizedInput(int id, size_t index, const dnnl::memory::desc& desc,
                                         const DnnQuantization& codes) {
  prepared_.inputs[index] = QuantizedLayout(desc, codes);
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddQuantizedOutput(int id, size_t index, const dnnl::memory::desc& desc,
                                          const DnnQuantization& codes) {
  prepared_.outputs[index] = QuantizedLayout(desc, codes);
  arguments_.push_back({id, DnnArgument::Source::kOutput, index, desc});
}

void DnnKernelBuilder::AddReshapedQuantizedInput(int id, size_t index, const dnnl::memory::desc& desc,
                                                 const DnnQuantization& codes) {
  prepared_.inputs[index] = QuantizedLayout(PlainDesc(request_.inputs[index].shape), codes);
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddReshapedQuantizedOutput(int id, size_t index, const dnnl::memory::desc& desc,
                                                  const DnnQuantization& codes) {
  prepared_.outputs[index] = QuantizedLayout(PlainDesc(request_.outputs[index].shape), codes);
  arguments_.push_back({id, DnnArgument::Source::kOutput, index, desc});
}

void DnnKernelBuilder::AddOrderedInput(int id, size_t index, const dnnl::memory::desc& desc,
                                       AxisOrder order) {
  if (desc != OrderedDesc(desc.dims(), order))
    prepared_.inputs[index] = std::make_shared<DnnLayout>(desc, DnnLayout::Form{.order = std::move(order)});
  arguments_.push_back({id, DnnArgument::Source::kInput, index, desc});
}

void DnnKernelBuilder::AddOutput(int id, size_t index, const dnnl::memory::desc& desc) {
  prepared_.outputs[index] = LayoutOf(desc);
  arguments_.push_back({id, DnnArgument::Source::kOutput, index, desc});
}

void DnnKernelBuilder::AddReshapedOutput(int id, size_t index, const dnnl::memory::desc& desc) {
  arguments_.push_back({id, DnnArgument::Source::kOutput, index, desc});
}

void DnnKernelBuilder::AddNumbers(int id, llvm::ArrayRef<float> numbers, const dnnl::memory::desc& desc) {
  arguments_.push_back({id, DnnArgument::Source::kNumber, numbers_.size(), desc});
  numbers_.insert(numbers_.end(), numbers.begin(), numbers.end());
}

void DnnKernelBuilder::RequireInPlace(int input, const dnnl::memory::desc& desc,
                                      const DnnQuantization* codes) {
  prepared_.inputs[static_cast<size_t>(input)] =
      codes != nullptr ? QuantizedLayout(desc, *codes) : LayoutOf(desc);
  prepared_.in_place = input;
  prepared_.in_place_required = true;
}

PreparedKernel DnnKernelBuilder::Finish(const dnnl::primitive& primitive,
                                        const dnnl::memory::desc& scratchpad,
                                        const std::string& implementation) {
  prepared_.scratch_bytes = scratchpad.get_size();
  if (prepared_.scratch_bytes > 0) {
    arguments_.push_back({DNNL_ARG_SCRATCHPAD, DnnArgument::Source::kScratch, 0, scratchpad});
  }
  prepared_.kernel = std::make_shared<DnnKernel>(primitive, std::move(arguments_), std::move(numbers_),
                                                 "onednn:" + implementation);
  return std::move(prepared_);
}

}  // namespace nnefc::runtime
