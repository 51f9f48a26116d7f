// The parts of a model by the names of its files.
#include "compiler/package/members.h"

#include "compiler/package/data_source.h"
#include "gtest/gtest.h"

namespace nnefc::package {
namespace {

struct Member {
  const char* path;
  const char* label;  // of a tensor
  const char* inner;  // the path of an archive inside
  bool has_tensors, is_data, is_resource, is_inner;
};

TEST(Members, AreKnownByTheirNames) {
  const Member members[] = {{"graph.nnef", nullptr, nullptr, false, false, false, false},
                            {"a/graph.nnef", nullptr, nullptr, false, false, false, true},
                            {"a/b/graph.nnef", nullptr, nullptr, false, false, false, true},
                            {"mygraph.nnef", nullptr, nullptr, false, false, false, false},
                            {"a/mygraph.nnef", nullptr, nullptr, false, false, false, false},
                            {"graph.nnef/x", nullptr, nullptr, false, false, false, false},
                            {"graph.quant", nullptr, nullptr, false, false, false, false},
                            {"w.dat", "w", nullptr, false, true, false, false},
                            {"a/w.dat", "a/w", nullptr, false, true, false, false},
                            {"a.b.dat", "a.b", nullptr, false, true, false, false},
                            {".dat", nullptr, nullptr, false, false, false, false},
                            {"a/.dat", nullptr, nullptr, false, false, false, false},
                            {"dat", nullptr, nullptr, false, false, false, false},
                            {"w.dat.txt", nullptr, nullptr, false, false, false, false},
                            {"._w.dat", nullptr, nullptr, false, false, false, false},
                            {"a/._w.dat", nullptr, nullptr, false, false, false, false},
                            {"._a/w.dat", "._a/w", nullptr, false, true, false, false},
                            {"x.safetensors", nullptr, nullptr, true, true, false, false},
                            {"a/x.safetensors", nullptr, nullptr, true, true, false, false},
                            {"a/._x.safetensors", nullptr, nullptr, false, false, false, false},
                            {"r.json", nullptr, nullptr, false, false, true, false},
                            {"a/r.json", nullptr, nullptr, false, false, true, false},
                            {"a/._r.json", nullptr, nullptr, false, false, false, false},
                            {"m.nnef.tgz", nullptr, "m", false, false, false, true},
                            {"a/m.nnef.tar", nullptr, "a/m", false, false, false, true},
                            {"a/m.nnef.tar.gz", nullptr, "a/m", false, false, false, true},
                            {"a/._m.nnef.tar.gz", nullptr, nullptr, false, false, false, false},
                            {".nnef.tgz", nullptr, nullptr, false, false, false, false},
                            {"a/.nnef.tar", nullptr, nullptr, false, false, false, false},
                            {"m.tgz", nullptr, nullptr, false, false, false, false},
                            {"m.nnef", nullptr, nullptr, false, false, false, false}};
  for (const Member& member : members) {
    SCOPED_TRACE(member.path);
    const auto text = [](const std::optional<std::string>& found) { return found.value_or("none"); };
    EXPECT_EQ(text(LabelOf(member.path)), member.label == nullptr ? "none" : member.label);
    EXPECT_EQ(text(InnerPath(member.path)), member.inner == nullptr ? "none" : member.inner);
    EXPECT_EQ(HoldsTensors(member.path), member.has_tensors);
    EXPECT_EQ(IsData(member.path), member.is_data);
    EXPECT_EQ(IsResource(member.path), member.is_resource);
    EXPECT_EQ(IsInner(member.path), member.is_inner);
  }
  EXPECT_EQ(BaseName("a/b.c"), "b.c");
  EXPECT_EQ(BaseName("b"), "b");
  EXPECT_EQ(BaseName("a/"), "");
}

// A range of a file ends at its last offset of 32 bits.
TEST(ByteRangeTest, EndsOfLargeFiles) {
  constexpr uint64_t kLast = UINT32_MAX;
  struct Case {
    uint64_t offset, size, begin, end;
  } const cases[] = {{0, 0, 0, 0},
                     {0, 1, 0, 1},
                     {7, 5, 7, 12},
                     {0, kLast, 0, kLast},
                     {0, kLast + 1, 0, kLast},
                     {kLast - 5, 4, kLast - 5, kLast - 1},
                     {kLast - 5, 5, kLast - 5, kLast},
                     {kLast - 5, 6, kLast - 5, kLast},
                     {kLast - 5, UINT64_MAX, kLast - 5, kLast},
                     {kLast, 1, kLast, kLast},
                     {kLast + 1, 1, kLast, kLast},
                     {UINT64_MAX, UINT64_MAX, kLast, kLast}};
  for (const Case& each : cases) {
    const SourceRange range = ByteRange(FileId(), each.offset, each.size);
    EXPECT_EQ(range.begin, each.begin) << each.offset << ' ' << each.size;
    EXPECT_EQ(range.end, each.end) << each.offset << ' ' << each.size;
  }
}

// Texts of files are shown with printable characters of ASCII alone, and at most 80 bytes.
TEST(ShownTextTest, PrintableCharacters) {
  for (int c = 0; c < 256; ++c) {
    const std::string text(1, static_cast<char>(c));
    EXPECT_EQ(ShownText(text), c >= ' ' && c <= '~' ? text : ".") << c;
  }
  for (const size_t size : {0, 79, 80, 81, 82}) {
    const std::string text(size, 'a');
    EXPECT_EQ(ShownText(text), size <= 80 ? text : std::string(80, 'a') + "..");
  }
}

}  // namespace
}  // namespace nnefc::package
