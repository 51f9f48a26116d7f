#pragma once

#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "tools/api/executable.h"
#include "tools/api/port.h"
#include "tools/api/report.h"
#include "tools/python/binding/report.h"

namespace nnefc::python {

void BindModel(nanobind::module_& module);
void BindExecutable(nanobind::module_& module);
void BindDifference(nanobind::module_& module);

// Returns the value of an outcome, or throws the exception with its report.
template <typename T>
T Take(api::Outcome<T> outcome, const char* what) {
  if (!outcome) Raise(outcome.report, what);
  return std::move(*outcome);
}

// Returns the Python object of an executable.
nanobind::object ToObject(api::Executable executable);

// Returns (name, type, shape); the shape is None or a tuple with None for unknown extents.
nanobind::tuple ToTuple(const api::Port& port);
nanobind::list ToList(const std::vector<api::Port>& ports);

}  // namespace nnefc::python
