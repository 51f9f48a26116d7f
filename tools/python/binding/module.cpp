#include <nanobind/nanobind.h>

#include "tools/python/binding/model.h"
#include "tools/python/binding/report.h"
#include "tools/python/binding/transform.h"

// What the Python files of the package stand on; not for others.
NB_MODULE(_nnefc, module) {
  // What lives when the interpreter ends is the user's, not a fault.
  nanobind::set_leak_warnings(false);
  nnefc::python::BindReport(module);
  nnefc::python::BindModel(module);
  nnefc::python::BindExecutable(module);
  nnefc::python::BindTransformations(module);
  nnefc::python::BindProgram(module);
}
