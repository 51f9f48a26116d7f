// The Python binding of models.

#include "tools/python/binding/model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <type_traits>
#include <variant>

#include "tools/api/model.h"
#include "tools/python/binding/arrays.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using api::LintOptions;
using api::Model;
using api::ModelOptions;
using api::Report;

api::Dialect DialectNamed(const std::string& name) {
  if (name == "provisional") return api::Dialect::kProvisional;
  return name == "ratified" ? api::Dialect::kRatified : api::Dialect::kAuto;
}

api::Reading ReadingOf(std::optional<bool> lenient) {
  if (!lenient) return api::Reading::kAuto;
  return *lenient ? api::Reading::kLenient : api::Reading::kStrict;
}

nb::object ToValue(const api::Value& value) {
  const auto convert = [&](const auto& held) -> nb::object {
    using Held = std::decay_t<decltype(held)>;
    if constexpr (std::is_same_v<Held, std::vector<api::Value>>) {
      nb::list items;
      for (const api::Value& item : held) items.append(ToValue(item));
      return items;
    } else if constexpr (std::is_same_v<Held, api::Tensor>) {
      return ToArray(held, Access::kReadOnly);
    } else if constexpr (std::is_same_v<Held, std::string>) {
      return ToText(held);
    } else {
      return nb::cast(held);
    }
  };
  return std::visit(convert, value.value);
}

// (type, [input], [port], {attribute: value}).
nb::list Operations(const Model& model) {
  const std::vector<api::Operation>* operations = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    operations = &model.operations();
  }
  nb::list list;
  for (const api::Operation& operation : *operations) {
    nb::dict attributes;
    for (const auto& [name, value] : operation.attributes) attributes[name.c_str()] = ToValue(value);
    nb::list inputs;
    for (const std::string& input : operation.inputs) inputs.append(ToText(input));
    list.append(nb::make_tuple(ToText(operation.type), inputs, ToList(operation.outputs), attributes));
  }
  return list;
}

// (label, port).
nb::list Variables(const Model& model) {
  const std::vector<api::Variable>* variables = nullptr;
  {
    const nb::gil_scoped_release unlocked;
    variables = &model.variables();
  }
  nb::list list;
  for (const api::Variable& variable : *variables)
    list.append(nb::make_tuple(ToText(variable.label), ToTuple(variable.port)));
  return list;
}

nb::object ReadVariable(const Model& model, const std::string& label) {
  api::Outcome<api::Tensor> data;
  {
    const nb::gil_scoped_release unlocked;
    data = model.ReadVariable(label);
  }
  return ToArray(Take(std::move(data), "reading a variable"), Access::kReadOnly);
}

// Returns a model and its report.
nb::tuple Opened(api::Outcome<Model> outcome) {
  Report report = outcome.report;
  return nb::make_tuple(Take(std::move(outcome), "opening the model"), report);
}

nb::tuple Open(const std::string& path, const ModelOptions& options) {
  api::Outcome<Model> outcome;
  {
    const nb::gil_scoped_release unlocked;
    outcome = Model::Open(path, options);
  }
  return Opened(std::move(outcome));
}

nb::tuple OpenText(const std::string& name, const std::string& text, const ModelOptions& options) {
  api::Outcome<Model> outcome;
  {
    const nb::gil_scoped_release unlocked;
    outcome = Model::FromText(name, text, options);
  }
  return Opened(std::move(outcome));
}

// Returns a text and its report, or throws the exception with the errors.
template <typename Make>
nb::tuple Text(Make make, const char* what) {
  api::Outcome<std::string> outcome;
  {
    const nb::gil_scoped_release unlocked;
    outcome = make();
  }
  Report report = outcome.report;
  return nb::make_tuple(ToText(Take(std::move(outcome), what)), report);
}

