#include "tests/differential/ways.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/driver/compilation.h"
#include "compiler/driver/stages/upgrade_model.h"
#include "compiler/expand/print/flat.h"
#include "compiler/expand/provisional_names.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/lower/lower.h"
#include "compiler/openvino/read.h"
#include "compiler/openvino/write.h"
#include "compiler/package/tensors/npz.h"
#include "compiler/transform/pipeline/standard.h"
#include "compiler/transform/pipeline/target_pipeline.h"
#include "fmt/core.h"
#include "runtime/engine/evaluate.h"
#include "runtime/engine/executable.h"
#include "runtime/fast/register.h"
#include "runtime/onednn/register.h"
#include "tests/differential/provisional.h"

namespace nnefc::differential {

namespace {

using runtime::kernels::Backend;
using runtime::kernels::Precision;

std::string FirstMessage(const Emitter& emitter) {
  return emitter.diagnostics().empty() ? "no message" : emitter.diagnostics().front().message;
}

// Results, or the reason for their absence.
struct Results {
  std::vector<TensorValue> values;
  std::string error;
};

// Returns a function that applies the built-in transformations of the target phase, and verifies the graph
// after each.
runtime::engine::GraphTransformer MakeTransformer() {
  const auto list =
      std::make_shared<const transform::TransformationList>(transform::StandardTransformations());
  Emitter emitter;
  std::optional<transform::Pipeline> pipeline = transform::Pipeline::Make(*list, {.verify = true}, emitter);
  NNEFC_CHECK(pipeline.has_value());
  const auto target = std::make_shared<transform::TargetPipeline>(list, *pipeline);
  return [target](std::vector<std::string> names, const ir::PlanFunctions& functions, ir::Graph& graph,
                  Emitter& reported) {
    // In small graphs f32 takes less time than 8 bits; every second one computes in 8 bits all the same.
    if (graph.num_nodes() % 2 == 0) {
      for (const char* name : {"target.UnmarkSlowRegions", "target.StoreImagesInF32"})
        std::erase(names, name);
    }
    return target->Run(names, functions, graph, reported);
  };
}

Results RunGraph(std::shared_ptr<const ir::Graph> graph, runtime::engine::ExecutableOptions options,
                 const std::vector<TensorValue>& inputs) {
  static const runtime::engine::GraphTransformer kTransformer = MakeTransformer();
  options.transform = kTransformer;
  Emitter emitter;
  std::shared_ptr<const runtime::engine::Executable> executable =
      runtime::engine::Executable::Create(std::move(graph), options, emitter);
  if (executable == nullptr) return {.error = FirstMessage(emitter)};
  std::unique_ptr<runtime::engine::Session> session = runtime::engine::Session::Create(executable);
  runtime::kernels::FaultOr<std::vector<TensorValue>> first = session->Run(inputs);
  if (!first) return {.error = first.error().message};
  // The second run starts with the arena that the first one used.
  runtime::kernels::FaultOr<std::vector<TensorValue>> second = session->Run(inputs);
  if (!second) return {.error = second.error().message};
  if (const std::string difference = FirstDifference(*second, *first); !difference.empty())
    return {.error = "the second run differs from the first: " + difference};
  return {.values = *first};
}

bool IsModest(const ir::Graph& graph) {
  constexpr int64_t kMaxVolume = int64_t{1} << 22;
  return llvm::all_of(graph.nodes(), [&](ir::NodeId id) {
    return llvm::all_of(graph.node(id).outputs(), [](const ir::Output& output) {
      return !output.shape.known() || output.shape.volume().value_or(INT64_MAX) <= kMaxVolume;
    });
  });
}

// Runs one case; each method compares one configuration and stores the first failure.
class CaseRun {
 public:
  CaseRun(const Case& given, const ir::OpRegistry& registry, const runtime::kernels::KernelRegistry& kernels,
          const std::string& folder)
      : case_(given), registry_(registry), kernels_(kernels), folder_(folder), random_(given.seed) {}

