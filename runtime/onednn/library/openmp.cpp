// The OpenMP runtime of oneDNN: the six functions of GCC's OpenMP that it imports, on the threads of the
// caller.
//
// The threads of GCC's own runtime wait for each other at barriers until the last one arrives. If another
// process occupies a processor, each barrier costs a time slice, and networks run ten times slower.
// libnnefc_onednn.so is linked before that runtime, so that the dynamic linker resolves the imports of oneDNN
// here, as it does for other OpenMP runtimes with GCC's interface, such as LLVM's. Where a process has loaded
// GCC's runtime for all its libraries before, oneDNN uses that one.
//
// On threads outside of a scope, for instance those of other users of oneDNN, the functions of GCC's runtime
// run.

#include "runtime/onednn/library/openmp.h"

#include <dlfcn.h>

#include <algorithm>

namespace nnefc::runtime::onednn::library {

namespace {

TeamFunctions team = {};

bool IsInScope() {
  return team.is_in_scope != nullptr && team.is_in_scope();
}

// Returns the function of this name in the next library, or null.
template <typename Function>
Function* NextFunction(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// The OpenMP runtime that the dynamic linker finds for the libraries of this process.
struct OtherRuntime {
  bool is_in_use = false;  // it is not that of this file
  int (*max_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;

  static const OtherRuntime& Get();
};

// Calls the next function of this name, or returns `otherwise` if there is none.
int CallNext(int (*next)(), int otherwise) {
  return next == nullptr ? otherwise : next();
}

}  // namespace

void SetOpenMpTeam(const TeamFunctions& functions) {
  team = functions;
}

OpenMpLimit::OpenMpLimit() {
  const OtherRuntime& other = OtherRuntime::Get();
  if (!other.is_in_use || !IsInScope()) return;
  before_ = other.max_threads();
  other.set_threads(team.is_in_team() ? 1 : std::max(team.threads(), 1));
}

OpenMpLimit::~OpenMpLimit() {
  if (before_ > 0) OtherRuntime::Get().set_threads(before_);
}

}  // namespace nnefc::runtime::onednn::library

// NOLINTBEGIN(readability-identifier-naming): the names are given.
extern "C" {

// `flags` specify the binding of threads to processors.
[[gnu::visibility("default")]] void GOMP_parallel(void (*work)(void*), void* data, unsigned members,
                                                  unsigned flags) {
  using namespace nnefc::runtime::onednn::library;
  if (!IsInScope()) {
    static auto* const next = NextFunction<void(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
    return next == nullptr ? work(data) : next(work, data, members, flags);
  }
  // Primitives that were created for more threads than available run on fewer, as OpenMP permits.
  const int threads = std::max(team.threads(), 1);
  team.run(members == 0 ? threads : std::min(static_cast<int>(members), threads), work, data);
}

[[gnu::visibility("default")]] void GOMP_barrier() {
  using namespace nnefc::runtime::onednn::library;
  if (IsInScope()) return team.wait();
  static auto* const next = NextFunction<void()>("GOMP_barrier");
  if (next != nullptr) next();
}

[[gnu::visibility("default")]] int omp_get_max_threads() {
  using namespace nnefc::runtime::onednn::library;
  static auto* const next = NextFunction<int()>("omp_get_max_threads");
  return IsInScope() ? team.threads() : CallNext(next, 1);
}

[[gnu::visibility("default")]] int omp_get_num_threads() {
  using namespace nnefc::runtime::onednn::library;
  static auto* const next = NextFunction<int()>("omp_get_num_threads");
  return IsInScope() ? team.members() : CallNext(next, 1);
}

[[gnu::visibility("default")]] int omp_get_thread_num() {
  using namespace nnefc::runtime::onednn::library;
  static auto* const next = NextFunction<int()>("omp_get_thread_num");
  return IsInScope() ? team.member() : CallNext(next, 0);
}

[[gnu::visibility("default")]] int omp_in_parallel() {
  using namespace nnefc::runtime::onednn::library;
  static auto* const next = NextFunction<int()>("omp_in_parallel");
  return IsInScope() ? static_cast<int>(team.is_in_team()) : CallNext(next, 0);
}

// The address of the function above in this library, whichever one the dynamic linker finds first.
[[gnu::visibility("hidden"), gnu::alias("GOMP_parallel")]] void nnefc_own_parallel(void (*work)(void*),
                                                                                   void* data,
                                                                                   unsigned members,
                                                                                   unsigned flags);

}  // extern "C"
// NOLINTEND(readability-identifier-naming)

namespace nnefc::runtime::onednn::library {
namespace {

const OtherRuntime& OtherRuntime::Get() {
  static const OtherRuntime found = [] {
    OtherRuntime other;
    // Searches in the same order as for the imports of oneDNN.
    const auto find = [](const char* name) { return ::dlsym(RTLD_DEFAULT, name); };
    other.max_threads = reinterpret_cast<int (*)()>(find("omp_get_max_threads"));
    other.set_threads = reinterpret_cast<void (*)(int)>(find("omp_set_num_threads"));
    other.is_in_use = find("GOMP_parallel") != reinterpret_cast<void*>(&nnefc_own_parallel) &&
                      other.max_threads != nullptr && other.set_threads != nullptr;
    return other;
  }();
  return found;
}

}  // namespace
}  // namespace nnefc::runtime::onednn::library
