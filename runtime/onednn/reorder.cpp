// Reorders between layouts, and between f32 and quantized values.

#include "runtime/onednn/reorder.h"

#include <optional>
#include <utility>

#include "runtime/fast/factories.h"
#include "runtime/fast/memory/element_reorder.h"
#include "runtime/onednn/kernel_builder.h"
#include "runtime/onednn/weighted/merged_groups.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {

using fast::memory::BlockedFormat;
using kernels::Kernel;

namespace {

// Returns nullopt for quantization except of filters: other values are only quantized by FakeQuantize.
std::optional<ReorderScales> ScalesOf(const fast::memory::BlockedLayout::Form& from,
                                      const fast::memory::BlockedLayout::Form& to) {
  ReorderScales scales;
  if (to.filter_codes) {
    scales.axes = to.filter_codes->mask;
    scales.scales.reserve(to.filter_codes->scales.size());
    for (float scale : to.filter_codes->scales) scales.scales.push_back(1 / scale);
  } else if (from.codes && !to.codes) {
    scales.scales = {from.codes->scale};
    scales.source_zero = from.codes->zero;
  } else if (from.codes != to.codes) {
    return std::nullopt;
  }
  return scales;
}

// Quantizes a filter in row-major order, then reorders it to the primitive's layout, if `MakeFilterPacking`
// does not support it: oneDNN cannot do both in one reorder for every layout.
class FilterReorder final : public Kernel {
 public:
  FilterReorder(std::shared_ptr<const Kernel> to_codes, std::shared_ptr<const Kernel> to_order, size_t bytes)
      : to_codes_(std::move(to_codes)), to_order_(std::move(to_order)), bytes_(bytes) {}

  std::string implementation() const override { return to_order_->implementation(); }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const std::shared_ptr<Buffer> codes = Buffer::Allocate(bytes_);
    if (codes == nullptr) return kernels::OutOfMemory();
    auto* bytes = reinterpret_cast<std::byte*>(codes->mutable_data());
    tensor::TensorView quantized = run.input(0);
    quantized.set_bytes(bytes);
    const tensor::MutableTensorView written(ElementType::kF32, run.input(0).shape(), bytes);
    const tensor::MutableTensorView* outputs[] = {&written};
    const tensor::TensorView* inputs[] = {&quantized};
    kernels::FaultOr<Success> done = to_codes_->Run({.inputs = run.inputs, .outputs = outputs});
    return done ? to_order_->Run({.inputs = inputs, .outputs = run.outputs}) : done;
  }

 private:
  std::shared_ptr<const Kernel> to_codes_, to_order_;
  size_t bytes_;  // the quantized filter
};

std::shared_ptr<const Kernel> MakeFilterReorder(const BlockedFormat& source, const BlockedFormat& target,
                                                const ReorderScales& scales) {
  const BlockedFormat codes = fast::memory::RowMajorFormat(target.shape(), fast::memory::StorageType::kS8);
  std::shared_ptr<const Kernel> to_codes = MakePrimitiveReorder(source, codes, scales);
  std::shared_ptr<const Kernel> to_order = MakePrimitiveReorder(codes, target);
  if (to_codes == nullptr || to_order == nullptr) return nullptr;
  return std::make_shared<FilterReorder>(std::move(to_codes), std::move(to_order), codes.byte_size());
}

}  // namespace

std::shared_ptr<const Kernel> MakePrimitiveReorder(const BlockedFormat& source, const BlockedFormat& target,
                                                   const ReorderScales& scales) {
  std::shared_ptr<const library::Primitive> primitive =
      CreatePrimitive({.kind = library::PrimitiveKind::kReorder,
                       .sources = {source},
                       .result = target,
                       .scales = scales.scales,
                       .scale_axes = scales.axes,
                       .source_zero = scales.source_zero});
  if (primitive == nullptr) return nullptr;
  const kernels::ValueInfo value{.type = ElementType::kF32,
                                 .shape = Shape(source.shape().begin(), source.shape().end())};
  const kernels::KernelRequest request{.inputs = value, .outputs = value};
  OneDnnKernelBuilder builder(request, std::move(primitive));
  builder.AddInput({library::PrimitiveArgument::Role::kSource}, 0, source);
  builder.AddOutput(target);
  return builder.Finish().kernel;
}

std::shared_ptr<const Kernel> MakeOneDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                                const tensor::Layout& from, const tensor::Layout& to) {
  if (std::shared_ptr<const Kernel> own = fast::memory::MakeFastReorder(type, shape, from, to)) return own;
  if (type != ElementType::kF32) return nullptr;
  const bool is_small = Volume(shape).value_or(tensor::kParallelGrain) < tensor::kParallelGrain / 2;
  const tensor::ThreadScope scope(is_small ? 1 : tensor::CurrentThreads());
  const BlockedFormat target = fast::memory::MemoryFormatOf(to, shape);
  if (const int64_t merged = fast::memory::FormOf(to).merged_groups; merged > 1)
    return from == nullptr ? MakeMergedFilterReorder(shape, merged, target) : nullptr;
  const std::optional<ReorderScales> scales = ScalesOf(fast::memory::FormOf(from), fast::memory::FormOf(to));
  if (!scales) return nullptr;
  const BlockedFormat source =
      from != nullptr ? fast::memory::MemoryFormatOf(from, shape)
                      : fast::memory::OrderedFormat(target.shape(), fast::memory::FormOf(to).order);
  if (fast::memory::FormOf(to).filter_codes) return MakeFilterReorder(source, target, *scales);
  std::shared_ptr<const Kernel> kernel = MakePrimitiveReorder(source, target, *scales);
  // Our kernels pack their weights without oneDNN, too.
  return kernel == nullptr && scales->scales.empty() ? fast::memory::MakeElementReorder(source, target)
                                                     : kernel;
}

}  // namespace nnefc::runtime::onednn
