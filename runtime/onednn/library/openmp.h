#pragma once

#include "runtime/onednn/library/interface.h"

namespace nnefc::runtime::onednn::library {

// Sets the threads of oneDNN's parallel loops.
void SetOpenMpTeam(const TeamFunctions& team);

// Limits the parallel loops of the calling thread to the threads of its scope during its lifetime, if oneDNN
// uses another OpenMP runtime than that of openmp.cpp.
class OpenMpLimit {
 public:
  OpenMpLimit();
  ~OpenMpLimit();
  OpenMpLimit(const OpenMpLimit&) = delete;
  OpenMpLimit& operator=(const OpenMpLimit&) = delete;

 private:
  int before_ = 0;  // 0: no limit was set
};

}  // namespace nnefc::runtime::onednn::library
