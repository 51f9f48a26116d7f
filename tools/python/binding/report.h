#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "tools/api/report.h"

namespace nnefc::python {

// Returns a Python string. Bytes that are not UTF-8, such as those of a damaged document, become `\xff`
// escapes.
nanobind::str ToText(const std::string& text);

// Adds the class of reports.
void BindReport(nanobind::module_& module);

// Throws the exception of nnefc.errors that contains a report with errors.
[[noreturn]] void Raise(const api::Report& report, const char* what);

}  // namespace nnefc::python
