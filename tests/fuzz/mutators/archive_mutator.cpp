// Mutants of archives, by members: models as .tar or .tgz, and NumPy's .npz. Lengths and checksums of the
// mutants are right, so that readers reach the members.
#include <algorithm>
#include <array>

#include "tests/fuzz/mutators/archives.h"
#include "tests/fuzz/mutators/tensor_mutator.h"

namespace nnefc::fuzz {
namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr size_t kMaxUnpacked = size_t{1} << 16;

using Members = std::vector<ArchiveMember>;

bool EndsIn(const std::string& name, std::string_view suffix) {
  return name.size() >= suffix.size() && name.ends_with(suffix);
}

std::string MutateTar(std::string_view input, Mutation& mutation);

void MutateContent(ArchiveMember& member, Mutation& mutation) {
  std::string mutant;
  if (EndsIn(member.name, ".dat")) {
    mutant = MutateDat(member.content, mutation);
  } else if (EndsIn(member.name, ".npy")) {
    mutant = MutateNpy(member.content, mutation);
  } else if (EndsIn(member.name, ".safetensors")) {
    mutant = kSafetensorsMutator.mutate(member.content, mutation);
  } else if (EndsIn(member.name, ".nnef") || EndsIn(member.name, ".quant")) {
    mutant = kDocumentMutator.mutate(member.content, mutation);
  } else if (EndsIn(member.name, ".tar") || EndsIn(member.name, ".tgz")) {
    // Nested archives halve the bound, which limits the nesting.
    constexpr size_t kMinNested = 128;
    Mutation nested = mutation;
    nested.max_size /= 2;
    if (nested.max_size >= kMinNested) mutant = MutateTar(member.content, nested);
  }
  if (mutant.empty()) {
    mutation.mutate_bytes(member.content, mutation.max_size);
  } else {
    member.content = std::move(mutant);
  }
}

void MutateName(std::string& name, Choices& choices) {
  static constexpr auto kNames = std::to_array<std::string_view>({"graph.nnef",
                                                                  "graph.quant",
                                                                  "a/b.dat",
                                                                  "./graph.nnef",
                                                                  "model/graph.nnef",
                                                                  "../x.dat",
                                                                  "/x.dat",
                                                                  "a//b.dat",
                                                                  "a/./b.dat",
                                                                  "x.safetensors",
                                                                  "part.nnef.tgz",
                                                                  "a.nnef.tar",
                                                                  "",
                                                                  ".",
                                                                  "x/",
                                                                  "a\\b.dat",
                                                                  "\xc3\xa9.dat",
                                                                  "\xff.dat",
                                                                  "config.json",
                                                                  "x.npy",
                                                                  "PaxHeader"});
  switch (choices.Below(3)) {
    case 0:
      name = choices.Pick(kNames);
      break;
    case 1:
      name = std::string(choices.OneIn(2) ? "./" : "a/") + name;
      break;
    default:
      if (!name.empty()) name.erase(choices.Below(name.size()), 1);
  }
}

// Changes one property of the members of any archive.
void MutateMembers(Members& members, Mutation& mutation) {
  Choices& choices = mutation.choices;
  if (members.empty()) {
    members.push_back(
        {.name = "graph.nnef",
         .content = "version 1.0;\ngraph g(x) -> (y) { x = external(shape = [1]); y = relu(x); }\n"});
    return;
  }
  ArchiveMember& member = choices.Pick(members);
  switch (choices.Below(8)) {
    case 0:
      members.push_back(ArchiveMember(member));
      if (choices.OneIn(2)) MutateName(members.back().name, choices);
      break;
    case 1:
      members.erase(members.begin() + static_cast<ptrdiff_t>(choices.Below(members.size())));
      break;
    case 2:
      std::swap(member, choices.Pick(members));
      break;
    case 3:
      MutateName(member.name, choices);
      break;
    default:
      MutateContent(member, mutation);
  }
}

// Changes properties that only a tar has: types of entries, links, long names in separate entries.
void MutateEntry(ArchiveMember& member, Choices& choices) {
  static constexpr auto kTypes =
      std::to_array<char>({'0', '\0', '1', '2', '3', '5', '6', '7', 'L', 'K', 'x', 'g', 'S', 'V'});
  static constexpr auto kRecords = std::to_array<std::string_view>(
      {"17 path=a/b.nnef\n", "19 path=graph.nnef\n", "12 size=1000\n", "12 size=10\n", "13 mtime=1e5\n",
       "9 path=\n", "x", "99 path=y\n", "18 linkpath=a.dat\n",
       "30 GNU.sparse.major=1\n20 GNU.sparse.minor=0\n"});
  member.type = choices.Pick(kTypes);
  if (member.type == 'x' || member.type == 'g') member.content = choices.Pick(kRecords);
  if (member.type == 'L' || member.type == 'K') member.content = std::string(choices.Below(300), 'n') + '\0';
  if (member.type == '1' || member.type == '2') member.link = choices.OneIn(2) ? "graph.nnef" : "../../x";
}

std::string MutateTar(std::string_view input, Mutation& mutation) {
  constexpr size_t kEntryOneIn = 6;
  constexpr size_t kBytesOneIn = 8;
  constexpr size_t kRepackedOneIn = 12;
  Choices& choices = mutation.choices;
  const bool is_packed = input.starts_with(kGzipMagic);
  const std::string unpacked = is_packed ? Gunzip(input, kMaxUnpacked) : std::string(input);
  std::string mutant;
  if (choices.OneIn(kBytesOneIn)) {
    mutant = unpacked;  // bytes of the unpacked archive, with a valid gzip checksum
    mutation.mutate_bytes(mutant, std::max(mutant.size(), size_t{1}));
  } else {
    Members members = ReadTar(unpacked, kMaxUnpacked);
    MutateMembers(members, mutation);
    if (!members.empty() && choices.OneIn(kEntryOneIn)) MutateEntry(choices.Pick(members), choices);
    mutant = WriteTar(members);
  }
  return is_packed != choices.OneIn(kRepackedOneIn) ? Gzip(mutant) : mutant;
}

std::string CrossTars(std::string_view first, std::string_view second, Mutation& mutation) {
  const auto read = [](std::string_view input) {
    return ReadTar(input.starts_with(kGzipMagic) ? Gunzip(input, kMaxUnpacked) : std::string(input),
                   kMaxUnpacked);
  };
  Members members = read(first);
  for (ArchiveMember& member : read(second))
    if (mutation.choices.OneIn(2)) members.push_back(std::move(member));
  const std::string archive = WriteTar(members);
  return first.starts_with(kGzipMagic) ? Gzip(archive) : archive;
}

std::string MutateArrays(std::string_view input, Mutation& mutation) {
  constexpr size_t kArchivedOneIn = 16;
  if (!input.starts_with("PK")) {
    std::string array = MutateNpy(input, mutation);
    if (!mutation.choices.OneIn(kArchivedOneIn)) return array;
    return WriteZip({{.name = "x.npy", .content = std::move(array)}});
  }
  Members members = ReadZip(input, kMaxUnpacked);
  MutateMembers(members, mutation);
  if (!members.empty() && mutation.choices.OneIn(4)) {
    ArchiveMember& member = mutation.choices.Pick(members);
    member.method = member.method == 0 ? 8 : 0;
  }
  return WriteZip(members);
}

std::string CrossArrays(std::string_view first, std::string_view second, Mutation& mutation) {
  const auto read = [](std::string_view input) {
    return input.starts_with("PK") ? ReadZip(input, kMaxUnpacked)
                                   : Members{{.name = "y.npy", .content = std::string(input)}};
  };
  Members members = read(first);
  for (ArchiveMember& member : read(second)) members.push_back(std::move(member));
  return WriteZip(members);
}

}  // namespace

const Mutator kContainerMutator = {MutateTar, CrossTars};
const Mutator kNpyMutator = {MutateArrays, CrossArrays};

}  // namespace nnefc::fuzz
