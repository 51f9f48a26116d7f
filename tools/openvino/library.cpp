// The library loaded by OpenVINO. It finds the front end next to the target of a symbolic link, so a link in
// OpenVINO's folder suffices.

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace {

template <typename Function>
Function* Find(const char* name) {
  static void* const library = []() -> void* {
    Dl_info self;
    if (::dladdr(reinterpret_cast<const void*>(&Find<Function>), &self) == 0) return nullptr;
    std::error_code error;
    const auto file = std::filesystem::canonical(self.dli_fname, error);
    if (error) return nullptr;
    void* loaded = ::dlopen((file.parent_path() / "libnnefc_openvino.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) std::fprintf(stderr, "nnefc: %s\n", ::dlerror());
    return loaded;
  }();
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) uint64_t get_api_version() {
  auto* version = Find<uint64_t()>("nnefc_front_end_version");
  return version == nullptr ? 0 : version();  // OpenVINO skips front ends with another version
}

extern "C" __attribute__((visibility("default"))) void* get_front_end_data() {
  auto* data = Find<void*()>("nnefc_front_end_data");
  return data == nullptr ? nullptr : data();
}
