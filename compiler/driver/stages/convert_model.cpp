// Conversion of an OpenVINO model to a ratified NNEF document with the data of its variables.

#include "compiler/driver/stages/convert_model.h"

#include "compiler/driver/rules.h"
#include "compiler/expand/print/flat.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/package/members.h"
#include "compiler/package/model_folder.h"
#include "compiler/raise/raise.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::driver {

namespace {

// Returns true if an input of shape `open` accepts tensors of shape `given`.
bool Accepts(const ir::PartialShape& open, const Shape& given) {
  if (!open.rank_known()) return true;
  return open.rank() == static_cast<int64_t>(given.size()) &&
         llvm::all_of(llvm::zip(open.dims(), given), [](const auto& each) {
           return std::get<0>(each).Compatible(ir::Dim(std::get<1>(each)));
         });
}

// Sets the shapes of inputs. Emits an error and returns false if an input does not exist or accepts another
// shape only.
bool SetShapes(ir::Graph& graph, const std::map<std::string, Shape>& shapes, Emitter& emitter) {
  for (const auto& [name, shape] : shapes) {
    const auto found =
        llvm::find_if(graph.parameters(), [&](ir::NodeId id) { return graph.node(id).name() == name; });
    if (found == graph.parameters().end()) {
      emitter.Emit(kInputUnknown, {}, "the graph has no input `{}`", name);
      return false;
    }
    const ir::Node& node = graph.node(*found);
    if (!Accepts(node.output().shape, shape)) {
      emitter.Emit(kInputShape, node.origin().range,
                   "the input `{}` has the shape {}, which {} does not match", name,
                   ir::ToString(node.output().shape), ToString(shape));
      return false;
    }
    const ir::PartialShape known{llvm::ArrayRef<int64_t>(shape)};
    graph.SetAttribute(*found, "shape", known);
    graph.SetOutputType({*found, 0}, node.output().type, known);
  }
  return true;
}

// Infers a graph again, and computes the values of shapes and axes that inference does not.
bool InferWithValues(ir::Graph& graph, const ir::Evaluator& evaluate, Emitter& emitter) {
  constexpr size_t kMaxBytes = 4096;
  const auto order = ir::TopologicalOrder(graph);
  NNEFC_CHECK(order.has_value());
  for (ir::NodeId id : *order) {
    if (!ir::InferNode(graph, id, emitter)) return false;
    const ir::Node& node = graph.node(id);
    const bool has_values =
        llvm::all_of(node.outputs(), [](const ir::Output& output) { return output.value.has_value(); });
    if (has_values || !ir::IsFoldable(node)) continue;
    const auto inputs = ir::KnownInputs(graph, node, {.bytes = kMaxBytes, .times_inputs = 0});
    const auto values = inputs && !inputs->empty() ? evaluate(node, node.outputs(), *inputs) : std::nullopt;
    for (int32_t i = 0; values && i < node.num_outputs(); ++i)
      graph.SetOutputValue({id, i}, (*values)[static_cast<size_t>(i)]);
  }
  return true;
}

bool HasUnknownShapes(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) {
    return llvm::any_of(graph.node(id).outputs(),
                        [](const ir::Output& output) { return !output.shape.known(); });
  });
}

// Returns the document in the canonical style of `fmt`.
std::string InStyle(const std::string& text, Context& context) {
  const FileId file = context.sources.AddText("converted", text);
  return ast::PrintDocument(*ast::ParseDocument(file, {.dialect = ast::Dialect::kRatified}, context),
                            context);
}

// Checks the document, in strict mode unless it is for tract. Emits the first error as an internal one and
// returns false if it is invalid.
bool CheckConverted(const ConvertedModel& model, semantics::Leniency leniency, Compilation& compilation) {
  CompileOptions options;
  options.dialect = ast::Dialect::kRatified;
  options.leniency = leniency;
  options.document = model.document;
  options.data = model.data;
  options.limits = compilation.context().limits;
  Compilation check("converted", std::move(options));
  if (check.RunUntil(Stage::kExpand)) return true;
  for (const Diagnostic& diagnostic : check.context().emitter.diagnostics()) {
    if (diagnostic.severity != Severity::kError) continue;
    compilation.context().emitter.Emit(
        kGraphInvalid, {}, "a fault of nnefc, not of the model: the converted document is invalid: {}",
        diagnostic.message);
    break;
  }
  return false;
}

}  // namespace

std::optional<ConvertedModel> ConvertModel(Compilation& compilation, const ConvertOptions& options) {
  Context& context = compilation.context();
  // A document has a lowered graph; a model of another format has OpenVINO operations from the start.
  const ir::Graph* graph = compilation.lowered() ? compilation.lowered().get() : &compilation.graph();
  std::unique_ptr<ir::Graph> inferred;
  const bool is_renamed = compilation.lowered() != nullptr || compilation.renames().empty();
  if (!is_renamed || !options.input_shapes.empty() || HasUnknownShapes(*graph)) {
    inferred = ir::Clone(*graph);
    if (!is_renamed && !RenamePorts(*inferred, compilation.renames(), context.emitter)) return std::nullopt;
    if (!SetShapes(*inferred, options.input_shapes, context.emitter) ||
        !InferWithValues(*inferred, options.evaluate, context.emitter))
      return std::nullopt;
    graph = inferred.get();
  }
  std::optional<raise::RaisedGraph> raised =
      raise::RaiseGraph(*graph,
                        {.target = options.target,
                         .evaluate = options.evaluate,
                         .folds_batch_normalization = options.folds_batch_normalization},
                        context);
  if (!raised) return std::nullopt;
  const bool is_for_tract = options.target == raise::Target::kTract;
  const expand::print::PrintedNames names(*raised->graph);
  ConvertedModel model;
  model.document =
      InStyle(expand::print::PrintFlatDocument(*raised->graph, compilation.library(), context.symbols, names,
                                               is_for_tract ? expand::print::DocumentForm::kTract
                                                            : expand::print::DocumentForm::kStandard),
              context);
  model.data = std::move(raised->data);
  for (const auto& [source, name] : raised->names) model.names.emplace_back(source, names.Of(name));
  if (!CheckConverted(model, is_for_tract ? semantics::Leniency::kAuto : semantics::Leniency::kStrict,
                      compilation))
    return std::nullopt;
  return model;
}

ErrorOr<Success> WriteConvertedModel(const ConvertedModel& model, const std::string& folder) {
  const package::ModelFolder files(folder);
  for (const auto& [label, value] : model.data) {
    if (auto written = files.WriteVariable(label, value); !written) return written;
  }
  return files.WriteText(package::kGraphFile, model.document);
}

}  // namespace nnefc::driver
