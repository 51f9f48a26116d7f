#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nnefc::fuzz {

// A file in an archive.
struct ArchiveMember {
  std::string name;
  std::string content;
  // Of a tar: the type of the entry, and where a link leads.
  char type = '0';
  std::string link;
  // Of a zip: stored (0) or deflated (8).
  int method = 0;
};

// Read the members of an archive as far as it is intact, and never more than `max_size` bytes of content.
std::vector<ArchiveMember> ReadTar(std::string_view archive, size_t max_size);
std::vector<ArchiveMember> ReadZip(std::string_view archive, size_t max_size);
// Write an archive whose lengths and checksums are right.
std::string WriteTar(const std::vector<ArchiveMember>& members);
std::string WriteZip(const std::vector<ArchiveMember>& members);

// Unpacks gzip; what was unpacked until an error, and never more than `max_size` bytes.
std::string Gunzip(std::string_view packed, size_t max_size);
std::string Gzip(std::string_view bytes);

}  // namespace nnefc::fuzz
