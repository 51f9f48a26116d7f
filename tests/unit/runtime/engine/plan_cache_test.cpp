#include "runtime/engine/plan_cache.h"

#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "runtime/engine/weight_cache.h"
#include "tests/unit/runtime/run_graph.h"

namespace nnefc::runtime::engine {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest() {
    std::string name = (fs::temp_directory_path() / "plan_cache.XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~PlanCacheTest() override { fs::remove_all(folder_); }

  // Convolutions whose kernels need reordered filters, one by the Winograd algorithm.
  static TestGraph Network(unsigned seed = 1) {
    TestGraph g;
    const auto x = g.Parameter("x", {1, 32, 20, 20});
    const auto first = g.Convolution(x, g.Weights({32, 32, 3, 3}, seed), 1);
    g.Result(g.Convolution(first, g.Weights({48, 32, 1, 1}, seed + 1), 0));
    return g;
  }
  static std::vector<TensorValue> Inputs() { return {RandomTensor({1, 32, 20, 20}, 7)}; }

  struct Outcome {
    std::vector<TensorValue> outputs;
    PlanCacheUse use;
    std::string warnings;
  };
  Outcome Run(const TestGraph& g, ExecutableOptions options = {}) const {
    options.plan_cache = (folder_ / "cache").string();
    options.transform = StandardTransformer();
    Emitter emitter;
    const auto executable = Executable::Create(g.graph, options, emitter);
    EXPECT_NE(executable, nullptr);
    if (executable == nullptr) return {};
    auto outputs = Session::Create(executable)->Run(Inputs());
    EXPECT_TRUE(outputs.ok());
    EXPECT_FALSE(emitter.has_errors());
    return {*outputs, executable->plan_cache_use(), Messages(emitter)};
  }
  fs::path Entry() const {
    for (const auto& file : fs::directory_iterator(folder_ / "cache")) {
      if (file.path().extension() == ".plan") return file.path();
    }
    ADD_FAILURE() << "no entry";
    return {};
  }
  // Runs with a damaged entry, and once more.
  void ExpectNoticed(const std::string& what) const {
    const Outcome noticed = Run(Network());
    EXPECT_EQ(noticed.use.found, 0) << what;
    EXPECT_NE(noticed.warnings.find("it is written again"), std::string::npos) << what << noticed.warnings;
    EXPECT_EQ(noticed.outputs, RunGraph(Network().graph, {}, Inputs())) << what;
    const Outcome again = Run(Network());
    EXPECT_EQ(again.use.made, 0) << what;
    EXPECT_EQ(again.warnings, "") << what;
  }

  // Runs in a process with a small limit on file sizes, and exits.
  [[noreturn]] void RunOnFullDisk() const {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 5000, .rlim_max = 5000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Outcome run = Run(Network());
    const bool told = run.warnings.find("the next run plans again") != std::string::npos;
    const bool right = run.outputs == RunGraph(Network().graph, {}, Inputs());
    std::_Exit(told && right ? 0 : 1);
  }

  fs::path folder_;
};

TEST_F(PlanCacheTest, TheSecondTimeConstantsAreThere) {
  const std::vector<TensorValue> expected = RunGraph(Network().graph, {}, Inputs());
  const Outcome first = Run(Network());
  EXPECT_EQ(first.use.found, 0);
  EXPECT_EQ(first.use.made, 2);
  EXPECT_EQ(first.warnings, "");
  const Outcome second = Run(Network());
  EXPECT_EQ(second.use.found, 2);
  EXPECT_EQ(second.use.made, 0);
  EXPECT_EQ(first.outputs, expected);
  EXPECT_EQ(second.outputs, expected);
}

TEST_F(PlanCacheTest, OtherWeightsPrecisionsAndThreadsAreOthers) {
  Run(Network());
  EXPECT_EQ(Run(Network(5)).use.found, 0);
  EXPECT_EQ(Run(Network(5)).outputs, RunGraph(Network(5).graph, {}, Inputs()));
  EXPECT_EQ(Run(Network(), {.precision = kernels::Precision::kExact}).use.found, 0);
  EXPECT_EQ(Run(Network(), {.threads = 3}).use.found, 0);
  EXPECT_EQ(Run(Network(), {.backend = kernels::Backend::kReference}).use.made, 0);
}

// Returns the number of bytes of a file that are in the memory of this process.
size_t ResidentBytes(const fs::path& path) {
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    found |= line.ends_with(path.string());
    if (found && line.starts_with("Rss:")) return std::stoul(line.substr(4)) * 1024;
  }
  ADD_FAILURE() << path << " is not mapped";
  return 0;
}

// A recent entry is read as a whole for its digest, but its pages are released.
TEST_F(PlanCacheTest, WhatWasLookedAtIsLetGo) {
  TestGraph g;
  ir::OutputPort x = g.Parameter("x", {1, 64, 16, 16});
  for (unsigned i = 0; i < 6; ++i) x = g.Convolution(x, g.Weights({64, 64, 3, 3}, i, -0.1F, 0.1F), 1);
  g.Result(x);
  const ExecutableOptions options{.threads = 1, .plan_cache = (folder_ / "cache").string()};
  const std::vector<TensorValue> inputs = {RandomTensor({1, 64, 16, 16}, 9)};
  const std::vector<TensorValue> first = RunGraph(g.graph, options, inputs);
  const auto executable = Compile(g.graph, options);
  ASSERT_NE(executable, nullptr);
  EXPECT_EQ(executable->plan_cache_use().found, 6);
  EXPECT_GE(fs::file_size(Entry()), size_t{800} << 10);
  EXPECT_LE(ResidentBytes(Entry()), fs::file_size(Entry()) / 3);
  const auto again = Session::Create(executable)->Run(inputs);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, first);
}

