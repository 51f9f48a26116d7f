#pragma once

namespace nnefc::api {

// The maximum number of threads of a run.
inline constexpr int kMaxThreads = 64;

// Returns the number of threads that this process may use at a time, limited by its CPU affinity and its
// control group.
int AvailableThreads();
// Measures the peak f32 operations per second of `threads` threads (an FMA counts as two), in about 50 ms.
double MeasurePeak(int threads);

}  // namespace nnefc::api
