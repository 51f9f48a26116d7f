#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/support/files/digest.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime::engine::cache {

class PlanCache;

// Selects the implementation of each step by benchmarking those of its operation's tables on this machine
// with the shapes of the step. Choices are remembered, in a plan cache too. Thread-safe.
class Tuner {
 public:
  struct Options {
    kernels::Backend backend = kernels::Backend::kFast;
    // False: only earlier choices are used; nothing is measured.
    bool measures = false;
    // If not empty, forces the algorithm of this name on all steps that have it.
    std::string only = "";
    // Weights are read from memory in each run because they exceed the last-level cache.
    bool has_cold_weights = false;
    // The time limit of all measurements together; later steps use the factory's own choice.
    std::chrono::duration<double> most = std::chrono::seconds(60);
  };
  // `kernels` and `kept`, which may be null, must outlive the tuner.
  Tuner(const kernels::KernelRegistry& kernels, PlanCache* kept, const Options& options)
      : kernels_(kernels), kept_(kept), options_(options) {}

  // Returns the kernel of the fastest known implementation for `request.node`; nothing if none supports the
  // request. Measures the implementations if that is enabled and they are not known yet.
  std::optional<kernels::PreparedKernel> Prepare(const kernels::KernelRequest& request);
  // The number of steps that were measured.
  int num_measured() const { return num_measured_; }

 private:
  using Time = std::chrono::duration<double>;
  static constexpr Time kForever{1e9};

  std::optional<std::string> Known(const Digest& key);
  void Keep(const Digest& key, const std::string& way);
  // Returns nothing if the factory declines.
  std::optional<std::string> Measure(const kernels::KernelFactory& factory,
                                     llvm::ArrayRef<std::string_view> ways, kernels::KernelRequest request);
  // Returns the time of one run of the kernel plus its reorders, with the result in layout `result`. Returns
  // kForever if it fails or is much slower than `least`.
  Time TimeOf(const kernels::KernelRequest& request, const kernels::PreparedKernel& kernel,
              const tensor::Layout& result, Time least);
  Time TimeOfReorder(const kernels::ValueInfo& value, const tensor::Layout& from, const tensor::Layout& to);

  const kernels::KernelRegistry& kernels_;
  PlanCache* const kept_;
  const Options options_;
  std::mutex mutex_;
  std::map<Digest, std::string> chosen_;
  std::map<Digest, Time> reorders_;
  Time spent_{0};
  int num_measured_ = 0;
};

}  // namespace nnefc::runtime::engine::cache
