// The forms of a model on disk, and their opening.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <unordered_set>

#include "compiler/package/containers/archive_reader.h"
#include "compiler/package/foreign_format.h"
#include "compiler/package/members.h"
#include "compiler/package/model.h"
#include "compiler/package/rules.h"
#include "compiler/package/tensors/packed_bytes.h"
#include "compiler/support/files/contained_path.h"
#include "compiler/support/files/file.h"

namespace nnefc::package {
namespace {

namespace fs = std::filesystem;

// Returns a list such as "`a`, `b` and 3 more".
std::string Listed(std::vector<std::string> names) {
  constexpr size_t kShown = 4;
  std::sort(names.begin(), names.end());
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
    text += fmt::format("{}`{}`", i == 0 ? "" : ", ", ShownText(names[i]));
  }
  if (names.size() > kShown) text += fmt::format(" and {} more", names.size() - kShown);
  return text;
}

// Reports a folder or archive without `graph.nnef` that has `document`, a model of NNEF 2.0.
void ReportSkriptNd(Emitter& emitter, FileId file, std::string_view document) {
  emitter.Emit(kContainerForeignFormat, ByteRange(file, 0, 0),
               "`{}` is a model of NNEF 2.0 (SkriptND); nnefc reads NNEF 1.0", ShownText(document));
}

// A single document.
class BareModel : public ModelContainer {
 public:
  BareModel(const std::string& path, FileId text, Context& context) : ModelContainer(path, text, context) {
    graph_text_ = text;
  }

 protected:
  void Walk(llvm::function_ref<bool(const std::string&)>) const override {}
  bool HasMember(const std::string&) const override { return false; }
  std::optional<DataSource> ReadMember(const std::string&, Emitter&) const override { return std::nullopt; }
};

// An in-memory document with the data of its variables.
class MemoryModel final : public BareModel {
 public:
  MemoryModel(const std::string& name, FileId text, std::map<std::string, TensorValue> data, Context& context)
      : BareModel(name, text, context) {
    for (auto& [label, value] : data) data_.emplace(LabelPath(label).value_or(label), std::move(value));
  }

 protected:
  void Walk(llvm::function_ref<bool(const std::string&)> use) const override {
    for (const auto& [label, value] : data_) {
      if (!use(label + std::string(kTensorSuffix))) return;
    }
  }
  bool HasMember(const std::string& member) const override { return Find(member) != nullptr; }
  std::optional<DatFile> ReadTensor(const std::string& member, Emitter& emitter) const override {
    const TensorValue& value = *Find(member);
    return DatFile{{.file = file_,
                    .shape = value.shape(),
                    .items = ItemsOf(value.type()),
                    .bits = value.type() == ElementType::kBoolean ? 1 : BitWidth(value.type())},
                   value};
  }
  std::optional<DatHeader> ReadHeader(const std::string& member, Emitter& emitter) const override {
    return ReadTensor(member, emitter);
  }

 private:
  static DatItems ItemsOf(ElementType type) {
    if (type == ElementType::kBoolean) return DatItems::kBool;
    if (IsFloat(type)) return DatItems::kFloat;
    return IsSigned(type) ? DatItems::kSigned : DatItems::kUnsigned;
  }

  const TensorValue* Find(const std::string& member) const {
    const std::optional<std::string> label = LabelOf(member);
    const auto found = label ? data_.find(*label) : data_.end();
    return found == data_.end() ? nullptr : &found->second;
  }

  std::map<std::string, TensorValue> data_;
};

class FolderModel : public ModelContainer {
 public:
  bool is_bundle() const override { return true; }

  FolderModel(std::string name, std::string folder, FileId file, Context& context)
      : ModelContainer(std::move(name), file, context), folder_(std::move(folder)) {}

  static ModelOpenResult Open(std::string path, Context& context, const ModelOpenOptions& options);
  // Opens a `graph.nnef` as the model of its folder if the folder has data or resources; otherwise returns
  // null.
  static std::unique_ptr<ModelContainer> OpenAround(const std::string& path, FileId text, Context& context,
                                                    const ModelOpenOptions& options);