  Outcome Export(const std::string& path) {
    Emitter emitter;
    if (!Prepare() || !openvino::CheckWritable(*graph_, emitter)) return {};
    Oracle oracle(*graph_, kernels_, inputs_);
    std::string error;
    const auto expected = oracle.Evaluate(error);
    // OpenVINO has other rules for NaN.
    if (!expected || !oracle.all_finite()) return {};
    const auto bounds = oracle.Bounds(*expected);
    if (!bounds) return {};
    Written(openvino::WriteOpenVino(*graph_, path + ".xml"));
    Written(package::WriteNpz(path + ".inputs.npz", ByIndex(inputs_)));
    Written(package::WriteNpz(path + ".results.npz", ByIndex(*expected)));
    Written(package::WriteNpz(path + ".bounds.npz", ByIndex(*bounds)));
    return outcome_;
  }

  Outcome Run() {
    if (!Prepare()) return outcome_;
    Oracle oracle(*graph_, kernels_, inputs_);
    oracle_ = &oracle;
    std::string error;
    const auto expected = oracle.Evaluate(error);
    const Results reference = RunGraph(graph_, {.backend = Backend::kReference, .threads = 1}, inputs_);
    outcome_.computed = expected.has_value();
    if (!expected) {
      // A node rejects its data, such as an index out of range: the engine must also reject them.
      if (reference.error.empty()) Fail("reference", "computes what a node alone refuses: " + error);
      return outcome_;
    }
    expected_ = *expected;
    Exactly("reference", reference);
    CompareBackends();
    if (Chosen(20)) ComparePrecisions();
    if (Chosen(30)) CompareTransformed();
    if (Chosen(20)) CompareOpenExtents();
    if (Chosen(10)) {
      if (const auto read = ReadBack(graph_)) Exactly("reference, IR read back", *read);
    }
    // A document needs a parameter.
    if (nnef_ != nullptr && !nnef_->parameters().empty()) CompareDocuments();
    if (Chosen(30)) CompareImplementations();
    return outcome_;
  }

 private:
  static std::vector<package::NamedTensor> ByIndex(const std::vector<TensorValue>& values) {
    std::vector<package::NamedTensor> named;
    named.reserve(values.size());
    for (const TensorValue& value : values) named.push_back({std::to_string(named.size()), value});
    return named;
  }
  void Written(const ErrorOr<Success>& done) {
    if (!done) Fail("writing", done.error().message);
  }

  bool Chosen(int percent) { return random_.Chance(percent) || case_.all_ways; }

  bool Prepare() {
    Emitter emitter;
    std::unique_ptr<ir::Graph> graph = Build(case_.recipe, registry_, emitter);
    outcome_.built = graph != nullptr;
    if (graph == nullptr) return false;
    const bool is_nnef =
        llvm::any_of(graph->nodes(), [&](ir::NodeId id) { return graph->node(id).set() == ir::kNnefSet; });
    if (!is_nnef) {
      graph_ = std::move(graph);
    } else {
      Context context;
      nnef_ = std::move(graph);
      graph_ = lower::LowerGraph(*nnef_, {}, context);
      if (graph_ == nullptr) {
        Fail("lowering", FirstMessage(context.emitter));
        return false;
      }
    }
    // Padding between the operations may be too expensive for a test.
    outcome_.built = IsModest(*graph_);
    if (!outcome_.built) return false;
    inputs_ = MakeInputs(*graph_, case_.spread, case_.seed);
    return true;
  }

  void CompareBackends() {
    Nearly("onednn, 1 thread", RunGraph(graph_, {.threads = 1}, inputs_));
    if (Chosen(50)) Nearly("onednn, 2 threads", RunGraph(graph_, {.threads = 2}, inputs_));
    if (Chosen(15)) Nearly("onednn, 3 threads", RunGraph(graph_, {.threads = 3}, inputs_));
    if (Chosen(20)) Nearly("onednn, unfused", RunGraph(graph_, {.threads = 1, .fuse = false}, inputs_));
    if (Chosen(15))
      Exactly("reference, 3 threads",
              RunGraph(graph_, {.backend = Backend::kReference, .threads = 3}, inputs_));
  }

