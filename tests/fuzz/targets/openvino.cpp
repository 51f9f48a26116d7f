// OpenVINO IR: the XML, and after the first zero byte (which XML cannot contain) the .bin file. Read,
// verified, written and read again.
#include "compiler/openvino/read.h"

#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kOpenVinoMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  const std::string_view input = fuzz::Text(data, size);
  const size_t end = input.find('\0');
  const std::string path = fuzz::WriteInput("net.xml", input.substr(0, end));
  fuzz::WriteInput("net.bin", end == std::string_view::npos ? std::string_view() : input.substr(end + 1));
  Context context;
  ir::OpRegistry registry(&ir::StandardOps());
  auto graph = openvino::ReadOpenVino(path, registry, context);
  fuzz::CheckDiagnostics(context);
  fuzz::Require(graph.ok(), "files that are there can be opened");
  fuzz::Require((*graph == nullptr) == context.emitter.has_errors(), "reading fails with a mistake alone",
                context);
  if (*graph == nullptr) return 0;
  fuzz::CheckGraph(**graph, "a graph that was read holds its invariants", ir::PortNames::kAny);
  (void)openvino::RequireKnownOperations(**graph, context.emitter);
  fuzz::CheckTextRoundTrip(**graph, registry);
  fuzz::CheckOpenVinoRoundTrip(**graph);
  return 0;
}