// Numbers derived from a constant are computed once, also if the result is empty.
TEST_F(PlanCacheTest, WhatWasFoundOutOfConstantsIsThere) {
  const TensorValue one = RandomTensor({3, 4}, 1), reshaped = one.Reshaped({4, 3}),
                    other = RandomTensor({3, 4}, 2);
  const auto finds = [&](const TensorValue& value, std::string_view what, const std::vector<float>& numbers) {
    PlanCache kept((folder_ / "cache").string());
    kept.Open(Digest{.low = 1});
    WeightCache weights(&kept);
    int finds = 0;
    const auto find = [&] {
      ++finds;
      return numbers;
    };
    EXPECT_EQ(weights.Get(value, what, 3, find), numbers);
    kept.Save();
    return finds;
  };
  for (int time : {1, 0}) {
    EXPECT_EQ(finds(one, "a", {1, 2, 3}), time);
    EXPECT_EQ(finds(one, "b", {}), time);
    EXPECT_EQ(finds(reshaped, "a", {4, 5, 6}), time);
    EXPECT_EQ(finds(other, "a", {}), time);
    EXPECT_EQ(finds(other, "b", {0, 0, 0}), time);
  }
  WeightCache none;
  EXPECT_EQ(none.Get(one, "a", 1, [] { return std::vector<float>{7}; }), std::vector<float>{7});
}

// A plan for other shapes adds its items to the existing ones.
TEST_F(PlanCacheTest, PlansForOtherShapesShareConstants) {
  TestGraph g;
  const auto x = g.PartialParameter("x", ir::PartialShape({1, 32, ir::Dim(), ir::Dim()}));
  g.Result(g.Convolution(x, g.Weights({48, 32, 1, 1}, 1), 0));
  for (int made : {1, 0}) {
    const auto executable = Compile(g.graph, {.plan_cache = (folder_ / "cache").string()});
    const auto session = Session::Create(executable);
    for (int64_t size : {9, 14}) ASSERT_TRUE(session->Run({RandomTensor({1, 32, size, size}, 1)}).ok());
    EXPECT_EQ(executable->plan_cache_use().made, made);
  }
}

