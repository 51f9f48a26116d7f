#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/families.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

std::shared_ptr<const Kernel> MakeDnnReorder(ElementType type, llvm::ArrayRef<int64_t> shape,
                                             const Layout& from, const Layout& to) {
  if (type != ElementType::kF32) return nullptr;
  try {
    const bool is_small = Volume(shape).value_or(kParallelGrain) < kParallelGrain / 2;
    const ThreadScope scope(is_small ? 1 : CurrentThreads());
    // Row-major memory can be seen with the shape of the other layout, which may
    // differ from the value's (a filter as a matrix).
    const bool from_plain = from == nullptr && to != nullptr;
    const dnnl::memory::desc target = DescOf(to, shape);
    const dnnl::memory::desc source = from_plain ? PlainDesc(target.dims()) : DescOf(from, shape);
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
