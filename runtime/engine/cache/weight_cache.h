#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/support/files/digest.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/page_stack.h"

namespace nnefc::runtime::engine::cache {

class PlanCache;

// The constants in the layouts of their kernels, prepared once for all plans of an executable, and data
// derived from them. Thread-safe.
class WeightCache : public kernels::ConstantNumbers {
 public:
  // Constants found in `kept`, if it is not null, are not recomputed; new ones are added to it.
  explicit WeightCache(PlanCache* kept = nullptr) : kept_(kept) {}

  // Returns the buffer for `value` in `layout`. Its content is valid once Finish returns.
  kernels::FaultOr<std::shared_ptr<const Buffer>> Get(const TensorValue& value, const tensor::Layout& layout,
                                                      kernels::ReorderFactory reorder);
  // Lays out all constants requested by Get, by any thread, on the threads of the current scope. Required
  // before a plan runs.
  kernels::FaultOr<Success> Finish();

  // Stores results in the plan cache only.
  std::vector<float> Get(const TensorValue& value, std::string_view what, size_t count, Find find) override;

 private:
  struct Entry {
    std::shared_ptr<const Buffer> source;  // kept alive, because its address is the key
    Shape shape;
    tensor::Layout layout;
    std::shared_ptr<const Buffer> reordered;
  };
  // A constant to be laid out.
  struct Job {
    TensorValue value;
    std::shared_ptr<const kernels::Kernel> kernel;
    std::byte* out;
    size_t bytes;                // size of `out`
    std::optional<Digest> item;  // its key in the plan cache
  };

  kernels::FaultOr<std::shared_ptr<const Buffer>> Promise(const TensorValue& value,
                                                          const tensor::Layout& layout,
                                                          kernels::ReorderFactory reorder,
                                                          const std::optional<Digest>& item);
  static kernels::FaultOr<Success> Run(const Job& job);
  void Keep(const Job& job);
  void Forget(const Job& job);

  PlanCache* const kept_;
  std::mutex mutex_;
  std::map<const Buffer*, std::vector<Entry>> entries_;
  tensor::PageStack memory_;
  std::vector<Job> jobs_;
};

}  // namespace nnefc::runtime::engine::cache