 protected:
  // Skips linked and unreadable folders.
  void Walk(llvm::function_ref<bool(const std::string&)> use) const override {
    if (listing_) {
      for (const std::string& member : listing_->members) {
        if (!use(member)) return;
      }
      return;
    }
    // Maximum number of entries of a listing that is cached.
    constexpr int64_t kMaxCached = 10'000;
    Listing listing;
    std::error_code error;
    fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied, error);
    int64_t num_entries = 0;
    for (; !error && it != fs::recursive_directory_iterator() && num_entries < max_entries_; ++num_entries) {
      std::string member = it->path().string().substr(folder_.size() + 1);
      if (num_entries < kMaxCached) listing.Add(*it, member);
      std::error_code ignored;
      if (!it->is_directory(ignored) && !use(member)) return;
      it.increment(error);
    }
    if (!error && num_entries < std::min(max_entries_, kMaxCached)) listing_ = std::move(listing);
  }
  bool HasMember(const std::string& member) const override {
    if (listing_) {
      if (listing_->files.contains(member)) return true;
      if (listing_->folders.contains(FolderOf(member))) return false;
    }
    std::error_code error;
    return fs::is_regular_file(Path(member), error);
  }
  std::optional<DataSource> ReadMember(const std::string& member, Emitter& emitter) const override {
    auto source = OpenData(Path(member), context());
    if (source) return *source;
    emitter.Emit(kContainerUnreadable, ByteRange(file_, 0, 0), "{}", source.error().message);
    return std::nullopt;
  }

 private:
  // The result of Walk, a cache of file system queries.
  struct Listing {
    std::vector<std::string> members;       // in the order of Walk
    std::unordered_set<std::string> files;  // regular files only
    // Folders with listed content; nothing is known about others, such as linked ones.
    std::unordered_set<std::string> folders;

    void Add(const fs::directory_entry& entry, const std::string& member) {
      std::error_code ignored;
      folders.insert(FolderOf(member));
      if (entry.is_directory(ignored)) return;
      members.push_back(member);
      if (entry.is_regular_file(ignored)) files.insert(member);
    }
  };

  static std::string FolderOf(const std::string& member) {
    const size_t slash = member.rfind('/');
    return slash == std::string::npos ? "" : member.substr(0, slash);
  }
  std::string Path(std::string_view member) const { return fmt::format("{}/{}", folder_, member); }

  std::string folder_;
  int64_t max_entries_ = std::numeric_limits<int64_t>::max();  // limit on visited entries
  mutable std::optional<Listing> listing_;
};

// Returns the first model in a folder below `path`, relative to it, in the order of names; empty if there is
// none among the first kMaxEntries entries.
std::string FirstModelBelow(const std::string& path) {
  constexpr int kMaxEntries = 10'000;
  std::string first;
  std::error_code error;
  fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, error);
  for (int num_entries = 0; !error && it != fs::recursive_directory_iterator() && num_entries < kMaxEntries;
       ++num_entries) {
    const fs::path& found = it->path();
    if (found.extension() == ".nnef") {
      const fs::path model = found.filename() == kGraphFile ? found.parent_path() : found;
      const std::string name = model.string().substr(path.size() + 1);
      if (first.empty() || name < first) first = name;
    }
    it.increment(error);
  }
  return first;
}

ModelOpenResult FolderModel::Open(std::string path, Context& context, const ModelOpenOptions& options) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  FileId file = context.sources.AddOpaque(path, FileKind::kNamed);
  auto model = std::make_unique<FolderModel>(path, path, file, context);
  model->OpenInnerAs(options, 0);
  std::error_code error;
  if (!fs::exists(model->Path(kGraphFile), error)) {
    std::vector<std::string> others;
    std::string second;  // the first document of NNEF 2.0
    fs::directory_iterator it(path, error);
    if (error) {
      context.emitter.Emit(kContainerUnreadable, ByteRange(file, 0, 0), "cannot open `{}`: {}", path,
                           SystemErrorText(error.value()));
      return {.model = nullptr, .environment_failed = true};
    }
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      if (it->path().extension() == ".nnef") others.push_back(it->path().filename().string());
      if (it->path().extension() == kSkriptNdSuffix) {
        const std::string name = it->path().filename().string();
        if (second.empty() || name < second) second = name;
      }
    }
    if (!second.empty() && others.empty()) {
      ReportSkriptNd(context.emitter, file, second);
    } else if (const std::string below = others.empty() ? FirstModelBelow(path) : ""; !below.empty()) {
      context.emitter
          .Emit(kContainerNoGraph, ByteRange(file, 0, 0),
                "there is no `{}` in the folder; the folders below hold models, such as `{}`", kGraphFile,
                below)
          .Note({}, "`check`, `lint` and `fmt` search folders with `--recursive`");
    } else if (others.empty()) {
      context.emitter.Emit(kContainerNoGraph, ByteRange(file, 0, 0), "there is no `{}` in the folder",
                           kGraphFile);
    } else {
      context.emitter.Emit(kContainerNoGraph, ByteRange(file, 0, 0),
                           "there is no `{}` in the folder; it holds {}, which can be opened by name",
                           kGraphFile, Listed(std::move(others)));
    }
    return {};
  }
  for (std::string_view name : {kGraphFile, kQuantizationFile}) {
    if (name == kQuantizationFile && !fs::exists(model->Path(name), error)) continue;
    auto text = context.sources.Open(model->Path(name));
    if (!text) {
      context.emitter.Emit(kContainerUnreadable, ByteRange(file, 0, 0), "{}", text.error().message);
      return {.model = nullptr, .environment_failed = true};
    }
    if (name == kGraphFile)
      model->graph_text_ = *text;
    else
      model->quantization_text_ = *text;
  }
  return {.model = std::move(model), .environment_failed = false};
}

