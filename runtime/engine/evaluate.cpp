#include "runtime/engine/evaluate.h"

#include "fmt/format.h"

namespace nnefc::runtime {

namespace {

ErrorOr<TensorValue> AllocateOutput(const ir::Output& output) {
  const std::optional<Shape> shape = output.shape.extents();
  if (!shape || output.type == ElementType::kDynamic)
    return SystemError{"the shape of its result is not known"};
  const std::optional<int64_t> volume = Volume(*shape);
  const std::optional<size_t> bytes = volume ? ByteSize(output.type, *volume) : std::nullopt;
  std::shared_ptr<Buffer> buffer = bytes ? Buffer::Allocate(*bytes) : nullptr;
  if (buffer == nullptr)
    return SystemError{fmt::format("no memory for a result of shape {}", ToString(*shape))};
  return TensorValue(output.type, *shape, std::move(buffer));
}

}  // namespace

ErrorOr<std::vector<TensorValue>> EvaluateNode(const ir::Node& node, llvm::ArrayRef<ir::Output> known,
                                               llvm::ArrayRef<TensorValue> inputs,
                                               const KernelRegistry& kernels) {
  // Packed types have no views; only conversions read them.
  if (node.Is(ir::ElementFunction::kConvert) && IsStorageOnly(inputs[0].type())) {
    return std::vector<TensorValue>{inputs[0].ConvertedTo(known[0].type)};
  }
  const KernelFactory* factory = kernels.Find(Backend::kReference, node.set(), node.type());
  if (factory == nullptr) return SystemError{"there is no kernel for it"};
  std::vector<TensorValue> aligned, outputs;
  std::vector<TensorView> views;
  std::vector<MutableTensorView> output_views;
  llvm::SmallVector<ValueInfo, 4> input_infos, output_infos;
  for (const TensorValue& input : inputs) {
    aligned.push_back(input.Aligned(8));
    views.emplace_back(aligned.back());
    input_infos.push_back({.type = input.type(), .shape = input.shape()});
  }
  for (const ir::Output& output : known) {
    ErrorOr<TensorValue> value = AllocateOutput(output);
    if (!value) return value.error();
    // The buffer was made here and is not shared yet.
    std::byte* bytes = const_cast<std::byte*>(value->bytes());
    output_views.emplace_back(value->type(), value->shape(), bytes);
    output_infos.push_back({.type = value->type(), .shape = value->shape()});
    outputs.push_back(*value);
  }
  std::optional<PreparedKernel> prepared =
      (*factory)({.node = &node, .inputs = input_infos, .outputs = output_infos});
  if (!prepared) return SystemError{"there is no kernel for it"};
  llvm::SmallVector<const TensorView*, 4> input_pointers;
  llvm::SmallVector<const MutableTensorView*, 4> output_pointers;
  for (const TensorView& view : views) input_pointers.push_back(&view);
  for (const MutableTensorView& view : output_views) output_pointers.push_back(&view);
  ErrorOr<Success> done = prepared->kernel->Run({.inputs = input_pointers, .outputs = output_pointers});
  if (!done) return done.error();
  return outputs;
}

ErrorOr<Success> InferOnValues(ir::LoneNode& lone) {
  Emitter emitter;
  if (lone.Infer(emitter)) return Success();
  if (emitter.diagnostics().empty()) return SystemError{"its inputs do not fit it"};
  const Diagnostic& first = emitter.diagnostics().front();
  return SystemError{fmt::format("{} (`{}`)", first.message, first.rule->label)};
}

ErrorOr<std::vector<TensorValue>> EvaluateDynamicNode(const ir::Node& node,
                                                      llvm::ArrayRef<TensorValue> inputs,
                                                      const KernelRegistry& kernels, size_t limit) {
  ir::LoneNode lone(node);
  for (int32_t i = 0; i < node.num_inputs(); ++i) {
    const TensorValue& input = inputs[static_cast<size_t>(i)];
    lone.SetInput(i, input.type(), ir::PartialShape(llvm::ArrayRef<int64_t>(input.shape())), input);
  }
  if (ErrorOr<Success> judged = InferOnValues(lone); !judged) return judged.error();
  size_t left = limit;
  for (const ir::Output& output : lone.outputs()) {
    const std::optional<int64_t> volume = output.shape.volume();
    const std::optional<size_t> bytes = volume ? ByteSize(output.type, *volume) : std::nullopt;
    if (bytes && *bytes <= left) {
      left -= *bytes;
    } else if (output.shape.extents() && output.type != ElementType::kDynamic) {
      return SystemError{fmt::format(
          "a result of shape {} takes more memory than is allowed; `--max-memory` raises the limit",
          ToString(output.shape))};
    }
  }
  return EvaluateNode(node, lone.outputs(), inputs, kernels);
}

}  // namespace nnefc::runtime
