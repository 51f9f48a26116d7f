#include <nanobind/nanobind.h>

#include "tools/python/binding/model.h"
#include "tools/python/binding/report.h"
#include "tools/python/binding/transform.h"

// The private module used by the Python files of the package.
NB_MODULE(_nnefc, module) {
  // Objects that are alive at interpreter exit belong to the user and are not leaks.
  nanobind::set_leak_warnings(false);
  nnefc::python::BindReport(module);
  nnefc::python::BindModel(module);
  nnefc::python::BindExecutable(module);
  nnefc::python::BindDifference(module);
  nnefc::python::BindTransformations(module);
  nnefc::python::BindProgram(module);
}
