// The complete source of `libnnefc_archive.so`.

#include "compiler/package/containers/libarchive.h"

namespace nnefc::package::archive {

extern "C" {
extern const ArchiveFunctions nnefc_archive_functions;
const ArchiveFunctions nnefc_archive_functions = {
#define NNEFC_ARCHIVE_ADDRESS(name) .name = &::name,
    NNEFC_ARCHIVE_FUNCTIONS(NNEFC_ARCHIVE_ADDRESS)
#undef NNEFC_ARCHIVE_ADDRESS
};
}

}  // namespace nnefc::package::archive
