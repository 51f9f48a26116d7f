// Selection of implementations by benchmarks on this machine.

#include "runtime/engine/cache/tuner.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "compiler/ir/text/text.h"
#include "compiler/support/x86.h"
#include "runtime/engine/cache/plan_cache.h"
#include "runtime/tensor/thread_team.h"

#if defined(NNEFC_X86)
#include <immintrin.h>
#endif

namespace nnefc::runtime::engine::cache {

using kernels::KernelRequest;
using kernels::PreparedKernel;
using kernels::ValueInfo;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// Timed runs of each kernel after a warm-up; fewer if they exceed kEnough together.
constexpr int kRuns = 5;
constexpr Seconds kEnough{0.05};
// A kernel whose first timed run is slower than the fastest by this factor is rejected.
constexpr double kHopeless = 3;
// Size of a zero-padded algorithm name in a plan cache.
constexpr size_t kNameBytes = 32;

size_t BytesOf(const ValueInfo& value, const tensor::Layout& layout) {
  if (layout != nullptr) return layout->byte_size();
  return tensor::ViewBytes(value.type, Volume(value.shape).value_or(0)).value_or(0);
}

// Returns a buffer of bytes that are small finite numbers in each floating-point type.
std::shared_ptr<Buffer> SomeNumbers(size_t bytes) {
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(bytes);
  if (buffer != nullptr) std::memset(buffer->mutable_data(), 0x3c, bytes);
  return buffer;
}

// Evicts a buffer from all caches.
void PutOutOfCaches(const Buffer& buffer) {
#if defined(NNEFC_X86)
  constexpr size_t kLine = 64;
  for (size_t at = 0; at < buffer.size(); at += kLine) _mm_clflush(buffer.data() + at);
  _mm_mfence();
#endif
}

// A kernel with dedicated memory.
class Trial {
 public:
  Trial(const KernelRequest& request, const PreparedKernel& prepared) : prepared_(prepared) {
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      const ValueInfo& input = request.inputs[i];
      auto& buffer = buffers_.emplace_back(SomeNumbers(BytesOf(input, prepared.inputs[i])));
      if (buffer == nullptr) return;
      inputs_.emplace_back(input.type, input.shape, buffer->data());
      if (input.constant != nullptr) constants_.push_back(buffer);
    }
    for (size_t i = 0; i < request.outputs.size(); ++i) {
      const ValueInfo& output = request.outputs[i];
      const bool lies_in_input = i == 0 && prepared.in_place_required;
      auto& buffer = buffers_.emplace_back(lies_in_input ? buffers_[static_cast<size_t>(prepared.in_place)]
                                                         : SomeNumbers(BytesOf(output, prepared.outputs[i])));
      if (buffer == nullptr) return;
      outputs_.emplace_back(output.type, output.shape, buffer->mutable_data());
    }
    scratch_ = Buffer::Allocate(prepared.scratch_bytes);
    state_ = prepared.kernel->NewState();
    for (const tensor::TensorView& input : inputs_) input_pointers_.push_back(&input);
    for (const tensor::MutableTensorView& output : outputs_) output_pointers_.push_back(&output);
    has_memory_ = scratch_ != nullptr;
  }

  // Returns the time of one run, or nothing if it fails.
  std::optional<Seconds> Run(bool has_cold_weights) {
    if (!has_memory_) return std::nullopt;
    if (has_cold_weights) {
      for (const auto& constant : constants_) PutOutOfCaches(*constant);
    }
    const Clock::time_point start = Clock::now();
    const auto done = prepared_.kernel->Run({.inputs = input_pointers_,
                                             .outputs = output_pointers_,
                                             .scratch = scratch_->mutable_data(),
                                             .state = state_.get()});
    const Seconds time = Clock::now() - start;
    return done ? std::optional(time) : std::nullopt;
  }

