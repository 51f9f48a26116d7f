#include "tools/api/facts/machine.h"

#include "runtime/fast/register.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::api {

static_assert(kMaxThreads == runtime::tensor::kMaxThreads);

int AvailableThreads() {
  return runtime::tensor::AvailableThreads();
}

double MeasurePeak(int threads) {
  return runtime::fast::MeasurePeak(threads);
}

}  // namespace nnefc::api
