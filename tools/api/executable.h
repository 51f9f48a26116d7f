#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernels/backend.h"
#include "tools/api/port.h"
#include "tools/api/report.h"
#include "tools/api/tensor.h"

namespace nnefc::api {

using runtime::kernels::Backend;
using runtime::kernels::Precision;

// Returns the best precision for this machine: bf16 if its processor multiplies bf16 faster than f32,
// otherwise f32.
Precision BestPrecision();
// Parses "exact", "f32", "bf16" or "auto", resolved for this machine; nothing for other words.
std::optional<Precision> PrecisionCalled(std::string_view word);
// Returns the backend `fast`, also called `onednn`, or `reference`.
std::optional<Backend> BackendCalled(std::string_view word);
std::string_view WordOf(Precision precision);

struct ExecutableOptions {
  Backend backend = Backend::kFast;
  // Precision of the fast backend. bf16 falls back to f32 on processors without bf16 instructions or with
  // faster f32 ones.
  Precision precision = Precision::kF32;
  // 0: all threads that the process may use.
  int threads = 0;
  // Limit on the bytes of all values of a run; 0: the machine's memory.
  uint64_t max_memory = 0;
  // A folder that caches expensive planning results for later processes; empty to disable. Problems with it
  // are warnings.
  std::string plan_cache = "";
  // Benchmarks the algorithms of each step for up to a minute; a plan cache stores the choices.
  bool tune = false;
};

struct PlanCacheUse {
  int found = 0;
  int made = 0;
  int measured = 0;  // steps benchmarked for `tune`
};

// Time spent in one step of a run.
struct StepTime {
  std::string name;
  std::string operation;  // "Convolution+ReLU"
  std::string kernel;
  double milliseconds = 0;
  double operations = 0;  // arithmetic operations; a multiply-add counts as two
  double bytes = 0;       // size of inputs and outputs
};

// A single-threaded execution context: the memory of a run and the states of variables.
class Session {
 public:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Runs the graph once. Inputs are identified by name. Numbers are converted within their kind only (f64 to
  // f32, i32 to i64). Returns the outputs by name, or a report about the inputs or the operation that failed.
  Outcome<Tensors> Run(const Tensors& inputs);
  // Resets variables to their initial values.
  void ResetState();
  // Turns recording of the time of each step on or off.
  void EnableProfile(bool on);
  std::vector<StepTime> profile() const;

 private:
  std::unique_ptr<State> state_;
};

// A model prepared for execution. Immutable; copies and threads share it.
class Executable {
 public:
  struct State;
  explicit Executable(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  Session NewSession() const;
  // Runs once, in a new session.
  Outcome<Tensors> Run(const Tensors& inputs) const;
  // Returns statistics of plan cache lookups.
  PlanCacheUse plan_cache_use() const;
  // Returns random data for all inputs with static shapes, like `--random-inputs SEED`.
  Tensors RandomInputs(uint64_t seed) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace nnefc::api
