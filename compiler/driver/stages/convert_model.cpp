// Conversion of an OpenVINO model to an NNEF document with the data of its variables.

#include "compiler/driver/stages/convert_model.h"

#include <algorithm>
#include <set>

#include "compiler/driver/rules.h"
#include "compiler/driver/stages/symbolic_document.h"
#include "compiler/expand/print/flat.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/fold.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/ir/ops/opset/control_flow/unrolled_size.h"
#include "compiler/package/members.h"
#include "compiler/package/model_folder.h"
#include "compiler/raise/names.h"
#include "compiler/raise/raise.h"
#include "compiler/raise/rules.h"
#include "compiler/syntax/parse.h"
#include "compiler/syntax/print.h"
#include "compiler/transform/middle/control_flow/unroll_loops.h"
#include "compiler/transform/middle/einsum.h"
#include "compiler/transform/values.h"
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
// With `keeps_repetition`, not those of tensors that are repeated.
bool InferWithValues(ir::Graph& graph, const ir::Evaluator& evaluate, Emitter& emitter,
                     bool keeps_repetition = false) {
  constexpr size_t kMaxBytes = 4096;
  const auto order = ir::TopologicalOrder(graph);
  NNEFC_CHECK(order.has_value());
  for (ir::NodeId id : *order) {
    if (!ir::InferNode(graph, id, emitter)) return false;
    const ir::Node& node = graph.node(id);
    const bool has_values =
        llvm::all_of(node.outputs(), [](const ir::Output& output) { return output.value.has_value(); });
    if (has_values || !ir::IsFoldable(node) || (keeps_repetition && raise::IsRepetition(graph, node)))
      continue;
    const auto inputs = ir::KnownInputs(graph, node, {.bytes = kMaxBytes, .times_inputs = 0});
    const auto values = inputs && !inputs->empty() ? evaluate(node, node.outputs(), *inputs) : std::nullopt;
    for (int32_t i = 0; values && i < node.num_outputs(); ++i)
      graph.SetOutputValue({id, i}, (*values)[static_cast<size_t>(i)]);
  }
  return true;
}

// Changes a graph by `change(view)`, removes dead nodes, and infers it again. Emits an error and returns
// false if it is invalid.
template <typename Change>
bool ChangeAndInfer(ir::Graph& graph, const ir::Evaluator& evaluate, Emitter& emitter, const Change& change) {
  transform::Graph view(graph, evaluate);
  change(view);
  view.CleanUp();
  view.Finish();
  return InferWithValues(graph, evaluate, emitter);
}

// Replaces loops by their iterations.
void Unroll(transform::Graph& graph) {
  transform::middle::UnrollKnownLoops(graph,
                                      {.max_in_all = raise::kMaxUnrolledNodes, .copies_results = true});
}

bool HasLoops(const ir::Graph& graph) {
  return llvm::any_of(graph.nodes(), [&](ir::NodeId id) { return ir::ops::opset::IsLoop(graph.node(id)); });
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
    Emitter& emitter = compilation.context().emitter;
    if (diagnostic.rule->label.starts_with("limit.")) {  // the user's own
      emitter.Emit(*diagnostic.rule, {}, "the converted document exceeds a limit: {}", diagnostic.message);
    } else {
      emitter.Emit(kGraphInvalid, {},
                   "a fault of nnefc, not of the model: the converted document is invalid: {}",
                   diagnostic.message);
    }
    break;
  }
  return false;
}

// Raises a graph and prints it; the document is not checked.
std::optional<ConvertedModel> RaiseModel(const ir::Graph& graph, Compilation& compilation,
                                         const ConvertOptions& options, bool keeps_repetition = false) {
  Context& context = compilation.context();
  std::optional<raise::RaisedGraph> raised =
      raise::RaiseGraph(graph,
                        {.target = options.target,
                         .evaluate = options.evaluate,
                         .folds_batch_normalization = options.folds_batch_normalization,
                         .unrolls = options.unrolls,
                         .keeps_repetition = keeps_repetition},
                        context);
  if (!raised) return std::nullopt;
  const expand::print::DocumentForm form = options.target == raise::Target::kTract
                                               ? expand::print::DocumentForm::kTract
                                               : expand::print::DocumentForm::kStandard;
  const expand::print::PrintedNames names(*raised->graph);
  ConvertedModel model;
  std::set<std::string> inner_names;
  const std::string text =
      options.has_fragments
          ? expand::print::PrintDocumentWithFragments(*raised->graph, compilation.library(), context.symbols,
                                                      names, form, inner_names)
          : expand::print::PrintFlatDocument(*raised->graph, compilation.library(), context.symbols, names,
                                             form);
  model.document = InStyle(text, context);
  model.data = std::move(raised->data);
  for (const auto& [source, name] : raised->names) {
    std::string printed(names.Of(name));
    if (!inner_names.contains(printed)) model.names.emplace_back(source, std::move(printed));
  }
  return model;
}

