#include "tests/fuzz/targets/fuzz.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiler/ir/text/text.h"
#include "compiler/openvino/read.h"
#include "compiler/openvino/write.h"
#include "compiler/support/files/file.h"
#include "fmt/core.h"
#include "llvm/ADT/STLExtras.h"

namespace nnefc::fuzz {

namespace fs = std::filesystem;

void Require(bool holds, const char* invariant, std::string_view detail) {
  if (holds) return;
  fmt::print(stderr, "broken invariant: {}\n{}\n", invariant, detail);
  std::abort();
}

void Require(bool holds, const char* invariant, const Context& context) {
  if (!holds) Require(false, invariant, Messages(context));
}

Limits LowLimits() {
  return {.recursion = 300, .steps = 20'000, .operations = 500, .items = 20'000};
}

namespace {

void CheckRange(const SourceRange& range, const SourceManager& sources, std::string_view message) {
  if (!range.valid() || sources.Kind(range.file) != FileKind::kText) return;
  const size_t size = sources.Text(range.file).size();
  Require(range.begin <= range.end && range.end <= size, "a diagnostic lies inside its file", message);
}

// Selects diagnostics to render: rendering all in each form took two thirds of a target's time for the same
// code.
std::vector<Diagnostic> SomeOfDifferentRules(const std::vector<Diagnostic>& diagnostics) {
  constexpr size_t kMost = 3;
  std::vector<Diagnostic> some;
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool is_new =
        llvm::none_of(some, [&](const Diagnostic& other) { return other.rule == diagnostic.rule; });
    if (is_new) some.push_back(diagnostic);
    if (some.size() == kMost) break;
  }
  return some;
}

}  // namespace

void CheckDiagnostics(const Context& context) {
  for (const Diagnostic& diagnostic : context.emitter.diagnostics()) {
    Require(!diagnostic.message.empty(), "a diagnostic says something", diagnostic.rule->label);
    CheckRange(diagnostic.range, context.sources, diagnostic.message);
    for (const DiagnosticNote& note : diagnostic.notes)
      CheckRange(note.range, context.sources, diagnostic.message);
    for (const FixIt& fix : diagnostic.fixes) {
      Require(fix.range.valid(), "a repair has a place", diagnostic.message);
      CheckRange(fix.range, context.sources, diagnostic.message);
    }
  }
  const std::vector<Diagnostic> some = SomeOfDifferentRules(context.emitter.diagnostics());
  if (some.empty()) return;
  switch (some.front().message.size() % 3) {
    case 0:
      RenderText(some, context.sources, {.color = true, .excerpts = true});
      break;
    case 1:
      RenderJson(some, context.sources);
      break;
    default:
      RenderSarif(some, context.sources);
  }
}

std::string Messages(const Context& context) {
  return RenderText(context.emitter.diagnostics(), context.sources, {.color = false, .excerpts = false});
}

Session::Session() {
  context.limits = LowLimits();
}

namespace {

struct PrivateFolder {
  PrivateFolder() {
    std::error_code error;
    path = (fs::temp_directory_path(error) / "nnefc_fuzz_XXXXXX").string();
    Require(mkdtemp(path.data()) != nullptr, "a private folder can be made", path);
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string path;
};

}  // namespace

const std::string& Folder() {
  static const PrivateFolder folder;
  return folder.path;
}

std::string WriteInput(std::string_view name, std::string_view content) {
  const std::string path = Folder() + "/" + std::string(name);
  // A new file: the former one may still be mapped.
  std::error_code ignored;
  fs::remove(path, ignored);
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  Require(file.good(), "an input can be written", path);
  return path;
}

std::string ReadOutput(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

package::DataSource MakeSource(std::string_view name, std::string_view content, Context& context) {
  // The data end with the allocation, so that the address sanitizer detects reads past the end.
  auto buffer = Buffer::Allocate(content.size() / 64 * 64 + 63);
  Require(buffer != nullptr, "there is memory for the input");
  const size_t offset = buffer->size() - content.size();
  if (!content.empty()) std::memcpy(buffer->mutable_data() + offset, content.data(), content.size());
  auto bytes = Buffer::Slice(std::move(buffer), offset, content.size());
  return {context.sources.AddOpaque(std::string(name), FileKind::kBinary), std::move(bytes)};
}

namespace {

// A graph in text form may omit the last outputs of a node, which a reader of OpenVINO IR adds.
bool HasAllOutputs(const ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    const auto& outputs = node.info().outputs;
    if (node.info().infer == nullptr || (!outputs.empty() && outputs.back().ends_with("[]"))) continue;
    if (static_cast<size_t>(node.num_outputs()) < outputs.size()) return false;
    for (const ir::Body& body : node.bodies())
      if (!HasAllOutputs(*body.graph)) return false;
  }
  return true;
}

}  // namespace

void CheckOpenVinoRoundTrip(const ir::Graph& graph) {
  if (!HasAllOutputs(graph)) return;
  Context context;
  if (!openvino::CheckWritable(graph, context.emitter)) {
    Require(context.emitter.has_errors(), "what cannot be written is told");
    return;
  }
  const std::string first = Folder() + "/first.xml";
  const std::string second = Folder() + "/second.xml";
  auto written = openvino::WriteOpenVino(graph, first);
  Require(written.ok(), "a writable graph is written", written.ok() ? "" : written.error().message);
  ir::OpRegistry registry(&ir::StandardOps());
  auto again = openvino::ReadOpenVino(first, registry, context);
  Require(again.ok(), "what was written can be opened");
  Require(*again != nullptr && !context.emitter.has_errors(), "what was written is read without a mistake",
          context);
  written = openvino::WriteOpenVino(**again, second);
  Require(written.ok(), "what was read is written again", written.ok() ? "" : written.error().message);
  const std::string before = ReadOutput(first);
  const std::string after = ReadOutput(second);
  Require(before == after, "reading and writing gives the same XML", before + after);
  Require(ReadOutput(Folder() + "/first.bin") == ReadOutput(Folder() + "/second.bin"),
          "reading and writing gives the same constants");
}

void CheckTextRoundTrip(const ir::Graph& graph, const ir::OpRegistry& registry) {
  const std::string text = ir::PrintGraph(graph, {.max_constant_elements = -1});
  Context context;
  const auto again = ir::ParseGraph(context.sources.AddText("printed", text), registry, context);
  Require(again != nullptr && !context.emitter.has_errors(), "the text form of a graph is read again",
          Messages(context) + text);
  const std::string second = ir::PrintGraph(*again, {.max_constant_elements = -1});
  Require(second == text, "the text form is the same when printed again", text + second);
}

void CheckGraph(const ir::Graph& graph, const char* what, ir::PortNames names) {
  const std::vector<std::string> violations = ir::VerifyInferred(graph, names);
  Require(violations.empty(), what, violations.empty() ? "" : violations.front());
}

}  // namespace nnefc::fuzz
