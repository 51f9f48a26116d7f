#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compiler/syntax/parse/token.h"

namespace nnefc::parse {

// Constructs that one of the dialects refuses, counted at the beginning of a
// document, by which its dialect is chosen.
class DialectMarks {
 public:
  // The kinds of marks; the first seven belong to the ratified dialect, the
  // others to the provisional one.
  enum Kind : uint8_t {
    kVersionSemicolon,
    kExtension,
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

  // Reads the text from `offset` on, after the version, whose `;` the caller
  // states; without a version neither of its two marks counts.
  DialectMarks(std::string_view text, uint32_t offset);
  void AddVersion(bool has_semicolon, uint32_t offset) {
    Add(has_semicolon ? kVersionSemicolon : kVersionAlone, offset);
  }

  bool IsRatified() const;
  // True if no construct was found that the chosen dialect refuses.
  bool agree() const { return Kinds(!IsRatified()) == 0; }
  // True if constructs of one kind alone are refused by the chosen dialect.
  bool one_is_odd() const { return Kinds(!IsRatified()) == 1; }
  // "`extent` (line 3), statements without `;` (line 5)": the marks of a dialect.
  std::string Text(bool ratified) const;

 private:
  struct Mark {
    uint32_t offset = 0;
    size_t count = 0;
  };

  void Read(uint32_t offset);
  void Add(Kind kind, uint32_t offset);
  // The kinds of marks of a dialect that were found.
  size_t Kinds(bool ratified) const;
  std::string NameOf(Kind kind) const;

  std::string_view text_;
  std::array<Mark, kCount> marks_;
  size_t ended_statements_ = 0;  // by `;`, which both dialects may have
};

}  // namespace nnefc::parse