// An open extent of an input: its name, axis, and the symbol that stands for it.
struct OpenExtent {
  std::string input;
  int64_t axis = 0;
  std::string symbol;
};

// Returns the open extents of the inputs without symbols; nothing if one has an unknown rank or a bound,
// which symbols have not.
std::optional<std::vector<OpenExtent>> OpenExtents(const ir::Graph& graph) {
  std::vector<OpenExtent> open;
  for (ir::NodeId id : graph.parameters()) {
    const ir::Node& node = graph.node(id);
    const ir::PartialShape& shape = node.output().shape;
    if (!shape.rank_known()) return std::nullopt;
    for (int64_t axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis].known()) continue;
      if (shape[axis].max != ir::Dim::kUnbounded) return std::nullopt;
      open.push_back({.input = node.name(), .axis = axis, .symbol = ""});
    }
  }
  return open;
}

// The group of each extent. Extents of a group are equal.
using Groups = std::vector<size_t>;

// Appends the partitions that begin with `groups`.
void AppendPartitions(Groups& groups, size_t count, std::vector<Groups>& all) {
  if (groups.size() == count) {
    all.push_back(groups);
    return;
  }
  const size_t used = groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
  for (size_t group = 0; group <= used; ++group) {
    groups.push_back(group);
    AppendPartitions(groups, count, all);
    groups.pop_back();
  }
}

// Returns the partitions of the extents in order of preference: a group for each extent, a
// group for each axis and, for few extents, all others, those of more groups first.
std::vector<Groups> Partitions(const std::vector<OpenExtent>& open) {
  constexpr size_t kMaxExtents = 6;
  std::vector<Groups> partitions(2);
  std::map<int64_t, size_t> axes;
  for (const OpenExtent& each : open) {
    partitions[0].push_back(partitions[0].size());
    partitions[1].push_back(axes.try_emplace(each.axis, axes.size()).first->second);
  }
  std::vector<Groups> others;
  Groups groups;
  if (open.size() <= kMaxExtents) AppendPartitions(groups, open.size(), others);
  const auto count = [](const Groups& each) { return *std::max_element(each.begin(), each.end()); };
  std::stable_sort(others.begin(), others.end(),
                   [&](const Groups& one, const Groups& other) { return count(one) > count(other); });
  partitions.insert(partitions.end(), others.begin(), others.end());
  return partitions;
}

// Names the symbols of the groups: `N` and `N1` for one group along an axis, otherwise by the first extent.
void SetSymbols(std::vector<OpenExtent>& open, const Groups& groups) {
  for (size_t i = 0; i < open.size(); ++i) {
    const auto first =
        static_cast<size_t>(std::find(groups.begin(), groups.end(), groups[i]) - groups.begin());
    bool is_axis = true;
    for (size_t j = 0; j < open.size(); ++j)
      is_axis = is_axis && (groups[j] == groups[i]) == (open[j].axis == open[i].axis);
    const OpenExtent& named = open[first];
    open[i].symbol = !is_axis            ? fmt::format("N_{}_{}", raise::Identifier(named.input), named.axis)
                     : open[i].axis == 0 ? "N"
                                         : fmt::format("N{}", open[i].axis);
  }
}

// Returns the graph for extents of the symbols, or null if they contradict each other.
std::unique_ptr<ir::Graph> WithExtents(const ir::Graph& graph, const std::vector<OpenExtent>& open,
                                       const std::map<std::string, int64_t>& extents,
                                       const ir::Evaluator& evaluate) {
  std::map<std::string, Shape> shapes;
  for (ir::NodeId id : graph.parameters()) {
    const ir::Node& node = graph.node(id);
    if (node.output().shape.known()) continue;
    Shape& shape = shapes[node.name()];
    for (ir::Dim dim : node.output().shape.dims()) shape.push_back(dim.known() ? dim.value() : 0);
  }
  for (const OpenExtent& each : open)
    shapes.at(each.input)[static_cast<size_t>(each.axis)] = extents.at(each.symbol);
  std::unique_ptr<ir::Graph> known = ir::Clone(graph);
  Emitter quiet;
  const bool is_valid =
      SetShapes(*known, shapes, quiet) && InferWithValues(*known, evaluate, quiet, /*keeps_repetition=*/true);
  return is_valid ? std::move(known) : nullptr;
}

bool HaveSameData(const ConvertedModel& one, const ConvertedModel& other) {
  return one.data.size() == other.data.size() &&
         llvm::all_of(llvm::zip(one.data, other.data),
                      [](const auto& each) { return std::get<0>(each) == std::get<1>(each); });
}

