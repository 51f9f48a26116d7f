#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/semantics/check_document.h"
#include "compiler/syntax/parse.h"

namespace nnefc {

// A text and what is wrong with it: "" or rules with places, one a line in the
// order of places, such as "type.mismatch 4:12". A warning ends in " warning".
struct CheckCase {
  std::string text;
  std::string expected;
};

// A ratified document with both extensions, whose first line holds them: `text`
// begins on line 2. Without a graph in it, one is appended.
std::string Ratified(std::string_view text);
// The body of a graph `g(x) -> (y)`, on line 4, in a ratified document; `x` is
// external and has shape [1,2].
std::string RatifiedGraph(std::string_view body);
// The body, on line 3, of a ratified fragment
// `f( x: tensor<scalar>, l: tensor<logical>, xs: tensor<scalar>[], n: integer, s: scalar, b: logical, t:
// string,
//     ns: integer[], ts: (integer,scalar) ) -> ( y: tensor<scalar> )`.
std::string RatifiedBody(std::string_view body);
// The same in the provisional dialect, with `extent` and `tensor`.
std::string Provisional(std::string_view text);
std::string ProvisionalGraph(std::string_view body);
std::string ProvisionalBody(std::string_view body);

// Parses and checks a text; without a dialect it is told by the text.
class Checked {
 public:
  explicit Checked(std::string text, const CheckOptions& options = {},
                   std::optional<ast::Dialect> dialect = {});

  // In the form of CheckCase::expected.
  std::string Diagnostics() const;
  // Diagnostics as the user sees them.
  std::string Rendered() const;
  const CheckedDocument& document() const { return *document_; }
  Context& context() { return context_; }
  const Context& context() const { return context_; }
  const StandardLibrary& library() const { return library_; }
  // The first expression with this text.
  ast::ExprId Find(std::string_view text) const;

 private:
  const StandardLibrary& library_ = StandardLibrary::Shared();
  Context context_{library_.base()};
  FileId file_;
  std::unique_ptr<CheckedDocument> document_;
};

std::string Describe(const Context& context);

// Checks every case and fails with text, expected and seen diagnostics.
void ExpectDiagnostics(std::initializer_list<CheckCase> cases);

}  // namespace nnefc
