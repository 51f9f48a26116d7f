// Loading of the oneDNN library.

#include "runtime/onednn/onednn.h"

#include <dlfcn.h>

#include <atomic>

#include "fmt/core.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::onednn {

namespace {

constexpr library::TeamFunctions kTeam = {
    .is_in_scope = [] { return tensor::PlaceOfThread().in_scope(); },
    .threads = [] { return tensor::PlaceOfThread().threads; },
    .members = [] { return tensor::PlaceOfThread().members; },
    .member = [] { return tensor::PlaceOfThread().member; },
    .is_in_team = [] { return tensor::PlaceOfThread().in_team; },
    .run = [](int members, void (*work)(void*),
              void* data) { tensor::RunOnTeam(members, [&](int) { work(data); }); },
    .wait = [] { tensor::WaitForTeam(); },
};

struct LoadedLibrary {
  const library::OneDnnLibrary* library = nullptr;
  std::string fault = {};

  static LoadedLibrary Load() {
    // A build without oneDNN has no version of it.
    if (OneDnnVersion().empty()) return {.fault = "this build of nnefc is without oneDNN"};
    constexpr const char* kName = "libnnefc_onednn.so";
    // Loaded until the process ends.
    void* file = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
    void* open = file == nullptr ? nullptr : ::dlsym(file, "nnefc_onednn_open");
    if (open != nullptr) return {.library = reinterpret_cast<library::OpenOneDnn>(open)(kTeam)};
    const char* reason = ::dlerror();
    return {.fault = fmt::format("`{}`, which comes with nnefc, cannot be loaded: {}; install nnefc again",
                                 kName, reason == nullptr ? "the system does not say why" : reason)};
  }
};

// Null before the first call.
std::atomic<const LoadedLibrary*> loaded_library = nullptr;

}  // namespace

const library::OneDnnLibrary* LoadOneDnn() {
  static const LoadedLibrary* const loaded = [] {
    static const LoadedLibrary kept = LoadedLibrary::Load();
    loaded_library = &kept;
    return &kept;
  }();
  return loaded->library;
}

std::string OneDnnLoadError() {
  const LoadedLibrary* loaded = loaded_library;
  return loaded == nullptr ? std::string() : loaded->fault;
}

std::string DescribeOneDnn() {
  const library::OneDnnLibrary* library = LoadOneDnn();
  return library == nullptr ? OneDnnLoadError() : library->Describe();
}

std::string OneDnnVersion() {
  return NNEFC_ONEDNN_VERSION;
}

std::shared_ptr<const library::Primitive> CreatePrimitive(const library::PrimitiveRequest& request) {
  const library::OneDnnLibrary* library = LoadOneDnn();
  if (library == nullptr) return nullptr;
  std::shared_ptr<const library::Primitive> primitive = library->Create(request);
  if (primitive == nullptr || request.kind == library::PrimitiveKind::kReorder) return primitive;
  const std::string name = primitive->implementation();
  const bool is_portable = name.starts_with("ref") || name.starts_with("simple:any");
  return is_portable ? nullptr : primitive;
}

bool IsGemm(const library::Primitive& primitive) {
  return primitive.implementation().find("gemm") != std::string::npos;
}

}  // namespace nnefc::runtime::onednn
