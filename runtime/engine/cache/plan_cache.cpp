// The persistent cache of planning results.

#include "runtime/engine/cache/plan_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "compiler/support/tensor/compressed_floats.h"
#include "fmt/core.h"
#include "runtime/engine/cache/machine_digest.h"

namespace nnefc::runtime::engine::cache {

namespace {

constexpr std::string_view kEnd = ".plan";
// The suffix of an empty file next to each entry whose mtime is the entry's last use, because entries are
// never modified.
constexpr std::string_view kUsed = ".used";

// The file format: header, index, and page-aligned items (oneDNN needs alignment to 64 bytes).
struct Header {
  std::array<char, 8> mark;
  uint64_t file_bytes;
  Digest model;
  uint64_t count;  // number of items
  Digest index;    // digest of the index
  Digest check;    // digest of the fields above
};
struct Item {
  Digest key;
  uint64_t offset, size;
  Digest content;
};
static_assert(std::has_unique_object_representations_v<Header>);
static_assert(std::has_unique_object_representations_v<Item>);
constexpr std::array<char, 8> kMark = {'n', 'n', 'e', 'f', 'c', 'p', 'c', '1'};
constexpr uint64_t kAlignment = 4096;

template <typename T>
std::span<const std::byte> BytesOf(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
Digest CheckOf(const Header& header) {
  return DigestOf(BytesOf(header).first(offsetof(Header, check)));
}
uint64_t Aligned(uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

void Touch(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (descriptor < 0) return;
  (void)::futimens(descriptor, nullptr);
  ::close(descriptor);
}

}  // namespace

PlanCache::PlanCache(const std::string& folder, const Options& options)
    : folder_(folder), options_(options), files_(folder + "/files", options.least_age) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  is_folder_ = std::filesystem::is_directory(folder_, error);
  if (!is_folder_) Warn(fmt::format("`{}` is not a folder, and cannot be made", folder_));
}

std::string PlanCache::PathOf(const Digest& model) const {
  return fmt::format("{}/{}{}", folder_, ToHex(model), kEnd);
}

void PlanCache::Open(const Digest& model) {
  const std::lock_guard lock(mutex_);
  model_ = model;
  items_.clear();
  contents_.clear();
  is_changed_ = false;
  if (!is_folder_) return;
  const std::string path = PathOf(model);
  if (const std::string wrong = Read(path); !wrong.empty()) {
    items_.clear();
    contents_.clear();
    Warn(fmt::format("`{}` {}; it is written again", path, wrong));
  } else if (!items_.empty()) {
    Touch(path + std::string(kUsed));
  }
}

std::string PlanCache::Read(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return "";
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (MayOthersWrite(status)) return "may be written by other users";
  const auto file = MappedFile::Open(path);
  // Another process may have removed it meanwhile.
  if (!file) return ::lstat(path.c_str(), &status) != 0 ? "" : "cannot be read";
  if ((*file)->identity() != IdentityOf(status)) return "";  // replaced meanwhile; the next process reads it
  return ReadItems(*file);
}

std::string PlanCache::ReadItems(const std::shared_ptr<const MappedFile>& file) {
  const std::span<const std::byte> bytes = file->bytes();
  Header header;
  if (bytes.size() < sizeof(header)) return "is cut off";
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.mark != kMark || header.check != CheckOf(header) || header.model != *model_) return "is damaged";
  if (header.file_bytes != bytes.size()) return "is cut off";
  if (header.count > (bytes.size() - sizeof(header)) / sizeof(Item)) return "is damaged";
  const auto index = bytes.subspan(sizeof(header), static_cast<size_t>(header.count) * sizeof(Item));
  if (nnefc::DigestOf(index) != header.index) return "is damaged";
  for (uint64_t i = 0; i < header.count; ++i) {
    Item item;
    std::memcpy(&item, index.data() + i * sizeof(item), sizeof(item));
    if (item.offset % kAlignment != 0 || item.offset > bytes.size() || item.size > bytes.size() - item.offset)
      return "is damaged";
    items_[item.key] = Buffer::Map(file, static_cast<size_t>(item.offset), static_cast<size_t>(item.size));
    contents_[item.key] = item.content;
  }
  return IsIntact(*file, header.index) ? "" : "is damaged";
}

// Verifies all items, unless an earlier process verified this unmodified file.
bool PlanCache::IsIntact(const MappedFile& file, const Digest& index) {
  if (files_.Find(file.identity()) == index) return true;
  bool intact = true;
  const Digest found = files_.Note(file.path(), file.identity(), [&] {
    for (const auto& [key, bytes] : items_) {
      intact = intact && nnefc::DigestOf({bytes->data(), bytes->size()}) == contents_.at(key);
      // Releases the pages; otherwise both these and the model's own weights would be resident.
      bytes->Release();
    }
    return intact ? index : Digest();
  });
  return found == index;
}

std::shared_ptr<const Buffer> PlanCache::Find(const Digest& item, size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = items_.find(item);
  if (found == items_.end() || found->second->size() != size) return nullptr;
  ++use_.found;
  return found->second;
}

void PlanCache::Add(const Digest& item, std::shared_ptr<const Buffer> bytes) {
  const std::lock_guard lock(mutex_);
  ++use_.made;
  contents_.erase(item);
  items_[item] = std::move(bytes);
  is_changed_ = true;
}

void PlanCache::Save() {
  const std::lock_guard lock(mutex_);
  if (!is_changed_ || !model_ || !is_folder_) return;
  is_changed_ = false;
  if (const auto written = Write(); !written) {
    Warn(fmt::format("{}; the next run plans again", written.error().message));
    return;
  }
  Touch(PathOf(*model_) + std::string(kUsed));
  Evict();
}

ErrorOr<Success> PlanCache::Write() const {
  std::vector<Item> index;
  uint64_t end = sizeof(Header) + items_.size() * sizeof(Item);
  for (const auto& [key, bytes] : items_) {
    const auto content = contents_.find(key);
    const Item item{.key = key,
                    .offset = Aligned(end),
                    .size = bytes->size(),
                    .content = content != contents_.end() ? content->second
                                                          : nnefc::DigestOf({bytes->data(), bytes->size()})};
    index.push_back(item);
    end = item.offset + item.size;
  }
  if (end > options_.most_bytes) return Success();
  const std::string path = PathOf(*model_);
  struct stat status {};
  // OutputFile writes to non-regular files directly and preserves permissions.
  const bool goes =
      ::lstat(path.c_str(), &status) == 0 && (!S_ISREG(status.st_mode) || MayOthersWrite(status));
  if (goes && ::unlink(path.c_str()) != 0)
    return SystemError{fmt::format("cannot replace `{}`: {}", path, SystemErrorText(errno))};
  auto file = OutputFile::Create(path);
  if (!file) return file.error();
  if (::stat(file->temporary_path().c_str(), &status) == 0)
    (void)::chmod(file->temporary_path().c_str(),
                  status.st_mode & ~static_cast<mode_t>(S_IWGRP | S_IWOTH) & 07777);
  Header header{.mark = kMark,
                .file_bytes = end,
                .model = *model_,
                .count = index.size(),
                .index = nnefc::DigestOf(std::as_bytes(std::span(index))),
                .check = {}};
  header.check = CheckOf(header);
  static constexpr std::array<std::byte, kAlignment> kZeros = {};
  uint64_t at = sizeof(Header) + index.size() * sizeof(Item);
  ErrorOr<Success> done = file->Write(BytesOf(header));
  if (done) done = file->Write(std::as_bytes(std::span(index)));
  for (const Item& item : index) {
    const Buffer& bytes = *items_.at(item.key);
    if (done) done = file->Write(std::span(kZeros).first(static_cast<size_t>(item.offset - at)));
    if (done) done = file->Write(std::span(bytes.data(), bytes.size()));
    at = item.offset + item.size;
  }
  return done ? file->Commit() : done;
}

// Removes the least recently used entries until the size limit is met, and abandoned temporary files.
void PlanCache::Evict() const {
  struct Entry {
    std::string path;
    uint64_t bytes = 0;
    int64_t used = 0;
  };
  constexpr int64_t kAbandoned = int64_t{3600} * 1'000'000'000;
  const int64_t now = int64_t{::time(nullptr)} * 1'000'000'000;
  const std::string kept = PathOf(*model_);
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(folder_, error), end; !error && file != end;
       file.increment(error)) {
    const std::string path = file->path().string();
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    if (path.find(std::string(kEnd) + ".") != std::string::npos && !path.ends_with(kUsed)) {
      if (IdentityOf(status).modified < now - kAbandoned) ::unlink(path.c_str());
      continue;
    }
    if (!path.ends_with(kEnd)) continue;
    Entry entry{.path = path, .bytes = static_cast<uint64_t>(status.st_size)};
    const bool is_used = ::lstat((path + std::string(kUsed)).c_str(), &status) == 0;
    entry.used = is_used ? IdentityOf(status).modified : 0;
    sum += entry.bytes;
    if (path != kept) entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (sum <= options_.most_bytes) return;
    sum -= entry.bytes;
    ::unlink(entry.path.c_str());
    ::unlink((entry.path + std::string(kUsed)).c_str());
  }
}

