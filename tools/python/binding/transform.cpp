#include "tools/python/binding/transform.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "tools/python/binding/report.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using transform::Names;
using transform::Phase;

// An object of Python that any thread may hold and let go, also once the interpreter has ended.
using Held = std::shared_ptr<nb::object>;

Held Hold(nb::object object) {
  return Held(new nb::object(std::move(object)), [](nb::object* held) {
    if (!nb::is_alive()) return;  // what is left goes with the process
    const nb::gil_scoped_acquire locked;
    delete held;
  });
}

Phase PhaseNamed(const std::string& name) {
  if (name == "middle") return Phase::kMiddle;
  return name == "back" ? Phase::kBack : Phase::kFront;
}

// What a transformation of Python says of itself; see nnefc/mo/adapter.py.
struct Facts {
  Phase phase = Phase::kFront;
  std::string kind;
  Names before;
  Names after;
};

template <typename T>
T Fact(const nb::object& adapter, const char* name) {
  return nb::cast<T>(adapter.attr(name));
}

// A transformation whose hooks are in Python, of the kind that `Base` is.
template <typename Base>
class PythonTransformation : public Base {
 public:
  template <typename... Args>
  explicit PythonTransformation(const nb::object& adapter, const Args&... args)
      : Base(args...), adapter_(Hold(adapter)) {
    this->id = Fact<std::string>(adapter, "id");
    this->enabled = Fact<bool>(adapter, "enabled");
    this->run_not_recursively |= Fact<bool>(adapter, "run_not_recursively");
    this->force_clean_up = Fact<bool>(adapter, "force_clean_up");
    this->force_shape_inference = Fact<bool>(adapter, "force_shape_inference");
    this->plugin = Fact<std::string>(adapter, "file");
    facts_ = {.phase = PhaseNamed(Fact<std::string>(adapter, "phase")),
              .kind = Fact<std::string>(adapter, "kind"),
              .before = Fact<Names>(adapter, "before"),
              .after = Fact<Names>(adapter, "after")};
  }
  Phase phase() const override { return facts_.phase; }
  std::string_view kind() const override { return facts_.kind; }
  Names RunBefore() const override { return facts_.before; }
  Names RunAfter() const override { return facts_.after; }

 protected:
  // Lets Python act; what it raises comes back as a text, and is an Error here.
  template <typename Arguments>
  void Act(transform::Graph& graph, Arguments make) {
    std::string wrong;
    {
      const nb::gil_scoped_acquire locked;
      // Python owns the view, which it may keep for longer.
      const nb::object view = nb::cast(new GraphView(graph), nb::rv_policy::take_ownership);
      try {
        wrong = Run(view, make());
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      nb::cast<GraphView&>(view).Close();
    }
    if (!wrong.empty()) throw transform::Error("{}", wrong);
  }

 private:
  std::string Run(const nb::object& view, const nb::object& match) {
    const nb::object log = nb::cpp_function([this](const std::string& text) { this->log(text); });
    const nb::object warn = nb::cpp_function([this](const std::string& text) { this->warn(text); });
    const nb::object told = adapter_->attr("transform")(view, match, log, warn);
    return nb::cast<std::string>(told);
  }

  Held adapter_;
  Facts facts_;
};

class PythonPlain : public PythonTransformation<transform::Transformation> {
 public:
  using PythonTransformation::PythonTransformation;
  void FindAndReplacePattern(transform::Graph& graph) override {
    Act(graph, [] { return nb::none(); });
  }
};

class PythonGeneral : public PythonTransformation<transform::FrontReplacementFromConfigFileGeneral> {
 public:
  using PythonTransformation::PythonTransformation;

 protected:
  void TransformGraph(transform::Graph& graph, const ir::AttributeMap& custom_attributes) override {
    Act(graph, [&] { return ToDict(custom_attributes); });
  }
};

nb::object PortOf(const transform::Port& port) {
  return nb::make_tuple(port.node().id().index, port.index());
}

// What nnefc.mo makes a SubgraphMatch of.
nb::dict Parts(const transform::SubgraphMatch& match) {
  nb::list nodes;
  for (const transform::Node& node : match.nodes()) nodes.append(node.id().index);
  nb::list names;
  for (const std::string& name : match.matched_nodes_names()) names.append(ToText(name));
  nb::list inputs;
  for (size_t i = 0; i < match.inputs_count(); ++i) {
    nb::list ports;
    for (const transform::Port& port : match.input_nodes(i)) ports.append(PortOf(port));
    inputs.append(ports);
  }
  nb::list outputs;
  for (size_t i = 0; i < match.outputs_count(); ++i) outputs.append(PortOf(match.output_node(i)));
  nb::dict parts;
  parts["scope"] = ToText(match.scope());
  parts["nodes"] = nodes;
  parts["names"] = names;
  parts["inputs"] = inputs;
  parts["outputs"] = outputs;
  parts["custom_attributes"] = ToDict(match.custom_attributes());
  return parts;
}

class PythonSubGraph : public PythonTransformation<transform::FrontReplacementFromConfigFileSubGraph> {
 public:
  using PythonTransformation::PythonTransformation;

 protected:
  void ReplaceSubGraph(transform::Graph& graph, const transform::SubgraphMatch& match) override {
    Act(graph, [&] { return Parts(match); });
  }
};

std::unique_ptr<transform::Transformation> Make(const nb::object& make_adapter) {
  const nb::object adapter = make_adapter();
  const auto driven_by = Fact<std::string>(adapter, "driven_by");
  const auto replacement_id = Fact<std::string>(adapter, "replacement_id");
  if (driven_by == "sub_graph") return std::make_unique<PythonSubGraph>(adapter, replacement_id);
  if (driven_by == "general") return std::make_unique<PythonGeneral>(adapter, replacement_id);
  return std::make_unique<PythonPlain>(adapter);
}

// What the next model that this thread opens takes its transformations from: functions that each
// make the adapter of one. Python sets it right before each.
thread_local std::vector<Held> chosen;

void Register(plugin::Registrar& registrar) {
  for (const Held& held : chosen) {
    registrar.AddTransformation([held]() -> std::unique_ptr<transform::Transformation> {
      const nb::gil_scoped_acquire locked;
      try {
        return Make(*held);
      } catch (const nb::python_error& error) {  // which goes while the interpreter is held
        throw transform::Error("{}", nb::cast<std::string>(nb::str(error.value())));
      } catch (const std::exception& error) {
        throw transform::Error("{}", error.what());
      }
    });
  }
}

void Choose(nb::list makers) {
  chosen.clear();
  for (nb::handle maker : makers) chosen.push_back(Hold(nb::borrow(maker)));
}

}  // namespace

void BindTransformations(nb::module_& module) {
  BindTransformGraph(module);
  module.def(
      "choose_transformations", &Choose, nb::arg("makers"),
      nb::sig("def choose_transformations(makers: list[collections.abc.Callable[[], object]]) -> None"));
}

}  // namespace nnefc::python

// The module is a plug-in too, which brings the transformations that Python chose.
NNEFC_EXTENSION(registrar) {
  nnefc::python::Register(registrar);
}
