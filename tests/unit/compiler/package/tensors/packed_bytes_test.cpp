#include "compiler/package/tensors/packed_bytes.h"

#include "tests/unit/compiler/package/testing.h"

namespace nnefc::package {
namespace {

using PackedBytesTest = PackageTest;

std::string Joined(const std::shared_ptr<const Buffer>& bytes) {
  PackedBytes packed(bytes);
  std::string text;
  while (true) {
    const auto block = packed.Next();
    if (block.empty()) break;
    text.append(reinterpret_cast<const char*>(block.data()), block.size());
    EXPECT_EQ(packed.rest().size(), bytes->size() - text.size());
  }
  return text;
}

TEST_F(PackedBytesTest, HandsOutMappedAndOwnedBytes) {
  std::string content(3'500'001, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 2654435761u >> 13);
  const auto mapped = OpenData(Write("x.gz", content), context_);
  ASSERT_TRUE(mapped);
  EXPECT_EQ(Joined(mapped->bytes), content);
  // Released pages can be read again, also if the range does not begin at a page.
  EXPECT_EQ(Joined(Buffer::Slice(mapped->bytes, 1001, 3'000'000)), content.substr(1001, 3'000'000));
  EXPECT_EQ(Joined(Source(content).bytes), content);
  EXPECT_EQ(Joined(Source("").bytes), "");
}

TEST_F(PackedBytesTest, KnowsCompressions) {
  const auto known = [](std::string_view text) {
    return IsCompressed({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  };
  using namespace std::string_view_literals;
  for (std::string_view magic : {"\x1f\x8b\x08"sv, "\x1f\x9d\x90"sv, "BZh9"sv, "\xfd\x37zXZ\0"sv,
                                 "\x28\xb5\x2f\xfd"sv, "\x04\x22\x4d\x18"sv, "\x5d\0\0\x80"sv}) {
    EXPECT_TRUE(known(magic)) << ShownText(magic);
  }
  for (std::string_view other : {""sv, "\x1f"sv, "version 1.0;"sv, "PK\3\4"sv, "graph.nnef\0"sv}) {
    EXPECT_FALSE(known(other)) << ShownText(other);
  }
}

}  // namespace
}  // namespace nnefc::package