 private:
  const PreparedKernel& prepared_;
  std::vector<std::shared_ptr<Buffer>> buffers_, constants_;
  std::vector<tensor::TensorView> inputs_;
  std::vector<tensor::MutableTensorView> outputs_;
  std::shared_ptr<Buffer> scratch_;
  std::unique_ptr<kernels::KernelState> state_;
  llvm::SmallVector<const tensor::TensorView*, 4> input_pointers_;
  llvm::SmallVector<const tensor::MutableTensorView*, 1> output_pointers_;
  bool has_memory_ = false;
};

// Returns the minimum time of the runs, or nothing if one fails or the first exceeds `most`.
std::optional<Seconds> LeastOf(Trial& trial, bool has_cold_weights, Seconds most) {
  Seconds sum{0};
  const std::optional<Seconds> first = trial.Run(has_cold_weights);
  if (!first) return std::nullopt;
  Seconds least = *first;
  for (int i = 0; i < kRuns && sum < kEnough; ++i) {
    const std::optional<Seconds> time = trial.Run(has_cold_weights);
    if (!time) return std::nullopt;
    if (i == 0 && *time > most) return std::nullopt;
    least = std::min(least, *time);
    sum += *time;
  }
  return least;
}

void AddNode(const ir::Node& node, FieldDigest& digest) {
  digest.Add(node.set()).Add(node.type()).Add(ir::PrintAttributes(node.attributes()));
}

void AddValue(const ValueInfo& value, FieldDigest& digest) {
  digest.Add(value.type).Add(value.shape.size());
  for (int64_t extent : value.shape) digest.Add(extent);
  digest.Add(value.layout != nullptr ? value.layout->Key() : "").Add(value.constant != nullptr);
}

// Returns a digest of all properties that may affect the choice of an algorithm.
Digest DigestOf(const KernelRequest& request) {
  FieldDigest digest;
  AddNode(*request.node, digest.Add("way"));
  for (const kernels::PostOperation& post : request.posts) {
    AddNode(*post.node, digest);
    digest.Add(post.chained_input).Add(post.first_operand);
  }
  for (const ValueInfo& input : request.inputs) AddValue(input, digest);
  for (const ValueInfo& output : request.outputs) AddValue(output, digest);
  digest.Add(request.precision)
      .Add(request.has_f32_images)
      .Add(request.as_codes)
      .Add(request.filter_scales.empty());
  digest.Add(ir::ops::QuantizedOperandsOf(*request.node).has_value());
  digest.Add(ir::ops::QuantizedDataOf(*request.node).has_value());
  return digest.Add(tensor::CurrentThreads()).Finish();
}

// Prepares a kernel with the implementation if it applies, otherwise with the factory's choice.
std::optional<PreparedKernel> PrepareBy(const std::string& way, const kernels::KernelFactory& factory,
                                        const KernelRequest& request) {
  KernelRequest chosen = request;
  chosen.way = way;
  std::optional<PreparedKernel> kernel = factory(chosen);
  if (kernel || way.empty()) return kernel;
  if (request.rejected != nullptr) request.rejected->clear();
  return factory(request);
}

}  // namespace

std::optional<PreparedKernel> Tuner::Prepare(const KernelRequest& request) {
  const ir::Node& node = *request.node;
  const kernels::KernelFactory* factory = kernels_.Find(options_.backend, node.set(), node.type());
  if (factory == nullptr) return std::nullopt;
  const std::vector<std::string_view> ways = kernels_.Ways(options_.backend, node.set(), node.type());
  if (ways.empty()) return (*factory)(request);
  if (!options_.only.empty()) return PrepareBy(options_.only, *factory, request);
  const std::lock_guard lock(mutex_);
  const Digest key = DigestOf(request);
  std::optional<std::string> way = Known(key);
  if (!way && options_.measures && spent_ < options_.most) {
    const Clock::time_point start = Clock::now();
    way = Measure(*factory, ways, request);
    spent_ += Clock::now() - start;
    if (way) Keep(key, *way);
  }
  return PrepareBy(way.value_or(""), *factory, request);
}

