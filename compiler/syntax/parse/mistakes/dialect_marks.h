#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/syntax/parse/token.h"

namespace nnefc::ast::parse {

// Constructs that only one of the dialects accepts, counted at the beginning of a document to choose its
// dialect.
class DialectMarks {
 public:
  // Kinds of marks: those before kVersionAlone belong to the ratified dialect, the others to the provisional
  // one.
  enum Kind : uint8_t {
    kVersionSemicolon,
    kTractExtension,
    kExtension,  // other extensions
    kTensorBrackets,
    kTypeArgument,
    kGenericDeclaration,
    kIntegerType,
    kLoopFirst,
    kVersionAlone,
    kStatementAlone,
    kBareTensor,
    kExtentType,
    kFragmentVariable,
    kLoopLast,
    kCount
  };
  static constexpr size_t kNumRatified = kVersionAlone;

  // Reads the text from `offset`, the end of the version. The caller adds the version's mark with
  // AddVersion; without a version neither of its two marks counts.
  DialectMarks(std::string_view text, uint32_t offset);
  void AddVersion(bool has_semicolon, uint32_t offset) {
    Add(has_semicolon ? kVersionSemicolon : kVersionAlone, offset);
  }

  bool IsRatified() const;
  // Returns true if the chosen dialect accepts every mark found.
  bool agree() const { return Kinds(!IsRatified()) == 0; }
  // Returns true if the choice is clear: the chosen dialect rejects exactly one kind of marks found, or an
  // extension of tract is enabled.
  bool is_clear() const { return marks_[kTractExtension].count > 0 || Kinds(!IsRatified()) == 1; }
  // Returns the marks of a dialect as text: "`extent` (line 3), statements without `;` (line 5)".
  std::string Text(bool ratified) const;

 private:
  struct Mark {
    uint32_t offset = 0;
    size_t count = 0;
  };

  void Read(uint32_t offset);
  void Add(Kind kind, uint32_t offset);
  // Returns the number of kinds of marks found for a dialect.
  size_t Kinds(bool ratified) const;
  std::string NameOf(Kind kind) const;

  std::string_view text_;
  std::array<Mark, kCount> marks_;
  size_t ended_statements_ = 0;  // statements with `;`, valid in both dialects
};

}  // namespace nnefc::ast::parse
