#include "runtime/engine/evaluate.h"

#include <memory>
#include <mutex>

#include "fmt/format.h"

namespace nnefc::runtime {

namespace {

FaultOr<TensorValue> AllocateOutput(const ir::Output& output) {
  const std::optional<Shape> shape = output.shape.extents();
  if (!shape || output.type == ElementType::kDynamic)
    return KernelFault("the shape of its result is not known");
  const std::optional<int64_t> volume = Volume(*shape);
  const std::optional<size_t> bytes = volume ? ByteSize(output.type, *volume) : std::nullopt;
  std::shared_ptr<Buffer> buffer = bytes ? Buffer::Allocate(*bytes) : nullptr;
  if (buffer == nullptr)
    return FaultOf(kRuntimeMemory, "no memory for a result of shape {}", ToString(*shape));
  return TensorValue(output.type, *shape, std::move(buffer));
}

bool Is16Bit(ElementType type) {
  return type == ElementType::kF16 || type == ElementType::kBF16;
}

}  // namespace

FaultOr<std::vector<TensorValue>> EvaluateNode(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                               llvm::ArrayRef<TensorValue> inputs,
                                               const KernelRegistry& kernels) {
  // Packed types have no views; only conversions read them.
  if (node.Is(ir::ElementFunction::kConvert) && IsStorageOnly(inputs[0].type())) {
    return std::vector<TensorValue>{inputs[0].ConvertedTo(known[0].type)};
  }
  const std::optional<Shape> shape = known[0].shape.extents();
  // Floats of 16 bits stay so until somebody asks for their bytes.
  if (node.Is(ir::ElementFunction::kConvert) && known[0].type == ElementType::kF32 &&
      Is16Bit(inputs[0].type())) {
    const auto form = inputs[0].type() == ElementType::kF16 ? CompressedFloats::Form::kHalf
                                                            : CompressedFloats::Form::kBfloat;
    return std::vector<TensorValue>{{ElementType::kF32, inputs[0].shape(),
                                     Buffer::Unpacked({form, inputs[0].buffer(), inputs[0].volume()})}};
  }
  if (node.Is(ir::OpRole::kView) && shape && Volume(*shape) == inputs[0].volume())
    return std::vector<TensorValue>{inputs[0].Reshaped(*shape)};
  const KernelFactory* factory = kernels.Find(Backend::kReference, node.set(), node.type());
  if (factory == nullptr) return FaultOf(kNoKernel, "there is no kernel for it");
  std::vector<TensorValue> aligned, outputs;
  std::vector<TensorView> views;
  std::vector<MutableTensorView> output_views;
  llvm::SmallVector<ValueInfo, 4> input_infos, output_infos;
  for (const TensorValue& input : inputs) {
    aligned.push_back(input.AlignedToElements());
    views.emplace_back(aligned.back());
    input_infos.push_back({.type = input.type(), .shape = input.shape()});
  }
  for (const ir::Output& output : known) {
    FaultOr<TensorValue> value = AllocateOutput(output);
    if (!value) return value.error();
    // The buffer was made here and is not shared yet.
    std::byte* bytes = const_cast<std::byte*>(value->bytes());
    output_views.emplace_back(value->type(), value->shape(), bytes);
    output_infos.push_back({.type = value->type(), .shape = value->shape()});
    outputs.push_back(*value);
  }
  std::optional<PreparedKernel> prepared =
      (*factory)({.node = &node, .inputs = input_infos, .outputs = output_infos});
  if (!prepared) return FaultOf(kNoKernel, "there is no kernel for it");
  llvm::SmallVector<const TensorView*, 4> input_pointers;
  llvm::SmallVector<const MutableTensorView*, 4> output_pointers;
  for (const TensorView& view : views) input_pointers.push_back(&view);
  for (const MutableTensorView& view : output_views) output_pointers.push_back(&view);
  FaultOr<Success> done = prepared->kernel->Run({.inputs = input_pointers, .outputs = output_pointers});
  if (!done) return done.error();
  return outputs;
}

FaultOr<Success> InferOnValues(ir::LoneNode& lone) {
  Emitter emitter;
  if (lone.Infer(emitter)) return Success();
  return FirstFault(emitter, KernelFault("its inputs do not fit it"));
}

FaultOr<std::vector<TensorValue>> EvaluateDynamicNode(const ir::Node& node,
                                                      llvm::ArrayRef<TensorValue> inputs,
                                                      const KernelRegistry& kernels, size_t limit) {
  ir::LoneNode lone(node);
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const TensorValue& input = inputs[static_cast<size_t>(i)];
    lone.SetInput(i, input.type(), ir::PartialShape(llvm::ArrayRef<int64_t>(input.shape())), input);
  }
  if (FaultOr<Success> judged = InferOnValues(lone); !judged) return judged.error();
  size_t left = limit;
  for (const ir::Output& output : lone.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> bytes = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (bytes && *bytes <= left) {
      left -= *bytes;
    } else if (output.shape.extents() && output.type != ElementType::kDynamic) {
      return FaultOf(
          kRuntimeMemory,
          "a result of shape {} takes more memory than is allowed; `--max-memory` raises the limit",
          ToString(output.shape));
    }
  }
  return EvaluateNode(node, lone.outputs(), inputs, kernels);
}

ir::Evaluator ReferenceEvaluator(std::function<void(KernelRegistry&)> add_kernels) {
  // Made when it is first asked for: most commands evaluate nothing.
  struct Kernels {
    std::once_flag made;
    KernelRegistry registry;
  };
  return [kernels = std::make_shared<Kernels>(), add_kernels = std::move(add_kernels)](
             const ir::Node& node, llvm::ArrayRef<ir::Output> known,
             llvm::ArrayRef<TensorValue> inputs) -> std::optional<std::vector<TensorValue>> {
    std::call_once(kernels->made, [&] {
      RegisterReferenceKernels(kernels->registry);
      if (add_kernels) add_kernels(kernels->registry);
    });
    FaultOr<std::vector<TensorValue>> values = EvaluateNode(node, known, inputs, kernels->registry);
    if (!values) return std::nullopt;
    return std::move(*values);
  };
}

}  // namespace nnefc::runtime
