#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/support/digest.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"
#include "runtime/engine/file_digests.h"

namespace nnefc::runtime {

// What planning a model took long for, kept from process to process: bytes by digests of what they were made
// from, in a file of a folder for each model. Files are written aside and renamed, so that who reads one sees
// all of it or another, and never changed. Nothing that is wrong with the folder fails: it is a warning, and
// what is not there is made. Several processes may use it, and several threads an object.
class PlanCache {
 public:
  // Entries that were used last go on; the others go where all are larger together.
  static constexpr size_t kMostBytes = size_t{8} << 30;
  struct Options {
    size_t most_bytes = kMostBytes;
    FileDigests::Seconds least_age = FileDigests::kLeastAge;
  };

  // Makes the folder if there is none.
  PlanCache(const std::string& folder, const Options& options);
  explicit PlanCache(const std::string& folder) : PlanCache(folder, Options()) {}

  // Reads the items of a model, if there are any.
  void Open(const Digest& model);
  // The bytes of an item, if it is there and has `size` of them.
  std::shared_ptr<const Buffer> Find(const Digest& item, size_t size);
  void Add(const Digest& item, std::shared_ptr<const Buffer> bytes);
  // Writes the items of the model if some were added.
  void Save();

  // The digest of a constant's bytes. Those of a file are not looked at if it is known.
  Digest DigestOf(const TensorValue& value);
  // Of operations, shapes and constants: which file a model has.
  Digest DigestOf(const ir::Graph& graph);

  PlanCacheUse use() const;
  // What is wrong with the folder, for who uses it, once.
  std::vector<std::string> TakeWarnings();

 private:
  // Of something that may be gone: another may have its address.
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
  // Reads a file into items; what is wrong with it, or empty.
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
  std::map<Digest, Digest> contents_;  // of the items of a file
  bool is_changed_ = false;
  std::map<const Buffer*, Known<Buffer>> buffer_digests_;
  std::map<const MappedFile*, Known<MappedFile>> file_digests_;
  PlanCacheUse use_;
  std::vector<std::string> warnings_;
};

}  // namespace nnefc::runtime
