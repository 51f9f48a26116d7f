// Reads a model's container, plain or compressed, with every member and variable.
#include "compiler/package/model.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kContainerMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  constexpr uint64_t kMaxBytes = uint64_t{16} << 20;
  Context context;
  const package::ModelOpenResult opened = package::ModelContainer::Open(
      fuzz::WriteInput("model.tgz", fuzz::Text(data, size)), context, {.max_bytes = kMaxBytes});
  fuzz::CheckDiagnostics(context);
  fuzz::Require((opened.model == nullptr) == context.emitter.has_errors(),
                "opening fails with a mistake alone", context);
  fuzz::Require(!opened.environment_failed, "an archive that is there can be opened");
  if (opened.model == nullptr) return 0;
  const package::ModelContainer& model = *opened.model;
  fuzz::Require(context.sources.Text(model.graph_text()).size() <= kMaxBytes, "what is unpacked is bounded");
  // An unreadable archive is reported once, also if several paths refer to it.
  context.emitter.Clear();
  for (const std::string inside : {"part", "part/part", "a"}) {
    if (!model.HasSubmodel(inside)) continue;
    const size_t before = context.emitter.diagnostics().size();
    const std::optional<FileId> text = model.OpenSubmodel(inside, context.emitter);
    fuzz::Require(text.has_value() || context.emitter.has_errors(), "opening fails with a mistake alone",
                  context);
    fuzz::Require(!text.has_value() || context.emitter.diagnostics().size() == before,
                  "what can be opened is opened without a mistake", context);
    fuzz::CheckDiagnostics(context);
  }
  context.emitter.Clear();
  const std::vector<std::string> labels = model.Labels();
  fuzz::CheckDiagnostics(context);
  fuzz::Require(model.has_weights() || labels.empty(), "a model with labels has weights");
  for (const std::string& label : labels) {
    context.emitter.Clear();
    // A label may name another file, for example with leading slashes.
    if (!model.HasVariable(label)) continue;
    Emitter emitter;
    const bool has_header = model.ReadVariableHeader(label, emitter).has_value();
    const auto value = model.ReadVariable(label, ElementType::kF32, context.emitter);
    fuzz::Require(has_header || !value, "what can be read has a header");
    fuzz::Require(value.has_value() == !context.emitter.has_errors(), "reading fails with a mistake alone",
                  context);
    fuzz::CheckDiagnostics(context);
  }
  return 0;
}
