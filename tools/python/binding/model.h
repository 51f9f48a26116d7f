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

// The value of an outcome, or the exception that carries its report.
template <typename T>
T Take(api::Outcome<T> outcome, const char* what) {
  if (!outcome) Raise(outcome.report, what);
  return std::move(*outcome);
}

// The executable as Python sees it.
nanobind::object ToObject(api::Executable executable);

// (name, type, shape), where the shape is None or a tuple with None for open extents.
nanobind::tuple ToTuple(const api::Port& port);
nanobind::list ToList(const std::vector<api::Port>& ports);

}  // namespace nnefc::python
