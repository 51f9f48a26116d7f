#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/support/digest.h"
#include "runtime/kernels/registry.h"

namespace nnefc::runtime {

class PlanCache;

// Chooses among the ways that factories have for a step by measuring them on this machine, with the shapes
// of the step. What was chosen is kept, in a plan cache too. Safe to use from several threads.
class Tuner {
 public:
  struct Options {
    Backend backend = Backend::kOneDnn;
    // False: what was chosen before is taken, nothing is measured.
    bool measures = false;
    // Not empty: what is taken wherever there is a way of this name.
    std::string only = "";
    // Weights come from memory in a run, not from a cache: all of them are larger than it.
    bool has_cold_weights = false;
    // So long all measurements take at most; the factory's own choice is taken from then on.
    std::chrono::duration<double> most = std::chrono::seconds(60);
  };
  // `kept` may be null.
  Tuner(const KernelRegistry& kernels, PlanCache* kept, const Options& options)
      : kernels_(kernels), kept_(kept), options_(options) {}

  // A kernel of the factory of `request.node`, by the way that was found to be the fastest.
  std::optional<PreparedKernel> Prepare(const KernelRequest& request);
  // How many steps were measured.
  int num_measured() const { return num_measured_; }

 private:
  using Time = std::chrono::duration<double>;
  static constexpr Time kForever{1e9};

  std::optional<std::string> Known(const Digest& key);
  void Keep(const Digest& key, const std::string& way);
  // Nothing where the factory declines.
  std::optional<std::string> Measure(const KernelFactory& factory, llvm::ArrayRef<std::string> ways,
                                     KernelRequest request);
  // How long a run of the kernel and the reorders around it take, with its result left as `result`; forever
  // where it fails or takes longer than `least` by far.
  Time TimeOf(const KernelRequest& request, const PreparedKernel& kernel, const Layout& result, Time least);
  Time TimeOfReorder(const ValueInfo& value, const Layout& from, const Layout& to);

  const KernelRegistry& kernels_;
  PlanCache* const kept_;
  const Options options_;
  std::mutex mutex_;
  std::map<Digest, std::string> chosen_;
  std::map<Digest, Time> reorders_;
  Time spent_{0};
  int num_measured_ = 0;
};

}  // namespace nnefc::runtime
