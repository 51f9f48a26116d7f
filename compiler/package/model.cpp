// Models with their tensor files, by label.

#include "compiler/package/model.h"

#include <algorithm>
#include <limits>

#include "compiler/package/members.h"
#include "compiler/package/rules.h"
#include "compiler/support/files/contained_path.h"

namespace nnefc::package {
namespace {

constexpr int kDeepestInner = 8;  // nesting of archives

}  // namespace

std::string_view WithoutSlashes(std::string_view label) {
  return label.substr(std::min(label.find_first_not_of('/'), label.size()));
}

namespace {

// Returns the file of a label; nothing for a label that names no file inside the model.
std::optional<std::string> MemberOf(std::string_view label, std::string_view suffix = kTensorSuffix) {
  std::optional<std::string> path = LabelPath(label);
  if (!path) return std::nullopt;
  return *path + std::string(suffix);
}

}  // namespace

bool ModelContainer::has_weights() const {
  bool found = false;
  Walk([&](const std::string& member) { return !(found = IsData(member) || InnerPath(member)); });
  return found;
}

std::vector<std::string> ModelContainer::Labels() const {
  std::vector<std::string> labels;
  Walk([&](const std::string& member) {
    if (auto label = LabelOf(member)) labels.push_back(std::move(*label));
    return true;
  });
  for (const auto& [member, index] : Indices()) {
    for (const auto& [label, entry] : index) labels.push_back(label);
  }
  std::vector<std::string> paths;
  Walk([&](const std::string& member) {
    if (auto path = InnerPath(member)) paths.push_back(std::move(*path));
    return true;
  });
  for (const std::string& path : paths) {
    const Inner& inner = OpenInner(path);
    if (inner.model == nullptr) continue;
    for (const std::string& label : inner.model->Labels())
      labels.push_back(fmt::format("{}/{}", path, label));
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

const std::map<std::string, SafetensorsIndex>& ModelContainer::Indices() const {
  if (indices_) return *indices_;
  std::vector<std::string> members;
  Walk([&](const std::string& member) {
    if (HoldsTensors(member)) members.push_back(member);
    return true;
  });
  indices_.emplace();
  for (const std::string& member : members) {
    const std::optional<Start> start = ReadStart(member, context_->emitter);
    auto index = start ? ReadSafetensorsIndex(start->bytes, start->size, context_->emitter) : std::nullopt;
    is_index_missing_ |= !index;
    if (!index) continue;
    // The tensors of a sub-model have its path as a prefix.
    const std::string path = SubmodelAround(member);
    SafetensorsIndex& named = (*indices_)[member];
    for (auto& [label, entry] : *index) named.emplace(path + label, std::move(entry));
  }
  return *indices_;
}

// Returns the folder of the innermost sub-model around a file, with a trailing slash; "" if there is none.
std::string ModelContainer::SubmodelAround(std::string_view member) const {
  for (size_t slash = member.rfind('/'); slash != std::string_view::npos;
       slash = member.rfind('/', slash - 1)) {
    const std::string folder(member.substr(0, slash + 1));
    if (HasMember(folder + std::string(kGraphFile))) return folder;
    if (slash == 0) break;
  }
  return "";
}

std::vector<ModelContainer::Place> ModelContainer::Places(std::string_view label) const {
  std::vector<Place> places;
  if (std::optional<std::string> member = MemberOf(label); member && HasMember(*member))
    places.push_back({std::move(*member)});
  for (const auto& [member, index] : Indices()) {
    const auto found = index.find(WithoutSlashes(label));
    if (found != index.end()) places.push_back({member, &found->second});
  }
  return places;
}

bool ModelContainer::HasVariable(std::string_view label) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr || inner->model->HasVariable(inside);
  // The content of a corrupt file is unknown.
  return !Places(label).empty() || is_index_missing_;
}

std::optional<ModelContainer::Start> ModelContainer::ReadStart(const std::string& member,
                                                               Emitter& emitter) const {
  std::optional<DataSource> source = ReadMember(member, emitter);
  if (!source) return std::nullopt;
  const uint64_t size = source->bytes->size();
  return Start{.bytes = std::move(*source), .size = size};
}

bool ModelContainer::HasResource(std::string_view label) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr || inner->model->HasResource(inside);
  const std::optional<std::string> member = MemberOf(label, kResourceSuffix);
  return member && HasMember(*member);
}

std::optional<FileId> ModelContainer::OpenResource(std::string_view label, Emitter& emitter) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr ? std::nullopt : inner->model->OpenResource(inside, emitter);
  return OpenText(*MemberOf(label, kResourceSuffix), kLongestResource, emitter);
}