  // Compares the implementations among which `--tune` selects.
  void CompareImplementations() {
    static const runtime::kernels::KernelRegistry kKernels = [] {
      runtime::kernels::KernelRegistry kernels;
      runtime::fast::RegisterFastKernels(kernels, runtime::onednn::OneDnnExtension());
      return kernels;
    }();
    std::set<std::string_view> ids;
    for (ir::NodeId id : graph_->nodes()) {
      const ir::Node& node = graph_->node(id);
      for (std::string_view each : kKernels.Ways(Backend::kFast, node.set(), node.type())) ids.insert(each);
    }
    for (std::string_view id : ids)
      Nearly(fmt::format("onednn, {}", id),
             RunGraph(graph_, {.threads = 1, .way = std::string(id)}, inputs_));
  }

  // bf16 has a low precision: results are not compared where infinities and denormals occur.
  void ComparePrecisions() {
    Nearly("onednn, exact", RunGraph(graph_, {.precision = Precision::kExact, .threads = 1}, inputs_));
    const bool multiplies =
        llvm::any_of(graph_->nodes(), [&](ir::NodeId id) { return graph_->node(id).info().is_heavy(); });
    if (!multiplies || case_.spread == Spread::kSpecial || !oracle_->all_finite()) return;
    const Results found = RunGraph(graph_, {.precision = Precision::kBf16, .threads = 2}, inputs_);
    Compared("onednn, bf16", found,
             [&] { return oracle_->Compare(found.values, expected_, Rounding::kBf16); });
  }

  // Compares the graph after the middle and back phases.
  void CompareTransformed() {
    const std::shared_ptr<ir::Graph> graph = ir::Clone(*graph_);
    transform::PipelineOptions options;
    options.verify = true;
    options.evaluate = runtime::engine::ReferenceEvaluator();
    Emitter emitter;
    const transform::TransformationList list = transform::StandardTransformations();
    const auto order = list.Order(emitter);
    NNEFC_CHECK(order.has_value());
    // Also enables half of the transformations that are disabled by default.
    for (transform::Transformation* item : *order) {
      if (!item->enabled) item->enabled = Chosen(50);
    }
    auto pipeline = transform::Pipeline::Make(list, std::move(options), emitter);
    if (!pipeline || !pipeline->Run(transform::Side::kAfterLowering, *graph, emitter))
      return Fail("transformed", "fails: " + FirstMessage(emitter));
    Nearly("transformed, reference", RunReference(graph));
    Nearly("transformed, onednn", RunGraph(graph, {.threads = 1}, inputs_));
  }

  // Compares the graph with parameters whose extents are known at run time only.
  void CompareOpenExtents() {
    if (nnef_ != nullptr) return;
    BuildOptions options;
    for (size_t i = 0; i < case_.recipe.steps.size(); ++i)
      options.open_axes.push_back(static_cast<uint32_t>(random_.Below(256)));
    Emitter emitter;
    std::shared_ptr<const ir::Graph> open = Build(case_.recipe, registry_, emitter, options);
    if (open == nullptr) return;  // an operation that needs the extent
    Exactly("reference, open extents",
            RunGraph(open, {.backend = Backend::kReference, .threads = 1}, inputs_));
    Nearly("onednn, open extents", RunGraph(open, {.threads = 2}, inputs_));
  }

  // Returns the results of the graph after writing and reading OpenVINO IR; nothing if the graph has no such
  // form.
  std::optional<Results> ReadBack(const std::shared_ptr<const ir::Graph>& graph) const {
    Emitter emitter;
    if (!openvino::CheckWritable(*graph, emitter)) return std::nullopt;
    const std::string path = folder_ + "/net.xml";
    ErrorOr<Success> written = openvino::WriteOpenVino(*graph, path);
    if (!written) return Results{.error = "cannot be written: " + written.error().message};
    Context context;
    ir::OpRegistry registry(&ir::StandardOps());
    ErrorOr<std::unique_ptr<ir::Graph>> read = openvino::ReadOpenVino(path, registry, context);
    if (!read || *read == nullptr || context.emitter.has_errors())
      return Results{.error = "cannot be read: " + FirstMessage(context.emitter)};
    return RunReference(std::move(*read));
  }

