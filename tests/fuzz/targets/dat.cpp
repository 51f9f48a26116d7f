// Tensor files of both dialects: read, decoded to the types of variables, written and read again.
#include "compiler/package/tensors/dat.h"

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

namespace nnefc::fuzz {
namespace {

void CheckRoundTrip(const TensorValue& value, package::DatFile::Format format) {
  const std::string path = Folder() + "/written.dat";
  if (!package::WriteDat(path, value, format)) return;  // values that the header cannot describe
  Context context;
  const std::string bytes = ReadOutput(path);
  const auto again = package::ReadDat(MakeSource("written.dat", bytes, context), context.emitter);
  Require(again.has_value() && context.emitter.diagnostics().empty(), "what was written is read in silence",
          context);
  const auto decoded = package::DecodeDat(*again, value.type(), context.emitter);
  Require(decoded.has_value(), "what was written is decoded", context);
  Require(*decoded == value, "what was written is read as it was");
}

}  // namespace
}  // namespace nnefc::fuzz

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kDatMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  Context context;
  const auto dat =
      package::ReadDat(fuzz::MakeSource("x.dat", fuzz::Text(data, size), context), context.emitter);
  fuzz::CheckDiagnostics(context);
  fuzz::Require(dat.has_value() == !context.emitter.has_errors(), "reading fails with a mistake alone",
                context);
  if (!dat) return 0;
  fuzz::Require(dat->value.valid() && !package::DescribeItems(*dat).empty(),
                "a file that was read has a tensor");
  const package::DatQuantization linear{
      .bits = dat->bits, .min = TensorValue::Scalar(-1), .max = TensorValue::Scalar(1)};
  for (ElementType type : {ElementType::kF32, ElementType::kI64, ElementType::kBoolean}) {
    for (const package::DatQuantization* quantization :
         {static_cast<const package::DatQuantization*>(nullptr), &linear}) {
      context.emitter.Clear();
      const auto value = package::DecodeDat(*dat, type, context.emitter, quantization);
      fuzz::CheckDiagnostics(context);
      fuzz::Require(value.has_value() == !context.emitter.has_errors(), "decoding fails with a mistake alone",
                    context);
      if (!value) continue;
      fuzz::Require(value->type() == type && value->shape() == dat->value.shape(),
                    "decoding gives what was asked for");
      fuzz::CheckRoundTrip(*value, package::DatFile::Format::kRatified);
    }
  }
  return 0;
}
