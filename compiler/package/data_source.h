#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc {

// The bytes of a binary file, mapped from disk or unpacked from an archive,
// and the name that messages tell it by (`model.tgz:conv1/filter.dat`).
struct DataSource {
  FileId file;
  std::shared_ptr<const Buffer> bytes;
};

// Maps the file at `path`. `kind` says how messages tell places in it.
ErrorOr<DataSource> OpenData(const std::string& path, Context& context, FileKind kind = FileKind::kBinary);

// The range of `size` bytes at `offset` for a message; places past 4 GiB are
// told as the last that a range can hold.
SourceRange ByteRange(FileId file, uint64_t offset, uint64_t size);

// Text of a file that is not trusted, fit for a message: what is not printable
// ASCII becomes `.`, and what is long is cut.
std::string ShownText(std::string_view text);

}  // namespace nnefc
