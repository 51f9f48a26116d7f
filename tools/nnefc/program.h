#pragma once

namespace nnefc::cli {

// The command line, once a process: reads words as `main` has them, writes to standard output
// and standard error, and returns the exit code.
int RunProgram(int argc, char** argv);

}  // namespace nnefc::cli
