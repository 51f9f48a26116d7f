// Names that are probably meant: slips, bounds of length and number, and ties.
#include "compiler/support/diagnostics/suggest.h"

#include "fmt/core.h"
#include "gtest/gtest.h"

namespace nnefc {
namespace {

TEST(Suggest, SlipsAreOneDoubledMissingOrTransposedLetter) {
  for (const auto& [written, meant] :
       {std::pair("reelu", "relu"), std::pair("rrelu", "relu"), std::pair("reluu", "relu"),
        std::pair("rlu", "relu"), std::pair("elu", "relu"), std::pair("rel", "relu"),
        std::pair("erlu", "relu"), std::pair("rleu", "relu"), std::pair("reul", "relu"), std::pair("", "a"),
        std::pair("aa", "a"), std::pair("ab", "ba")})
    EXPECT_TRUE(IsOneSlip(written, meant)) << written;
  for (const auto& [written, meant] :
       {std::pair("relu", "relu"), std::pair("rolu", "relu"), std::pair("relux", "relu"),
        std::pair("xrelu", "relu"), std::pair("rexlu", "relu"), std::pair("re", "relu"),
        std::pair("reeelu", "relu"), std::pair("rleux", "relu"), std::pair("erul", "relu"),
        std::pair("uler", "relu"), std::pair("b", "a"), std::pair("", ""), std::pair("a", ""),
        std::pair("reeulx", "relu"), std::pair("rlex", "relu"), std::pair("lreu", "relu"),
        std::pair("rxeu", "relu"), std::pair("rlxu", "relu"), std::pair("rlea", "relu")})
    EXPECT_FALSE(IsOneSlip(written, meant)) << written;
}

std::string Best(std::string_view wanted, std::initializer_list<std::string_view> candidates) {
  Suggestion suggestion(wanted);
  for (std::string_view candidate : candidates) suggestion.Offer(candidate);
  return fmt::format("{}{}{}{}", suggestion.best(), suggestion.is_spelling() ? " spelling" : "",
                     suggestion.is_unique() ? " unique" : "", suggestion.is_typo() ? " typo" : "");
}

TEST(Suggest, NearestCandidates) {
  for (const char* wanted : {"", "a", "ab", "abc", "abcd"}) {
    EXPECT_EQ(Best(wanted, {}), "");
    EXPECT_EQ(Best(wanted, {"uvwxyz"}), "");
  }
  EXPECT_EQ(Best("relu", {"elu", "relu"}), "elu unique");
  EXPECT_EQ(Best("Re_LU", {"elu", "relu"}), "relu spelling unique typo");
  EXPECT_EQ(Best("re-lu", {"relu", "elu"}), "relu spelling unique typo");
  EXPECT_EQ(Best("reluu", {"relu"}), "relu unique typo");
  EXPECT_EQ(Best("softmux", {"softmax", "argmax"}), "softmax unique");
  // Two that are as near, in either order; the same one twice is one.
  EXPECT_EQ(Best("bxnd", {"bind", "band"}), "bind");
  EXPECT_EQ(Best("bxnd", {"bind", "bind"}), "bind unique");
  EXPECT_EQ(Best("bnid", {"band", "bind"}), "bind unique typo");
  // Of three letters one is missing, or two are transposed.
  EXPECT_EQ(Best("sub", {"sum"}), "");
  EXPECT_EQ(Best("usm", {"sum"}), "sum unique typo");
  EXPECT_EQ(Best("rel", {"rela"}), "rela unique typo");
  EXPECT_EQ(Best("ad", {"add"}), "");
  // A transposition has both letters of the other name.
  EXPECT_EQ(Best("bacd", {"abcd"}), "abcd unique typo");
  for (const char* meant : {"bxcd", "xacd", "acxd", "axbd", "abdx", "abxc"})
    EXPECT_EQ(Best("abcd", {meant}), "");
  // One letter of three may be wrong, at most three.
  EXPECT_EQ(Best("abxdex", {"abcdef"}), "abcdef unique");
  EXPECT_EQ(Best("abxxex", {"abcdef"}), "");
  EXPECT_EQ(Best("abcdefghixxx", {"abcdefghijkl"}), "abcdefghijkl unique");
  EXPECT_EQ(Best("abcdefghxxxx", {"abcdefghijkl"}), "");
  // Any character is a letter: the first of a set of 64 letters, the last, and one of another encoding.
  for (const char* written : {"sc@le", "sc?le", "sc\x7fle", "sc\x80le", "sc\xffle"})
    EXPECT_EQ(Best(written, {"scale"}), "scale unique") << written;
  EXPECT_EQ(Best("@ABC", {"xABC"}), "xABC unique");
  EXPECT_EQ(Best("xABC", {"@ABC"}), "@ABC unique");
  for (const char* written : {"@add", "a@dd", "ad@d", "add@"})
    EXPECT_EQ(Best(written, {"add"}), "add unique");
  // A name that only contains the other is another word; digits count.
  EXPECT_EQ(Best("upsample", {"sample"}), "");
  EXPECT_EQ(Best("sampled", {"sample"}), "sample unique");
  EXPECT_EQ(Best("conv1", {"conv2"}), "conv2");
}

// Letters alone have two cases.
TEST(Suggest, SpellingsOfOtherCharacters) {
  EXPECT_EQ(Best("NAME", {"name"}), "name spelling unique typo");
  for (const auto& [written, meant] : {std::pair("name;of", "name[of"),
                                       {"name[of", "name;of"},
                                       {"name@of", "name`of"},
                                       {"name0of", "namepof"},
                                       {"name<of", "name\\of"}})
    EXPECT_EQ(Best(written, {meant}).find("spelling"), std::string::npos) << written;
}

// A name of three letters is none of two, whatever follows the latter in memory.
TEST(Suggest, NamesThatBeginLonger) {
  Suggestion suggestion("usm");
  suggestion.Offer(std::string_view("ums").substr(0, 2));
  EXPECT_EQ(suggestion.best(), "");
}

TEST(Suggest, LengthsAndNumbersHaveBounds) {
  for (const size_t size : {size_t{63}, size_t{64}, size_t{65}, size_t{1000}}) {
    const std::string name(size, 'a'), near = name.substr(1) + "b";
    EXPECT_EQ(Best(name, {near}).empty(), size > 64) << size;
    EXPECT_EQ(Best(near, {name.substr(0, size - 1) + "c"}).empty(), size > 64) << size;
  }
  const std::string short_name(64, 'a'), long_name(65, 'a');
  EXPECT_EQ(Best(short_name, {long_name}), "");
  EXPECT_EQ(Best(long_name, {short_name}), "");
  for (const size_t offers : {size_t{19999}, size_t{20000}}) {
    Suggestion suggestion("softmux");
    for (size_t i = 0; i < offers; ++i) suggestion.Offer("conv");
    suggestion.Offer("softmax");
    EXPECT_EQ(suggestion.best().empty(), offers == 20000) << offers;
  }
}

}  // namespace
}  // namespace nnefc
