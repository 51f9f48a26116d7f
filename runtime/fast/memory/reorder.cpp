// Reorders between layouts, and between f32 and quantized values.

#include <algorithm>

#include "runtime/fast/factories.h"
#include "runtime/fast/int8/filter_packing.h"
#include "runtime/fast/int8/int8_reorder.h"
#include "runtime/fast/int8/integer_gemm.h"
#include "runtime/fast/memory/block_reorder.h"
#include "runtime/onednn/dnnl_kernel.h"
#include "runtime/onednn/merged_groups.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

const DnnLayout::Form& FormOf(const Layout& layout) {
  static const DnnLayout::Form kPlain;
  const auto* dnn = dynamic_cast<const DnnLayout*>(layout.get());
  return dnn == nullptr ? kPlain : dnn->form();
}

// Returns the descriptor of the memory itself, with the 8-bit type for quantized layouts.
dnnl::memory::desc MemoryOf(const Layout& layout, llvm::ArrayRef<int64_t> shape) {
  const auto* dnn = dynamic_cast<const DnnLayout*>(layout.get());
  return dnn == nullptr ? PlainDesc(shape) : dnn->desc();
}

// Row-major memory with the extents of the other layout, possibly different from the value's (a filter as a
// matrix, a matrix as its transpose).
dnnl::memory::desc PlainSource(const Layout& to, const dnnl::memory::dims& extents) {
  return OrderedDesc(extents, FormOf(to).order);
}

// Returns nullopt for quantization except of filters: other values are only quantized by FakeQuantize.
std::optional<dnnl::primitive_attr> AttributesOf(const DnnLayout::Form& from, const DnnLayout::Form& to) {
  dnnl::primitive_attr attributes;
  if (to.filter_codes) {
    std::vector<float> scales;
    scales.reserve(to.filter_codes->scales.size());
    for (float scale : to.filter_codes->scales) scales.push_back(1 / scale);
    attributes.set_output_scales(to.filter_codes->mask, scales);
  } else if (from.codes && !to.codes) {
    attributes.set_output_scales(0, {from.codes->scale});
    if (from.codes->zero != 0) attributes.set_zero_points(DNNL_ARG_SRC, 0, {from.codes->zero});
  } else if (from.codes != to.codes) {
    return std::nullopt;
  }
  return attributes;
}

// Quantizes a filter in row-major order, then reorders it to the primitive's layout, if `MakeFilterPacking`
// does not support it: oneDNN cannot do both in one reorder for every layout.
class FilterReorder final : public Kernel {
 public:
  using Description = dnnl::reorder::primitive_desc;

  FilterReorder(const Description& to_codes, const Description& to_order)
      : to_codes_(to_codes),
        to_order_(to_order),
        source_(to_codes.src_desc()),
        codes_(to_codes.dst_desc()),
        target_(to_order.dst_desc()),
        implementation_(fmt::format("onednn:{}", to_order.impl_info_str())),
        threads_(CurrentThreads()) {}

  std::string implementation() const override { return implementation_; }
  FaultOr<Success> Run(const KernelRun& run) const override {
    return GuardedDnnRun(threads_, [&](dnnl::stream& stream) {
      dnnl::memory source(source_, DnnEngine(), const_cast<std::byte*>(run.input(0).bytes()));
      dnnl::memory codes(codes_, DnnEngine());
      dnnl::memory target(target_, DnnEngine(), run.output().mutable_bytes());
      dnnl::reorder(to_codes_).execute(stream, source, codes);
      dnnl::reorder(to_order_).execute(stream, codes, target);
      // While the quantized filter is alive.
      stream.wait();
    });
  }

 private:
  Description to_codes_, to_order_;
  dnnl::memory::desc source_, codes_, target_;
  std::string implementation_;
  int threads_;
};

std::shared_ptr<const Kernel> MakeFilterReorder(const dnnl::memory::desc& source,
                                                const dnnl::memory::desc& target,
                                                const dnnl::primitive_attr& attributes) {
  const dnnl::memory::dims dims = target.dims();
  const dnnl::memory::desc codes = PlainDesc(dims, DnnType::s8);
  const dnnl::engine& engine = DnnEngine();
  const FilterReorder::Description to_codes(engine, source, engine, codes, attributes, true);
  const FilterReorder::Description to_order(engine, codes, engine, target, dnnl::primitive_attr(), true);
  if (!to_codes || !to_order) return nullptr;
  return std::make_shared<FilterReorder>(to_codes, to_order);
}

}  // namespace

std::shared_ptr<const Kernel> MakeDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                             const Layout& from, const Layout& to) {
  if (type != ElementType::kF32) return MakeIntegerReorder(type, from, to);
  try {
    const bool is_small = Volume(shape).value_or(kParallelGrain) < kParallelGrain / 2;
    const ThreadScope scope(is_small ? 1 : CurrentThreads());
    const dnnl::memory::desc target = MemoryOf(to, shape);
    if (const int64_t merged = FormOf(to).merged_groups; merged > 1)
      return from == nullptr ? MakeMergedFilterReorder(shape, merged, target) : nullptr;
    if (from == nullptr) {
      if (std::shared_ptr<const Kernel> filter = MakeFilterPacking(shape, FormOf(to), target)) return filter;
    }
    const dnnl::memory::desc source =
        from != nullptr ? MemoryOf(from, shape) : PlainSource(to, target.dims());
    if (!FormOf(from).codes && !FormOf(to).codes && !FormOf(to).filter_codes) {
      if (std::shared_ptr<const Kernel> blocks = MakeChannelsLastReorder(source, target)) return blocks;
      if (std::shared_ptr<const Kernel> blocks = MakeBlockReorder(source, target)) return blocks;
    }
    if (const std::optional<DnnQuantization>& codes = FormOf(from).codes; codes && !FormOf(to).filter_codes) {
      const bool to_codes = FormOf(to).codes.has_value();
      if (to_codes && FormOf(to).codes != codes) return nullptr;
      if (std::shared_ptr<const Kernel> own = MakeInt8Reorder(source, *codes, target, to_codes)) return own;
    }
    const std::optional<dnnl::primitive_attr> attributes = AttributesOf(FormOf(from), FormOf(to));
    if (!attributes) return nullptr;
    if (FormOf(to).filter_codes) return MakeFilterReorder(source, target, *attributes);
    const dnnl::reorder::primitive_desc primitive(DnnEngine(), source, DnnEngine(), target, *attributes,
                                                  true);
    if (!primitive) return nullptr;
    const ValueInfo value{.type = type, .shape = Shape(shape.begin(), shape.end())};
    const KernelRequest request{.inputs = value, .outputs = value};
    DnnKernelBuilder builder(request);
    builder.AddInput(DNNL_ARG_FROM, 0, source);
    builder.AddOutput(DNNL_ARG_TO, 0, target);
    const dnnl::memory::desc no_scratchpad;
    return builder.Finish(dnnl::reorder(primitive), no_scratchpad, primitive.impl_info_str()).kernel;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace nnefc::runtime
