#include "runtime/engine/cache/plan_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "runtime/engine/cache/weight_cache.h"
#include "runtime/tensor/thread_team.h"
#include "tests/unit/runtime/engine/cache/plan_cache_test.h"

namespace nnefc::runtime::engine::cache {
namespace {

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
  for (const int threads : {0, -1, tensor::AvailableThreads()})  // all threads
    EXPECT_EQ(Run(Network(), {.threads = threads}).use.found, 2) << threads;
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

// The digest of a graph depends on operations, edges, types, shapes, constants and bodies.
TEST_F(PlanCacheTest, DigestsOfGraphs) {
  const auto graph_of = [](const char* type, const Shape& shape, ElementType element_type, float number,
                           bool is_swapped, int64_t count) {
    TestGraph g;
    const auto x = g.Parameter("x", shape, element_type);
    const auto c = g.Const(TensorValue::FromFloats({1}, {number}).ConvertedTo(element_type));
    for (int64_t i = 0; i < count; ++i) g.Result(is_swapped ? g.Op(type, {c, x}) : g.Op(type, {x, c}));
    return g.graph;
  };
  const std::shared_ptr<ir::Graph> graphs[] = {
      graph_of("Add", {2, 3}, ElementType::kF32, 1, false, 1),
      graph_of("Multiply", {2, 3}, ElementType::kF32, 1, false, 1),
      graph_of("Add", {3, 2}, ElementType::kF32, 1, false, 1),
      graph_of("Add", {2, 3}, ElementType::kF64, 1, false, 1),
      graph_of("Add", {2, 3}, ElementType::kF32, 2, false, 1),
      graph_of("Add", {2, 3}, ElementType::kF32, 1, true, 1),
      graph_of("Add", {2, 3}, ElementType::kF32, 1, false, 2),
  };
  PlanCache cache((folder_ / "cache").string());
  for (const auto& one : graphs) {
    for (const auto& other : graphs) EXPECT_EQ(cache.DigestOf(*one) == cache.DigestOf(*other), one == other);
  }
  EXPECT_EQ(cache.DigestOf(*graphs[0]),
            cache.DigestOf(*graph_of("Add", {2, 3}, ElementType::kF32, 1, false, 1)));
}

// A constant may have no data.
TEST_F(PlanCacheTest, DigestsOfConstantsWithoutData) {
  const auto graph_of = [](const Shape& shape) {
    TestGraph g;
    const ir::PartialShape known{llvm::ArrayRef<int64_t>(shape)};
    ir::AttributeMap attributes;
    attributes.Set("element_type", ElementType::kF32);
    attributes.Set("shape", known);
    const ir::NodeId weights = ir::AddNode(*g.graph, "opset1", "Const", {.attributes = attributes});
    g.graph->SetOutputType({weights, 0}, ElementType::kF32, known);
    g.Result({weights, 0});
    return g.graph;
  };
  PlanCache cache((folder_ / "cache").string());
  EXPECT_EQ(cache.DigestOf(*graph_of({2, 3})), cache.DigestOf(*graph_of({2, 3})));
  EXPECT_NE(cache.DigestOf(*graph_of({2, 3})), cache.DigestOf(*graph_of({3, 2})));
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
  EXPECT_EQ(run.warnings.find("the next run plans again"), std::string::npos) << run.warnings;
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
// Only entries count and are removed, not other files of the folder.
TEST_F(PlanCacheTest, OtherFilesOfTheFolderStay) {
  const Digest item{.low = 1, .high = 1};
  const std::string bytes(100'000, 'a');
  std::ofstream(folder_ / "notes.txt") << bytes;
  std::ofstream(folder_ / "outside") << bytes;
  std::ofstream(folder_ / "0.plan.plan") << bytes;  // named like a temporary file
  fs::create_symlink("outside", folder_ / "link.plan");
  fs::create_directory(folder_ / "folder.plan");
  PlanCache cache(folder_, {.most_bytes = 4096 + 40'000});
  cache.Open({.low = 1, .high = 0});
  cache.Add(item, Bytes(40'000));
  cache.Save();
  cache.Open({.low = 1, .high = 0});
  EXPECT_NE(cache.Find(item, 40'000), nullptr);
  for (const char* name : {"notes.txt", "outside", "0.plan.plan", "link.plan", "folder.plan"})
    EXPECT_TRUE(fs::exists(fs::symlink_status(folder_ / name))) << name;
}

// Entries without a mark of their use are equally old: all of them go if the new one needs the place.
TEST_F(PlanCacheTest, EntriesWithoutAMarkGo) {
  for (int i = 0; i < 200; ++i)
    std::ofstream(folder_ / (std::to_string(i) + ".plan")) << std::string(100, 'a');
  PlanCache cache(folder_, {.most_bytes = 4096 + 40'000});
  cache.Open({.low = 1, .high = 0});
  cache.Add({.low = 1, .high = 1}, Bytes(40'000));
  cache.Save();
  const auto is_entry = [](const fs::directory_entry& file) { return file.path().extension() == ".plan"; };
  EXPECT_EQ(std::count_if(fs::directory_iterator(folder_), fs::directory_iterator(), is_entry), 1);
}

// Temporary files of other processes are removed if they are older than an hour. The test is repeated if a
// second ends meanwhile.
TEST_F(PlanCacheTest, AgesOfTemporaryFiles) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    const time_t now = ::time(nullptr);
    std::map<int, bool> is_there;
    for (const int age : {0, 3599, 3600, 3601}) {
      const fs::path path = folder_ / ("0.plan." + std::to_string(age));
      std::ofstream(path) << "a";
      const timespec times[] = {{.tv_sec = now, .tv_nsec = 0}, {.tv_sec = now - age, .tv_nsec = 0}};
      ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
      is_there[age] = true;
    }
    PlanCache cache(folder_);
    cache.Open({.low = 1, .high = 0});
    cache.Add({.low = 1, .high = 1}, Bytes(64));
    cache.Save();
    if (::time(nullptr) != now) continue;
    for (auto& [age, is_kept] : is_there) is_kept = fs::exists(folder_ / ("0.plan." + std::to_string(age)));
    EXPECT_EQ(is_there, (std::map<int, bool>{{0, true}, {3599, true}, {3600, true}, {3601, false}}));
    return;
  }
  FAIL() << "each attempt takes more than a second";
}

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

// An entry that its owner protects from being read stays protected when it is written again.
TEST_F(PlanCacheTest, PermissionsOfRewrittenEntries) {
  for (const uint64_t item : {1, 2}) {
    PlanCache cache(folder_ / "cache");
    cache.Open({.low = 1, .high = 0});
    cache.Add({.low = item, .high = 1}, Bytes(64));
    cache.Save();
    if (item == 1) fs::permissions(Entry(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(fs::status(Entry()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// Files are closed, and nothing is written without a model.
TEST_F(PlanCacheTest, OpenFiles) {
  const auto count = [](const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  const fs::path unopened = folder_ / "unopened";
  PlanCache without(unopened.string());
  without.Add({.low = 1, .high = 1}, Bytes(64));
  without.Save();
  EXPECT_EQ(count(unopened), 0);
  const auto before = count("/proc/self/fd");
  for (uint64_t i = 0; i < 5; ++i) {
    PlanCache cache((folder_ / "cache").string());
    cache.Open({.low = i / 2, .high = 0});
    cache.Add({.low = 1, .high = i}, Bytes(64));
    cache.Save();
  }
  EXPECT_EQ(count("/proc/self/fd"), before);
}

// Items without bytes begin and end where the file ends.
TEST_F(PlanCacheTest, ItemsWithoutBytes) {
  for (const bool has_other : {false, true}) {
    PlanCache cache(folder_);
    const Digest model{.low = 1, .high = has_other ? 1U : 0U};
    cache.Open(model);
    cache.Add({.low = 9, .high = 9}, Bytes(0));
    if (has_other) cache.Add({.low = 1, .high = 1}, Bytes(64));
    cache.Save();
    PlanCache read(folder_);
    read.Open(model);
    EXPECT_EQ(read.TakeWarnings(), std::vector<std::string>());
    EXPECT_NE(read.Find({.low = 9, .high = 9}, 0), nullptr);
    EXPECT_EQ(read.Find({.low = 1, .high = 1}, 64) != nullptr, has_other);
  }
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

}  // namespace
}  // namespace nnefc::runtime::engine::cache