TEST_F(PlanCacheTest, DamageIsNoticed) {
  Run(Network());
  const std::string whole = ReadAll(Entry());
  ASSERT_GT(whole.size(), 8192);
  const auto write = [&](const std::string& bytes) { std::ofstream(Entry(), std::ios::binary) << bytes; };
  for (size_t length : {size_t{0}, size_t{7}, size_t{71}, size_t{100}, whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, length));
    ExpectNoticed("cut to " + std::to_string(length));
  }
  write(whole + "more");
  ExpectNoticed("longer");
  write(std::string(whole.size(), '\0'));
  ExpectNoticed("zeros");
  // The header, the index, and the first and last bytes of items.
  for (size_t at : {size_t{0}, size_t{9}, size_t{17}, size_t{35}, size_t{43}, size_t{60}, size_t{75},
                    size_t{90}, size_t{100}, size_t{4096}, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write(changed);
    ExpectNoticed("byte " + std::to_string(at));
  }
}

// An entry with changed numbers and matching digests.
class HostileEntryTest : public PlanCacheTest {
 protected:
  // Offsets of the format, in bytes.
  static constexpr size_t kFileBytes = 8, kModel = 16, kCount = 32, kIndexDigest = 40, kCheck = 56,
                          kItems = 72;
  static constexpr size_t kItem = 48, kItemOffset = 16, kItemSize = 24, kItemContent = 32;

  HostileEntryTest() {
    Run(Network());
    whole_ = ReadAll(Entry());
    EXPECT_EQ(Number(kFileBytes), whole_.size());
    EXPECT_EQ(Number(kCount), 2);
  }

  uint64_t Number(size_t at) const {
    uint64_t number = 0;
    std::memcpy(&number, whole_.data() + at, sizeof number);
    return number;
  }
  template <typename T>
  static void Put(std::string& bytes, size_t at, const T& value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  static Digest DigestAt(const std::string& bytes, size_t begin, size_t size) {
    return DigestOf(std::as_bytes(std::span(bytes).subspan(begin, size)));
  }
  static size_t At(size_t item, size_t field) { return kItems + item * kItem + field; }
  // Writes the digests of an index with the given number of items, and of the header.
  static void Seal(std::string& bytes, size_t items) {
    Put(bytes, kIndexDigest, DigestAt(bytes, kItems, std::min(items * kItem, bytes.size() - kItems)));
    Put(bytes, kCheck, DigestAt(bytes, 0, kCheck));
  }
  void Write(const std::string& bytes) const { std::ofstream(Entry(), std::ios::binary) << bytes; }
  void ExpectNoticedWith(size_t at, uint64_t number) const {
    std::string bytes = whole_;
    Put(bytes, at, number);
    Seal(bytes, Number(kCount));
    Write(bytes);
    ExpectNoticed(std::to_string(number) + " at " + std::to_string(at));
  }
  // Expects that the intact items of an entry are used, and the others made.
  void ExpectFound(const std::string& bytes, int64_t found) const {
    Write(bytes);
    const Outcome run = Run(Network());
    EXPECT_EQ(run.use.found, found);
    EXPECT_EQ(run.use.made, 2 - found);
    EXPECT_EQ(run.warnings, "");
    EXPECT_EQ(run.outputs, RunGraph(Network().graph, {}, Inputs()));
  }

  std::string whole_;
};

TEST_F(HostileEntryTest, OffsetsLieInTheFile) {
  const uint64_t size = whole_.size(), pages = (size + 4095) / 4096 * 4096;
  for (size_t item : {size_t{0}, size_t{1}}) {
    const uint64_t offset = Number(At(item, kItemOffset));
    for (uint64_t wrong : {offset + 1, offset - 1, offset + 64, pages, pages + 4096, uint64_t{1} << 63,
                           uint64_t{0} - 4096, uint64_t{0} - 1, uint64_t{0}})
      ExpectNoticedWith(At(item, kItemOffset), wrong);
  }
}

TEST_F(HostileEntryTest, SizesLieInTheFile) {
  for (size_t item : {size_t{0}, size_t{1}}) {
    const uint64_t offset = Number(At(item, kItemOffset)), size = Number(At(item, kItemSize));
    const uint64_t left = whole_.size() - offset;
    for (uint64_t wrong : {size - 1, size + 1, uint64_t{0}, left + 1, left + 4096, uint64_t{1} << 40,
                           uint64_t{1} << 63, uint64_t{0} - offset, uint64_t{0} - 1})
      ExpectNoticedWith(At(item, kItemSize), wrong);
  }
}

// The mapped file ends within a page: bytes after its end can be read, but belong to no item.
TEST_F(HostileEntryTest, AnItemEndsWithTheFile) {
  const size_t last = Number(At(0, kItemOffset)) > Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(last, kItemOffset)), size = Number(At(last, kItemSize));
  ASSERT_EQ(offset + size, whole_.size());
  for (uint64_t more : {1, 64}) {
    std::string bytes = whole_;
    Put(bytes, At(last, kItemSize), size + more);
    Put(bytes, At(last, kItemContent),
        DigestAt(whole_.substr(offset) + std::string(more, '\0'), 0, size + more));
    Seal(bytes, 2);
    Write(bytes);
    ExpectNoticed(std::to_string(more) + " bytes after the end");
  }
}