std::unique_ptr<ModelContainer> FolderModel::OpenAround(const std::string& path, FileId text,
                                                        Context& context, const ModelOpenOptions& options) {
  // The folder of the document may be large and unrelated.
  constexpr int64_t kMaxEntries = 10000;
  std::string folder = fs::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  auto model =
      std::make_unique<FolderModel>(path, folder, context.sources.AddOpaque(path, FileKind::kNamed), context);
  model->max_entries_ = kMaxEntries;
  model->OpenInnerAs(options, 0);
  bool is_model = false;
  model->Walk([&](const std::string& member) {
    is_model = IsData(member) || IsResource(member) || IsInner(member);
    return !is_model;
  });
  if (!is_model) return nullptr;
  model->graph_text_ = text;
  std::error_code error;
  if (!fs::exists(model->Path(kQuantizationFile), error)) return model;
  auto quantization = context.sources.Open(model->Path(kQuantizationFile));
  if (quantization) model->quantization_text_ = *quantization;
  return model;
}

// A model in an archive. The files of an uncompressed tar are slices of the mapped archive. For a compressed
// one the texts and headers are in memory, and the data after their first access.
class ArchiveModel : public ModelContainer {
 public:
  bool is_bundle() const override { return true; }

  ArchiveModel(const DataSource& archive, const std::string& path, Context& context,
               const ModelOpenOptions& options)
      : ModelContainer(path, archive.file, context), archive_(archive), options_(options) {}

  static ModelOpenResult Open(const DataSource& archive, const std::string& path, Context& context,
                              const ModelOpenOptions& options);

 protected:
  void Walk(llvm::function_ref<bool(const std::string&)> use) const override {
    for (const auto& [path, file] : members_) {
      if (!use(path)) return;
    }
  }
  bool HasMember(const std::string& member) const override { return members_.contains(member); }
  std::optional<DataSource> ReadMember(const std::string& member, Emitter& emitter) const override {
    if (!members_.at(member).is_whole() && !ReadData(emitter)) return std::nullopt;
    return Source(member);
  }
  std::optional<Start> ReadStart(const std::string& member, Emitter&) const override {
    return Start{.bytes = Source(member), .size = members_.at(member).size};
  }

 private:
  DataSource Source(const std::string& member) const {
    return {context().sources.AddOpaque(Told(member), FileKind::kBinary), members_.at(member).bytes};
  }
  std::string Told(std::string_view member) const { return fmt::format("{}:{}{}", name_, folder_, member); }
  bool Unpack();
  std::optional<ArchivedFile> Keep(ArchiveReader& reader, std::string_view path) const;
  bool ReadData(Emitter& emitter) const;
  bool TakeData(const std::string& member, ArchiveReader& reader) const;
  bool ChooseGraph();
  bool AddText(const std::string& member, FileId& text);

  DataSource archive_;
  ModelOpenOptions options_;
  std::string folder_;  // common folder of all members: "" or "model/"
  mutable std::map<std::string, ArchivedFile> members_;
  mutable bool data_failed_ = false;    // reading failed and was reported
  std::vector<std::string> documents_;  // all `.nnef` files
  std::string second_;                  // the first document of NNEF 2.0
};

bool ArchiveModel::Unpack() {
  ArchiveReader reader(archive_, options_.max_bytes, context_->emitter);
  while (auto path = reader.Next()) {
    std::string_view base = BaseName(*path);
    if (base.ends_with(".nnef")) documents_.push_back(*path);
    if (base.ends_with(kSkriptNdSuffix) && second_.empty()) second_ = *path;
    const bool is_kept = base == kGraphFile || base == kQuantizationFile || IsData(*path) ||
                         IsResource(*path) || InnerPath(*path);
    if (!is_kept) continue;
    std::optional<ArchivedFile> file = Keep(reader, *path);
    if (!file) return false;
    members_.emplace(std::move(*path), std::move(*file));
  }
  return !reader.failed();
}

