#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "tools/api/report.h"

namespace nnefc::python {

// A text as Python has it; bytes that are no UTF-8, such as those of a damaged document, as `\xff`.
nanobind::str ToText(const std::string& text);

// Adds the class of reports.
void BindReport(nanobind::module_& module);

// Throws the exception of nnefc.errors that carries a report with errors.
[[noreturn]] void Raise(const api::Report& report, const char* what);

}  // namespace nnefc::python
