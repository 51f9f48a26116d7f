#pragma once

#include <archive.h>
#include <archive_entry.h>

#include "compiler/support/files/file.h"

namespace nnefc::package {

// The functions of libarchive in use.
#define NNEFC_ARCHIVE_FUNCTIONS(FUNCTION)        \
  FUNCTION(archive_entry_filetype)               \
  FUNCTION(archive_entry_free)                   \
  FUNCTION(archive_entry_hardlink)               \
  FUNCTION(archive_entry_new)                    \
  FUNCTION(archive_entry_pathname)               \
  FUNCTION(archive_entry_pathname_utf8)          \
  FUNCTION(archive_entry_set_filetype)           \
  FUNCTION(archive_entry_set_pathname)           \
  FUNCTION(archive_entry_set_perm)               \
  FUNCTION(archive_entry_set_size)               \
  FUNCTION(archive_entry_size)                   \
  FUNCTION(archive_entry_size_is_set)            \
  FUNCTION(archive_entry_sparse_count)           \
  FUNCTION(archive_entry_symlink)                \
  FUNCTION(archive_error_string)                 \
  FUNCTION(archive_filter_bytes)                 \
  FUNCTION(archive_filter_count)                 \
  FUNCTION(archive_read_data_block)              \
  FUNCTION(archive_read_free)                    \
  FUNCTION(archive_read_new)                     \
  FUNCTION(archive_read_next_header)             \
  FUNCTION(archive_read_open)                    \
  FUNCTION(archive_read_open_memory)             \
  FUNCTION(archive_read_support_filter_bzip2)    \
  FUNCTION(archive_read_support_filter_compress) \
  FUNCTION(archive_read_support_filter_lz4)      \
  FUNCTION(archive_read_support_filter_lzma)     \
  FUNCTION(archive_read_support_filter_xz)       \
  FUNCTION(archive_read_support_filter_zstd)     \
  FUNCTION(archive_read_support_format_raw)      \
  FUNCTION(archive_read_support_format_tar)      \
  FUNCTION(archive_set_error)                    \
  FUNCTION(archive_write_close)                  \
  FUNCTION(archive_write_data)                   \
  FUNCTION(archive_write_finish_entry)           \
  FUNCTION(archive_write_free)                   \
  FUNCTION(archive_write_header)                 \
  FUNCTION(archive_write_new)                    \
  FUNCTION(archive_write_open)                   \
  FUNCTION(archive_write_set_bytes_per_block)    \
  FUNCTION(archive_write_set_format_zip)         \
  FUNCTION(archive_write_zip_set_compression_store)

// A table of function addresses, exported by `libnnefc_archive.so` as `nnefc_archive_functions`.
struct ArchiveFunctions {
#define NNEFC_ARCHIVE_MEMBER(name) decltype(&::name) name;
  NNEFC_ARCHIVE_FUNCTIONS(NNEFC_ARCHIVE_MEMBER)
#undef NNEFC_ARCHIVE_MEMBER
};

// Loads the functions on first use: libarchive depends on ten other libraries (2 MB, 2 ms), and most
// processes open no archive. Returns an error if the library is missing.
ErrorOr<const ArchiveFunctions*> LoadArchiveFunctions();

}  // namespace nnefc::package
