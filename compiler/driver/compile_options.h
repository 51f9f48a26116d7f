#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/renames.h"
#include "compiler/expand/expand.h"
#include "compiler/ir/algorithms/fold.h"
#include "compiler/package/model.h"
#include "compiler/plugin/plugins.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "compiler/transform/pipeline/pipeline.h"

namespace nnefc::driver {

// An in-memory text with the name that messages use for it.
struct NamedText {
  std::string name;
  std::string text;
};

// The selection of transformations, in addition to their own defaults and the environment; names are those of
// transform::Names.
struct TransformOptions {
  std::vector<std::string> enabled;
  std::vector<std::string> disabled;
  // The configuration file for transformations of the front phase; "" for none.
  std::string configuration;
  transform::PipelineOptions pipeline;
};

// Changes of the graph of NNEF operations for a device that lacks some (compiler/device).
struct Adaptation {
  // Standard compounds that are expanded in addition to CompileOptions::lower.
  std::vector<std::string> compounds;
  // Replaces attribute values in the expanded graph; null for none.
  std::function<void(ir::Graph&)> replace_attributes;

  bool empty() const { return compounds.empty() && replace_attributes == nullptr; }
};

struct CompileOptions {
  // The dialect; without a value the document's own declaration decides.
  std::optional<ast::Dialect> dialect;
  // The treatment of exporters' deviations from the specification: rejected or reported.
  semantics::Leniency leniency = semantics::Leniency::kAuto;
  // The selected graph of a document with several.
  std::optional<std::string> graph;
  // Shapes that override those of externals.
  std::map<std::string, Shape> input_shapes;
  // New names of inputs and outputs of the lowered graph.
  Renames renames;
  // The purpose of the model, a restriction of its valid content.
  expand::Purpose purpose = expand::Purpose::kExecute;
  // Standard compounds to expand: names, or "all".
  std::vector<std::string> lower;
  Adaptation adaptation;
  // Quantize each tensor that the model's graph.quant file names right after it is computed (R 7.1, P 7.1).
  bool quantize = false;
  // The lowered graph runs in nnefc, not in OpenVINO (LowerOptions::keeps_exact_operations).
  bool executes = false;
  // The seed of random data for variables without data.
  std::optional<uint64_t> random_weights;
  // Accept variables without data; the result can be written but not run.
  bool structure_only = false;
  // Record the arguments of instantiated fragments (Expanded::instances).
  bool keep_instances = false;
  // Verify the graph after each stage and each transformation.
  bool verify = false;
  TransformOptions transform;
  // Folds constants; null leaves that to the runtime of the model.
  ir::Evaluator evaluate;
  // The loaded plug-ins, never null. Their diagnostics are reported when the model is opened.
  std::shared_ptr<const plugin::Plugins> plugins = std::make_shared<plugin::Plugins>();
  // Options for opening the model: the limit on the unpacked size of an archive, and whether the data of
  // variables will be read.
  package::ModelOpenOptions open;
  // Texts that replace those of the model's files, by their names in messages: unsaved text of an editor, or
  // the result of a proposed change.
  std::map<std::string, std::string> texts;
  // The text of the model's document; messages refer to it by the path.
  std::optional<std::string> document;
  // The data of the document's variables, by label.
  std::map<std::string, TensorValue> data;
  // The graph.quant file of the document.
  std::optional<NamedText> quantization;
  // The maximum number of reported errors; further ones are only counted.
  size_t error_limit = 100;
  Limits limits;
};

// The kind of a model, derived from the suffix of its path.
enum class ModelFormat : uint8_t {
  kNnef,       // a document, a folder or an archive
  kOpenVino,   // `.xml`: OpenVINO IR
  kGraphText,  // `.ir`: the text form of a graph, of NNEF or of OpenVINO operations
};
ModelFormat FormatOf(std::string_view path);

}  // namespace nnefc::driver
