#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnefc::fuzz {

// A file in an archive.
struct ArchiveMember {
  std::string name;
  std::string content;
  // For a tar: the type of the entry, and the target of a link.
  char type = '0';
  std::string link;
  // For a zip: stored (0) or deflated (8).
  int method = 0;
};

// Reads the members of an archive up to the first error, at most `max_size` bytes of content.
std::vector<ArchiveMember> ReadTar(std::string_view archive, size_t max_size);
std::vector<ArchiveMember> ReadZip(std::string_view archive, size_t max_size);
// Writes an archive whose lengths and checksums are right.
std::string WriteTar(const std::vector<ArchiveMember>& members);
std::string WriteZip(const std::vector<ArchiveMember>& members);

// Unpacks gzip; returns the bytes before an error, at most `max_size`.
std::string Gunzip(std::string_view packed, size_t max_size);
std::string Gzip(std::string_view bytes);

}  // namespace nnefc::fuzz
