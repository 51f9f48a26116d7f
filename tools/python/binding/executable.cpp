// The Python binding of compiled models and their sessions.

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/api/executable.h"
#include "tools/python/binding/arrays.h"
#include "tools/python/binding/model.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;

nb::list Steps(const std::vector<api::StepTime>& steps) {
  nb::list list;
  for (const api::StepTime& step : steps)
    list.append(nb::make_tuple(step.name, step.operation, step.kernel, step.milliseconds, step.operations,
                               step.bytes));
  return list;
}

// Returns the outputs of a run as arrays. Its warnings, such as a missing library, become a RuntimeWarning at
// the line that called the package.
nb::dict Finish(api::Outcome<api::Tensors> outcome) {
  const api::Report report = outcome.report;
  const api::Tensors tensors = Take(std::move(outcome), "running the model");
  if (report.diagnostics().empty()) return ToArrays(tensors);
  constexpr int kCallerOfPackage = 2;
  std::string text = report.ToText();
  if (text.ends_with('\n')) text.pop_back();
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), kCallerOfPackage) != 0) throw nb::python_error();
  return ToArrays(tensors);
}

// A session with a lock, so that runs of several threads are serialised.
class Session {
 public:
  explicit Session(api::Session session) : session_(std::move(session)) {}

  nb::dict Run(nb::dict inputs) {
    api::Outcome<api::Tensors> outcome;
    {
      const api::Tensors tensors = ToTensors(inputs, "input");
      const nb::gil_scoped_release unlocked;
      const std::lock_guard lock(mutex_);
      outcome = session_.Run(tensors);
    }
    return Finish(std::move(outcome));
  }
  void ResetState() {
    const std::lock_guard lock(mutex_);
    session_.ResetState();
  }
  void EnableProfile(bool on) {
    const std::lock_guard lock(mutex_);
    session_.EnableProfile(on);
  }
  std::vector<api::StepTime> Profile() {
    const std::lock_guard lock(mutex_);
    return session_.profile();
  }

 private:
  std::mutex mutex_;
  api::Session session_;
};

// An executable with idle sessions that later runs reuse.
class Executable {
 public:
  explicit Executable(api::Executable executable) : executable_(std::move(executable)) {}

  const api::Executable& executable() const { return executable_; }

  nb::dict Run(nb::dict inputs) {
    api::Outcome<api::Tensors> outcome;
    {
      const api::Tensors tensors = ToTensors(inputs, "input");
      const nb::gil_scoped_release unlocked;
      api::Session session = TakeSession();
      outcome = session.Run(tensors);
      session.ResetState();
      const std::lock_guard lock(mutex_);
      if (idle_.size() < kMaxIdle) idle_.push_back(std::move(session));
    }
    return Finish(std::move(outcome));
  }

 private:
  // Maximum number of idle sessions, because each owns the memory of a run.
  static constexpr size_t kMaxIdle = 4;

  api::Session TakeSession() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return executable_.NewSession();
    api::Session session = std::move(idle_.back());
    idle_.pop_back();
    return session;
  }

  api::Executable executable_;
  std::mutex mutex_;
  std::vector<api::Session> idle_;
};

const nb::sig kRun("def run(self, inputs: dict[str, typing.Any]) -> dict[str, typing.Any]");

}  // namespace

nb::object ToObject(api::Executable executable) {
  return nb::cast(std::make_unique<Executable>(std::move(executable)));
}

void BindExecutable(nb::module_& module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Session>(module, "Session")
      .def("run", &Session::Run, nb::arg("inputs"), kRun)
      .def("reset_state", &Session::ResetState, Unlocked())
      .def("enable_profile", &Session::EnableProfile, nb::arg("on"), Unlocked())
      .def(
          "profile",
          [](Session& session) {
            std::vector<api::StepTime> steps;
            {
              const nb::gil_scoped_release unlocked;
              steps = session.Profile();
            }
            return Steps(steps);
          },
          nb::sig("def profile(self) -> list[tuple[str, str, str, float, float, float]]"));
  nb::class_<Executable>(module, "Executable")
      .def(
          "inputs", [](const Executable& self) { return ToList(self.executable().inputs()); },
          nb::sig("def inputs(self) -> list[typing.Any]"))
      .def(
          "outputs", [](const Executable& self) { return ToList(self.executable().outputs()); },
          nb::sig("def outputs(self) -> list[typing.Any]"))
      .def("run", &Executable::Run, nb::arg("inputs"), kRun)
      .def("new_session",
           [](const Executable& self) { return std::make_unique<Session>(self.executable().NewSession()); })
      .def(
          "plan_cache_use",
          [](const Executable& self) {
            const api::PlanCacheUse use = self.executable().plan_cache_use();
            return nb::make_tuple(use.found, use.made, use.measured);
          },
          nb::sig("def plan_cache_use(self) -> tuple[int, int, int]"))
      .def(
          "random_inputs",
          [](const Executable& self, uint64_t seed) {
            return ToArrays(self.executable().RandomInputs(seed));
          },
          nb::arg("seed"), nb::sig("def random_inputs(self, seed: int) -> dict[str, typing.Any]"));
}

}  // namespace nnefc::python