// Returns the retained bytes of the current file; nothing after an error.
std::optional<ArchivedFile> ArchiveModel::Keep(ArchiveReader& reader, std::string_view path) const {
  // Longer resources are rejected later.
  if (IsResource(path)) return reader.ReadStart(kLongestResource + 1);
  if (IsData(path) && !options_.reads_data) {
    const bool is_one = !HoldsTensors(path);
    std::optional<ArchivedFile> file =
        reader.ReadStart(is_one ? kLongestDatHeader : kLongestSafetensorsHeader);
    if (!file || file->bytes->mapped()) return file;
    const std::span<const std::byte> start(file->bytes->data(), file->bytes->size());
    const uint64_t wanted = is_one ? DatHeaderSize(start) : SafetensorsHeaderSize(start);
    const auto size = static_cast<size_t>(std::min<uint64_t>(start.size(), wanted));
    if (auto header = Buffer::Allocate(size)) {
      std::memcpy(header->mutable_data(), start.data(), size);
      file->bytes = std::move(header);
    }
    return file;
  }
  std::shared_ptr<const Buffer> bytes = reader.Read();
  if (bytes == nullptr) return std::nullopt;
  const uint64_t size = bytes->size();
  return ArchivedFile{.bytes = std::move(bytes), .size = size};
}

// Reads the archive again for the data of all tensor files.
bool ArchiveModel::ReadData(Emitter& emitter) const {
  if (data_failed_) return false;
  ArchiveReader reader(archive_, options_.max_bytes, emitter);
  bool same = true;
  while (auto path = reader.Next()) {
    const bool is_member = path->starts_with(folder_) && members_.contains(path->substr(folder_.size()));
    if (is_member) same &= TakeData(path->substr(folder_.size()), reader);
  }
  same &= std::all_of(members_.begin(), members_.end(),
                      [](const auto& member) { return member.second.is_whole(); });
  data_failed_ = reader.failed() || !same;
  if (!reader.failed() && !same) {
    emitter.Emit(kArchiveDamaged, ByteRange(file_, 0, 0),
                 "the archive was changed while it was read; run the command once more");
  }
  return !data_failed_;
}

// Reads the data of a tensor file with a known header. Returns false on errors, and if the file has changed.
bool ArchiveModel::TakeData(const std::string& member, ArchiveReader& reader) const {
  ArchivedFile& known = members_.at(member);
  if (known.is_whole()) return true;
  std::shared_ptr<const Buffer> bytes = reader.Read();
  if (bytes == nullptr || bytes->size() != known.size) return false;
  if (std::memcmp(bytes->data(), known.bytes->data(), known.bytes->size()) != 0) return false;
  known.bytes = std::move(bytes);
  return true;
}

// Selects the `graph.nnef` at the root, or in the only folder nearest to it.
bool ArchiveModel::ChooseGraph() {
  auto depth = [](const std::string& path) { return std::count(path.begin(), path.end(), '/'); };
  std::vector<std::string> candidates;
  for (const std::string& path : documents_) {
    if (BaseName(path) != kGraphFile) continue;
    if (!candidates.empty() && depth(path) > depth(candidates.front())) continue;
    if (!candidates.empty() && depth(path) < depth(candidates.front())) candidates.clear();
    candidates.push_back(path);
  }
  SourceRange range = ByteRange(file_, 0, 0);
  if (documents_.empty() && !second_.empty()) {
    ReportSkriptNd(context_->emitter, file_, second_);
    return false;
  }
  if (candidates.empty()) {
    std::string others = documents_.empty() ? "" : fmt::format("; it holds {}", Listed(documents_));
    context_->emitter.Emit(kContainerNoGraph, range, "there is no `{}` in the archive{}", kGraphFile, others);
    return false;
  }
  if (candidates.size() > 1) {
    context_->emitter.Emit(kContainerSeveralGraphs, range, "the archive holds several models: {}",
                           Listed(std::move(candidates)));
    return false;
  }
  folder_ = candidates.front().substr(0, candidates.front().size() - kGraphFile.size());
  std::map<std::string, ArchivedFile> members;
  for (auto& [path, file] : members_) {
    if (path.starts_with(folder_)) members.emplace(path.substr(folder_.size()), std::move(file));
  }
  members_ = std::move(members);
  return true;
}

