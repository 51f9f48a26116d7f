// A digest of the build, the processor and its caches: a part of the keys of cached plans.

#include "runtime/engine/cache/machine_digest.h"

#include <link.h>
#include <unistd.h>

#include <string>

#include "compiler/support/x86.h"
#include "runtime/fast/describe.h"
#include "runtime/onednn/onednn.h"

#if defined(NNEFC_X86)
#include <cpuid.h>
#endif

namespace nnefc::runtime::engine::cache {

namespace {

// Returns true if the address is in a loaded segment of the object.
bool Holds(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && at >= begin && at < begin + part.p_memsz) return true;
  }
  return false;
}

// Adds the ELF notes of an object, including the build ID.
void AddNotes(const dl_phdr_info& object, FieldDigest& digest) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    digest.Add(
        std::string_view(reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr), part.p_memsz));
  }
}

// Adds the notes of the object that contains this function; a callback of dl_iterate_phdr.
int AddBuild(dl_phdr_info* object, size_t /*size*/, void* data) {
  if (Holds(*object, reinterpret_cast<const void*>(&DigestOfMachine)))
    AddNotes(*object, *static_cast<FieldDigest*>(data));
  return 0;
}

// Adds the model and the features of the processor, and the sizes of its caches.
void AddProcessor(FieldDigest& digest) {
#if defined(NNEFC_X86)
  for (unsigned leaf : {0U, 1U, 7U, 0x80000002U, 0x80000003U, 0x80000004U}) {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(leaf, 0, &a, &b, &c, &d) == 0) continue;
    // Register b of leaf 1 has the ID of the processor that executes the instruction.
    digest.Add(a).Add(leaf == 1 ? 0 : b).Add(c).Add(d);
  }
#endif
#if defined(_SC_LEVEL2_CACHE_SIZE)
  digest.Add(::sysconf(_SC_LEVEL1_DCACHE_SIZE)).Add(::sysconf(_SC_LEVEL2_CACHE_SIZE));
#endif
}

}  // namespace

Digest DigestOfMachine() {
  FieldDigest digest;
  dl_iterate_phdr(&AddBuild, &digest);
  AddProcessor(digest);
  digest.Add(fast::DescribeInstructions()).Add(onednn::OneDnnVersion());
  return digest.Finish();
}

}  // namespace nnefc::runtime::engine::cache
