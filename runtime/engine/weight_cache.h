#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "compiler/support/tensor/tensor_value.h"
#include "runtime/kernels/fault.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

class PlanCache;

// Constants in the layouts of their kernels, made once for all plans of an
// executable. Safe to use from several threads.
class WeightCache {
 public:
  // Those that `kept` has, which may be null, are not made, and it gets the others.
  explicit WeightCache(PlanCache* kept = nullptr) : kept_(kept) {}

  // The bytes of `value` in `layout`.
  FaultOr<std::shared_ptr<const Buffer>> Get(const TensorValue& value, const Layout& layout,
                                             ReorderFactory reorder);

 private:
  struct Entry {
    std::shared_ptr<const Buffer> source;  // kept: its address is the key
    Shape shape;
    Layout layout;
    std::shared_ptr<const Buffer> reordered;
  };
  FaultOr<std::shared_ptr<const Buffer>> Make(const TensorValue& value, const Layout& layout,
                                              ReorderFactory reorder) const;

  PlanCache* const kept_;
  std::mutex mutex_;
  std::map<const Buffer*, std::vector<Entry>> entries_;
};

}  // namespace nnefc::runtime
