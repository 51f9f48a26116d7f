#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/families.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// Row-major memory seen with the extents of the other layout, which may differ from
// the value's (a filter as a matrix, a matrix as its transpose).
dnnl::memory::desc PlainSource(const Layout& to, const dnnl::memory::dims& extents) {
  const auto* layout = dynamic_cast<const DnnLayout*>(to.get());
  return layout != nullptr && layout->swapped() ? SwappedDesc(extents) : PlainDesc(extents);
}

}  // namespace

std::shared_ptr<const Kernel> MakeDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                             const Layout& from, const Layout& to) {
  if (type != ElementType::kF32) return nullptr;
  try {
    const bool is_small = Volume(shape).value_or(kParallelGrain) < kParallelGrain / 2;
    const ThreadScope scope(is_small ? 1 : CurrentThreads());
    const dnnl::memory::desc target = DescOf(to, shape);
    const dnnl::memory::desc source = from != nullptr ? DescOf(from, shape) : PlainSource(to, target.dims());
    const dnnl::reorder::primitive_desc primitive(DnnEngine(), source, DnnEngine(), target,
                                                  dnnl::primitive_attr(), true);
    if (!primitive) return nullptr;
    const ValueInfo value{.type = type, .shape = Shape(shape.begin(), shape.end())};
    DnnKernelBuilder builder({.inputs = value, .outputs = value});
    builder.AddInput(DNNL_ARG_FROM, 0, source);
    builder.AddOutput(DNNL_ARG_TO, 0, target);
    const dnnl::memory::desc no_scratchpad;
    return builder.Finish(dnnl::reorder(primitive), no_scratchpad, primitive.impl_info_str()).kernel;
  } catch (const dnnl::error&) {
    return nullptr;
  }
}

}  // namespace nnefc::runtime
