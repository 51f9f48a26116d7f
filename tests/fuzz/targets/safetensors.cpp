// A safetensors file: reading its header alone has the same result as reading the file, and every tensor is
// read.
#include "compiler/package/tensors/safetensors.h"

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kSafetensorsMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  const std::string_view input = fuzz::Text(data, size);
  Context context;
  const package::DataSource file = fuzz::MakeSource("x.safetensors", input, context);
  const auto index = package::ReadSafetensorsIndex(file, size, context.emitter);
  fuzz::CheckDiagnostics(context);
  fuzz::Require(index.has_value() == !context.emitter.has_errors(), "reading fails with a mistake alone",
                context);
  const uint64_t header = package::SafetensorsHeaderSize({file.bytes->data(), size});
  Emitter emitter;
  const auto start = fuzz::MakeSource("x.safetensors", input.substr(0, header), context);
  const auto again = package::ReadSafetensorsIndex(start, size, emitter);
  fuzz::Require(again.has_value() == index.has_value(), "the header says what the file does", context);
  if (!index) return 0;
  for (const auto& [name, entry] : *index) {
    for (const ElementType type : {ElementType::kF32, ElementType::kI64, ElementType::kBoolean}) {
      context.emitter.Clear();
      const auto dat = package::ReadSafetensorsEntry(file, entry, context.emitter);
      const bool decoded = dat && package::DecodeDat(*dat, type, context.emitter);
      fuzz::CheckDiagnostics(context);
      fuzz::Require(decoded == !context.emitter.has_errors(), "decoding fails with a mistake alone", context);
    }
  }
  return 0;
}