// Mapped memory has the alignment that kernels need.
TEST_F(HostileEntryTest, AnItemBeginsAtAPage) {
  const size_t first = Number(At(0, kItemOffset)) < Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(first, kItemOffset)), size = Number(At(first, kItemSize));
  for (uint64_t more : {1, 64, 2048}) {
    std::string bytes = whole_;
    Put(bytes, At(first, kItemOffset), offset + more);
    Put(bytes, At(first, kItemContent), DigestAt(whole_, offset + more, size));
    Seal(bytes, 2);
    Write(bytes);
    ExpectNoticed(std::to_string(more) + " bytes after the start of a page");
  }
}

TEST_F(HostileEntryTest, CountsOfItems) {
  const uint64_t fit = (whole_.size() - kItems) / kItem;
  for (uint64_t wrong : {uint64_t{3}, fit, fit + 1, uint64_t{1} << 60, uint64_t{1} << 63, ~uint64_t{0},
                         ~uint64_t{0} / kItem + 1, ~uint64_t{0} / kItem + 3}) {
    std::string bytes = whole_;
    Put(bytes, kCount, wrong);
    Seal(bytes, std::min<uint64_t>(wrong, fit));
    Write(bytes);
    ExpectNoticed("count " + std::to_string(wrong));
  }
  for (uint64_t fewer : {0, 1}) {
    std::string bytes = whole_;
    Put(bytes, kCount, fewer);
    Seal(bytes, fewer);
    ExpectFound(bytes, static_cast<int64_t>(fewer));
  }
}

TEST_F(HostileEntryTest, SizesOfTheFile) {
  for (uint64_t wrong : {whole_.size() - 1, whole_.size() + 1, size_t{0}, ~size_t{0}})
    ExpectNoticedWith(kFileBytes, wrong);
  std::string bytes = whole_;
  Put(bytes, kModel, Digest{.low = 1, .high = 2});
  Seal(bytes, 2);
  Write(bytes);
  ExpectNoticed("of another model");
}

// An item whose size differs from the step's need is not used, although its bytes are intact.
TEST_F(HostileEntryTest, AnItemOfAnotherSizeIsMadeAgain) {
  const size_t first = Number(At(0, kItemOffset)) < Number(At(1, kItemOffset)) ? 0 : 1;
  const uint64_t offset = Number(At(first, kItemOffset)), size = Number(At(first, kItemSize));
  for (uint64_t other : {uint64_t{0}, uint64_t{4}, size - 1, size + 1}) {
    std::string bytes = whole_;
    Put(bytes, At(first, kItemSize), other);
    Put(bytes, At(first, kItemContent), DigestAt(whole_, offset, other));
    Seal(bytes, 2);
    ExpectFound(bytes, 1);
    Write(whole_);
  }
}

// Two records for one item count as one; the other item is made again.
TEST_F(HostileEntryTest, TwoRecordsOfAnItem) {
  for (size_t item : {size_t{0}, size_t{1}}) {
    std::string bytes = whole_;
    bytes.replace(At(1 - item, 0), kItem, whole_, At(item, 0), kItem);
    Seal(bytes, 2);
    ExpectFound(bytes, 1);
  }
  // Swapped items have sizes other than their steps need.
  std::string bytes = whole_;
  bytes.replace(At(0, 0), kItemOffset, whole_, At(1, 0), kItemOffset);
  bytes.replace(At(1, 0), kItemOffset, whole_, At(0, 0), kItemOffset);
  Seal(bytes, 2);
  ExpectFound(bytes, 0);
}