std::optional<FileId> ModelContainer::OpenText(const std::string& member, uint64_t most,
                                               Emitter& emitter) const {
  const std::optional<Start> start = ReadStart(member, emitter);
  if (!start) return std::nullopt;
  const Buffer& bytes = *start->bytes.bytes;
  const std::string name(context_->sources.Name(start->bytes.file));
  if (start->size > most) {
    emitter.Emit(kDataTooLarge, ByteRange(file_, 0, 0), "`{}` has {} bytes; {} are read at most", name,
                 start->size, most);
    return std::nullopt;
  }
  return context_->sources.AddText(name,
                                   std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void ModelContainer::OpenInnerAs(const ModelOpenOptions& options, uint64_t unpacked) {
  inner_options_ = options;
  left_ = std::make_shared<uint64_t>(options.max_bytes - std::min(options.max_bytes, unpacked));
}

// Reports a tensor that may be in an unreadable nested archive.
std::nullopt_t ModelContainer::Lost(std::string_view label, Emitter& emitter) const {
  emitter.Emit(kContainerNoVariable, ByteRange(file_, 0, 0), "the archive that holds `{}` cannot be read",
               ShownText(label));
  return std::nullopt;
}

const ModelContainer::Inner& ModelContainer::OpenInner(std::string_view path) const {
  const auto known = inner_.find(path);
  if (known != inner_.end()) return known->second;
  Inner& inner = inner_[std::string(path)];
  std::vector<std::string> members;
  for (std::string_view suffix : kInnerSuffixes) {
    std::string member = std::string(path) + std::string(suffix);
    if (HasMember(member)) members.push_back(std::move(member));
  }
  if (members.empty()) return inner;
  inner.is_there = true;
  const std::string document = fmt::format("{}/{}", path, kGraphFile);
  if (HasMember(document)) members.push_back(document);
  const SourceRange range = ByteRange(file_, 0, 0);
  if (members.size() > 1) {
    context_->emitter.Emit(kContainerSeveralGraphs, range,
                           "`{}` and `{}` are one model by their names; remove one", ShownText(members[0]),
                           ShownText(members[1]));
    return inner;
  }
  if (depth_ == kDeepestInner) {
    context_->emitter.Emit(kArchiveTooLarge, range, "`{}` lies in more than {} archives within each other",
                           ShownText(members[0]), kDeepestInner);
    return inner;
  }
  const std::optional<DataSource> archive = ReadMember(members[0], context_->emitter);
  if (!archive) return inner;
  ModelOpenOptions options = inner_options_;
  options.max_bytes = *left_;
  inner.model =
      OpenArchive(*archive, std::string(context_->sources.Name(archive->file)), *context_, options).model;
  if (inner.model == nullptr) return inner;
  *left_ = *inner.model->left_;
  inner.model->left_ = left_;
  inner.model->depth_ = depth_ + 1;
  return inner;
}

const ModelContainer::Inner* ModelContainer::FindInner(std::string_view label, std::string& inside) const {
  const std::optional<std::string> path = LabelPath(label);
  if (left_ == nullptr || !path) return nullptr;
  for (size_t slash = path->find('/'); slash != std::string::npos; slash = path->find('/', slash + 1)) {
    const Inner& inner = OpenInner(std::string_view(*path).substr(0, slash));
    if (!inner.is_there) continue;
    inside = path->substr(slash + 1);
    return &inner;
  }
  return nullptr;
}

bool ModelContainer::HasSubmodel(std::string_view label) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr || inner->model->HasSubmodel(inside);
  const std::optional<std::string> path = LabelPath(label);
  if (left_ == nullptr || !path) return false;
  return HasMember(fmt::format("{}/{}", *path, kGraphFile)) || OpenInner(*path).is_there;
}

std::optional<FileId> ModelContainer::OpenSubmodel(std::string_view label, Emitter& emitter) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr ? std::nullopt : inner->model->OpenSubmodel(inside, emitter);
  const std::string path = *LabelPath(label);
  const Inner& inner = OpenInner(path);
  if (inner.model != nullptr) return inner.model->graph_text();
  if (inner.is_there) return std::nullopt;
  return OpenText(fmt::format("{}/{}", path, kGraphFile), std::numeric_limits<uint32_t>::max(), emitter);
}

