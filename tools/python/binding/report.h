#pragma once

#include <nanobind/nanobind.h>

#include "tools/api/report.h"

namespace nnefc::python {

// Adds the class of reports.
void BindReport(nanobind::module_& module);

// Throws the exception of nnefc.errors that carries a report with errors.
[[noreturn]] void Raise(const api::Report& report, const char* what);

}  // namespace nnefc::python
