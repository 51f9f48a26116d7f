#include "runtime/onednn/threading.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime {

namespace {

// The OpenMP functions called by oneDNN before the replacement.
struct OpenMp {
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;
  void (*barrier)() = nullptr;
  int (*max_threads)() = nullptr;
  int (*num_threads)() = nullptr;
  int (*thread_num)() = nullptr;
  int (*in_parallel)() = nullptr;
};
OpenMp replaced;

// `flags` specify the binding of threads to processors.
void Parallel(void (*work)(void*), void* data, unsigned members, unsigned flags) {
  const ThreadPlace& place = PlaceOfThread();
  if (!place.in_scope()) return replaced.parallel(work, data, members, flags);
  // Kernels planned for more threads than available run on fewer, as OpenMP permits.
  const int most = std::max(place.threads, 1);
  RunOnTeam(members == 0 ? most : std::min(static_cast<int>(members), most), [&](int) { work(data); });
}

void Barrier() {
  if (!PlaceOfThread().in_scope()) return replaced.barrier();
  WaitForTeam();
}

int MaxThreads() {
  const ThreadPlace& place = PlaceOfThread();
  return place.in_scope() ? place.threads : replaced.max_threads();
}

int NumThreads() {
  const ThreadPlace& place = PlaceOfThread();
  return place.in_scope() ? place.members : replaced.num_threads();
}

int ThreadNum() {
  const ThreadPlace& place = PlaceOfThread();
  return place.in_scope() ? place.member : replaced.thread_num();
}

int InParallel() {
  const ThreadPlace& place = PlaceOfThread();
  return place.in_scope() ? static_cast<int>(place.in_team) : replaced.in_parallel();
}

// A loaded library, from the dynamic linker's data.
class LoadedLibrary {
 public:
  static std::optional<LoadedLibrary> Containing(const void* address);

  // Returns the location of an imported function's address in the library; null if there is no import of that
  // name.
  void** FindImport(std::string_view name) const;
  bool Contains(const void* address) const;
  bool Write(void** place, void* value) const;

 private:
  using Relocations = std::span<const ElfW(Rela)>;

  void ReadDynamic(const ElfW(Dyn) * entry);
  const char* Resolve(ElfW(Addr) address) const;

  ElfW(Addr) base_ = 0;
  std::span<const ElfW(Phdr)> segments_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  std::array<Relocations, 2> relocations_;  // function calls, and all others
};

bool LoadedLibrary::Contains(const void* address) const {
  const auto at = reinterpret_cast<ElfW(Addr)>(address) - base_;
  for (const ElfW(Phdr) & segment : segments_)
    if (segment.p_type == PT_LOAD && at - segment.p_vaddr < segment.p_memsz) return true;
  return false;
}

std::optional<LoadedLibrary> LoadedLibrary::Containing(const void* address) {
  struct Search {
    const void* address;
    std::optional<LoadedLibrary> found;
  } search = {address, std::nullopt};
  const auto visit = [](dl_phdr_info* info, size_t, void* data) {
    Search& search = *static_cast<Search*>(data);
    LoadedLibrary library;
    library.base_ = info->dlpi_addr;
    library.segments_ = {info->dlpi_phdr, info->dlpi_phnum};
    if (!library.Contains(search.address)) return 0;
    for (const ElfW(Phdr) & segment : library.segments_)
      if (segment.p_type == PT_DYNAMIC)
        library.ReadDynamic(reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + segment.p_vaddr));
    search.found = library;
    return 1;
  };
  dl_iterate_phdr(visit, &search);
  return search.found;
}

// On most machines the linker has already turned offsets into addresses.
const char* LoadedLibrary::Resolve(ElfW(Addr) address) const {
  return reinterpret_cast<const char*>(address < base_ ? base_ + address : address);
}

