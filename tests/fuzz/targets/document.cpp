// A document from text to OpenVINO operations, in its own dialect. Its bytes also select a run in the other
// dialect or in lenient mode.
#include "compiler/expand/expand.h"
#include "compiler/expand/print/flat.h"
#include "compiler/ir/algorithms/copy.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/lower/lower.h"
#include "compiler/syntax/parse.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace nnefc::fuzz {
namespace {

constexpr ast::Dialect kRatified = ast::Dialect::kRatified;

// The mode in which a document is read.
struct Reading {
  std::optional<ast::Dialect> dialect;
  semantics::Leniency leniency = semantics::Leniency::kAuto;
};

struct Result {
  std::unique_ptr<semantics::CheckedDocument> checked;
  std::shared_ptr<const ir::Graph> graph;  // null after an error
};

Result Expand(std::string_view text, const Reading& reading, bool allow_unknown, ir::OpRegistry& registry,
              Session& session, ast::Dialect& told) {
  Context& context = session.context;
  Result result;
  auto document = ast::ParseDocument(context.sources.AddText("graph.nnef", std::string(text)),
                                     {.dialect = reading.dialect}, context);
  Require(document != nullptr, "parsing always gives a document");
  told = document->dialect;
  Require(document->complete == !context.emitter.has_errors(), "what was not read whole has a mistake",
          context);
  result.checked =
      semantics::CheckDocument(std::move(document), session.library, {.leniency = reading.leniency}, context);
  Require(result.checked != nullptr, "checking always gives a document");
  Require(result.checked->complete() == !context.emitter.has_errors(),
          "what is not checked whole has a mistake", context);
  expand::ExpandedDocument expanded = expand::ExpandDocument(
      *result.checked, session.library, registry,
      {.purpose = allow_unknown ? expand::Purpose::kExecute : expand::Purpose::kPrint,
       .tries_symbols = allow_unknown && reading.leniency == semantics::Leniency::kLenient},
      context);
  Require(expanded.complete == !context.emitter.has_errors(), "what is not expanded whole has a mistake",
          context);
  if (expanded.complete) result.graph = std::move(expanded.graph);
  return result;
}

// Requires that the printed document expands to itself byte for byte.
void CheckFlat(const ir::Graph& graph, bool allow_unknown, semantics::Leniency leniency, Session& session) {
  const std::string flat = expand::print::PrintFlatDocument(graph, session.library, session.context.symbols);
  session.context.emitter.Clear();
  ir::OpRegistry registry(&ir::StandardOps());
  ast::Dialect told;
  const Limits low = session.context.limits;
  session.context.limits = Limits();
  const Result again = Expand(flat, {kRatified, leniency}, allow_unknown, registry, session, told);
  session.context.limits = low;
  Require(again.graph != nullptr, "a flat document is valid", Messages(session.context) + flat);
  const std::string second =
      expand::print::PrintFlatDocument(*again.graph, session.library, session.context.symbols);
  Require(second == flat, "a flat document expands to itself", flat + second);
}

// True unless a variable is too large for random data.
bool HasSmallVariables(const ir::Graph& graph) {
  constexpr int64_t kMaxElements = 10'000;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.Is(ir::kNnefSet, "variable") && node.output().shape.volume().value_or(INT64_MAX) > kMaxElements)
      return false;
  }
  return true;
}

void CheckLowered(const ir::Graph& graph, Session& session) {
  Context& context = session.context;
  context.emitter.Clear();
  lower::LowerOptions options;
  if (HasSmallVariables(graph)) {
    options.variable_data = [](const std::string&, ElementType type, const ir::PartialShape& shape,
                               const ir::Origin&) -> std::optional<TensorValue> {
      return TensorValue::Filled(type, shape.known_extents(), 1);
    };
  }
  const std::unique_ptr<ir::Graph> lowered = lower::LowerGraph(graph, options, context);
  CheckDiagnostics(context);
  Require((lowered == nullptr) == context.emitter.has_errors(), "lowering fails with a mistake alone",
          context);
  if (lowered == nullptr) return;
  CheckGraph(*lowered, "a lowered graph holds its invariants");
  // Shapes of the document may be narrower than those that a reader infers from the operations.
  const std::unique_ptr<ir::Graph> inferred = ir::Clone(*lowered);
  Require(ir::InferGraph(*inferred, context.emitter), "a lowered graph is inferred", context);
  CheckOpenVinoRoundTrip(*inferred);
}

ast::Dialect Run(std::string_view text, const Reading& reading) {
  Session session;
  ir::OpRegistry registry(&ir::StandardOps());
  ast::Dialect told = kRatified;
  for (bool allow_unknown : {false, true}) {
    session.context.emitter.Clear();
    const Result expanded = Expand(text, reading, allow_unknown, registry, session, told);
    CheckDiagnostics(session.context);
    if (expanded.graph == nullptr) {
      if (allow_unknown || session.context.emitter.has_errors()) break;
      continue;
    }
    CheckGraph(*expanded.graph, "an expanded graph holds its invariants");
    CheckFlat(*expanded.graph, allow_unknown, reading.leniency, session);
    CheckLowered(*expanded.graph, session);
    break;
  }
  return told;
}

}  // namespace
}  // namespace nnefc::fuzz

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kDocumentMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  const std::string_view text = fuzz::Text(data, size);
  const ast::Dialect told = fuzz::Run(text, {});
  if (std::hash<std::string_view>()(text) % 2 == 0) {
    fuzz::Run(text, {told == ast::Dialect::kRatified ? ast::Dialect::kProvisional : ast::Dialect::kRatified});
  } else {
    fuzz::Run(text, {ast::Dialect::kRatified, semantics::Leniency::kLenient});
  }
  return 0;
}
