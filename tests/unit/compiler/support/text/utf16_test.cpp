// Lengths of texts in UTF-16 code units, also of texts that are not UTF-8.
#include "compiler/support/text/utf16.h"

#include <string>

#include "gtest/gtest.h"

namespace nnefc {
namespace {

// A lead byte states the number of bytes. A character outside the basic plane, of four bytes, has two units.
TEST(Utf16CharacterTest, LeadBytes) {
  for (int lead = 0; lead < 256; ++lead) {
    const uint32_t bytes = lead >= 0xf8 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    const std::string text = std::string(1, static_cast<char>(lead)) + "\x80\xbf\x80\xbf";
    const Utf16Character character = Utf16CharacterAt(text, 0);
    EXPECT_EQ(character.bytes, bytes) << lead;
    EXPECT_EQ(character.units, bytes == 4 ? 2 : 1) << lead;
    // Each of the other bytes must be there and continue the character.
    for (uint32_t kept = 1; kept < bytes; ++kept) {
      EXPECT_EQ(Utf16CharacterAt(text.substr(0, kept), 0).bytes, 1U) << lead << ' ' << kept;
      for (const char* wrong : {"a", "\x7f", "\xc0", "\xff"}) {
        std::string damaged = text;
        damaged.replace(kept, 1, wrong);
        EXPECT_EQ(Utf16CharacterAt(damaged, 0).bytes, 1U) << lead << ' ' << kept;
      }
    }
    if (bytes > 1) {
      EXPECT_EQ(Utf16CharacterAt(text.substr(0, bytes), 0).bytes, bytes) << lead;
    }
  }
}

// "a", "é", "€", "𝄞" and "b": 1, 1, 1, 2 and 1 units at the bytes 0, 1, 3, 6 and 10.
TEST(Utf16IndexTest, SplitCharactersDoNotCount) {
  const std::string text =
      "a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"
      "b";
  const Utf16Index index(text);
  const int32_t units[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 6};
  ASSERT_EQ(text.size(), 11U);
  for (uint32_t end = 0; end <= 11; ++end) EXPECT_EQ(index.Length(0, end), units[end]) << end;
  for (const uint32_t begin : {0U, 1U, 3U, 6U, 10U, 11U}) {
    for (uint32_t end = begin; end <= 11; ++end)
      EXPECT_EQ(index.Length(begin, end), units[end] - units[begin]) << begin << ' ' << end;
  }
}

// A byte that does not start a character and belongs to none counts as one unit.
TEST(Utf16IndexTest, BytesOfNoCharacter) {
  for (const std::string text : {"a\x80\x80\x80\x80\x80\x80", "\x80\x80\x80\x80\x80\x80\x80",
                                 "\xff\xff\xfe\xf8\xf9\x80\xbf", "\xc3\xc3\xe2\x82\xf0\x9d\x84",
                                 "\xf0\x9d\x84"
                                 "a\x80\x80\x80"}) {
    const Utf16Index index(text);
    for (uint32_t end = 0; end <= text.size(); ++end)
      EXPECT_EQ(index.Length(0, end), static_cast<int32_t>(end)) << end;
  }
}

}  // namespace
}  // namespace nnefc
