// The cache of constants in the layouts of kernels.

#include "runtime/engine/cache/weight_cache.h"

#include <algorithm>
#include <new>
#include <optional>

#include "runtime/engine/cache/plan_cache.h"
#include "runtime/tensor/tasks.h"

namespace nnefc::runtime::engine::cache {

using kernels::FaultOr;

namespace {

// Larger constants are split among threads; smaller ones are laid out in parallel.
constexpr size_t kLarge = size_t{4} << 20;

// Starts the digest of data derived from a constant of this shape.
FieldDigest DigestOf(std::string_view what, const TensorValue& value, PlanCache& kept) {
  FieldDigest item;
  item.Add(what).Add(kept.DigestOf(value)).Add(value.type()).Add(value.shape().size());
  for (int64_t extent : value.shape()) item.Add(extent);
  return item;
}

// Returns the key of a constant in a layout, or nothing if the layout has no key.
std::optional<Digest> ItemOf(const TensorValue& value, const tensor::Layout& layout, PlanCache& kept) {
  const std::string key = layout->Key();
  if (key.empty()) return std::nullopt;
  return DigestOf("packed", value, kept).Add(key).Finish();
}

}  // namespace

FaultOr<std::shared_ptr<const Buffer>> WeightCache::Get(const TensorValue& value,
                                                        const tensor::Layout& layout,
                                                        kernels::ReorderFactory reorder) {
  if (std::shared_ptr<const Buffer> bytes = layout->BytesOf(value)) return bytes;
  const std::lock_guard lock(mutex_);
  std::vector<Entry>& entries = entries_[value.buffer().get()];
  for (const Entry& entry : entries) {
    if (entry.shape == value.shape() && tensor::SameLayout(entry.layout, layout)) return entry.reordered;
  }
  const std::optional<Digest> item = kept_ != nullptr ? ItemOf(value, layout, *kept_) : std::nullopt;
  if (std::shared_ptr<const Buffer> found = item ? kept_->Find(*item, layout->byte_size()) : nullptr) {
    // Transformations may have read them.
    value.buffer()->Release();
    if (const Buffer::Recipe* recipe = value.buffer()->recipe()) {
      for (const std::shared_ptr<const Buffer>& from : recipe->from) from->Release();
    }
    entries.push_back({value.buffer(), value.shape(), layout, found});
    return found;
  }
  FaultOr<std::shared_ptr<const Buffer>> promised = Promise(value, layout, reorder, item);
  if (promised) entries.push_back({value.buffer(), value.shape(), layout, *promised});
  return promised;
}

FaultOr<std::shared_ptr<const Buffer>> WeightCache::Promise(const TensorValue& value,
                                                            const tensor::Layout& layout,
                                                            kernels::ReorderFactory reorder,
                                                            const std::optional<Digest>& item) {
  const size_t bytes = layout->byte_size();
  const tensor::ThreadScope scope(bytes >= kLarge ? tensor::CurrentThreads() : 1);
  std::shared_ptr<const kernels::Kernel> kernel =
      reorder == nullptr ? nullptr : reorder(value.type(), value.shape(), nullptr, layout);
  if (kernel == nullptr) return kernels::KernelFault("a constant cannot be laid out for its kernel");
  const tensor::PageStack::Piece piece = memory_.Take(bytes);
  if (piece.data == nullptr) return kernels::OutOfMemory();
  jobs_.push_back({value, std::move(kernel), piece.data, bytes, item});
  return Buffer::Borrow({piece.data, bytes}, piece.owner);
}

FaultOr<Success> WeightCache::Run(const Job& job) {
  try {
    const auto* by_rows = dynamic_cast<const kernels::ConstantKernel*>(job.kernel.get());
    if (by_rows != nullptr && job.value.buffer()->IsToCompute())
      return by_rows->RunByRows(job.value, job.out);
    // A lazy value is computed for this use only.
    const TensorValue value = job.value.Loaded();
    const tensor::TensorView input(value);
    const tensor::MutableTensorView output(value.type(), value.shape(), job.out);
    const tensor::TensorView* inputs[] = {&input};
    const tensor::MutableTensorView* outputs[] = {&output};
    FaultOr<Success> done = job.kernel->Run({.inputs = inputs, .outputs = outputs});
    job.value.buffer()->Release();
    return done;
  } catch (const std::bad_alloc&) {
    return kernels::OutOfMemory();
  }
}

FaultOr<Success> WeightCache::Finish() {
  // Concurrent callers wait until the requested constants are ready.
  const std::lock_guard lock(mutex_);
  memory_.UseLargePages();
  std::vector<Job> jobs = std::move(jobs_);
  jobs_.clear();
  // The small ones stay in plan order, the order of most files.
  std::stable_partition(jobs.begin(), jobs.end(), [](const Job& job) { return job.bytes >= kLarge; });
  std::vector<std::optional<kernels::Fault>> faults(jobs.size());
  const auto run = [&](size_t i) {
    if (FaultOr<Success> done = Run(jobs[i]); !done) faults[i] = done.error();
    jobs[i].kernel = nullptr;
  };
  size_t large = 0, small_bytes = 0;
  for (; large < jobs.size() && jobs[large].bytes >= kLarge; ++large) run(large);
  for (size_t i = large; i < jobs.size(); ++i) small_bytes += jobs[i].bytes;
  constexpr size_t kWorthAThread = size_t{256} << 10;
  const size_t most = std::min<size_t>(1 + small_bytes / kWorthAThread, jobs.size() - large);
  const int members = static_cast<int>(std::min<size_t>(most, static_cast<size_t>(tensor::CurrentThreads())));
  tensor::RunTasks(static_cast<int64_t>(jobs.size() - large), members,
                   [&](int64_t task, int /*member*/) { run(large + static_cast<size_t>(task)); });
  std::optional<kernels::Fault> first;
  for (size_t i = 0; i < jobs.size(); ++i) {
    // Read-ahead has brought back neighbouring pages.
    jobs[i].value.buffer()->Release();
    if (!faults[i]) {
      Keep(jobs[i]);
      continue;
    }
    Forget(jobs[i]);
    if (!first) first = faults[i];
  }
  if (first) return *first;
  return Success();
}

// An item starts with a flag that is 0 if there are no numbers.
std::vector<float> WeightCache::Get(const TensorValue& value, std::string_view what, size_t count,
                                    Find find) {
  if (kept_ == nullptr) return find();
  const Digest item = DigestOf(what, value, *kept_).Add("numbers").Finish();
  const size_t size = (count + 1) * sizeof(float);
  if (const std::shared_ptr<const Buffer> found = kept_->Find(item, size)) {
    const std::span<const float> numbers(reinterpret_cast<const float*>(found->data()), count + 1);
    if (numbers[0] == 0) return {};
    return {numbers.begin() + 1, numbers.end()};
  }
  const std::vector<float> made = find();
  NNEFC_CHECK(made.empty() || made.size() == count);
  if (const std::shared_ptr<Buffer> bytes = Buffer::Allocate(size)) {
    auto* numbers = reinterpret_cast<float*>(bytes->mutable_data());
    numbers[0] = made.empty() ? 0.0f : 1.0f;
    std::fill(std::copy(made.begin(), made.end(), numbers + 1), numbers + 1 + count, 0.0f);
    kept_->Add(item, bytes);
  }
  return made;
}

// Stores the result of a job in the plan cache.
void WeightCache::Keep(const Job& job) {
  if (!job.item) return;
  for (const Entry& entry : entries_[job.value.buffer().get()]) {
    if (entry.reordered->data() == job.out) return kept_->Add(*job.item, entry.reordered);
  }
}

// Removes the entry of a failed job.
void WeightCache::Forget(const Job& job) {
  std::vector<Entry>& entries = entries_[job.value.buffer().get()];
  std::erase_if(entries, [&](const Entry& entry) { return entry.reordered->data() == job.out; });
}

}  // namespace nnefc::runtime::engine::cache
