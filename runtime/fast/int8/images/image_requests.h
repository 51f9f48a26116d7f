#pragma once

#include <memory>
#include <utility>

#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/reason.h"

namespace nnefc::runtime::fast::int8 {

// Returns no reason for quantized images of rank 3 to 5 with constant operands, which are not empty, without
// fused operations.
inline kernels::Reason CopiesImages(const kernels::KernelRequest& request) {
  const kernels::ValueInfo& images = request.inputs[0];
  if (memory::QuantizationOf(images) == nullptr) return kernels::Reason("the images are not quantized");
  if (images.shape.size() < 3 || images.shape.size() > 5)
    return kernels::Reason("{} spatial axes", static_cast<int64_t>(images.shape.size()) - 2);
  if (!request.posts.empty()) return kernels::Reason("a fused operation");
  if (Volume(images.shape) == 0 || Volume(request.outputs[0].shape) == 0)
    return kernels::Reason("an empty image");
  for (const kernels::ValueInfo& input : request.inputs.drop_front()) {
    if (input.constant == nullptr) return kernels::Reason("an operand is not constant");
  }
  return kernels::Reason();
}

// Prepares a kernel that reads images and writes others of the same quantization, both in NHWC.
inline kernels::PreparedKernel PrepareImages(const kernels::KernelRequest& request,
                                             const memory::ValueQuantization& codes,
                                             std::shared_ptr<const kernels::Kernel> kernel) {
  const auto layout_of = [&](llvm::ArrayRef<int64_t> shape) {
    return memory::QuantizedLayout(memory::ChannelsLastFormat(shape, memory::StorageType::kF32), codes);
  };
  kernels::PreparedKernel prepared;
  prepared.kernel = std::move(kernel);
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = layout_of(request.inputs[0].shape);
  prepared.outputs.resize(request.outputs.size());
  prepared.outputs[0] = layout_of(request.outputs[0].shape);
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