TEST_F(PlanCacheTest, WhatIsNoFileIsNoEntry) {
  Run(Network());
  const fs::path entry = Entry();
  fs::remove(entry);
  fs::create_symlink("elsewhere", entry);
  ExpectNoticed("a link");
  EXPECT_FALSE(fs::exists(folder_ / "cache" / "elsewhere"));
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  ExpectNoticed("a pipe");
  // The files are no programs, and only their owner may write them.
  const fs::perms never = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec |
                          fs::perms::group_write | fs::perms::others_write;
  for (const auto& file : fs::directory_iterator(folder_ / "cache"))
    EXPECT_EQ(file.status().permissions() & never, fs::perms::none) << file.path();
  fs::permissions(entry, fs::perms::others_write, fs::perm_options::add);
  ExpectNoticed("one that others may write");
}

TEST_F(PlanCacheTest, AFolderThatCannotBeWrittenIsAWarning) {
  std::ofstream(folder_ / "cache") << "a file";
  const Outcome run = Run(Network());
  EXPECT_NE(run.warnings.find("is not a folder"), std::string::npos) << run.warnings;
  EXPECT_EQ(run.outputs, RunGraph(Network().graph, {}, Inputs()));
}

TEST_F(PlanCacheTest, AFullDiskIsAWarning) {
  EXPECT_EXIT(RunOnFullDisk(), testing::ExitedWithCode(0), "");
  for (const auto& file : fs::directory_iterator(folder_ / "cache"))
    EXPECT_EQ(file.path().string().find(".plan"), std::string::npos) << file.path();
  EXPECT_EQ(Run(Network()).use.made, 2);
}

TEST_F(PlanCacheTest, ProcessesWriteAtOnce) {
  const std::vector<TensorValue> expected = RunGraph(Network().graph, {}, Inputs());
  Run(Network(), {.threads = 1});
  const fs::path entry = Entry();
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 5; ++k) {
        const Outcome run = Run(Network(), {.threads = 1});
        EXPECT_EQ(run.outputs, expected);
        EXPECT_EQ(run.warnings, "");
        if (k % 2 == 1) fs::remove(entry);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Run(Network(), {.threads = 1});
  EXPECT_EQ(Run(Network(), {.threads = 1}).use.found, 2);
}

std::shared_ptr<const Buffer> Bytes(size_t size) {
  return Buffer::Allocate(size);
}

