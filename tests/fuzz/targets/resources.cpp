// A JSON file after a line with a path into it: `tract_resource_get` inserts a part of it into a document,
// which is checked and expanded.
#include "compiler/driver/compilation.h"
#include "llvm/ADT/STLExtras.h"
#include "tests/fuzz/mutators/mutator.h"
#include "tests/fuzz/targets/fuzz.h"

const nnefc::fuzz::Mutator& nnefc::fuzz::TargetMutator() {
  return nnefc::fuzz::kResourceMutator;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nnefc;
  const std::string_view input = fuzz::Text(data, size);
  const size_t end = std::min(input.find('\n'), size);
  std::string key(input.substr(0, end));
  llvm::erase_if(key, [](char c) { return c == '\'' || c == '\\'; });
  fuzz::WriteInput("config.json", input.substr(std::min(end + 1, size)));
  driver::CompileOptions options;
  options.limits = fuzz::LowLimits();
  const std::string path = fuzz::WriteInput(
      "graph.nnef",
      "version 1.0;\nextension tract_registry tract_core;\nextension tract_registry tract_resource;\n"
      "graph net(x) -> (y) { x = external<scalar>(shape = [2, 3]); y = add(x, tract_resource_get('config', "
      "'" +
          key + "')); }\n");
  driver::Compilation compilation(path, std::move(options));
  const bool ok = compilation.RunUntil(driver::Stage::kExpand);
  fuzz::CheckDiagnostics(compilation.context());
  fuzz::Require(ok == !compilation.context().emitter.has_errors(), "a resource fails with a mistake alone",
                compilation.context());
  if (ok) fuzz::CheckGraph(*compilation.expanded(), "an expanded graph holds its invariants");
  return 0;
}
