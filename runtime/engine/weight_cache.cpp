#include "runtime/engine/weight_cache.h"

#include "runtime/engine/plan_cache.h"

namespace nnefc::runtime {

namespace {

// Of a constant in a layout; nothing where that has no key.
std::optional<Digest> ItemOf(const TensorValue& value, const Layout& layout, PlanCache& kept) {
  const std::string key = layout->Key();
  if (key.empty()) return std::nullopt;
  FieldDigest item;
  item.Add("packed").Add(kept.DigestOf(value)).Add(value.type()).Add(value.shape().size());
  for (int64_t extent : value.shape()) item.Add(extent);
  return item.Add(key).Finish();
}

}  // namespace

FaultOr<std::shared_ptr<const Buffer>> WeightCache::Get(const TensorValue& value, const Layout& layout,
                                                        ReorderFactory reorder) {
  if (std::shared_ptr<const Buffer> bytes = layout->BytesOf(value)) return bytes;
  const std::lock_guard lock(mutex_);
  std::vector<Entry>& entries = entries_[value.buffer().get()];
  for (const Entry& entry : entries) {
    if (entry.shape == value.shape() && SameLayout(entry.layout, layout)) return entry.reordered;
  }
  const std::optional<Digest> item = kept_ != nullptr ? ItemOf(value, layout, *kept_) : std::nullopt;
  std::shared_ptr<const Buffer> reordered = item ? kept_->Find(*item, layout->byte_size()) : nullptr;
  if (reordered == nullptr) {
    FaultOr<std::shared_ptr<const Buffer>> made = Make(value, layout, reorder);
    if (!made) return made.error();
    reordered = *made;
    if (item) kept_->Add(*item, reordered);
  }
  entries.push_back({value.buffer(), value.shape(), layout, reordered});
  return reordered;
}

FaultOr<std::shared_ptr<const Buffer>> WeightCache::Make(const TensorValue& value, const Layout& layout,
                                                         ReorderFactory reorder) const {
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
  return std::shared_ptr<const Buffer>(buffer);
}

}  // namespace nnefc::runtime
