// Implicit casts and common types, for every pair of a pool of types.

#include "compiler/semantics/casts.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/semantics/types.h"
#include "gtest/gtest.h"

namespace nnefc::semantics {
namespace {

// Types in one-letter notation: `i`nteger, `s`calar, `l`ogical, s`t`ring, generic `?`, unknown `*` (item of
// `[]`), error `!`, `Ts` = `tensor<scalar>`, `T*` = `tensor<>`; `A[]` is an array, `(A,B)` a tuple.
class Types {
 public:
  TypeId Of(std::string_view text) {
    text_ = text;
    const TypeId type = Read();
    EXPECT_TRUE(text_.empty()) << text;
    return type;
  }
  TypeTable& table() { return table_; }

 private:
  TypeId Read() {
    TypeId type;
    if (Take('(')) {
      std::vector<TypeId> items{Read()};
      while (Take(',')) items.push_back(Read());
      EXPECT_TRUE(Take(')'));
      type = table_.Tuple(items);
    } else if (Take('T')) {
      type = table_.Tensor(Primitive());
    } else {
      type = Primitive();
    }
    while (Take('[')) {
      EXPECT_TRUE(Take(']'));
      type = table_.Array(type);
    }
    return type;
  }
  TypeId Primitive() {
    static const std::map<char, TypeKind> kKinds = {{'i', TypeKind::kInteger}, {'s', TypeKind::kScalar},
                                                    {'l', TypeKind::kLogical}, {'t', TypeKind::kString},
                                                    {'?', TypeKind::kGeneric}, {'*', TypeKind::kAny},
                                                    {'!', TypeKind::kError}};
    const char letter = text_.front();
    text_.remove_prefix(1);
    return table_.Primitive(kKinds.at(letter));
  }
  bool Take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  TypeTable table_;
  std::string_view text_;
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// A type, and the sources that are castable to it besides itself, unknown and error types.
using Targets = std::vector<std::pair<std::string, std::string>>;

void ExpectCasts(const ast::Dialect& dialect, std::string_view pool, const Targets& targets) {
  Types types;
  for (const auto& [target, listed] : targets) {
    const std::vector<std::string> castable = Words(listed);
    for (const std::string& source : Words(pool)) {
      const bool expected = source == target || source == "*" || source == "!" || target == "!" ||
                            std::find(castable.begin(), castable.end(), source) != castable.end();
      EXPECT_EQ(IsCastable(types.table(), dialect, types.Of(source), types.Of(target)), expected)
          << source << " to " << target;
    }
    for (const std::string& source : castable)
      EXPECT_NE(pool.find(source), std::string_view::npos) << source << " is not in the pool";
  }
}

constexpr std::string_view kPool =
    "! * i s l t ? Ti Ts Tl T? T* *[] i[] s[] l[] t[] i[][] s[][] Ti[] Ts[] T?[] T*[] (i,s) (i,i) (s,s) "
    "(s,i) "
    "(Ts,Ts) (Ts,s) (Ts,Tl) (i,i,i) (Ts,Ts,Ts) (t,i) (i,i)[] (i,s)[] (s,s)[] (Ts,Ts)[]";

// 1.0.5, 3.3.2.
TEST(Casts, OfRatifiedDocuments) {
  ExpectCasts(ast::Dialect::kRatified, kPool,
              {
                  {"!", ""},
                  {"*", ""},
                  {"i", ""},
                  {"s", ""},
                  {"l", ""},
                  {"t", ""},
                  {"?", "i s l t"},
                  // Primitive types are castable to the tensor of their data type.
                  {"Ti", "i"},
                  {"Ts", "s"},
                  {"Tl", "l"},
                  // Bound tensors are castable to the generic one, all tensors to the unbound one.
                  {"T?", "i s l t ? Ti Ts Tl"},
                  {"T*", "i s l t ? Ti Ts Tl T?"},
                  // The empty array is castable to every array, no other array to the empty one.
                  {"*[]", ""},
                  {"i[]", "*[]"},
                  {"s[]", "*[]"},
                  {"i[][]", "*[]"},
                  {"Ts[]", "s[] *[]"},
                  {"T?[]", "i[] s[] l[] t[] Ti[] Ts[] *[]"},
                  // Items are cast, and the numbers of items are equal.
                  {"(i,s)", ""},
                  {"(i,i)", ""},
                  {"(Ts,s)", "(s,s)"},
                  {"(Ts,Ts)", "(s,s) (Ts,s)"},
                  {"(Ts,Tl)", ""},
                  {"(i,i)[]", "*[]"},
                  {"(Ts,Ts)[]", "(s,s)[] *[]"},
              });
}

// 1.0 provisional, 3.3.3: scalars and logical values are castable to tensors.
TEST(Casts, OfProvisionalDocuments) {
  ExpectCasts(ast::Dialect::kProvisional,
              "! * i s l t T* *[] i[] s[] l[] t[] T*[] (i,s) (s,s) (T*,s) (T*,T*) (l,s) (i,i,i) (s,s)[]",
              {
                  {"!", ""},
                  {"*", ""},
                  {"i", ""},
                  {"s", ""},
                  {"l", ""},
                  {"t", ""},
                  {"T*", "s l"},
                  {"*[]", ""},
                  {"i[]", "*[]"},
                  {"s[]", "*[]"},
                  {"T*[]", "s[] l[] *[]"},
                  {"(i,s)", ""},
                  {"(s,s)", ""},
                  {"(T*,s)", "(s,s) (l,s)"},
                  {"(T*,T*)", "(s,s) (l,s) (T*,s)"},
                  {"(T*,T*)[]", "(s,s)[] *[]"},
              });
}

// Lenient mode converts numbers, arrays and tensors if one meaning remains; values decide whether it does.
TEST(Casts, OfLenientDocuments) {
  ast::Dialect lenient = ast::Dialect::kRatified;
  lenient.loose_values = true;
  const std::string numbers = "i s l ", tensors = "Ti Ts Tl T? T* ";
  const std::string number_lists = "i[] s[] l[] i[][] s[][] Ti[] Ts[] T?[] T*[] *[] ";
  ExpectCasts(lenient, std::string(kPool) + " t[][] (i,i)[][] i[][][]",
              {
                  {"!", ""},
                  {"i", numbers + tensors},
                  {"s", numbers + tensors},
                  {"l", numbers + tensors},
                  {"t", ""},
                  {"?", numbers + tensors + "t"},
                  // A tensor of the array's numbers.
                  {"Ts", numbers + tensors + "? t t[] t[][] i[][][] " + number_lists},
                  {"T?", numbers + tensors + "? t t[] t[][] i[][][] " + number_lists},
                  // The only item, the numbers of a tensor of one axis, or nested arrays.
                  {"i[]", numbers + tensors + "i[][][] " + number_lists},
                  {"t[]", tensors + "*[] t t[][]"},
                  {"i[][]", numbers + tensors + "i[][][] " + number_lists},
                  {"(i,s)", "(i,i) (s,s) (s,i) (Ts,Ts) (Ts,s) (Ts,Tl) i[] s[] l[] Ti[] Ts[] T?[] T*[] *[]"},
                  {"(i,i,i)", "(Ts,Ts,Ts) i[] s[] l[] Ti[] Ts[] T?[] T*[] *[]"},
                  {"(t,i)", "*[]"},
                  // The last part of an item that begins with a name may have a default.
                  {"(t,i,i)", "(t,i) *[]"},
                  {"(t,s,(i,i))", "(t,i) *[]"},
                  {"(i,i,s)", "(i,i,i) (Ts,Ts,Ts) i[] s[] l[] Ti[] Ts[] T?[] T*[] *[]"},
              });
}

TEST(CommonTypes, AreOneOfTheTwoOrJoinTheirParts) {
  // Two types and their common type in either order, "" if there is none.
  const std::vector<std::vector<const char*>> cases = {
      {"i", "i", "i"},
      {"i", "s", ""},
      {"i", "l", ""},
      {"s", "Ts", "Ts"},
      {"i", "Ts", ""},
      {"Ts", "T?", "T?"},
      {"Ts", "T*", "T*"},
      {"T?", "T*", "T*"},
      {"Ts", "Tl", ""},
      {"i", "?", "?"},
      {"*", "i", "i"},
      {"*", "Ts[]", "Ts[]"},
      {"!", "i", "!"},
      {"!", "*", "!"},
      {"!", "Ts[]", "!"},
      {"*[]", "i[]", "i[]"},
      {"*[]", "*[]", "*[]"},
      {"i[]", "s[]", ""},
      {"i[]", "i", ""},
      {"s[]", "Ts[]", "Ts[]"},
      {"s[]", "Ts", ""},
      {"i[][]", "*[]", "i[][]"},
      {"i[][]", "*[][]", "i[][]"},
      {"i[][]", "i[]", ""},
      {"(i,s)", "(i,s)", "(i,s)"},
      {"(i,s)", "(s,i)", ""},
      {"(i,s)", "(i,l)", ""},
      {"(s,Ts)", "(Ts,s)", "(Ts,Ts)"},
      {"(i[],*[])", "(*[],i[])", "(i[],i[])"},
      {"(i,i)", "(i,i,i)", ""},
      {"(i,i)", "i", ""},
      {"(i,i)", "i[]", ""},
      {"(i,i)[]", "*[]", "(i,i)[]"},
  };
  Types types;
  for (const auto& row : cases) {
    const TypeId a = types.Of(row[0]), b = types.Of(row[1]);
    const TypeId expected = *row[2] == '\0' ? TypeId() : types.Of(row[2]);
    EXPECT_EQ(CommonType(types.table(), ast::Dialect::kRatified, a, b), expected) << row[0] << " " << row[1];
    EXPECT_EQ(CommonType(types.table(), ast::Dialect::kRatified, b, a), expected) << row[1] << " " << row[0];
  }
}

TEST(TypeTable, KnowsTheParts) {
  Types types;
  TypeTable& table = types.table();
  struct Row {
    const char* type;
    bool contains_tensor, only_tensors, contains_generic, contains_unbound;
  };
  const Row rows[] = {
      {"i", false, false, false, false},
      {"?", false, false, true, false},
      {"*", false, false, false, false},
      {"Ts", true, true, false, false},
      {"T?", true, true, true, false},
      {"T*", true, true, false, true},
      {"i[]", false, false, false, false},
      {"?[]", false, false, true, false},
      {"*[]", false, false, false, false},
      {"Ts[][]", true, true, false, false},
      {"T*[]", true, true, false, true},
      {"(i,s)", false, false, false, false},
      {"(Ts,i)", true, false, false, false},
      {"(i,Ts)", true, false, false, false},
      {"(Ts,Tl[])", true, true, false, false},
      {"(Ts,T*)", true, true, false, true},
      {"(T*,Ts)", true, true, false, true},
      {"(?,i)", false, false, true, false},
      {"(i,?)", false, false, true, false},
      {"(i,(Ts,T?))", true, false, true, false},
      {"((T*,T*),Ts[])", true, true, false, true},
  };
  for (const Row& row : rows) {
    const TypeId type = types.Of(row.type);
    EXPECT_EQ(table.ContainsTensor(type), row.contains_tensor) << row.type;
    EXPECT_EQ(table.OnlyTensors(type), row.only_tensors) << row.type;
    EXPECT_EQ(table.ContainsGeneric(type), row.contains_generic) << row.type;
    EXPECT_EQ(table.ContainsUnbound(type), row.contains_unbound) << row.type;
  }
}

TEST(TypeTable, EqualTypesHaveEqualIds) {
  Types types;
  const std::vector<std::string> names = Words(kPool);
  for (const std::string& a : names) {
    for (const std::string& b : names) EXPECT_EQ(types.Of(a) == types.Of(b), a == b) << a << " " << b;
  }
  for (const char* broken : {"T!", "![]", "![][]", "(!,i)", "(i,!)", "(i,(s,![]))"})
    EXPECT_EQ(types.Of(broken), types.Of("!")) << broken;
}

TEST(TypeTable, SubstitutesTheGenericType) {
  Types types;
  const std::pair<const char*, const char*> cases[] = {
      {"?", "i"},
      {"T?", "Ti"},
      {"?[]", "i[]"},
      {"T?[][]", "Ti[][]"},
      {"(?,s)", "(i,s)"},
      {"(s,?)", "(s,i)"},
      {"(T?,(?,T?[]))", "(Ti,(i,Ti[]))"},
      {"s", "s"},
      {"T*", "T*"},
      {"(s,Ts)", "(s,Ts)"},
  };
  for (const auto& [type, expected] : cases)
    EXPECT_EQ(types.table().Substitute(types.Of(type), types.Of("i")), types.Of(expected)) << type;
}

TEST(TypeTable, SpellsTypesOfEachDialect) {
  Types types;
  struct Row {
    const char *type, *ratified, *provisional;
  };
  const Row rows[] = {
      {"i", "integer", "extent"},
      {"s", "scalar", "scalar"},
      {"l", "logical", "logical"},
      {"t", "string", "string"},
      {"?", "?", "?"},
      {"!", "unknown", "unknown"},
      {"*", "unknown", "unknown"},
      {"Ts", "tensor<scalar>", "tensor"},
      {"T*", "tensor<>", "tensor"},
      {"*[]", "[]", "[]"},
      {"i[][]", "integer[][]", "extent[][]"},
      {"(i,Ts,(l,l)[])", "(integer,tensor<scalar>,(logical,logical)[])",
       "(extent,tensor,(logical,logical)[])"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(types.table().Text(types.Of(row.type), ast::Dialect::kRatified), row.ratified);
    EXPECT_EQ(types.table().Text(types.Of(row.type), ast::Dialect::kProvisional), row.provisional);
  }
  // Messages show the first 200 characters of a type.
  std::string long_name = "i";
  for (int levels = 0; levels < 96; ++levels) long_name += "[]";
  EXPECT_EQ(types.table().Text(types.Of(long_name), ast::Dialect::kRatified).size(), 199u);
  const std::string tuple = "(" + long_name + ")";  // 201 characters
  const std::string text = types.table().Text(types.Of(tuple), ast::Dialect::kRatified);
  EXPECT_EQ(text.size(), 203u);
  EXPECT_EQ(text.substr(196), "[][]...");
}

TEST(TypeTable, BoundsDepthAndSize) {
  TypeTable table;
  TypeId type = table.Primitive(TypeKind::kInteger);
  for (uint32_t depth = 1; depth < TypeTable::kMaxDepth; ++depth) type = table.Array(type);
  EXPECT_TRUE(table.WithinBounds(type));
  EXPECT_FALSE(table.WithinBounds(table.Array(type)));
  // A tuple counts as one part more than its items.
  const std::vector<TypeId> largest(TypeTable::kMaxSize - 1, table.Primitive(TypeKind::kInteger));
  std::vector<TypeId> larger = largest;
  larger.push_back(table.Primitive(TypeKind::kInteger));
  EXPECT_TRUE(table.WithinBounds(table.Tuple(largest)));
  EXPECT_FALSE(table.WithinBounds(table.Tuple(larger)));
  // The size of doubled types does not overflow.
  TypeId doubled = table.Primitive(TypeKind::kInteger);
  for (int i = 0; i < 100; ++i) {
    doubled = table.Tuple({doubled, doubled});
    EXPECT_EQ(table.WithinBounds(doubled), i < 11) << i;
  }
}

}  // namespace
}  // namespace nnefc::semantics