void LoadedLibrary::ReadDynamic(const ElfW(Dyn) * entry) {
  std::array<const char*, 2> tables = {};
  std::array<size_t, 2> sizes = {};
  bool has_addends = true;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(Resolve(entry->d_un.d_ptr));
    if (entry->d_tag == DT_STRTAB) names_ = Resolve(entry->d_un.d_ptr);
    if (entry->d_tag == DT_JMPREL) tables[0] = Resolve(entry->d_un.d_ptr);
    if (entry->d_tag == DT_PLTRELSZ) sizes[0] = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) tables[1] = Resolve(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELASZ) sizes[1] = entry->d_un.d_val;
    if (entry->d_tag == DT_PLTREL && entry->d_un.d_val != DT_RELA) has_addends = false;
  }
  if (symbols_ == nullptr || names_ == nullptr || !has_addends) return;
  for (size_t i = 0; i < tables.size(); ++i)
    relocations_[i] = {reinterpret_cast<const ElfW(Rela)*>(tables[i]), sizes[i] / sizeof(ElfW(Rela))};
}

void** LoadedLibrary::FindImport(std::string_view name) const {
  for (Relocations relocations : relocations_) {
    for (const ElfW(Rela) & relocation : relocations) {
      const size_t symbol = sizeof(void*) == 8 ? relocation.r_info >> 32 : relocation.r_info >> 8;
      if (symbol == 0 || relocation.r_addend != 0 || name != names_ + symbols_[symbol].st_name) continue;
      return reinterpret_cast<void**>(base_ + relocation.r_offset);
    }
  }
  return nullptr;
}

// The linker may have write-protected the table after filling it.
bool LoadedLibrary::Write(void** place, void* value) const {
  const auto page_size = static_cast<ElfW(Addr)>(sysconf(_SC_PAGE_SIZE));
  void* page = reinterpret_cast<void*>(reinterpret_cast<ElfW(Addr)>(place) & ~(page_size - 1));
  bool is_protected = false;
  const ElfW(Addr) at = reinterpret_cast<ElfW(Addr)>(place) - base_;
  for (const ElfW(Phdr) & segment : segments_)
    is_protected |= segment.p_type == PT_GNU_RELRO && at - segment.p_vaddr < segment.p_memsz;
  if (is_protected && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(place, value, __ATOMIC_SEQ_CST);
  if (is_protected) mprotect(page, page_size, PROT_READ);
  return true;
}

struct Replacement {
  const char* name;
  void* by;
  void** replaced;
  void** import = nullptr;
};

bool Replace(const LoadedLibrary& library, std::span<Replacement> functions) {
  for (Replacement& function : functions) {
    function.import = library.FindImport(function.name);
    // An import not called yet may point into the library: the linker would overwrite the replacement.
    if (function.import == nullptr || library.Contains(*function.import)) return false;
    *function.replaced = *function.import;
  }
  for (Replacement& function : functions) {
    if (library.Write(function.import, function.by)) continue;
    for (Replacement* written = functions.data(); written != &function; ++written)
      library.Write(written->import, *written->replaced);
    return false;
  }
  return true;
}

template <typename Function>
Replacement By(const char* name, Function* by, Function*& replaced) {
  return {name, reinterpret_cast<void*>(by), reinterpret_cast<void**>(&replaced)};
}

bool Adopt(const void* inside) {
  const std::optional<LoadedLibrary> library = LoadedLibrary::Containing(inside);
  if (!library) return false;
  std::array functions = {By("omp_get_max_threads", MaxThreads, replaced.max_threads),
                          By("omp_get_num_threads", NumThreads, replaced.num_threads),
                          By("omp_get_thread_num", ThreadNum, replaced.thread_num),
                          By("omp_in_parallel", InParallel, replaced.in_parallel),
                          By("GOMP_barrier", Barrier, replaced.barrier),
                          By("GOMP_parallel", Parallel, replaced.parallel)};
  return Replace(*library, functions);
}

}  // namespace

bool InstallOneDnnThreads(const void* inside) {
  static const bool adopted = Adopt(inside);
  return adopted;
}

}  // namespace nnefc::runtime
