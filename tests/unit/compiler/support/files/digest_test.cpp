#include "compiler/support/files/digest.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace nnefc {
namespace {

Digest Of(const std::string& text) {
  return DigestOf(std::as_bytes(std::span(text)));
}

// Words whose lower half is often zero, as in floats.
std::string Floats(size_t count) {
  std::vector<float> floats(count);
  for (size_t i = 0; i < count; ++i) floats[i] = static_cast<float>(i % 7) - 3;
  return {reinterpret_cast<const char*>(floats.data()), count * sizeof(float)};
}

TEST(DigestTest, EachBitCounts) {
  for (const std::string& text : {std::string(300, '\0'), Floats(600)}) {
    std::set<Digest> found = {Of(text)};
    std::string changed = text;
    for (char& byte : changed) {
      for (int bit = 0; bit < 8; ++bit) {
        byte = static_cast<char>(byte ^ (1 << bit));
        found.insert(Of(changed));
        byte = static_cast<char>(byte ^ (1 << bit));
      }
    }
    EXPECT_EQ(found.size(), 8 * text.size() + 1);
  }
}

TEST(DigestTest, LengthCounts) {
  std::set<Digest> found;
  for (size_t length = 0; length < 3000; ++length) found.insert(Of(std::string(length, '\0')));
  EXPECT_EQ(found.size(), 3000);
}

TEST(DigestTest, PlacesCount) {
  std::string text = Floats(1024);
  std::set<Digest> found = {Of(text)};
  for (size_t i = 8; i < text.size(); i += 8) {
    std::string changed = text;
    changed.replace(0, 8, "12345678");
    changed.replace(i, 8, "87654321");
    found.insert(Of(changed));
  }
  EXPECT_EQ(found.size(), text.size() / 8);
}

TEST(DigestTest, HalvesOfBitsDiffer) {
  const Digest a = Of("a"), b = Of("b");
  EXPECT_GT(__builtin_popcountll(a.low ^ b.low), 16);
  EXPECT_GT(__builtin_popcountll(a.high ^ b.high), 16);
  EXPECT_NE(a.low, a.high);
}

// Values of the formula by integers of any size in Python, for sizes around those of a stripe and of a block.
TEST(DigestTest, IsThatOfTheFormula) {
  constexpr std::pair<size_t, std::string_view> kRows[] = {
      {0, "6c8bd91dce324f2b3106de6b3a025e0a"},    {1, "cf50439428a7156abcb151d8f16ceac9"},
      {63, "c1267bd8940b412e93885774beca4216"},   {64, "de945b99f3598f791708b0571ba9d6f4"},
      {65, "cc8227849eb571a24c4fa329c145126f"},   {1023, "0aa9e520ae2fe900ad3bf2e8487ae4ef"},
      {1024, "bccec1a42f58a0029a1a89b7cd870842"}, {1025, "532b4a66ccf0fb53c9cf5f844638020a"},
      {3000, "f694b94422904eebb3f0168f697cb02d"},
  };
  for (const auto& [size, expected] : kRows) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 256);
    EXPECT_EQ(ToHex(Of(text)), expected) << size;
  }
}

TEST(DigestTest, ThatOfNothingIsZero) {
  EXPECT_EQ(ToHex(Digest()), std::string(32, '0'));
}

TEST(DigestTest, FieldsCountByTheirPlaces) {
  EXPECT_NE(FieldDigest().Add("ab").Add("c").Finish(), FieldDigest().Add("a").Add("bc").Finish());
  EXPECT_NE(FieldDigest().Add(1).Add(2).Finish(), FieldDigest().Add(2).Add(1).Finish());
  EXPECT_EQ(FieldDigest().Add("ab").Add(2).Finish(), FieldDigest().Add("ab").Add(2).Finish());
}

}  // namespace
}  // namespace nnefc
