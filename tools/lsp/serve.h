#pragma once

#include <string>

namespace nnefc::lsp {

// Serves the Language Server Protocol on two descriptors until `exit` or the end of the input. A second
// thread reads, so that requests can be cancelled while others are computed. Returns the exit code of the
// process.
int Serve(int input, int output, const std::string& version);

}  // namespace nnefc::lsp
