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

// The treatment of deviations from the specification that exporters are known to write: as warnings, as
// errors, or as warnings only if the document was written by such an exporter.
enum class Reading : uint8_t { kAuto, kStrict, kLenient };

struct ModelOptions {
  Dialect dialect = Dialect::kAuto;
  Reading reading = Reading::kAuto;
  // The graph to use if a document has several.
  std::optional<std::string> graph;
  // Shapes of external tensors, overriding those of the document.
  std::map<std::string, std::vector<int64_t>> input_shapes;
  // Quantizes each tensor listed in the model's graph.quant as soon as it is computed (R 7.1, P 7.1). A
  // missing file is an error.
  bool quantize = false;
  // The seed of random data for variables without data.
  std::optional<uint64_t> random_weights;
  // The data of variables by label, for a document in memory.
  Tensors data;
  // Transformations on the way to OpenVINO operations to enable or disable, by their listed names, and the
  // configuration file of the front phase.
  std::vector<std::string> enabled_transformations;
  std::vector<std::string> disabled_transformations;
  std::string transformations_configuration;
  // Plug-ins: shared libraries with transformations, operations and fragments.
  std::vector<std::string> extensions;
  // Limit on the unpacked size of an archive.
  uint64_t max_bytes = uint64_t{16} << 30;
};

// Returns the version of nnefc, such as "0.1.0".
std::string Version();
// Describes the backend and the processor instructions it uses.
std::string DescribeBackend();

// Checks a model against the specification, including expansion and shapes. `path` is a folder, an archive, a
// document or OpenVINO IR (.xml).
Report Check(const std::string& path, const ModelOptions& options = {});
// Checks a document in memory; messages use `name` as its file name.
Report CheckText(const std::string& name, const std::string& text, const ModelOptions& options = {});

// Returns the document in canonical style, with comments.
Outcome<std::string> Format(const std::string& name, const std::string& text,
                            Dialect dialect = Dialect::kAuto);

// Lint rules to enable, disable or change in level: labels, with or without `lint.`, or "all". Levels are
// "error", "warning" and "note".
struct LintOptions {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  std::map<std::string, std::string> levels;
  // Path of the configuration file. If empty, the nearest .nnefc.json in the document's folder or its
  // ancestors is used (for paths only), unless `ignores_configurations` is set.
  std::string configuration;
  bool ignores_configurations = false;
};

// Checks a document and reports constructs that are valid but deprecated, unused or surprising.
Report Lint(const std::string& path, const LintOptions& lint = {}, const ModelOptions& options = {});
Report LintText(const std::string& name, const std::string& text, const LintOptions& lint = {},
                const ModelOptions& options = {});

// A model as OpenVINO IR: the text of the `.xml` file, and the constants by offset in a `.bin` file of that
// size.
struct OpenVinoForm {
  std::string xml;
  std::vector<std::pair<uint64_t, Tensor>> constants;
  uint64_t weights_size = 0;
};

// The forms of a drawing: a self-contained page of HTML for browsers; Graphviz' DOT; JSON as documented in
// tools/api/views/graph_description.h; a picture in SVG, made by Graphviz' program `dot`.
enum class DrawingForm : uint8_t { kHtml, kDot, kJson, kSvg };

// What a drawing shows, other than the graph of the document or file.
struct DrawingOptions {
  bool costs = false;    // the lowered graph, with the costs of each operation
  bool weights = false;  // statistics of the data of variables and constants
  // The JSON that `nnefc run --profile --format json` wrote for the model: a file whose times belong to the
  // operations of the lowered graph, which is drawn; empty without times.
  std::string profile;

  bool is_of_lowered_graph() const { return costs || !profile.empty(); }
};

// A valid model. Copies share it; all functions are thread-safe.
class Model {
 public:
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}

  // Opens a model; `path` as for Check.
  static Outcome<Model> Open(const std::string& path, const ModelOptions& options = {});
  static Outcome<Model> FromText(const std::string& name, const std::string& text,
                                 const ModelOptions& options = {});

  // Ports in document order.
  const std::vector<Port>& inputs() const;
  const std::vector<Port>& outputs() const;

  // Returns the operations of the expanded document, or the layers of OpenVINO IR.
  const std::vector<Operation>& operations() const;
  const std::vector<Variable>& variables() const;
  // Returns the data of a variable by label.
  Outcome<Tensor> ReadVariable(const std::string& label) const;

  // Returns the model as a ratified document, with comments and fragments as far as that dialect can express
  // them.
  Outcome<std::string> Upgrade() const;
  // Writes the ratified document, its `graph.quant` and the tensor files of variables to an existing folder.
  Report WriteNnef(const std::string& folder) const;
  // Returns the model as a flat ratified document. `lower` names standard compounds to expand as well; "all"
  // expands all of them.
  Outcome<std::string> Expand(const std::vector<std::string>& lower = {}) const;
  // Returns the text form of the graph of OpenVINO operations.
  Outcome<std::string> Lower() const;
  // Returns a drawing of the graph of the document, with fragments as groups; or of the lowered graph, an
  // error for unknown extents. The model is read again.
  Outcome<std::string> Draw(DrawingForm form, const DrawingOptions& options = {}) const;
  // Writes OpenVINO IR. `path` must end in .xml; constants are written next to it (.bin).
  Report WriteOpenVino(const std::string& path) const;
  // Returns OpenVINO IR in memory. Its data refer to those of the model.
  Outcome<OpenVinoForm> ToOpenVino() const;
  // Prepares the model for execution.
  Outcome<Executable> Compile(const ExecutableOptions& options = {}) const;

  State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace nnefc::api
