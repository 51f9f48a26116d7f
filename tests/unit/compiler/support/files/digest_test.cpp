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

TEST(DigestTest, FieldsCountByTheirPlaces) {
  EXPECT_NE(FieldDigest().Add("ab").Add("c").Finish(), FieldDigest().Add("a").Add("bc").Finish());
  EXPECT_NE(FieldDigest().Add(1).Add(2).Finish(), FieldDigest().Add(2).Add(1).Finish());
  EXPECT_EQ(FieldDigest().Add("ab").Add(2).Finish(), FieldDigest().Add("ab").Add(2).Finish());
}

}  // namespace
}  // namespace nnefc