std::optional<std::string> Tuner::Known(const Digest& key) {
  if (const auto found = chosen_.find(key); found != chosen_.end()) return found->second;
  const auto kept = kept_ != nullptr ? kept_->Find(key, kNameBytes) : nullptr;
  if (kept == nullptr) return std::nullopt;
  const std::string_view name(reinterpret_cast<const char*>(kept->data()), kNameBytes);
  return chosen_[key] = name.substr(0, name.find('\0'));
}

void Tuner::Keep(const Digest& key, const std::string& way) {
  chosen_[key] = way;
  const std::shared_ptr<Buffer> bytes = kept_ != nullptr ? Buffer::Allocate(kNameBytes) : nullptr;
  if (bytes == nullptr || way.size() > kNameBytes) return;
  std::copy(way.begin(), way.end(), reinterpret_cast<char*>(bytes->mutable_data()));
  kept_->Add(key, bytes);
}

// Returns "", the factory's own choice, unless another implementation is faster by more than the measurement
// noise. Measures nothing if there is no other one.
std::optional<std::string> Tuner::Measure(const kernels::KernelFactory& factory,
                                          llvm::ArrayRef<std::string_view> ways, KernelRequest request) {
  constexpr double kClearly = 0.97;
  request.rejected = nullptr;
  const std::optional<PreparedKernel> own = factory(request);
  if (!own) return std::nullopt;
  std::vector<std::pair<std::string_view, PreparedKernel>> others;
  for (std::string_view way : ways) {
    request.way = way;
    std::optional<PreparedKernel> kernel = factory(request);
    const bool is_same = kernel && kernel->kernel->implementation() == own->kernel->implementation() &&
                         std::equal(kernel->inputs.begin(), kernel->inputs.end(), own->inputs.begin(),
                                    own->inputs.end(), tensor::SameLayout);
    if (kernel && !is_same) others.emplace_back(way, std::move(*kernel));
  }
  if (others.empty()) return "";
  const tensor::Layout result = own->outputs.empty() ? nullptr : own->outputs[0];
  Time least = TimeOf(request, *own, result, kForever) * kClearly;
  std::string best;
  ++num_measured_;
  for (const auto& [way, kernel] : others) {
    const Time time = TimeOf(request, kernel, result, least);
    if (time >= least) continue;
    least = time;
    best = std::string(way);
  }
  return best;
}

Tuner::Time Tuner::TimeOf(const KernelRequest& request, const PreparedKernel& kernel,
                          const tensor::Layout& result, Time least) {
  Trial trial(request, kernel);
  const std::optional<Seconds> time = LeastOf(trial, options_.has_cold_weights, least * kHopeless);
  if (!time) return kForever;
  Time sum = *time;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (request.inputs[i].constant == nullptr)
      sum += TimeOfReorder(request.inputs[i], request.inputs[i].layout, kernel.inputs[i]);
  }
  if (!kernel.outputs.empty()) sum += TimeOfReorder(request.outputs[0], kernel.outputs[0], result);
  return sum;
}

Tuner::Time Tuner::TimeOfReorder(const ValueInfo& value, const tensor::Layout& from,
                                 const tensor::Layout& to) {
  if (tensor::SameLayout(from, to)) return Time(0);
  const kernels::ReorderFactory make = kernels_.hooks(options_.backend).make_reorder;
  const std::shared_ptr<const kernels::Kernel> kernel =
      make == nullptr ? nullptr : make(value.type, value.shape, from, to);
  if (kernel == nullptr) return kForever;
  const ValueInfo source{.type = value.type, .shape = value.shape, .layout = from};
  const ValueInfo target{.type = value.type, .shape = value.shape, .layout = to};
  FieldDigest key;
  AddValue(source, key);
  AddValue(target, key);
  const auto [known, is_new] = reorders_.try_emplace(key.Finish(), Time(0));
  if (!is_new) return known->second;
  const PreparedKernel prepared{.kernel = kernel, .inputs = {from}, .outputs = {to}};
  Trial trial({.inputs = source, .outputs = target}, prepared);
  known->second = LeastOf(trial, false, kForever).value_or(kForever);
  return known->second;
}

}  // namespace nnefc::runtime::engine::cache
