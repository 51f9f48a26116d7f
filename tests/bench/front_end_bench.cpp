// Times each stage of the front end over a flat document of variable, conv and relu in turn, and the work of
// an editor after a keystroke (Recheck). Rates are of the document's bytes and operations.

#include <benchmark/benchmark.h>

#include "compiler/expand/expand.h"
#include "compiler/ir/algorithms/infer.h"
#include "compiler/language/language_service.h"
#include "compiler/lower/lower.h"
#include "compiler/semantics/check_document.h"
#include "compiler/syntax/parse.h"
#include "fmt/core.h"

namespace nnefc {
namespace {

// The document that tests/bench/make_flat.py prints.
std::string FlatDocument(int64_t operations) {
  std::string text =
      "version 1.0;\n\ngraph bench( input ) -> ( output )\n{\n    input = external(shape = [1, 8, 32, "
      "32]);\n";
  std::string last = "input";
  int64_t layers = operations / 3;
  for (int64_t i = 0; i < layers; ++i) {
    text += fmt::format("    filter{0} = variable(shape = [8, 8, 3, 3], label = 'layer{0}/filter');\n", i);
    text += fmt::format(
        "    conv{0} = conv({1}, filter{0}, 0.0, border = 'constant', padding = [(1, 1), (1, 1)], stride = "
        "[1, 1], "
        "dilation = [1, 1], groups = 1);\n",
        i, last);
    last = i + 1 == layers ? "output" : fmt::format("relu{}", i);
    text += fmt::format("    {} = relu(conv{});\n", last, i);
  }
  return text + "}\n";
}

// A separate front end for each iteration, up to a given stage.
struct FrontEnd {
  const semantics::StandardLibrary& library = semantics::StandardLibrary::Shared();
  Context context{library.base()};
  ir::OpRegistry registry{&ir::StandardOps()};
  FileId file;
  std::unique_ptr<const ast::Document> parsed;
  std::unique_ptr<semantics::CheckedDocument> checked;
  std::shared_ptr<ir::Graph> expanded;

  explicit FrontEnd(const std::string& text) { file = context.sources.AddText("flat.nnef", text); }
  void Parse() { parsed = ast::ParseDocument(file, {}, context); }
  void Check() { checked = semantics::CheckDocument(std::move(parsed), library, {}, context); }
  // Infers shapes in place later: nothing else uses this graph.
  void Expand() {
    expanded = std::const_pointer_cast<ir::Graph>(
        expand::ExpandDocument(*checked, library, registry, {}, context).graph);
  }
  void Shapes() { benchmark::DoNotOptimize(ir::InferGraph(*expanded, context.emitter)); }
  void Lower() { benchmark::DoNotOptimize(lower::LowerGraph(*expanded, {}, context)); }
};

using Step = void (FrontEnd::*)();
constexpr Step kSteps[] = {&FrontEnd::Parse, &FrontEnd::Check, &FrontEnd::Expand, &FrontEnd::Shapes,
                           &FrontEnd::Lower};

// Times step `index` alone; earlier steps run outside the clock.
void TimeStep(benchmark::State& state, size_t index) {
  std::string text = FlatDocument(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto front_end = std::make_unique<FrontEnd>(text);
    for (size_t i = 0; i < index; ++i) (front_end.get()->*kSteps[i])();
    state.ResumeTiming();
    (front_end.get()->*kSteps[index])();
    state.PauseTiming();
    if (front_end->context.emitter.has_errors()) state.SkipWithError("the document has mistakes");
    front_end.reset();
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

#define NNEFC_STEP_BENCHMARK(name, index) \
  void name(benchmark::State& state) {    \
    TimeStep(state, index);               \
  }                                       \
  BENCHMARK(name)->Arg(3000)->Arg(99999)->Unit(benchmark::kMillisecond)

NNEFC_STEP_BENCHMARK(Parse, 0);
NNEFC_STEP_BENCHMARK(Check, 1);
NNEFC_STEP_BENCHMARK(Expand, 2);
NNEFC_STEP_BENCHMARK(Shapes, 3);
NNEFC_STEP_BENCHMARK(Lower, 4);

// Takes a document of one statement from text to graph, as `nnefc check` does, in a process that has checked
// another one. The goal is 0.2 ms.
void CheckOneStatement(benchmark::State& state) {
  const std::string texts[] = {
      "version 1.0;\ngraph one( x ) -> ( y )\n{\n    x = external(shape = [1,2]);\n    y = relu(x);\n}\n",
      "version 1.0\ngraph one( x ) -> ( y )\n{\n    x = external(shape = [1,2])\n    y = relu(x)\n}\n"};
  const std::string& text = texts[state.range(0)];
  for (auto _ : state) {
    FrontEnd front_end(text);
    front_end.Parse();
    front_end.Check();
    front_end.Expand();
    if (front_end.expanded == nullptr) state.SkipWithError("the document has mistakes");
  }
}
BENCHMARK(CheckOneStatement)->ArgName("provisional")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// One keystroke in the middle of an open document. A change of one character is parsed, checked and expanded
// with shapes; names and positions are indexed; findings and one hover are queried. The goal is 50 ms at
// 1,000 operations.
void Recheck(benchmark::State& state) {
  const std::string text = FlatDocument(state.range(0));
  const std::string uri = "file:///flat.nnef";
  language::LanguageService service;
  if (!service.Open(uri, 0, text)) state.SkipWithError("the document was not taken");
  const auto digit = static_cast<uint32_t>(text.find("groups = 1", text.size() / 2) + 9);
  const language::Position at = service.PositionOf(uri, digit);
  const language::Position behind = service.PositionOf(uri, digit + 1);
  int64_t version = 0;
  for (auto _ : state) {
    // The document is invalid every other time.
    const char* typed = ++version % 2 == 0 ? "1" : "3";
    if (!service.Change(uri, version, {{{{at, behind}}, typed}}))
      state.SkipWithError("the change was not taken");
    if (service.Diagnostics(uri).empty() != (version % 2 == 0)) state.SkipWithError("the findings are wrong");
    benchmark::DoNotOptimize(service.HoverAt(uri, digit));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Recheck)->Arg(999)->Arg(99999)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nnefc

BENCHMARK_MAIN();
