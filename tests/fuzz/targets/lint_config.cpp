// The configuration of a project, `.nnefc.json`.
#include "compiler/lint/config.h"

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kJsonMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  Context context;
  const std::string path = fuzz::WriteInput("config.json", fuzz::Text(data, size));
  bool environment_failed = false;
  const lint::SettingsRequest request = lint::ReadConfig(path, context, environment_failed);
  fuzz::Require(!environment_failed, "a file that is there is read", path);
  fuzz::CheckDiagnostics(context);
  lint::Settings settings;
  lint::Apply(request, settings);
  for (const Rule* rule : request.disabled) {
    fuzz::Require(!settings.enabled(*rule), "a rule that is disabled is silent", rule->label);
  }
  return 0;
}
