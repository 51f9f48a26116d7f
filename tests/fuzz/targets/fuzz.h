#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/ir/graph.h"
#include "compiler/ir/op_registry.h"
#include "compiler/ir/verify.h"
#include "compiler/package/data_source.h"
#include "compiler/semantics/check_document.h"
#include "compiler/support/context.h"

// What the fuzz targets share. A target is one LLVMFuzzerTestOneInput; what it
// demands of nnefc beyond the absence of crashes are calls of Require.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace nnefc::fuzz {

// Ends the process, as a crash would, where an invariant does not hold.
void Require(bool holds, const char* invariant, std::string_view detail = {});
// The same; the detail is what was said.
void Require(bool holds, const char* invariant, const Context& context);

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Limits under which every input ends within a second or so. That on nesting
// is the default: the stack must bear it.
Limits LowLimits();

// Requires of every diagnostic that its ranges lie in their files' texts, and
// renders some of them in one of the forms.
void CheckDiagnostics(const Context& context);
// The messages alone, for the detail of Require.
std::string Messages(const Context& context);

// What one input is checked in, with low limits.
struct Session {
  Session();

  const StandardLibrary& library = StandardLibrary::Shared();
  Context context{library.base()};
};

// A folder of the process for what is only read from, or written to, files.
// Removed when the process ends by itself.
const std::string& Folder();
// Writes a file of that folder anew and returns its path.
std::string WriteInput(std::string_view name, std::string_view content);
std::string ReadOutput(const std::string& path);
// The bytes as a file in memory that messages call `name`, without a byte more
// behind them that might be read unseen.
DataSource MakeSource(std::string_view name, std::string_view content, Context& context);

// The graph as OpenVINO IR: what is written must be read again without a
// mistake and give the same bytes. Graphs that cannot be written are passed over.
void CheckOpenVinoRoundTrip(const ir::Graph& graph);
// The graph's text form must be read again and give the same text.
void CheckTextRoundTrip(const ir::Graph& graph, const ir::OpRegistry& registry);
// Requires that the invariants of an inferred graph hold.
void CheckGraph(const ir::Graph& graph, const char* what, ir::PortNames names = ir::PortNames::kDistinct);

}  // namespace nnefc::fuzz