std::optional<ModelContainer::Place> ModelContainer::Find(std::string_view label, Emitter& emitter) const {
  std::vector<Place> places = Places(label);
  if (places.size() == 1) return std::move(places.front());
  const SourceRange range = ByteRange(file_, 0, 0);
  if (places.size() > 1) {
    emitter.Emit(kContainerTwoTensors, range, "both `{}` and `{}` hold the variable `{}`; remove one of them",
                 ShownText(places[0].member), ShownText(places[1].member), ShownText(label));
  } else if (is_index_missing_) {
    return std::nullopt;  // already reported
  } else if (const std::optional<std::string> member = MemberOf(label)) {
    emitter.Emit(kContainerNoVariable, range, "there is no `{}` for the variable `{}`", ShownText(*member),
                 ShownText(label));
  } else {
    emitter.Emit(kContainerLabel, range, "the label `{}` leads out of the model", ShownText(label));
  }
  return std::nullopt;
}

std::optional<DatFile> ModelContainer::ReadVariableFile(std::string_view label, Emitter& emitter) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr ? Lost(label, emitter) : inner->model->ReadVariableFile(inside, emitter);
  const std::optional<Place> place = Find(label, emitter);
  if (!place) return std::nullopt;
  if (place->entry == nullptr) return ReadTensor(place->member, emitter);
  const std::optional<DataSource> source = ReadMember(place->member, emitter);
  return source ? ReadSafetensorsEntry(*source, *place->entry, emitter) : std::nullopt;
}

std::optional<DatFile> ModelContainer::ReadTensor(const std::string& member, Emitter& emitter) const {
  const std::optional<DataSource> source = ReadMember(member, emitter);
  return source ? ReadDat(*source, emitter) : std::nullopt;
}

std::optional<DatHeader> ModelContainer::ReadVariableHeader(std::string_view label, Emitter& emitter) const {
  std::string inside;
  if (const Inner* inner = FindInner(label, inside))
    return inner->model == nullptr ? Lost(label, emitter) : inner->model->ReadVariableHeader(inside, emitter);
  const std::optional<Place> place = Find(label, emitter);
  if (!place) return std::nullopt;
  if (place->entry != nullptr) return place->entry->header;
  return ReadHeader(place->member, emitter);
}

std::optional<DatHeader> ModelContainer::ReadHeader(const std::string& member, Emitter& emitter) const {
  const std::optional<Start> start = ReadStart(member, emitter);
  if (!start) return std::nullopt;
  return ReadDatHeader(start->bytes, start->size, emitter);
}

std::optional<TensorValue> ModelContainer::ReadVariable(std::string_view label, ElementType type,
                                                        Emitter& emitter) const {
  std::optional<DatFile> dat = ReadVariableFile(label, emitter);
  if (!dat) return std::nullopt;
  return DecodeDat(*dat, type, emitter);
}

}  // namespace nnefc::package
