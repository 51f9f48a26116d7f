#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "fmt/core.h"

namespace nnefc::package {

// Makes tar archives (POSIX ustar), valid and invalid ones.
class TarMaker {
 public:
  struct Entry {
    std::string name = {};
    std::string data = {};
    char type = '0';
    std::string_view magic = std::string_view("ustar\00000", 8);
    std::string fields = {};            // from byte 386 on, as of GNU's sparse files
    std::string target = {};            // of a link
    std::optional<uint64_t> size = {};  // if it differs from that of the data
  };

  TarMaker& Add(const Entry& entry) {
    std::string header(512, '\0');
    auto put = [&](size_t at, std::string_view text) { header.replace(at, text.size(), text); };
    put(0, entry.name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, fmt::format("{:011o}", entry.size.value_or(entry.data.size())));
    put(136, "00000000000");
    put(148, "        ");
    header[156] = entry.type;
    put(157, entry.target);
    put(257, entry.magic);
    put(386, entry.fields);
    unsigned sum = 0;
    for (unsigned char c : header) sum += c;
    put(148, fmt::format("{:06o}", sum));
    header[154] = '\0';
    text_ += header + entry.data;
    text_.resize((text_.size() + 511) / 512 * 512);
    return *this;
  }
  TarMaker& File(std::string name, std::string data) {
    return Add({.name = std::move(name), .data = std::move(data)});
  }
  std::string Tar() const { return text_ + std::string(1024, '\0'); }

 private:
  std::string text_;
};

inline std::string Gzip(std::string_view text, int level = 6) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace nnefc::package
