#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/files/digest.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/cache/file_digests.h"
#include "runtime/engine/executable.h"

namespace nnefc::runtime::engine::cache {

// A persistent cache of expensive planning results: byte strings keyed by the digest of their inputs, one
// file per model in a folder. Files are written to a temporary name and renamed, never modified, so readers
// always see a complete file. Problems with the folder are only warnings, and missing entries are recomputed.
// Safe for use by several processes, and by several threads per object.
class PlanCache {
 public:
  // The size limit of the folder; the least recently used entries are evicted beyond it.
  static constexpr size_t kMaxBytes = size_t{8} << 30;
  struct Options {
    size_t most_bytes = kMaxBytes;
    FileDigests::Seconds least_age = FileDigests::kMinAge;
  };

  // Creates the folder if it does not exist.
  PlanCache(const std::string& folder, const Options& options);
  explicit PlanCache(const std::string& folder) : PlanCache(folder, Options()) {}

  // Reads the items of a model, if the cache has any.
  void Open(const Digest& model);
  // Returns the bytes of an item if it exists and has exactly `size` bytes.
  std::shared_ptr<const Buffer> Find(const Digest& item, size_t size);
  void Add(const Digest& item, std::shared_ptr<const Buffer> bytes);
  // Writes the items of the model if any were added.
  void Save();

  // Returns the digest of a constant's bytes. Constants of a file with a known digest are not read.
  Digest DigestOf(const TensorValue& value);
  // Returns the digest of operations, shapes and constants. It selects the file of a model.
  Digest DigestOf(const ir::Graph& graph);

  PlanCacheUse use() const;
  // Returns problems with the folder, each once.
  std::vector<std::string> TakeWarnings();

 private:
  // The digest of an object that may be destroyed, so that another object may reuse its address.
  template <typename T>
  struct Known {
    std::weak_ptr<const T> of;
    Digest digest;
  };
  template <typename T, typename Compute>
  static Digest Remember(std::map<const T*, Known<T>>& known, const std::shared_ptr<const T>& of,
                         Compute compute);

  std::string PathOf(const Digest& model) const;
  Digest DigestOfBuffer(const std::shared_ptr<const Buffer>& buffer);
  void Add(const ir::Graph& graph, FieldDigest& digest);
  // Reads a file into items. Returns a description of the problem, or an empty string.
  std::string Read(const std::string& path);
  std::string ReadItems(const std::shared_ptr<const MappedFile>& file);
  bool IsIntact(const MappedFile& file, const Digest& index);
  ErrorOr<Success> Write() const;
  void Evict() const;
  void Warn(std::string message) { warnings_.push_back(std::move(message)); }

  const std::string folder_;
  const Options options_;
  mutable std::mutex mutex_;
  FileDigests files_;
  bool is_folder_ = false;
  std::optional<Digest> model_;
  std::map<Digest, std::shared_ptr<const Buffer>> items_;
  std::map<Digest, Digest> contents_;  // digests of the items in the file
  bool is_changed_ = false;
  std::map<const Buffer*, Known<Buffer>> buffer_digests_;
  std::map<const MappedFile*, Known<MappedFile>> file_digests_;
  PlanCacheUse use_;
  std::vector<std::string> warnings_;
};

}  // namespace nnefc::runtime::engine::cache
