// NumPy's arrays and archives of them: read, written and read again.
#include "compiler/package/tensors/npy.h"

#include "compiler/package/tensors/npz.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace nnefc::fuzz {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{16} << 20;

void CheckArray(std::string_view input) {
  Context context;
  const auto value = package::ReadNpy(MakeSource("x.npy", input, context), context.emitter);
  CheckDiagnostics(context);
  Require(value.has_value() == !context.emitter.has_errors(), "reading fails with a mistake alone", context);
  if (!value) return;
  const std::string path = Folder() + "/written.npy";
  Require(package::WriteNpy(path, *value).ok(), "what was read is written");
  const auto again = package::ReadNpy(MakeSource("written.npy", ReadOutput(path), context), context.emitter);
  Require(again.has_value(), "what was written is read", context);
  Require(*again == *value, "what was written is read as it was");
}

void CheckArchive(std::string_view input) {
  Context context;
  const auto arrays =
      package::ReadNpz(MakeSource("x.npz", input, context), context, {.max_bytes = kMaxBytes});
  CheckDiagnostics(context);
  Require(arrays.has_value() == !context.emitter.has_errors(), "reading fails with a mistake alone", context);
  if (!arrays) return;
  const std::string path = Folder() + "/written.npz";
  const auto written = package::WriteNpz(path, *arrays);
  if (!written.ok()) {  // a name outside of a folder can be read, but must not be written
    Require(written.error().message.find("lead out of a folder") != std::string::npos,
            "what was read is written");
    return;
  }
  const auto again = package::ReadNpz(MakeSource("written.npz", ReadOutput(path), context), context);
  Require(again.has_value() && again->size() == arrays->size(), "what was written is read", context);
  for (size_t i = 0; i < arrays->size(); ++i) {
    Require((*again)[i].name == (*arrays)[i].name && (*again)[i].value == (*arrays)[i].value,
            "what was written is read as it was", (*arrays)[i].name);
  }
}

}  // namespace
}  // namespace nnefc::fuzz

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kNpyMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  nnefc::fuzz::CheckArray(nnefc::fuzz::Text(data, size));
  nnefc::fuzz::CheckArchive(nnefc::fuzz::Text(data, size));
  return 0;
}