template <typename T, typename Compute>
Digest PlanCache::Remember(std::map<const T*, Known<T>>& known, const std::shared_ptr<const T>& of,
                           Compute compute) {
  const auto found = known.find(of.get());
  if (found != known.end() && found->second.of.lock() == of) return found->second.digest;
  const Digest digest = compute();
  known[of.get()] = {of, digest};
  return digest;
}

Digest PlanCache::DigestOfBuffer(const std::shared_ptr<const Buffer>& buffer) {
  if (const CompressedFloats* floats = buffer->compressed()) {
    return FieldDigest()
        .Add("compressed")
        .Add(floats->form())
        .Add(floats->count())
        .Add(DigestOfBuffer(floats->data()))
        .Finish();
  }
  if (const Buffer::Recipe* recipe = buffer->recipe()) {
    FieldDigest digest;
    digest.Add("computed").Add(recipe->what);
    for (const std::shared_ptr<const Buffer>& from : recipe->from) digest.Add(DigestOfBuffer(from));
    return digest.Finish();
  }
  if (const std::shared_ptr<const MappedFile>& file = buffer->file()) {
    const Digest whole = Remember(file_digests_, file, [&] { return files_.Of(*file); });
    return FieldDigest()
        .Add("file")
        .Add(whole)
        .Add(buffer->data() - file->data())
        .Add(buffer->size())
        .Finish();
  }
  return Remember(buffer_digests_, buffer, [&] {
    const auto bytes = buffer->IsToCompute() ? buffer->ComputeCopy() : buffer;
    return nnefc::DigestOf({bytes->data(), bytes->size()});
  });
}

Digest PlanCache::DigestOf(const TensorValue& value) {
  const std::lock_guard lock(mutex_);
  return FieldDigest().Add(value.byte_size()).Add(DigestOfBuffer(value.buffer())).Finish();
}

// Attributes are not included, because each item's key covers its own inputs.
void PlanCache::Add(const ir::Graph& graph, FieldDigest& digest) {
  digest.Add(graph.num_nodes());
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    digest.Add(node.set()).Add(node.type());
    for (ir::OutputPort port : node.inputs()) digest.Add(port.node.index).Add(port.index);
    for (const ir::Output& output : node.outputs()) digest.Add(output.type).Add(ir::ToString(output.shape));
    if (node.Is(ir::OpRole::kConst) && node.output().value)
      digest.Add(DigestOfBuffer(node.output().value->buffer()));
    for (const ir::Body& body : node.bodies()) Add(*body.graph, digest);
  }
}

Digest PlanCache::DigestOf(const ir::Graph& graph) {
  const std::lock_guard lock(mutex_);
  FieldDigest digest;
  Add(graph, digest);
  return digest.Finish();
}

PlanCacheUse PlanCache::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

std::vector<std::string> PlanCache::TakeWarnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

}  // namespace nnefc::runtime::engine::cache
