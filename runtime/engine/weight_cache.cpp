#include "runtime/engine/weight_cache.h"

namespace nnefc::runtime {

FaultOr<std::shared_ptr<const Buffer>> WeightCache::Get(const TensorValue& value, const Layout& layout,
                                                        ReorderFactory reorder) {
  if (std::shared_ptr<const Buffer> bytes = layout->BytesOf(value)) return bytes;
  const std::lock_guard lock(mutex_);
  std::vector<Entry>& entries = entries_[value.buffer().get()];
  for (const Entry& entry : entries) {
    if (entry.shape == value.shape() && SameLayout(entry.layout, layout)) return entry.reordered;
  }
  std::shared_ptr<const Kernel> kernel =
      reorder == nullptr ? nullptr : reorder(value.type(), value.shape(), nullptr, layout);
  if (kernel == nullptr) return KernelFault("a constant cannot be laid out for its kernel");
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(layout->byte_size());
  if (buffer == nullptr) return OutOfMemory();
  // Compressed floats are unpacked for this alone.
  std::shared_ptr<Buffer> unpacked;
  if (const CompressedFloats* floats = value.compressed()) {
    unpacked = Buffer::Allocate(value.byte_size());
    if (unpacked == nullptr) return OutOfMemory();
    floats->Unpack(0, floats->count(), reinterpret_cast<float*>(unpacked->mutable_data()));
  }
  const TensorView input(value.type(), value.shape(), unpacked != nullptr ? unpacked->data() : value.bytes());
  const MutableTensorView output(value.type(), value.shape(), buffer->mutable_data());
  const TensorView* inputs[] = {&input};
  const MutableTensorView* outputs[] = {&output};
  FaultOr<Success> done = kernel->Run({.inputs = inputs, .outputs = outputs});
  if (!done) return done.error();
  value.buffer()->LetGo();
  entries.push_back({value.buffer(), value.shape(), layout, buffer});
  return std::shared_ptr<const Buffer>(buffer);
}

}  // namespace nnefc::runtime
