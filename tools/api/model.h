#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/api/executable.h"
#include "tools/api/operation.h"
#include "tools/api/port.h"
#include "tools/api/report.h"

namespace nnefc::api {

enum class Dialect : uint8_t { kAuto, kProvisional, kRatified };

// How is read what exporters write beside the specification: with warnings, as
// errors, or the first where the document bears the marks of an exporter.
enum class Reading : uint8_t { kAuto, kStrict, kLenient };

struct ModelOptions {
  Dialect dialect = Dialect::kAuto;
  Reading reading = Reading::kAuto;
  // The graph to take of a document that has several.
  std::optional<std::string> graph;
  // Shapes of external tensors, instead of those of the document.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  // Each tensor that the model's graph.quant file names is quantized as soon as it is
  // computed (R 7.1, P 7.1); without a file that is a mistake.
  bool quantize = false;
  // The seed of data for variables that have none.
  std::optional<uint64_t> random_weights;
  // The data of variables of a document held in memory, by label.
  Tensors data;
  // Transformations on the way to OpenVINO operations, by the names that they are
  // listed with, that are switched on or off, and the file that drives those of the front phase.
  std::vector<std::string> enabled_transformations;
  std::vector<std::string> disabled_transformations;
  std::string transformations_configuration;
  // Plug-ins: shared libraries with transformations, operations and fragments.
  std::vector<std::string> extensions;
  // Bounds the unpacked size of an archive.
  uint64_t max_bytes = uint64_t{16} << 30;
};

// The version of nnefc: "0.1.0".
std::string Version();
// What computes, and with which instructions of this processor.
std::string DescribeBackend();

// Judges a model by the specification, through expansion and shapes. `path` is a
// folder, an archive, a document or OpenVINO IR (.xml).
Report Check(const std::string& path, const ModelOptions& options = {});
// Judges a document held in memory, which messages call `name`.
Report CheckText(const std::string& name, const std::string& text, const ModelOptions& options = {});

// The document in the one style, comments included.
Outcome<std::string> Format(const std::string& name, const std::string& text,
                            Dialect dialect = Dialect::kAuto);

// Which rules of lint speak, and how loudly: labels, with or without `lint.`, or
// "all"; levels are "error", "warning" and "note".
struct LintOptions {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  std::map<std::string, std::string> levels;
  // The configuration; without it the first .nnefc.json from the document
  // upwards, for a path, unless `ignores_configurations`.
  std::string configuration;
  bool ignores_configurations = false;
};

// Checks a document, and tells what is valid but deprecated, unused or surprising.
Report Lint(const std::string& path, const LintOptions& lint = {}, const ModelOptions& options = {});
Report LintText(const std::string& name, const std::string& text, const LintOptions& lint = {},
                const ModelOptions& options = {});

// A model as OpenVINO IR: the text of the `.xml` file, and the constants by
// their offsets in a `.bin` file of that size.
struct OpenVinoForm {
  std::string xml;
  std::vector<std::pair<uint64_t, Tensor>> constants;
  uint64_t weights_size = 0;
};

// A model without mistakes. Copies share it; all functions may be called by
// several threads.
class Model {
 public:
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // As Check.
  static Outcome<Model> Open(const std::string& path, const ModelOptions& options = {});
  static Outcome<Model> FromText(const std::string& name, const std::string& text,
                                 const ModelOptions& options = {});

  // In the order of the document.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;

  // What the document holds once it is expanded, or the layers of OpenVINO IR.
  const std::vector<Operation>& operations() const;
  const std::vector<Variable>& variables() const;
  // The data of the variable of that label.
  Outcome<Tensor> ReadVariable(const std::string& label) const;

  // The model as a ratified document, comments and fragments included as far as
  // that dialect has a form for them.
  Outcome<std::string> Upgrade() const;
  // The same with its `graph.quant` and the tensor files of variables, in a
  // folder that is there.
  Report WriteNnef(const std::string& folder) const;
  // The model as a flat ratified document. `lower` names standard compounds to
  // expand too, "all" all of them.
  Outcome<std::string> Expand(const std::vector<std::string>& lower = {}) const;
  // The model in the text form of the graph of OpenVINO operations.
  Outcome<std::string> Lower() const;
  // Writes OpenVINO IR: `path` must end in .xml; constants go beside it (.bin).
  Report WriteOpenVino(const std::string& path) const;
  // The same in memory: the data are those of the model, not copies.
  Outcome<OpenVinoForm> ToOpenVino() const;
  // Makes the model ready to run.
  Outcome<Executable> Compile(const ExecutableOptions& options = {}) const;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nnefc::api
