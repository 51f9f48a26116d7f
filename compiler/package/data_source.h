#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::package {

// The bytes of a binary file, mapped from disk or decompressed from an archive, with a name for messages
// (`model.tgz:conv1/filter.dat`).
struct DataSource {
  FileId file;
  std::shared_ptr<const Buffer> bytes;
};

// Maps the file at `path`. `kind` determines the form of locations in messages.
ErrorOr<DataSource> OpenData(const std::string& path, Context& context, FileKind kind = FileKind::kBinary);

// Returns the range of `size` bytes at `offset` for a message; offsets of 4 GiB and more are clamped to the
// largest representable one.
SourceRange ByteRange(FileId file, uint64_t offset, uint64_t size);

// Returns untrusted text of a file in a form fit for messages: characters other than printable ASCII become
// `.`, and long text is truncated.
std::string ShownText(std::string_view text);

}  // namespace nnefc::package
