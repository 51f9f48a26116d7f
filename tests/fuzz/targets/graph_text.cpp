// The text form of a graph: read, printed and read again; inferred, lowered and written as OpenVINO IR.
#include "compiler/ir/text/text.h"

#include "compiler/ir/algorithms/infer.h"
#include "compiler/lower/lower.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kGraphTextMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  Context context;
  ir::OpRegistry registry(&ir::StandardOps());
  const FileId file = context.sources.AddText("net.ir", std::string(fuzz::Text(data, size)));
  std::unique_ptr<ir::Graph> graph = ir::ParseGraph(file, registry, context);
  fuzz::CheckDiagnostics(context);
  fuzz::Require((graph == nullptr) == context.emitter.has_errors(), "parsing fails with a mistake alone",
                context);
  if (graph == nullptr) return 0;
  fuzz::Require(ir::Verify(*graph).empty(), "a graph that was parsed verifies");
  fuzz::CheckTextRoundTrip(*graph, registry);
  const bool inferred = ir::InferGraph(*graph, context.emitter);
  fuzz::CheckDiagnostics(context);
  fuzz::Require(inferred == !context.emitter.has_errors(), "inference fails with a mistake alone", context);
  if (!inferred) return 0;
  fuzz::CheckGraph(*graph, "an inferred graph holds its invariants", ir::PortNames::kAny);
  fuzz::CheckTextRoundTrip(*graph, registry);
  fuzz::CheckOpenVinoRoundTrip(*graph);
  const std::unique_ptr<ir::Graph> lowered = lower::LowerGraph(*graph, {}, context);
  fuzz::CheckDiagnostics(context);
  fuzz::Require((lowered == nullptr) == context.emitter.has_errors(), "lowering fails with a mistake alone",
                context);
  if (lowered == nullptr) return 0;
  fuzz::CheckGraph(*lowered, "a lowered graph holds its invariants", ir::PortNames::kAny);
  fuzz::CheckOpenVinoRoundTrip(*lowered);
  return 0;
}
