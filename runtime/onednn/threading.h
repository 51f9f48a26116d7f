#pragma once

namespace nnefc::runtime {

// Makes oneDNN run its parallel loops on the threads of the caller's ThreadScope.
//
// Debian's oneDNN uses GCC's OpenMP, whose threads spin at barriers until the last one arrives. If another
// process occupies a processor, each barrier costs a time slice, and networks run ten times slower. The six
// OpenMP functions that oneDNN imports are replaced in its import table only: other libraries of the process
// are not affected, nor is oneDNN on threads outside of a ThreadScope.
//
// `inside` is an address within the library. Returns false, without changes, if this oneDNN uses other
// functions. Called once per process.
bool InstallOneDnnThreads(const void* inside);

}  // namespace nnefc::runtime
