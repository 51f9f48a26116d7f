// The Python binding of reports.

#include "tools/python/binding/report.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nnefc::python {
namespace {

namespace nb = nanobind;

nb::tuple ToTuple(const api::Place& place) {
  return nb::make_tuple(ToText(place.file), place.line, place.column, place.end_line, place.end_column);
}

const char* NameOf(api::Severity severity) {
  if (severity == api::Severity::kError) return "error";
  return severity == api::Severity::kWarning ? "warning" : "note";
}

const char* NameOf(api::Applicability applicability) {
  return applicability == api::Applicability::kSafe ? "safe" : "unsafe";
}

// (severity, rule, section, message, place, [(message, place)], [(place, text, applicability)]).
nb::tuple ToTuple(const api::Diagnostic& diagnostic) {
  nb::list notes;
  for (const api::Note& note : diagnostic.notes)
    notes.append(nb::make_tuple(ToText(note.message), ToTuple(note.place)));
  nb::list fixes;
  for (const api::Fix& fix : diagnostic.fixes)
    fixes.append(nb::make_tuple(ToTuple(fix.place), ToText(fix.text), NameOf(fix.applicability)));
  return nb::make_tuple(NameOf(diagnostic.severity), diagnostic.rule, diagnostic.section,
                        ToText(diagnostic.message), ToTuple(diagnostic.place), notes, fixes);
}

nb::list Diagnostics(const api::Report& report) {
  nb::list diagnostics;
  for (const api::Diagnostic& diagnostic : report.diagnostics()) diagnostics.append(ToTuple(diagnostic));
  return diagnostics;
}

}  // namespace

nb::str ToText(const std::string& text) {
  const auto size = static_cast<Py_ssize_t>(text.size());
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), size, "backslashreplace"));
}

void BindReport(nb::module_& module) {
  nb::class_<api::Report>(module, "Report")
      .def("diagnostics", &Diagnostics, nb::sig("def diagnostics(self) -> list[typing.Any]"))
      .def("ok", &api::Report::ok)
      .def("error_count", &api::Report::error_count)
      .def("environment_failed", &api::Report::environment_failed)
      .def(
          "text", [](const api::Report& report, bool color) { return ToText(report.ToText(color)); },
          nb::arg("color"))
      .def("json", [](const api::Report& report) { return ToText(report.ToJson()); })
      .def("sarif", [](const api::Report& report) { return ToText(report.ToSarif()); });
}

void Raise(const api::Report& report, const char* what) {
  const nb::object error = nb::module_::import_("nnefc.errors").attr("_from_native")(report, what);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace nnefc::python
