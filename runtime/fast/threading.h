#pragma once

namespace nnefc::runtime {

// Has oneDNN divide its work among the threads of the ThreadScope that calls it.
//
// Debian's oneDNN is built with GCC's OpenMP, whose threads turn at barriers
// until the last one has come. Where another process takes its processor, that
// is a time slice each time, and networks run ten times slower. The six functions
// that oneDNN takes from there are replaced in its table of imported functions,
// for oneDNN alone: other libraries of the process keep theirs, and so does
// oneDNN on threads that are in no ThreadScope.
//
// `inside` is an address within the library. False if this oneDNN divides its work otherwise; it is left as
// it is then. Once in a process.
bool AdoptThreadsOfOneDnn(const void* inside);

}  // namespace nnefc::runtime
