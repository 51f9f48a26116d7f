// The profile of a device.
#include "compiler/device/read_profile.h"

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kJsonMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  Context context;
  const std::string path = fuzz::WriteInput("device.json", fuzz::Text(data, size));
  const auto file = device::OpenProfile(path, context);
  fuzz::Require(file.has_value(), "a file that is there is read", path);
  const auto profile = device::ReadProfileText(*file, context);
  fuzz::CheckDiagnostics(context);
  fuzz::Require(profile.has_value() != context.emitter.has_errors(), "a rejected profile has an error", path);
  return 0;
}