nb::tuple Compile(const Model& model, const std::string& backend, const std::string& precision, int threads,
                  uint64_t max_memory, const std::string& plan_cache, bool tune) {
  api::ExecutableOptions options{
      .threads = threads, .max_memory = max_memory, .plan_cache = plan_cache, .tune = tune};
  options.precision = api::PrecisionCalled(precision).value_or(runtime::kernels::Precision::kF32);
  options.backend = api::BackendCalled(backend).value_or(runtime::kernels::Backend::kFast);
  api::Outcome<api::Executable> outcome;
  {
    const nb::gil_scoped_release unlocked;
    outcome = model.Compile(options);
  }
  Report report = outcome.report;
  return nb::make_tuple(ToObject(Take(std::move(outcome), "compiling the model")), report);
}

// Returns (XML, size of the weights, [(offset, element type, array)]). Arrays of types unknown to NumPy
// contain bytes. Arrays are marked writable, because OpenVINO rejects read-only ones although it never writes
// to constants.
nb::tuple ToOpenVino(const Model& model) {
  api::Outcome<api::OpenVinoForm> outcome;
  {
    const nb::gil_scoped_release unlocked;
    outcome = model.ToOpenVino();
  }
  const api::OpenVinoForm form = Take(std::move(outcome), "converting the model to OpenVINO");
  nb::list constants;
  for (const auto& [offset, tensor] : form.constants) {
    const std::string type(Name(tensor.type()));
    constants.append(
        nb::make_tuple(offset, NumPyLetter(tensor.type()) ? type : "bytes",
                       NumPyLetter(tensor.type()) ? ToArray(tensor, Access::kWritable) : ToBytes(tensor)));
  }
  return nb::make_tuple(ToText(form.xml), form.weights_size, constants);
}

void BindOptions(nb::module_& module) {
  nb::class_<ModelOptions>(module, "ModelOptions")
      .def(nb::init<>())
      .def_rw("graph", &ModelOptions::graph, nb::arg().none())
      .def_rw("input_shapes", &ModelOptions::input_shapes)
      .def_rw("quantize", &ModelOptions::quantize)
      .def_rw("random_weights", &ModelOptions::random_weights, nb::arg().none())
      .def_rw("extensions", &ModelOptions::extensions)
      .def_rw("enabled_transformations", &ModelOptions::enabled_transformations)
      .def_rw("disabled_transformations", &ModelOptions::disabled_transformations)
      .def_rw("transformations_configuration", &ModelOptions::transformations_configuration)
      .def("set_dialect",
           [](ModelOptions& options, const std::string& name) { options.dialect = DialectNamed(name); })
      .def(
          "set_lenient",
          [](ModelOptions& options, std::optional<bool> lenient) { options.reading = ReadingOf(lenient); },
          nb::arg("lenient").none())
      .def(
          "set_data",
          [](ModelOptions& options, nb::dict data) { options.data = ToTensors(data, "variable"); },
          nb::sig("def set_data(self, data: dict[str, typing.Any]) -> None"));
  nb::class_<LintOptions>(module, "LintOptions")
      .def(nb::init<>())
      .def_rw("enabled", &LintOptions::enabled)
      .def_rw("disabled", &LintOptions::disabled)
      .def_rw("levels", &LintOptions::levels)
      .def_rw("configuration", &LintOptions::configuration)
      .def_rw("ignores_configurations", &LintOptions::ignores_configurations);
}

void BindDocuments(nb::module_& module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  module.def("version", &api::Version);
  module.def("check", &api::Check, nb::arg("path"), nb::arg("options"), Unlocked());
  module.def("check_text", &api::CheckText, nb::arg("name"), nb::arg("text"), nb::arg("options"), Unlocked());
  module.def("lint", &api::Lint, nb::arg("path"), nb::arg("lint"), nb::arg("options"), Unlocked());
  module.def("lint_text", &api::LintText, nb::arg("name"), nb::arg("text"), nb::arg("lint"),
             nb::arg("options"), Unlocked());
  module.def(
      "format",
      [](const std::string& name, nb::bytes bytes, const std::string& dialect) {
        const std::string text(bytes.c_str(), bytes.size());
        return Text([&] { return api::Format(name, text, DialectNamed(dialect)); },
                    "formatting the document");
      },
      nb::arg("name"), nb::arg("text"), nb::arg("dialect"),
      nb::sig("def format(name: str, text: bytes, dialect: str) -> tuple[str, Report]"));
}

}  // namespace