  // Compares the printed document of the graph, its expansion, and its lowered compounds.
  void CompareDocuments() {
    const semantics::StandardLibrary& library = semantics::StandardLibrary::Shared();
    const std::string document = expand::print::PrintFlatDocument(*nnef_, library, library.base().symbols);
    CompareDocument("document", document, {});
    // A body may use a power in place of a root.
    if (oracle_->all_finite() && Chosen(40)) CompareDocument("document, --lower all", document, {"all"});
    if (Chosen(30)) CompareProvisional(document);
  }

  void CompareDocument(const std::string& way, const std::string& text,
                       const std::vector<std::string>& options) {
    const std::string path = folder_ + "/net.nnef";
    std::ofstream(path) << text;
    driver::Compilation compilation(
        path, {.lower = options, .executes = options.empty(), .structure_only = true, .verify = true});
    const bool compiled = compilation.RunUntil(driver::Stage::kLower);
    if (!compiled) return Fail(way, "refused: " + FirstMessage(compilation.context().emitter));
    // Operands that enlarge a result are generated on purpose.
    const bool is_silent =
        llvm::all_of(compilation.context().emitter.diagnostics(),
                     [](const Diagnostic& found) { return found.rule->label == "operand.enlarges-result"; });
    if (!is_silent) return Fail(way, "reported: " + FirstMessage(compilation.context().emitter));
    const std::string again = expand::print::PrintFlatDocument(*compilation.expanded(), compilation.library(),
                                                               compilation.context().symbols);
    if (options.empty() && again != text)
      return Fail(way, "expands to another document:\n" + text + "\nand\n" + again);
    const Results reference =
        RunGraph(compilation.lowered(), {.backend = Backend::kReference, .threads = 1}, inputs_);
    // A body may overflow where the compound does not: log(exp(x) + 1).
    if (!options.empty() && !llvm::all_of(reference.values, IsFinite)) return;
    Nearly(way + ", reference", reference);
    Nearly(way + ", onednn", RunGraph(compilation.lowered(), {.threads = 1}, inputs_));
    const std::shared_ptr<const ir::Graph> form = compilation.MakeOpenVinoForm();
    if (form == nullptr) return Fail(way, "has no form for OpenVINO");
    if (form != compilation.lowered()) Nearly(way + ", for OpenVINO", RunReference(form));
  }

  // Compares the document in the provisional dialect, its expansion, its upgrade, and its OpenVINO IR after
  // reading. Much of the ratified dialect has no provisional form, and several compounds have another body
  // there.
  void CompareProvisional(const std::string& document) {
    const std::string text = InProvisionalWords(document);
    driver::Compilation compilation(folder_ + "/net.nnef",
                                    ProvisionalOptions(text, expand::Purpose::kExecute));
    if (!compilation.RunUntil(driver::Stage::kLower)) return;
    const Results found = RunReference(compilation.lowered());
    if (KeepsMeaning(*nnef_)) {
      Nearly("provisional document", found);
    } else if (!found.error.empty()) {
      return;  // another body, for which the data are invalid
    }
    if (!outcome_.way.empty()) return;
    expected_provisional_ = found.values;
    if (const auto read = ReadBack(compilation.lowered()))
      AsProvisional("provisional document, IR read back", *read);
    driver::Compilation printed(folder_ + "/net.nnef", ProvisionalOptions(text, expand::Purpose::kPrint));
    if (!printed.RunUntil(driver::Stage::kExpand)) return;  // no ratified form
    CompareRatified(
        "provisional document, expanded",
        expand::print::PrintFlatDocument(*printed.expanded(), printed.library(), printed.context().symbols));
    CompareRatified("provisional document, upgraded", driver::UpgradeTexts(printed).graph);
  }

  static driver::CompileOptions ProvisionalOptions(const std::string& text, expand::Purpose purpose) {
    return {.dialect = ast::Dialect::kProvisional,
            .purpose = purpose,
            .structure_only = true,
            .keep_instances = purpose == expand::Purpose::kPrint,
            .verify = true,
            .document = text};
  }

