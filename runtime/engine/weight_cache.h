#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/support/digest.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/registry.h"
#include "runtime/tensor/page_stack.h"

namespace nnefc::runtime {

class PlanCache;

// Constants in the layouts of their kernels, made once for all plans of an
// executable, and what was found out about them. Safe to use from several threads.
class WeightCache : public ConstantNumbers {
 public:
  // Those that `kept` has, which may be null, are not made, and it gets the others.
  explicit WeightCache(PlanCache* kept = nullptr) : kept_(kept) {}

  // Where the bytes of `value` in `layout` are, or will be once Finish returns.
  FaultOr<std::shared_ptr<const Buffer>> Get(const TensorValue& value, const Layout& layout,
                                             ReorderFactory reorder);
  // Lays out what Get promised, to anybody, on the threads of the scope. A plan runs after it.
  FaultOr<Success> Finish();

  // Only a plan cache keeps them.
  std::vector<float> Get(const TensorValue& value, std::string_view what, size_t count, Find find) override;

 private:
  struct Entry {
    std::shared_ptr<const Buffer> source;  // kept: its address is the key
    Shape shape;
    Layout layout;
    std::shared_ptr<const Buffer> reordered;
  };
  // What is to be laid out.
  struct Job {
    TensorValue value;
    std::shared_ptr<const Kernel> kernel;
    std::byte* out;
    size_t bytes;                // of `out`
    std::optional<Digest> item;  // of the plan cache that is to have it
  };

  FaultOr<std::shared_ptr<const Buffer>> Promise(const TensorValue& value, const Layout& layout,
                                                 ReorderFactory reorder, const std::optional<Digest>& item);
  static FaultOr<Success> Run(const Job& job);
  void Keep(const Job& job);
  void Forget(const Job& job);

  PlanCache* const kept_;
  std::mutex mutex_;
  std::map<const Buffer*, std::vector<Entry>> entries_;
  PageStack memory_;
  std::vector<Job> jobs_;
};

}  // namespace nnefc::runtime
