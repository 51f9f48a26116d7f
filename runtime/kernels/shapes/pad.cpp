// Pad: constant, edge, reflect and symmetric borders; negative widths crop.

#include <array>
#include <cstring>
#include <vector>

#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/windows/borders.h"
#include "runtime/tensor/strided_loop.h"

namespace nnefc::runtime::kernels {

namespace {

int64_t EdgeSource(int64_t i, int64_t extent) {
  return std::clamp<int64_t>(i, 0, extent - 1);
}
int64_t ReflectSource(int64_t i, int64_t extent) {
  if (extent == 1) return 0;
  const int64_t period = 2 * (extent - 1);
  const int64_t folded = ((i % period) + period) % period;
  return folded < extent ? folded : period - folded;
}
int64_t SymmetricSource(int64_t i, int64_t extent) {
  const int64_t period = 2 * extent;
  const int64_t folded = ((i % period) + period) % period;
  return folded < extent ? folded : period - 1 - folded;
}

// Fills the output with the pad value, then copies the part of the input that is not cropped.
FaultOr<Success> PadConstant(const ReferenceRun& run, llvm::ArrayRef<int64_t> before) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  const size_t width = output.element_bytes();
  std::array<std::byte, 8> value{};
  if (run.num_inputs() > 3 && run.input(3).volume() > 0)
    std::memcpy(value.data(), run.input(3).bytes(), width);
  tensor::CopyElements(tensor::TensorView(output.type(), output.shape(),
                                          tensor::Strides(output.strides().size(), 0), value.data()),
                       output);

  Shape middle(input.shape());
  int64_t from = 0;
  int64_t to = 0;
  for (size_t axis = 0; axis < middle.size(); ++axis) {
    const int64_t begin = std::max<int64_t>(0, before[axis]);
    const int64_t end = std::min(output.shape()[axis], before[axis] + input.shape()[axis]);
    if (end <= begin) return Success();
    middle[axis] = end - begin;
    from += (begin - before[axis]) * input.strides()[axis];
    to += begin * output.strides()[axis];
  }
  const int64_t bytes = static_cast<int64_t>(width);
  tensor::CopyElements(
      tensor::TensorView(input.type(), middle, input.strides(), input.bytes() + from * bytes),
      tensor::MutableTensorView(output.type(), middle, output.strides(),
                                output.mutable_bytes() + to * bytes));
  return Success();
}

// Copies an input element to each output element, with precomputed offsets along each axis.
FaultOr<Success> PadFromInput(const ReferenceRun& run, llvm::ArrayRef<int64_t> before, BorderSource source) {
  const tensor::TensorView& input = run.input(0);
  const tensor::MutableTensorView& output = run.output();
  if (output.volume() == 0) return Success();
  if (input.volume() == 0) return KernelFault("an empty tensor has no border to extend");
  const size_t rank = static_cast<size_t>(input.rank());
  std::vector<std::vector<int64_t>> offsets(rank);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = input.shape()[axis];
    for (int64_t i = 0; i < output.shape()[axis]; ++i) {
      const int64_t inside = i - before[axis];
      const bool is_border = inside < 0 || inside >= extent;
      offsets[axis].push_back((is_border ? source(inside, extent) : inside) * input.strides()[axis]);
    }
  }
  const size_t width = output.element_bytes();
  const int64_t row = rank == 0 ? 1 : output.shape()[rank - 1];
  // The range of a row that is a contiguous copy of the input.
  const bool is_dense = rank > 0 && input.strides()[rank - 1] == 1;
  const int64_t begin = is_dense ? std::clamp<int64_t>(before[rank - 1], 0, row) : row;
  const int64_t end =
      is_dense ? std::clamp<int64_t>(before[rank - 1] + input.shape()[rank - 1], begin, row) : row;
  tensor::ParallelFor(output.volume() / row, row, [&](int64_t index) {
    int64_t rest = index;
    int64_t base = 0;
    for (size_t axis = rank - 1; rank > 0 && axis-- > 0;) {
      base += offsets[axis][static_cast<size_t>(rest % output.shape()[axis])];
      rest /= output.shape()[axis];
    }
    std::byte* out = output.mutable_bytes() + index * row * static_cast<int64_t>(width);
    const auto copy = [&](int64_t i, size_t bytes) {
      const int64_t from = rank == 0 ? 0 : base + offsets[rank - 1][static_cast<size_t>(i)];
      std::memcpy(out + static_cast<size_t>(i) * width, input.bytes() + static_cast<size_t>(from) * width,
                  bytes);
    };
    // Copies of a constant size need no call.
    const auto copy_one = [&](int64_t i) {
      width == sizeof(float) ? copy(i, sizeof(float)) : copy(i, width);
    };
    for (int64_t i = 0; i < begin; ++i) copy_one(i);
    if (begin < end) copy(begin, static_cast<size_t>(end - begin) * width);
    for (int64_t i = end; i < row; ++i) copy_one(i);
  });
  return Success();
}

FaultOr<Success> Pad(const ReferenceRun& run) {
  const llvm::SmallVector<int64_t, 8> before = tensor::ElementsAsInts(run.input(1));
  if (static_cast<int64_t>(before.size()) != run.input(0).rank())
    return KernelFault("`pads_begin` has {} items", before.size());
  if (const BorderSource source = SourceOfBorder(run.node)) return PadFromInput(run, before, source);
  return PadConstant(run, before);
}

// Returns the input itself if all pad widths are zero.
FaultOr<tensor::ElementsView> WithoutBorders(const ViewRequest& run) {
  for (int64_t width : tensor::ElementsAsInts(run.input(1))) {
    if (width != 0) return KernelFault("a border");
  }
  if (run.outputs[0] != run.source.shape) return KernelFault("a border");
  return run.source;
}

}  // namespace

BorderSource SourceOfBorder(const ir::Node& node) {
  const std::string& mode = node.String("pad_mode");
  if (mode == "edge") return EdgeSource;
  if (mode == "reflect") return ReflectSource;
  return mode == "symmetric" ? SymmetricSource : nullptr;
}

void RegisterPad(KernelRegistry& registry) {
  registry.AddReference({"opset1", "opset12"}, "Pad", Pad);
  registry.AddView({"opset1", "opset12"}, "Pad", WithoutBorders);
}

}  // namespace nnefc::runtime::kernels