  static bool KeepsMeaning(const ir::Graph& graph) {
    return llvm::none_of(graph.nodes(), [&](ir::NodeId id) {
      const ir::Node& node = graph.node(id);
      // An index of several numbers where the ratified dialect has one.
      return expand::MayChangeMeaning(node.type()) || MayPadNegatively(node) || MultipliesOtherAxes(node) ||
             llvm::any_of(node.outputs(), [](const ir::Output& output) { return IsInteger(output.type); });
    });
  }

  // The axes of a matrix are the first two in the provisional dialect, the last two in the ratified one.
  static bool MultipliesOtherAxes(const ir::Node& node) {
    return node.info().provisional == ir::ProvisionalForm::kMatmul &&
           (!node.output().shape.rank_known() || node.output().shape.rank() > 2);
  }

  // Automatic padding of a window that is smaller than its stride is negative in the provisional dialect.
  static bool MayPadNegatively(const ir::Node& node) {
    const ir::Attribute* padding = node.attributes().Find("padding");
    const ir::Attribute* stride = node.attributes().Find("stride");
    return padding != nullptr && padding->ListSize() == 0 && stride != nullptr &&
           llvm::any_of(stride->AsInts(), [](int64_t s) { return s > 1; });
  }

  void CompareRatified(const std::string& way, const std::string& text) {
    driver::Compilation compilation(folder_ + "/net.nnef",
                                    {.structure_only = true, .verify = true, .document = text});
    if (!compilation.RunUntil(driver::Stage::kLower))
      return Fail(way, "refused: " + FirstMessage(compilation.context().emitter) + "\n" + text);
    AsProvisional(way, RunReference(compilation.lowered()));
  }

  void AsProvisional(const std::string& way, const Results& found) {
    Compared(way, found, [&] { return FirstDifference(found.values, expected_provisional_); });
  }

  Results RunReference(std::shared_ptr<const ir::Graph> graph) const {
    return RunGraph(std::move(graph), {.backend = Backend::kReference, .threads = 1}, inputs_);
  }

  void Exactly(const std::string& way, const Results& found) {
    Compared(way, found, [&] { return FirstDifference(found.values, expected_); });
  }
  void Nearly(const std::string& way, const Results& found) {
    Compared(way, found, [&] { return oracle_->Compare(found.values, expected_); });
  }
  template <typename F>
  void Compared(const std::string& way, const Results& found, F compare) {
    outcome_.ways.push_back(way);
    if (!found.error.empty()) return Fail(way, "fails: " + found.error);
    if (!outcome_.way.empty()) return;
    if (const std::string difference = compare(); !difference.empty()) Fail(way, difference);
  }
  void Fail(const std::string& way, const std::string& difference) {
    if (!outcome_.way.empty()) return;
    outcome_.way = way;
    outcome_.difference = difference;
  }

  const Case& case_;
  const ir::OpRegistry& registry_;
  const runtime::kernels::KernelRegistry& kernels_;
  const std::string& folder_;
  Random random_;
  Outcome outcome_;
  std::unique_ptr<const ir::Graph> nnef_;  // null: a graph of OpenVINO operations
  std::shared_ptr<const ir::Graph> graph_;
  std::vector<TensorValue> inputs_;
  std::vector<TensorValue> expected_;
  std::vector<TensorValue> expected_provisional_;
  const Oracle* oracle_ = nullptr;
};

}  // namespace

Ways::Ways(const ir::OpRegistry& registry, std::string folder)
    : registry_(registry), folder_(std::move(folder)) {
  runtime::kernels::RegisterReferenceKernels(kernels_);
}

Outcome Ways::Export(const Case& given, const std::string& path) const {
  return CaseRun(given, registry_, kernels_, folder_).Export(path);
}

Outcome Ways::Run(const Case& given) const {
  return CaseRun(given, registry_, kernels_, folder_).Run();
}

}  // namespace nnefc::differential
