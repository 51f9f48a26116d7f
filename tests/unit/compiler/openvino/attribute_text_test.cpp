#include "compiler/openvino/attribute_text.h"

#include "compiler/openvino/reading/xml_scan.h"
#include "compiler/openvino/rt_info.h"
#include "gtest/gtest.h"

namespace nnefc::openvino {
namespace {

using ir::Attribute;
using ir::AttributeKind;

// An integer beyond 2^53 of an attribute of floats has the text of the nearest float, which reads back as it.
TEST(AttributeTextTest, IntegersOfFloats) {
  constexpr int64_t kLarge = INT64_MAX;
  EXPECT_EQ(AttributeText(kLarge, ir::AttributeKind::kInt), "9223372036854775807");
  EXPECT_EQ(AttributeText(kLarge, ir::AttributeKind::kDouble), "9.223372036854776e+18");
  EXPECT_EQ(AttributeText(int64_t{-2}, ir::AttributeKind::kDouble), "-2");
  EXPECT_EQ(AttributeText(Attribute::Integers{1, kLarge}, ir::AttributeKind::kInts),
            "1, 9223372036854775807");
  EXPECT_EQ(AttributeText(Attribute::Integers{1, kLarge}, ir::AttributeKind::kDoubles),
            "1, 9.223372036854776e+18");
  EXPECT_EQ(AttributeText(0.5, ir::AttributeKind::kDouble), "0.5");
}

TEST(AttributeText, PrintsWhatOpenVinoReads) {
  EXPECT_EQ(AttributeText(true), "true");
  EXPECT_EQ(AttributeText(int64_t{-3}), "-3");
  EXPECT_EQ(AttributeText(0.1), "0.1");
  EXPECT_EQ(AttributeText(1e-12), "1e-12");
  EXPECT_EQ(AttributeText(Attribute::Integers{1, 2, 3}), "1, 2, 3");
  EXPECT_EQ(AttributeText(Attribute::Logicals{true, false, true}), "true, false, true");
  EXPECT_EQ(AttributeText(false), "false");
  EXPECT_EQ(AttributeText(Attribute()), "");
  EXPECT_EQ(AttributeText(ElementType::kBF16), "bf16");
  EXPECT_EQ(AttributeText(ir::PartialShape({ir::Dim(1), ir::Dim(), ir::Dim(2, 8)})), "1,?,2..8");
  EXPECT_EQ(AttributeText(ir::PartialShape()), "...");
}

TEST(AttributeText, NumbersReadBackToTheSameBits) {
  for (double value : {0.1, 1.0 / 3, 1e300, -0.0, 5e-324, static_cast<double>(1.1f)}) {
    const auto parsed = ParseAttribute(AttributeText(value), AttributeKind::kDouble);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->AsDouble(), value);
  }
  const Attribute::Scalars list = {0.1, 1.0 / 3, 16777217};
  EXPECT_EQ(ParseAttribute(AttributeText(list), AttributeKind::kDoubles)->AsDoubles(), list);
}

TEST(AttributeText, ParsesBothStylesOfLists) {
  EXPECT_EQ(ParseAttribute("1, 2,3", AttributeKind::kInts)->AsInts(), (Attribute::Integers{1, 2, 3}));
  EXPECT_EQ(ParseAttribute("", AttributeKind::kInts)->ListSize(), 0u);
  EXPECT_FALSE(ParseAttribute("1,,2", AttributeKind::kInts));
  EXPECT_FALSE(ParseAttribute("1;2", AttributeKind::kInts));
  EXPECT_FALSE(ParseAttribute("99999999999999999999", AttributeKind::kInt));
  EXPECT_FALSE(ParseAttribute("", AttributeKind::kInt));
}

TEST(AttributeText, ParsesBooleansOfAnyCase) {
  EXPECT_TRUE(ParseAttribute("TRUE", AttributeKind::kBool)->AsBool());
  EXPECT_FALSE(ParseAttribute("0", AttributeKind::kBool)->AsBool());
  for (const char* text : {"yes", "", "2", "tru", "truex", "falses", "01", "10", " 1x"})
    EXPECT_FALSE(ParseAttribute(text, AttributeKind::kBool)) << text;
}

TEST(AttributeText, ParsesSignsOfNumbers) {
  EXPECT_EQ(ParseAttribute("+1.5", AttributeKind::kDouble)->AsDouble(), 1.5);
  EXPECT_EQ(ParseAttribute("-1.5e2", AttributeKind::kDouble)->AsDouble(), -150);
  EXPECT_EQ(ParseAttribute("1", AttributeKind::kDouble)->AsDouble(), 1);
  EXPECT_EQ(ParseAttribute("1", AttributeKind::kDoubles)->AsDoubles(), Attribute::Scalars{1});
  for (const char* text : {"", "+", "-", "++1", "1x", "1.5 2", "x", "1e"})
    EXPECT_FALSE(ParseAttribute(text, AttributeKind::kDouble)) << text;
  EXPECT_TRUE(EqualsIgnoringCase("Net", "nET"));
  for (const auto& [a, b] : std::initializer_list<std::pair<const char*, const char*>>{
           {"ne", "net"}, {"net", "ne"}, {"", "n"}, {"n", ""}, {"net", "nez"}, {"@", "`"}, {"[", "{"}})
    EXPECT_FALSE(EqualsIgnoringCase(a, b)) << a << " " << b;
}

TEST(AttributeText, TrimsBlanksAtBothEnds) {
  for (const char* blanks : {"", " ", "\t", "\r\n", " \t\r\n "}) {
    EXPECT_EQ(Trimmed(blanks), "");
    for (const std::string text : {"a", "ab", "a b", "a \t b"}) {
      EXPECT_EQ(Trimmed(blanks + text), text);
      EXPECT_EQ(Trimmed(text + blanks), text);
      EXPECT_EQ(Trimmed(blanks + text + blanks), text);
    }
  }
}

TEST(AttributeText, EscapesCommasWithinTensorNames) {
  EXPECT_EQ(JoinNames({"a,b", "c"}), R"(a\,b,c)");
  EXPECT_EQ(SplitNames(R"(a\,b,c)"), (std::vector<std::string>{"a,b", "c"}));
  EXPECT_TRUE(SplitNames("").empty());
  EXPECT_EQ(SplitNames(R"(\,a)"), std::vector<std::string>{",a"});
  EXPECT_EQ(SplitNames(R"(a\,)"), std::vector<std::string>{"a,"});
  EXPECT_EQ(SplitNames(R"(a\)"), std::vector<std::string>{R"(a\)"});
  EXPECT_EQ(SplitNames(R"(a\b,)"), std::vector<std::string>{R"(a\b)"});
}

TEST(RtInfoPath, RoundTrips) {
  const std::vector<std::string> items = {"a/b", "~0:", ""};
  EXPECT_EQ(SplitPath(JoinPath(items)), items);
}

std::string Scan(std::string_view text) {
  const auto finding = ScanXml(text);
  return finding ? std::string(finding->rule->label) : "";
}

TEST(XmlScan, RefusesWhatTheParserPassesOver) {
  EXPECT_EQ(Scan("<!DOCTYPE net [<!ENTITY a \"b\">]><net/>"), "openvino.xml-doctype");
  EXPECT_EQ(Scan("<net name=\"&lol;\"/>"), "openvino.xml-entity");
  EXPECT_EQ(Scan("<net>&lol;</net>"), "openvino.xml-entity");
  EXPECT_EQ(Scan("<net>&#0;</net>"), "openvino.xml-entity");
  EXPECT_EQ(Scan("<net>&</net>"), "openvino.xml-entity");
  EXPECT_EQ(Scan(std::string_view("<net>\0</net>", 12)), "openvino.xml-syntax");
}

TEST(XmlScan, AcceptsWhatIsNoReference) {
  EXPECT_EQ(Scan("<?xml version=\"1.0\"?><!-- &lol; <!DOCTYPE --><net a='>&lt;&#65;&#x4a;'/>"), "");
  EXPECT_EQ(Scan("<net><![CDATA[ &lol; ]]></net>"), "");
  EXPECT_EQ(Scan(""), "");
  EXPECT_EQ(Scan("<"), "");
  EXPECT_EQ(Scan("<!--"), "");
}

}  // namespace
}  // namespace nnefc::openvino
