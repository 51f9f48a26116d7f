#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/ir/algorithms/verify.h"
#include "compiler/ir/graph.h"
#include "compiler/ir/op_registry.h"
#include "compiler/package/data_source.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

// Helpers of the fuzz targets. A target is one LLVMFuzzerTestOneInput; calls of Require check its invariants,
// in addition to the absence of crashes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace nnefc::fuzz {

// Aborts the process, like a crash, if an invariant is violated.
void Require(bool holds, const char* invariant, std::string_view detail = {});
// The same, with the diagnostics as detail.
void Require(bool holds, const char* invariant, const Context& context);

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Returns limits under which every input ends within about a second. The limit on nesting is the default: the
// stack must suffice for it.
Limits LowLimits();

// Requires that the ranges of every diagnostic are inside their files, and renders a selection in one of the
// forms.
void CheckDiagnostics(const Context& context);
// Returns the messages alone, for the detail of Require.
std::string Messages(const Context& context);

// The context of one input, with low limits.
struct Session {
  Session();

  const semantics::StandardLibrary& library = semantics::StandardLibrary::Shared();
  Context context{library.base()};
};

// Returns a folder of the process for files that must exist on disk. It is removed when the process exits
// normally.
const std::string& Folder();
// Writes a new file in that folder and returns its path.
std::string WriteInput(std::string_view name, std::string_view content);
std::string ReadOutput(const std::string& path);
// Returns the bytes as a file in memory that messages call `name`. No byte follows them, so that reads past
// the end are detected.
package::DataSource MakeSource(std::string_view name, std::string_view content, Context& context);

// Writes the graph as OpenVINO IR and requires that it is read without errors and written with the same
// bytes. Skips graphs that cannot be written.
void CheckOpenVinoRoundTrip(const ir::Graph& graph);
// Requires that the graph's text form can be read and is printed identically.
void CheckTextRoundTrip(const ir::Graph& graph, const ir::OpRegistry& registry);
// Requires that the invariants of an inferred graph hold.
void CheckGraph(const ir::Graph& graph, const char* what, ir::PortNames names = ir::PortNames::kDistinct);

}  // namespace nnefc::fuzz
