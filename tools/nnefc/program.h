#pragma once

namespace nnefc::cli {

// Runs the command line, once per process. Reads the arguments of `main`, writes to standard output and
// standard error, and returns the exit code.
int RunProgram(int argc, char** argv);

}  // namespace nnefc::cli
