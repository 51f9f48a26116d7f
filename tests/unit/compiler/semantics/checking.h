#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/semantics/check_document.h"
#include "compiler/syntax/parse.h"

namespace nnefc::semantics {

// A text and its expected diagnostics: "", or one per line in source order with location, such as
// "type.mismatch 4:12". A warning ends in " warning".
struct CheckCase {
  std::string text;
  std::string expected;
};

// Returns a ratified document with both extensions on its first line: `text` begins on line 2. A graph is
// appended if the text has none.
std::string Ratified(std::string_view text);
// Returns a ratified document with the body of a graph `g(x) -> (y)` on line 4; `x` is external and has shape
// [1,2].
std::string RatifiedGraph(std::string_view body);
// Returns a document with the body, on line 3, of a ratified fragment
// `f( x: tensor<scalar>, l: tensor<logical>, xs: tensor<scalar>[], n: integer, s: scalar, b: logical, t:
// string,
// ns: integer[], ts: (integer,scalar) ) -> ( y: tensor<scalar> )`.
std::string RatifiedBody(std::string_view body);
// The same in the provisional dialect, with `extent` and `tensor`.
std::string Provisional(std::string_view text);
std::string ProvisionalGraph(std::string_view body);
std::string ProvisionalBody(std::string_view body);

// Parses and checks a text; without a dialect the text determines it.
class Checked {
 public:
  explicit Checked(std::string text, const CheckOptions& options = {},
                   std::optional<ast::Dialect> dialect = {});

  // Returns the diagnostics in the form of CheckCase::expected.
  std::string Diagnostics() const;
  // Returns the diagnostics as the user sees them.
  std::string Rendered() const;
  const CheckedDocument& document() const { return *document_; }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  const StandardLibrary& library() const { return library_; }
  // Returns the first expression with this text.
  ast::ExprId Find(std::string_view text) const;

 private:
  const StandardLibrary& library_ = StandardLibrary::Shared();
  Context context_{library_.base()};
  FileId file_;
  std::unique_ptr<CheckedDocument> document_;
};

std::string Describe(const Context& context);

// Checks every case; failures show text, expected and actual diagnostics.
void ExpectDiagnostics(std::initializer_list<CheckCase> cases);

}  // namespace nnefc::semantics
