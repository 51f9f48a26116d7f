#pragma once

#include "tools/python/binding/transform.h"

namespace nnefc::python {

// Adds an operation of a folder to its contributions: an object with `set`, `name`, the shape function
// `infer` and the kernel `compute` or None (nnefc/mo/custom.py).
void AddPythonOperation(nanobind::handle operation, plugin::ExtensionFolder& folder);
void BindOperations(nanobind::module_& module);

}  // namespace nnefc::python