TEST_F(PlanCacheTest, WhatWasUsedLongestAgoGoes) {
  const PlanCache::Options options{.most_bytes = 100'000};
  const Digest item{.low = 1, .high = 1};
  const auto keep = [&](uint64_t model) {
    PlanCache cache(folder_, options);
    cache.Open({.low = model, .high = 0});
    const bool found = cache.Find(item, 40'000) != nullptr;
    if (!found) cache.Add(item, Bytes(40'000));
    cache.Save();
    ::usleep(20'000);  // file times have a coarse resolution
    return found;
  };
  EXPECT_FALSE(keep(1));
  EXPECT_FALSE(keep(2));
  EXPECT_TRUE(keep(1));
  EXPECT_FALSE(keep(3));  // in place of 2
  EXPECT_TRUE(keep(1));
  EXPECT_TRUE(keep(3));
  EXPECT_FALSE(keep(2));
  PlanCache cache(folder_, options);
  cache.Open({.low = 9, .high = 0});
  cache.Add(item, Bytes(200'000));
  cache.Save();
  cache.Open({.low = 9, .high = 0});
  EXPECT_EQ(cache.Find(item, 200'000), nullptr);
}

// The largest allowed size fits, for one entry and for all together.
TEST_F(PlanCacheTest, EntriesUpToTheMostBytes) {
  constexpr size_t kEntry = 4096 + 40'000;  // one item after a page of header and index
  const Digest item{.low = 1, .high = 1};
  const auto has = [&](uint64_t model, const PlanCache::Options& options) {
    PlanCache cache(folder_, options);
    cache.Open({.low = model, .high = 0});
    return cache.Find(item, 40'000) != nullptr;
  };
  const auto add = [&](uint64_t model, const PlanCache::Options& options) {
    PlanCache cache(folder_, options);
    cache.Open({.low = model, .high = 0});
    cache.Add(item, Bytes(40'000));
    cache.Save();
    ::usleep(20'000);  // file times have a coarse resolution
  };
  add(1, {.most_bytes = kEntry - 1});
  EXPECT_FALSE(has(1, {}));
  add(1, {.most_bytes = kEntry});
  EXPECT_TRUE(has(1, {}));
  add(2, {.most_bytes = 2 * kEntry});
  EXPECT_TRUE(has(1, {}) && has(2, {}));
  ::usleep(20'000);
  EXPECT_TRUE(has(2, {}));
  add(3, {.most_bytes = 3 * kEntry - 1});
  EXPECT_FALSE(has(1, {}));
  EXPECT_TRUE(has(2, {}) && has(3, {}));
}

// Items of sizes next to a multiple of the alignment follow one another in a file.
TEST_F(PlanCacheTest, ItemsDoNotOverlap) {
  std::vector<std::shared_ptr<Buffer>> items;
  PlanCache cache(folder_);
  cache.Open({.low = 1, .high = 0});
  for (const size_t size : {1, 2, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 64}) {
    items.push_back(Buffer::Allocate(size));
    std::memset(items.back()->mutable_data(), static_cast<int>(items.size()), size);
    cache.Add({.low = items.size(), .high = 5}, items.back());
  }
  cache.Save();
  PlanCache other(folder_);
  other.Open({.low = 1, .high = 0});
  for (size_t i = 0; i < items.size(); ++i) {
    const auto found = other.Find({.low = i + 1, .high = 5}, items[i]->size());
    ASSERT_NE(found, nullptr) << i;
    EXPECT_EQ(std::memcmp(found->data(), items[i]->data(), items[i]->size()), 0) << i;
  }
}

// Only the owner may write the files of a cache, and nobody may run them.
TEST_F(PlanCacheTest, PermissionsOfFiles) {
  const mode_t mask = ::umask(0);
  PlanCache cache(folder_);
  cache.Open({.low = 1, .high = 0});
  cache.Add({.low = 1, .high = 1}, Bytes(64));
  cache.Save();
  PlanCache again(folder_);
  again.Open({.low = 1, .high = 0});
  ::umask(mask);
  int num_files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (!entry.is_regular_file()) continue;
    ++num_files;
    const fs::perms mode = entry.status().permissions();
    EXPECT_EQ(mode & (fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec |
                      fs::perms::group_write | fs::perms::others_write),
              fs::perms::none)
        << entry.path();
  }
  EXPECT_GE(num_files, 2);
}

// A file that others may write is replaced. The new file has the mode of a new file.
TEST_F(PlanCacheTest, FilesOfOthersAreReplaced) {
  const mode_t mask = ::umask(022);
  for (const mode_t mode : {mode_t{0646}, mode_t{0757}, mode_t{0777}}) {
    fs::remove_all(folder_ / "cache");
    Run(Network());
    const fs::path entry = Entry();
    ASSERT_EQ(::chmod(entry.c_str(), mode), 0);
    EXPECT_NE(Run(Network()).warnings.find("may be written by other users"), std::string::npos);
    EXPECT_EQ(fs::status(entry).permissions(), fs::perms(0644));
    EXPECT_EQ(Run(Network()).warnings, "");
  }
  ::umask(mask);
}

// An item has the requested size, or is absent.
TEST_F(PlanCacheTest, ItemsAreFoundByTheirSize) {
  PlanCache cache(folder_);
  cache.Open({.low = 1, .high = 0});
  const Digest item{.low = 1, .high = 1};
  cache.Add(item, Bytes(64));
  for (size_t size : {size_t{0}, size_t{32}, size_t{63}, size_t{65}, size_t{128}, ~size_t{0}})
    EXPECT_EQ(cache.Find(item, size), nullptr) << size;
  EXPECT_NE(cache.Find(item, 64), nullptr);
  EXPECT_EQ(cache.Find({.low = 1, .high = 2}, 64), nullptr);
  EXPECT_EQ(cache.Find({.low = 2, .high = 1}, 64), nullptr);
  // The replacement of an item of a file is written with its own digest.
  cache.Save();
  cache.Open({.low = 1, .high = 0});
  const std::shared_ptr<Buffer> other = Buffer::Allocate(32);
  std::memset(other->mutable_data(), 7, 32);
  cache.Add(item, other);
  cache.Save();
  cache.Open({.low = 1, .high = 0});
  const auto found = cache.Find(item, 32);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(std::memcmp(found->data(), other->data(), 32), 0);
  EXPECT_TRUE(cache.TakeWarnings().empty());
}

class FileDigestsTest : public PlanCacheTest {
 protected:
  FileDigestsTest() : file_(folder_ / "weights.bin") { Write(std::string(100'000, 'a')); }

  void Write(const std::string& bytes) const {
    const std::ofstream emptied(file_, std::ios::binary | std::ios::in | std::ios::out | std::ios::trunc);
    std::ofstream(file_, std::ios::binary | std::ios::in) << bytes;
    ::usleep(20'000);  // file times have a coarse resolution
  }
  // Returns the digest in a new process, and whether the file was read for it.
  std::pair<Digest, bool> Look(double age = 0.01) const {
    FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(age));
    const auto file = MappedFile::Open(file_.string());
    const Digest digest = digests.Of(**file);
    return {digest, digests.num_read() > 0};
  }
  bool IsKnown() const {
    Look();
    return !Look().second;
  }

  Digest Content() const {
    const std::string bytes = ReadAll(file_);
    return DigestOf(std::as_bytes(std::span(bytes)));
  }

  fs::path file_;
};

// Files of local file systems that note each change are recognised.
TEST_F(FileDigestsTest, AFileIsReadOnce) {
  struct statfs system {};
  ASSERT_EQ(::statfs(folder_.c_str(), &system), 0);
  constexpr long kXfs = 0x58465342;
  const std::set<long> noting = {EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC,
                                 kXfs};
  const bool is_noted = noting.contains(static_cast<long>(system.f_type));
  EXPECT_EQ(IsKnown(), is_noted);
  EXPECT_EQ(Look().first, Content());
  // In one process, too.
  FileDigests digests((folder_ / "others").string(), FileDigests::Seconds(0.01));
  const auto file = MappedFile::Open(file_.string());
  EXPECT_EQ(digests.num_read(), 0);
  EXPECT_EQ(digests.Of(**file), Content());
  EXPECT_EQ(digests.num_read(), 1);
  EXPECT_EQ(digests.Of(**file), Content());
  EXPECT_EQ(digests.num_read(), is_noted ? 1 : 2);
}

TEST_F(FileDigestsTest, CountsTheFilesThatItReads) {
  FileDigests digests((folder_ / "files").string(), FileDigests::Seconds(1000));
  EXPECT_EQ(digests.num_read(), 0);
  const auto file = MappedFile::Open(file_.string());
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(digests.Of(**file), Content());
    EXPECT_EQ(digests.num_read(), i);
  }
}

TEST_F(FileDigestsTest, AYoungFileIsReadEachTime) {
  EXPECT_TRUE(Look(1000).second);
  EXPECT_TRUE(Look(1000).second);
}

TEST_F(FileDigestsTest, ChangesInPlaceAreNoticed) {
  const Digest before = Look().first;
  const fs::file_time_type time = fs::last_write_time(file_);
  {
    std::fstream file(file_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(50'000);
    file << "b";
  }
  fs::last_write_time(file_, time);
  ::usleep(20'000);
  const auto [after, was_read] = Look();
  EXPECT_TRUE(was_read);
  EXPECT_NE(after, before);
  EXPECT_EQ(after, Content());
}

TEST_F(FileDigestsTest, ADamagedTableIsNoHelp) {
  const bool known = IsKnown();
  const std::string table = ReadAll(folder_ / "files");
  const Digest expected = Look().first;
  for (size_t at = 0; at < table.size(); at += 3) {
    std::string changed = table;
    changed[at] = changed[at] == '0' ? '1' : '0';
    std::ofstream(folder_ / "files", std::ios::binary) << changed;
    const auto [digest, was_read] = Look();
    EXPECT_EQ(digest, expected);
    EXPECT_TRUE(was_read);
  }
  EXPECT_EQ(IsKnown(), known);
}

}  // namespace
}  // namespace nnefc::runtime::engine
