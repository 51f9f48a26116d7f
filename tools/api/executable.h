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

using runtime::Backend;
using runtime::Precision;

// The precision that suits this machine best: bf16 where its processor multiplies such
// numbers faster than f32, f32 elsewhere.
Precision BestPrecision();
// Of "exact", "f32", "bf16" and "auto", the last two as this machine has them; nothing of other words.
std::optional<Precision> PrecisionCalled(std::string_view word);
std::string_view WordOf(Precision precision);

struct ExecutableOptions {
  Backend backend = Backend::kOneDnn;
  // Of the fast backend; bf16 is f32 where the processor has no instructions for it, or faster ones for f32.
  Precision precision = Precision::kF32;
  // 0: as many as the process may use.
  int threads = 0;
  // Bounds the bytes of all values of a run; 0: the machine's memory.
  uint64_t max_memory = 0;
  // A folder that keeps what planning a model takes long for, for the next processes; "": none. What is wrong
  // with it is a warning.
  std::string plan_cache = "";
  // Measures which way of each step is the fastest here, in up to a minute; a plan cache keeps it.
  bool tune = false;
};

struct PlanCacheUse {
  int found = 0;
  int made = 0;
  int measured = 0;  // steps, for `tune`
};

// Time spent in one step of a run.
struct StepTime {
  std::string name;
  std::string operation;  // "Convolution+ReLU"
  std::string kernel;
  double milliseconds = 0;
  double operations = 0;  // of numbers, a product and its addition being two
  double bytes = 0;       // of its inputs and outputs
};

// One run at a time: its memory, and the state of the graph's variables.
class Session {
 public:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  // Runs the graph once. Inputs are known by name; numbers are converted within
  // their kind (f64 to f32, i32 to i64), not to another. The outputs by name, or
  // what is wrong with the inputs, or the operation that failed.
  Outcome<Tensors> Run(const Tensors& inputs);
  // Gives variables their first values again.
  void ResetState();
  // When on, Run keeps the time of each step.
  void EnableProfile(bool on);
  std::vector<StepTime> profile() const;

 private:
  std::unique_ptr<State> state_;
};

// A model that is ready to run: immutable, shared by copies and threads.
class Executable {
 public:
  struct State;
  explicit Executable(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;
  Session NewSession() const;
  // Runs once, in a session of its own.
  Outcome<Tensors> Run(const Tensors& inputs) const;
  // How much of what planning needed the plan cache had, and how much was made.
  PlanCacheUse plan_cache_use() const;
  // Data for all inputs, as `--random-inputs SEED` makes them; without those
  // whose shape is open.
  Tensors RandomInputs(uint64_t seed) const;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace nnefc::api