nb::tuple ToTuple(const api::Port& port) {
  nb::object shape = nb::none();
  if (port.shape) {
    nb::list extents;
    for (int64_t extent : *port.shape) extents.append(extent < 0 ? nb::none() : nb::object(nb::int_(extent)));
    shape = nb::tuple(extents);
  }
  return nb::make_tuple(ToText(port.name), std::string(Name(port.type)), shape);
}

nb::list ToList(const std::vector<api::Port>& ports) {
  nb::list list;
  for (const api::Port& port : ports) list.append(ToTuple(port));
  return list;
}

void BindModel(nb::module_& module) {
  BindOptions(module);
  BindDocuments(module);
  nb::class_<Model>(module, "Model")
      .def(
          "inputs", [](const Model& model) { return ToList(model.inputs()); },
          nb::sig("def inputs(self) -> list[typing.Any]"))
      .def(
          "outputs", [](const Model& model) { return ToList(model.outputs()); },
          nb::sig("def outputs(self) -> list[typing.Any]"))
      .def("operations", &Operations, nb::sig("def operations(self) -> list[typing.Any]"))
      .def("variables", &Variables, nb::sig("def variables(self) -> list[typing.Any]"))
      .def("read_variable", &ReadVariable, nb::arg("label"),
           nb::sig("def read_variable(self, label: str) -> typing.Any"))
      .def(
          "upgrade",
          [](const Model& model) { return Text([&] { return model.Upgrade(); }, "upgrading the model"); },
          nb::sig("def upgrade(self) -> tuple[str, Report]"))
      .def(
          "expand",
          [](const Model& model, const std::vector<std::string>& lower) {
            return Text([&] { return model.Expand(lower); }, "expanding the model");
          },
          nb::arg("lower"),
          nb::sig("def expand(self, lower: collections.abc.Sequence[str]) -> tuple[str, Report]"))
      .def(
          "lower",
          [](const Model& model) { return Text([&] { return model.Lower(); }, "lowering the model"); },
          nb::sig("def lower(self) -> tuple[str, Report]"))
      .def(
          "draw",
          [](const Model& model, const std::string& form, bool costs, bool weights,
             const std::string& profile) {
            const auto drawing = form == "html"  ? api::DrawingForm::kHtml
                                 : form == "dot" ? api::DrawingForm::kDot
                                 : form == "svg" ? api::DrawingForm::kSvg
                                                 : api::DrawingForm::kJson;
            const api::DrawingOptions options{.costs = costs, .weights = weights, .profile = profile};
            return Text([&] { return model.Draw(drawing, options); }, "drawing the model");
          },
          nb::arg("form"), nb::arg("costs"), nb::arg("weights") = false, nb::arg("profile") = "",
          nb::sig("def draw(self, form: str, costs: bool, weights: bool = False, profile: str = '') -> "
                  "tuple[str, Report]"))
      .def("write_nnef", &Model::WriteNnef, nb::arg("folder"), nb::call_guard<nb::gil_scoped_release>())
      .def("write_openvino", &Model::WriteOpenVino, nb::arg("path"), nb::call_guard<nb::gil_scoped_release>())
      .def("to_openvino", &ToOpenVino, nb::sig("def to_openvino(self) -> tuple[str, int, list[typing.Any]]"))
      .def("compile", &Compile, nb::arg("backend"), nb::arg("precision"), nb::arg("threads"),
           nb::arg("max_memory"), nb::arg("plan_cache"), nb::arg("tune"),
           nb::sig("def compile(self, backend: str, precision: str, threads: int, max_memory: int, "
                   "plan_cache: str, tune: bool) -> tuple[Executable, Report]"));
  module.def("open", &Open, nb::arg("path"), nb::arg("options"),
             nb::sig("def open(path: str, options: ModelOptions) -> tuple[Model, Report]"));
  module.def("open_text", &OpenText, nb::arg("name"), nb::arg("text"), nb::arg("options"),
             nb::sig("def open_text(name: str, text: str, options: ModelOptions) -> tuple[Model, Report]"));
}

}  // namespace nnefc::python
