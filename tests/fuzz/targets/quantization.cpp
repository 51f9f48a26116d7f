// graph.quant of a model, in both dialects: checked, evaluated, and used to decode the data of the model's
// variables.
#include "compiler/driver/data/quantization.h"

#include <cstring>

#include "compiler/semantics/quantization.h"
#include "compiler/syntax/parse.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace nnefc::fuzz {
namespace {

constexpr const char* kRatified =
    "version 1.0;\n"
    "graph net(input) -> (output) {\n"
    "  input = external<scalar>(shape = [1, 2, 4, 4]);\n"
    "  filter = variable<scalar>(shape = [2, 2, 1, 1], label = 'filter');\n"
    "  bias = variable<scalar>(shape = [1, 2], label = 'bias');\n"
    "  x = conv(input, filter, bias);\n"
    "  output = relu(x);\n"
    "}\n";
constexpr const char* kProvisional =
    "version 1.0\n"
    "graph net(input) -> (output) {\n"
    "  input = external(shape = [1, 2, 4, 4])\n"
    "  filter = variable(shape = [2, 2, 1, 1], label = 'filter')\n"
    "  bias = variable(shape = [1, 2], label = 'bias')\n"
    "  x = conv(input, filter, bias)\n"
    "  output = relu(x)\n"
    "}\n";

// Returns a tensor file whose 8-bit items graph.quant interprets (R 5.2).
package::DatFile QuantizedFile(const Shape& shape, Context& context) {
  std::string file(128, '\0');
  const auto put = [&](size_t at, uint32_t value) { std::memcpy(file.data() + at, &value, sizeof value); };
  const auto volume = static_cast<uint32_t>(*Volume(shape));
  file.replace(0, 4, std::string("\x4e\xef\x01\x00", 4));
  put(4, volume);
  put(8, static_cast<uint32_t>(shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) put(12 + 4 * i, static_cast<uint32_t>(shape[i]));
  put(44, 8);
  put(48, 1);
  for (uint32_t i = 0; i < volume; ++i) file += static_cast<char>(37 * i);
  auto dat = package::ReadDat(MakeSource("x.dat", file, context), context.emitter);
  Require(dat.has_value(), "the target's own tensor file is valid", context);
  return *dat;
}

void Run(std::string_view text, ast::Dialect dialect) {
  Session session;
  Context& context = session.context;
  ir::OpRegistry registry(&ir::StandardOps());
  const char* model = dialect == ast::Dialect::kRatified ? kRatified : kProvisional;
  const auto checked = semantics::CheckDocument(
      ast::ParseDocument(context.sources.AddText("graph.nnef", model), {.dialect = dialect}, context),
      session.library, {}, context);
  const auto graph = expand::ExpandDocument(*checked, session.library, registry, {}, context).graph;
  Require(graph != nullptr, "the target's own model is valid", context);

  auto document = ast::ParseDocument(context.sources.AddText("graph.quant", std::string(text)),
                                     {.dialect = dialect, .kind = ast::DocumentKind::kQuantization}, context);
  const auto quantization = semantics::CheckQuantization(
      std::move(document), *checked, [](std::string_view name) { return name == "x" || name == "output"; },
      session.library, context);
  CheckDiagnostics(context);
  Require(quantization != nullptr, "checking always gives a document");
  if (context.emitter.has_errors()) return;
  expand::ExpandOptions options;
  options.quantize = expand::EvaluateQuantization(*quantization, session.library, registry, context);
  const driver::QuantizationTable table(options.quantize, *graph, context);
  CheckDiagnostics(context);
  if (!context.emitter.has_errors()) {
    const expand::ExpandedDocument quantized =
        expand::ExpandDocument(*checked, session.library, registry, options, context);
    CheckDiagnostics(context);
    Require(quantized.complete == !context.emitter.has_errors(), "a quantized graph lacks what was told",
            context);
    if (quantized.complete) CheckGraph(*quantized.graph, "a quantized graph holds its invariants");
  }
  const std::pair<const char*, Shape> variables[] = {{"filter", {2, 2, 1, 1}}, {"bias", {1, 2}}};
  for (const auto& [label, shape] : variables) {
    const expand::TensorQuantization* line = table.FindVariable(label);
    context.emitter.Clear();
    if (line == nullptr) continue;
    const package::DatFile dat = QuantizedFile(shape, context);
    const auto how = driver::ToDatQuantization(*line, dat, context);
    Require(how.has_value() == !context.emitter.has_errors(), "a line that cannot be used is told", context);
    if (!how) continue;
    const auto value = package::DecodeDat(dat, ElementType::kF32, context.emitter, &*how);
    CheckDiagnostics(context);
    Require(value.has_value() == !context.emitter.has_errors(), "decoding fails with a mistake alone",
            context);
  }
}

}  // namespace
}  // namespace nnefc::fuzz

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kDocumentMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  fuzz::Run(fuzz::Text(data, size), ast::Dialect::kRatified);
  fuzz::Run(fuzz::Text(data, size), ast::Dialect::kProvisional);
  return 0;
}
