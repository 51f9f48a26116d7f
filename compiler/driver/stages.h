#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/compile_options.h"
#include "compiler/driver/data/quantization.h"
#include "compiler/expand/expand.h"
#include "compiler/expand/instances.h"
#include "compiler/ir/graph.h"
#include "compiler/package/model.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"
#include "compiler/transform/pipeline/pipeline.h"
#include "compiler/transform/pipeline/target_pipeline.h"

namespace nnefc::driver {

// The stages, in execution order.
enum class Stage : uint8_t { kOpen, kParse, kCheck, kExpand, kLower };
// Returns the name of a stage in messages and options, such as "expand".
std::string_view Name(Stage stage);

// Each stage makes an immutable value from those of the stages before. The value has the diagnostics of its
// stage, which are also emitted to the context. After an error it is incomplete: the parts that depend on the
// error are absent. An artefact that a later stage contains is moved there.

// An open model.
struct [[nodiscard]] Opened {
  // The container of a document; null if the model is a graph or could not be opened.
  std::unique_ptr<const package::ModelContainer> model;
  // The texts of the document and of graph.quant: the model's own, or their replacements.
  FileId graph_text;
  std::optional<FileId> quantization_text;
  // The graph of a model in another format than NNEF. A graph of OpenVINO operations is moved to `Lowered`.
  std::shared_ptr<ir::Graph> graph;
  bool complete = false;
  bool environment_failed = false;  // a file cannot be opened
  std::vector<Diagnostic> diagnostics;
};
// Opens the file or folder `path`. Operations of graphs are added to `registry`.
Opened OpenModel(const std::string& path, ModelFormat format, const CompileOptions& options,
                 ir::OpRegistry& registry, Context& context);

// A parsed document in which resources of the model are replaced by their values.
struct [[nodiscard]] Parsed {
  std::unique_ptr<const ast::Document> document;  // moved to `Checked`
  bool complete = false;
  std::vector<Diagnostic> diagnostics;
};
// Parses the document of an open model.
Parsed ParseModel(const Opened& opened, const CompileOptions& options, Context& context);

// A checked document. Its syntax tree is moved from `parsed`.
struct [[nodiscard]] Checked {
  std::unique_ptr<const semantics::CheckedDocument> document;
  bool complete = false;
  std::vector<Diagnostic> diagnostics;
};
// Checks the parsed document.
Checked CheckModel(Parsed& parsed, const CompileOptions& options, Context& context);

// A graph of NNEF operations with its quantization.
struct [[nodiscard]] Expanded {
  // The expansion of the document; see TrySymbols and Quantize for its variants.
  expand::ExpandedDocument document;
  // The content of graph.quant.
  ModelQuantization quantization;
  // The instantiations of the document's fragments (CompileOptions::keep_instances).
  expand::InstanceRecord record;
  bool complete = false;
  std::vector<Diagnostic> diagnostics;
};
// Expands the checked document. Custom operations are added to `registry`.
Expanded ExpandModel(const Opened& opened, const Checked& checked, const CompileOptions& options,
                     ir::OpRegistry& registry, Context& context);

// A graph of OpenVINO operations after all transformations.
struct [[nodiscard]] Lowered {
  std::shared_ptr<const ir::Graph> graph;  // null after an error
  // The transformations with their reports; nothing if their selection has an error.
  std::shared_ptr<const transform::TransformationList> transformations;
  std::optional<transform::Pipeline> pipeline;
  // The transformations for plans of the graph; null if their selection has an error.
  std::shared_ptr<transform::TargetPipeline> target;
  bool complete = false;
  bool environment_failed = false;  // the configuration of transformations cannot be read
  std::vector<Diagnostic> diagnostics;
};
// Lowers a document. The transformations of the front phase change a copy of its graph.
Lowered LowerModel(const Opened& opened, const Checked& checked, const Expanded& expanded,
                   const CompileOptions& options, Context& context);
// Transforms a graph of OpenVINO operations, which is moved from `opened`. The text form of a graph may also
// contain NNEF operations; these are lowered, without data of variables.
Lowered LowerOpenedGraph(Opened& opened, ModelFormat format, const CompileOptions& options, Context& context);

// Returns the lowered graph without operations that only nnefc executes; null after an error.
[[nodiscard]] std::shared_ptr<const ir::Graph> MakeOpenVinoForm(const Lowered& lowered,
                                                                const CompileOptions& options,
                                                                Context& context);

// Returns the transformations of nnefc and the plug-ins, configured and enabled by the options and the
// environment. Returns nothing after an error was emitted; `environment_failed` is set if the configuration
// cannot be read.
[[nodiscard]] std::optional<transform::TransformationList> MakeTransformations(
    const TransformOptions& options, const plugin::Plugins& plugins, Context& context,
    bool& environment_failed);

}  // namespace nnefc::driver
