// The Python binding of transformations.

#include "tools/python/binding/transform.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "tools/python/binding/operations.h"
#include "tools/python/binding/report.h"

namespace nnefc::python {
namespace {

namespace nb = nanobind;
using transform::Names;
using transform::Phase;

// A Python object that any thread may hold and release, even after the interpreter has ended.
using Held = std::shared_ptr<nb::object>;

Held Hold(nb::object object) {
  return Held(new nb::object(std::move(object)), [](nb::object* held) {
    if (!nb::is_alive()) return;  // the process frees the rest
    const nb::gil_scoped_acquire locked;
    delete held;
  });
}

// Returns a path as a Python string; it may contain arbitrary bytes.
nb::object PathOf(const std::string& path) {
  return nb::steal(PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size())));
}

// Returns the bytes of a Python string that may contain paths.
std::string TextOf(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) nb::raise_python_error();
  const auto held = nb::borrow<nb::bytes>(bytes);
  return std::string(held.c_str(), held.size());
}

Phase PhaseNamed(const std::string& name) {
  if (name == "middle") return Phase::kMiddle;
  return name == "back" ? Phase::kBack : Phase::kFront;
}

// The attributes of a Python transformation; see nnefc/mo/adapter.py.
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

// A transformation with hooks in Python, derived from the class `Base` of its kind.
template <typename Base>
class PythonTransformation : public Base {
 public:
  template <typename... Args>
  explicit PythonTransformation(const nb::object& adapter, const Args&... args)
      : Base(args...), adapter_(Hold(adapter)) {
    this->id = Fact<std::string>(adapter, "id");
    this->foreign_class = TextOf(adapter.attr("class_name"));
    this->enabled = Fact<bool>(adapter, "enabled");
    this->run_not_recursively |= Fact<bool>(adapter, "run_not_recursively");
    this->force_clean_up = Fact<bool>(adapter, "force_clean_up");
    this->force_shape_inference = Fact<bool>(adapter, "force_shape_inference");
    this->plugin = TextOf(adapter.attr("file"));
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
  // Calls Python. Exceptions become an Error with their text.
  template <typename Arguments>
  void Act(transform::Graph& graph, Arguments make) {
    std::string wrong;
    {
      const nb::gil_scoped_acquire locked;
      // Python owns the view and may keep it longer.
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
    // Returns whether a transformation is enabled, after a change if `enabled` is not None; None if there is
    // none.
    const nb::object switches = nb::cpp_function(
        [this](const std::string& name, std::optional<bool> enabled) -> std::optional<bool> {
          transform::Transformation* found = this->find(name);
          if (found == nullptr) return std::nullopt;
          if (enabled) found->enabled = *enabled;
          return found->enabled;
        },
        nb::arg("name"), nb::arg("enabled").none());
    const nb::object reported = adapter_->attr("transform")(view, match, log, warn, switches);
    return TextOf(reported);
  }

  Held adapter_;
  Facts facts_;
};

nb::object JsonObject(const JsonValue& json) {
  const auto convert = [](const auto& value) -> nb::object {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::nullptr_t>) {
      return nb::none();
    } else if constexpr (std::is_same_v<Value, std::string>) {
      return ToText(value);
    } else if constexpr (std::is_same_v<Value, JsonValue::Items>) {
      nb::list items;
      for (const JsonValue& item : value) items.append(JsonObject(item));
      return items;
    } else if constexpr (std::is_same_v<Value, JsonValue::Members>) {
      nb::dict members;
      for (const JsonValue::Member& member : value) members[ToText(member.key)] = JsonObject(member.value);
      return members;
    } else {
      return nb::cast(value);
    }
  };
  return std::visit(convert, json.value);
}

nb::object CustomAttributes(const transform::ReplacementDescription& entry) {
  const bool has_any = entry.custom_json.get<JsonValue::Members>() != nullptr;
  return has_any ? JsonObject(entry.custom_json) : nb::object(nb::dict());
}

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
  void TransformEntry(transform::Graph& graph, const transform::ReplacementDescription& entry) override {
    Act(graph, [&] { return CustomAttributes(entry); });
  }
};

nb::object PortOf(const transform::Port& port) {
  return nb::make_tuple(port.node().id().index, port.index());
}

// Returns the arguments of a SubgraphMatch of nnefc.mo.
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
  parts["id"] = ToText(match.description().id);
  parts["custom_attributes"] = CustomAttributes(match.description());
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

// Returns the result of `act` with the GIL held. Python exceptions become an Error.
template <typename Action>
auto WithPython(Action act) -> decltype(act()) {
  const nb::gil_scoped_acquire locked;
  try {
    return act();
  } catch (const nb::python_error& error) {  // destroyed while the GIL is held
    throw transform::Error("{}", TextOf(nb::str(error.value())));
  } catch (const std::exception& error) {
    throw transform::Error("{}", error.what());
  }
}

// Loads the contents found in each folder by load_folders of nnefc/mo/adapter.py: a pair of lists, functions
// that create adapters and operations, or an error text.
void LoadFolders(std::vector<plugin::ExtensionFolder>& folders) {
  nb::list paths;
  for (const plugin::ExtensionFolder& folder : folders) paths.append(PathOf(folder.path));
  const nb::object found = nb::module_::import_("nnefc.mo.adapter").attr("load_folders")(paths);
  for (size_t i = 0; i < folders.size(); ++i) {
    const nb::object items = found[i];
    if (nb::isinstance<nb::str>(items)) {
      folders[i].mistake = TextOf(items);
      continue;
    }
    // Functions that create adapters, and operations.
    for (nb::handle operation : items[1]) AddPythonOperation(operation, folders[i]);
    for (nb::handle maker : items[0]) {
      folders[i].transformations.push_back(
          [held = Hold(nb::borrow(maker))] { return WithPython([&] { return Make(*held); }); });
    }
  }
}

}  // namespace

void BindTransformations(nb::module_& module) {
  BindTransformGraph(module);
  BindOperations(module);
}

}  // namespace nnefc::python

// The module is also a plug-in that loads folders of Python transformations.
NNEFC_EXTENSION(registrar) {
  registrar.SetFolderLoader([](std::vector<nnefc::plugin::ExtensionFolder>& folders) {
    nnefc::python::WithPython([&] { nnefc::python::LoadFolders(folders); });
  });
}
