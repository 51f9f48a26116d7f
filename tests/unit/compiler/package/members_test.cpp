// The parts of a model by the names of its files.
#include "compiler/package/members.h"

#include "gtest/gtest.h"

namespace nnefc {
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
                            {".dat", "", nullptr, false, true, false, false},
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

}  // namespace
}  // namespace nnefc
#include "compiler/package/members.h"

#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(MembersTest, RolesByName) {
  struct Case {
    const char* member;
    const char* label;  // of one tensor; null: none
    bool holds_tensors;
    bool is_resource;
    const char* inner;  // path of a sub-model's archive; null: none
    bool is_inner;
  };
  const Case cases[] = {
      {"w.dat", "w", false, false, nullptr, false},
      {"a/w.dat", "a/w", false, false, nullptr, false},
      {"a/._w.dat", nullptr, false, false, nullptr, false},
      {".dat", "", false, false, nullptr, false},
      {"w.data", nullptr, false, false, nullptr, false},
      {"w.DAT", nullptr, false, false, nullptr, false},
      {"a/b.safetensors", nullptr, true, false, nullptr, false},
      {"a/._b.safetensors", nullptr, false, false, nullptr, false},
      {"safetensors", nullptr, false, false, nullptr, false},
      {"a/b.json", nullptr, false, true, nullptr, false},
      {"._b.json", nullptr, false, false, nullptr, false},
      {"b.jsonl", nullptr, false, false, nullptr, false},
      {"graph.nnef", nullptr, false, false, nullptr, false},
      {"a/graph.nnef", nullptr, false, false, nullptr, true},
      {"a/b/graph.nnef", nullptr, false, false, nullptr, true},
      {"a/net.nnef", nullptr, false, false, nullptr, false},
      {"xgraph.nnef", nullptr, false, false, nullptr, false},
      {"graph.quant", nullptr, false, false, nullptr, false},
      {"a/b.nnef.tgz", nullptr, false, false, "a/b", true},
      {"b.nnef.tar", nullptr, false, false, "b", true},
      {"b.nnef.tar.gz", nullptr, false, false, "b", true},
      {"b.tgz", nullptr, false, false, nullptr, false},
      {".nnef.tgz", nullptr, false, false, nullptr, false},
      {"a/.nnef.tar", nullptr, false, false, nullptr, false},
      {"a/._b.nnef.tgz", nullptr, false, false, nullptr, false},
  };
  for (const Case& each : cases) {
    EXPECT_EQ(LabelOf(each.member),
              each.label == nullptr ? std::nullopt : std::optional<std::string>(each.label))
        << each.member;
    EXPECT_EQ(HoldsTensors(each.member), each.holds_tensors) << each.member;
    EXPECT_EQ(IsData(each.member), each.label != nullptr || each.holds_tensors) << each.member;
    EXPECT_EQ(IsResource(each.member), each.is_resource) << each.member;
    EXPECT_EQ(InnerPath(each.member),
              each.inner == nullptr ? std::nullopt : std::optional<std::string>(each.inner))
        << each.member;
    EXPECT_EQ(IsInner(each.member), each.is_inner) << each.member;
  }
  EXPECT_EQ(BaseName("a/b/c.d"), "c.d");
  EXPECT_EQ(BaseName("c.d"), "c.d");
  EXPECT_EQ(BaseName("a/"), "");
}

}  // namespace
}  // namespace nnefc