bool ArchiveModel::AddText(const std::string& member, FileId& text) {
  const Buffer& bytes = *members_.at(member).bytes;
  if (bytes.size() > std::numeric_limits<uint32_t>::max()) {
    context_->emitter.Emit(kDataTooLarge, ByteRange(file_, 0, 0), "`{}` is larger than 4 GiB", member);
    return false;
  }
  text = context_->sources.AddText(Told(member),
                                   std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  members_.erase(member);
  return true;
}

ModelOpenResult ArchiveModel::Open(const DataSource& archive, const std::string& path, Context& context,
                                   const ModelOpenOptions& options) {
  auto model = std::make_unique<ArchiveModel>(archive, path, context, options);
  if (!model->Unpack() || !model->ChooseGraph()) return {};
  uint64_t unpacked = 0;
  for (const auto& [member, file] : model->members_) unpacked += file.size;
  model->OpenInnerAs(options, unpacked);
  if (!model->AddText(std::string(kGraphFile), model->graph_text_)) return {};
  if (model->members_.contains(std::string(kQuantizationFile))) {
    FileId text;
    if (!model->AddText(std::string(kQuantizationFile), text)) return {};
    model->quantization_text_ = text;
  }
  return {.model = std::move(model), .environment_failed = false};
}

// Recognises an archive by its content (no text starts this way) or by its name, so that a corrupt one is
// reported as an archive.
bool IsArchive(const std::string& path, std::span<const std::byte> bytes) {
  constexpr size_t kTarMagicAt = 257;
  constexpr std::string_view kTarMagic = "ustar";
  const bool is_tar = bytes.size() >= kTarMagicAt + kTarMagic.size() &&
                      std::memcmp(bytes.data() + kTarMagicAt, kTarMagic.data(), kTarMagic.size()) == 0;
  if (is_tar || IsCompressed(bytes)) return true;
  std::string_view name = BaseName(path);
  for (std::string_view end : {".tar", ".tgz", ".tbz2", ".txz", ".tlz", ".tzst"}) {
    if (name.ends_with(end)) return true;
  }
  return name.find(".tar.") != std::string_view::npos;
}

}  // namespace

ModelOpenResult ModelContainer::Open(const std::string& path, Context& context,
                                     const ModelOpenOptions& options) {
  std::error_code error;
  if (fs::is_directory(path, error)) return FolderModel::Open(path, context, options);
  auto mapped = MappedFile::Open(path);
  if (mapped) {
    if (const std::optional<std::string> format = ForeignFormat(path, (*mapped)->bytes())) {
      context.emitter.Emit(kContainerForeignFormat,
                           ByteRange(context.sources.AddOpaque(path, FileKind::kNamed), 0, 0), "this is {}",
                           *format);
      return {};
    }
  }
  if (mapped && IsArchive(path, (*mapped)->bytes())) {
    DataSource archive{context.sources.AddOpaque(path, FileKind::kNamed),
                       Buffer::Map(*mapped, 0, (*mapped)->size())};
    return ArchiveModel::Open(archive, path, context, options);
  }
  auto text = mapped ? context.sources.Open(path) : ErrorOr<FileId>(mapped.error());
  if (!text) {
    context.emitter.Emit(kContainerUnreadable, SourceRange(), "{}", text.error().message);
    return {.model = nullptr, .environment_failed = true};
  }
  std::unique_ptr<ModelContainer> model;
  if (BaseName(path) == kGraphFile) model = FolderModel::OpenAround(path, *text, context, options);
  if (model == nullptr) model = std::make_unique<BareModel>(path, *text, context);
  return {.model = std::move(model), .environment_failed = false};
}

ModelOpenResult ModelContainer::FromText(const std::string& name, std::string text, Context& context,
                                         std::map<std::string, TensorValue> data) {
  const FileId file = context.sources.AddText(name, std::move(text));
  if (!data.empty()) {
    return {.model = std::make_unique<MemoryModel>(name, file, std::move(data), context),
            .environment_failed = false};
  }
  return {.model = std::make_unique<BareModel>(name, file, context), .environment_failed = false};
}

ModelOpenResult ModelContainer::OpenArchive(const DataSource& archive, const std::string& path,
                                            Context& context, const ModelOpenOptions& options) {
  return ArchiveModel::Open(archive, path, context, options);
}

}  // namespace nnefc::package
