#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compiler/driver/compilation.h"
#include "compiler/ir/graph.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// Returns the lowered graph of a compilation in the form that a file of this name has: OpenVINO IR for
// `.xml`, otherwise all operations. Returns null after an error was emitted.
[[nodiscard]] std::shared_ptr<const ir::Graph> LoweredFormFor(driver::Compilation& compilation,
                                                              const std::string& path);
// Writes such a graph: OpenVINO IR with its `.bin` file, or the text form. That of a `.ir` file has the
// elements of large constants in a `.bin` file, others omit them; empty and "-" are standard output, whose
// text `print` receives.
ErrorOr<Success> WriteLoweredForm(const ir::Graph& graph, const std::string& path,
                                  const std::function<void(const std::string&)>& print);

// Writes the text form of a graph to `path`, which ends in `.ir`, and the elements of large constants to the
// `.bin` file next to it.
ErrorOr<Success> WriteGraphText(const ir::Graph& graph, const std::string& path);

}  // namespace nnefc::api