// Returns sample extents: a base, for each symbol two others, and others for all at once. The first ones are
// prime, so that no sums and products of them are equal by chance; those for all at once are even, so that
// sums of multiples differ from extents that are rounded.
std::vector<std::map<std::string, int64_t>> SampleExtents(const std::vector<OpenExtent>& open) {
  constexpr int64_t kBase[] = {67, 71, 73, 79, 83, 89, 97, 101}, kSmall = 127, kLarge = 1031;
  std::map<std::string, int64_t> base;
  for (const OpenExtent& each : open) base.try_emplace(each.symbol, 0);
  if (base.size() > std::size(kBase)) return {};
  size_t index = 0;
  for (auto& [symbol, extent] : base) extent = kBase[index++];
  std::vector<std::map<std::string, int64_t>> samples{base};
  for (const auto& [symbol, extent] : base) {
    for (int64_t other : {kSmall, kLarge}) {
      samples.push_back(base);
      samples.back()[symbol] = other;
    }
  }
  samples.push_back(base);
  for (auto& [symbol, extent] : samples.back()) extent = 2 * extent + 6;
  return samples;
}

// Converts a graph with open extents for tract, whose symbols stand for them.
std::optional<ConvertedModel> RaiseWithSymbols(const ir::Graph& graph, Compilation& compilation,
                                               const ConvertOptions& options) {
  std::optional<std::vector<OpenExtent>> open = OpenExtents(graph);
  if (!open) return RaiseModel(graph, compilation, options);  // it reports them
  for (const Groups& groups : Partitions(*open)) {
    SetSymbols(*open, groups);
    const auto extents = SampleExtents(*open);
    std::vector<std::unique_ptr<ir::Graph>> graphs;
    for (const auto& each : extents) {
      graphs.push_back(WithExtents(graph, *open, each, options.evaluate));
      if (graphs.back() == nullptr) break;
    }
    if (graphs.empty() || graphs.back() == nullptr) continue;
    std::vector<SampledDocument> samples;
    std::optional<ConvertedModel> model;
    for (size_t i = 0; i < graphs.size(); ++i) {
      std::optional<ConvertedModel> sample =
          RaiseModel(*graphs[i], compilation, options, /*keeps_repetition=*/true);
      if (!sample) return std::nullopt;
      samples.push_back({.extents = extents[i], .text = sample->document});
      if (!model) {
        model = std::move(sample);
      } else if (!HaveSameData(*model, *sample)) {
        break;
      }
    }
    const auto joined = samples.size() == graphs.size() ? JoinSamples(samples) : std::nullopt;
    if (!joined) break;
    model->document = InStyle(*joined, compilation.context());
    return model;
  }
  const ir::Node& input = graph.node(*llvm::find_if(
      graph.parameters(), [&](ir::NodeId id) { return !graph.node(id).output().shape.known(); }));
  compilation.context().emitter.Emit(
      raise::kOpenExtent, input.origin().range,
      "the input `{}` has the shape {}, and the model depends on open extents in another way than by sums of "
      "their multiples, so that no symbols stand for them; set them by `--input-shape {}=..`",
      input.name(), ir::ToString(input.output().shape), input.name());
  return std::nullopt;
}

}  // namespace

std::optional<ConvertedModel> ConvertModel(Compilation& compilation, const ConvertOptions& options) {
  Context& context = compilation.context();
  // A document has a lowered graph; a model of another format has OpenVINO operations from the start.
  const ir::Graph* graph = compilation.lowered() ? compilation.lowered().get() : &compilation.graph();
  std::unique_ptr<ir::Graph> inferred;
  const bool is_renamed = compilation.lowered() != nullptr || compilation.renames().empty();
  const bool unrolls = options.unrolls && HasLoops(*graph);
  const bool replaces_einsums =
      options.target == raise::Target::kRatified && transform::HasOperation(*graph, "opset7", "Einsum");
  if (!is_renamed || !options.input_shapes.empty() || HasUnknownShapes(*graph) || unrolls ||
      replaces_einsums) {
    inferred = ir::Clone(*graph);
    if (!is_renamed && !RenamePorts(*inferred, compilation.renames(), context.emitter)) return std::nullopt;
    if (!SetShapes(*inferred, options.input_shapes, context.emitter) ||
        !InferWithValues(*inferred, options.evaluate, context.emitter))
      return std::nullopt;
    if (unrolls && !ChangeAndInfer(*inferred, options.evaluate, context.emitter, Unroll)) return std::nullopt;
    if (replaces_einsums &&
        !ChangeAndInfer(*inferred, options.evaluate, context.emitter, transform::middle::ReplaceEinsums))
      return std::nullopt;
    graph = inferred.get();
  }
  const bool is_for_tract = options.target == raise::Target::kTract;
  const bool is_open = llvm::any_of(graph->parameters(),
                                    [&](ir::NodeId id) { return !graph->node(id).output().shape.known(); });
  std::optional<ConvertedModel> model = is_for_tract && is_open
                                            ? RaiseWithSymbols(*graph, compilation, options)
                                            : RaiseModel(*graph, compilation, options);
  if (!model ||
      !CheckConverted(*model, is_for_tract ? semantics::Leniency::kAuto : semantics::Leniency::kStrict,
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
