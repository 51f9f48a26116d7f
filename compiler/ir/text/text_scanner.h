#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/ir/rules.h"
#include "compiler/support/context.h"
#include "compiler/support/tensor/tensor_value.h"

namespace nnefc::ir {

// A tokenizer of the text form of graphs (text.h). Functions that read something return nothing or false
// after an error. Only the first error is emitted; every later call fails.
class TextScanner {
 public:
  TextScanner(FileId file, Context& context, std::shared_ptr<const Buffer> elements = nullptr)
      : file_(file), context_(context), text_(context.sources.Text(file)), elements_(std::move(elements)) {}

  // Returns the next character after blanks and comments; '\0' at the end.
  char Peek();
  bool AtEnd() { return Peek() == '\0' && position_ >= text_.size(); }
  // Consumes `token` if it comes next. A word must end there.
  bool Accept(std::string_view token);
  // The same, but it is an error if `token` does not come next.
  [[nodiscard]] bool Expect(std::string_view token);
  // Returns true if this word comes next, without consuming it.
  bool AtWord(std::string_view word);

  // Consumes a word such as `f32`, `rt` or `strides`. Returns nothing, without an error, if there is none.
  std::optional<std::string_view> AcceptWord();
  // Reads a word or a quoted string.
  std::optional<std::string> Word();
  // Reads a string in quotes and replaces its escape sequences.
  std::optional<std::string> String();
  std::optional<int64_t> Integer();
  std::optional<int32_t> Index();  // not negative
  // Reads a number as it is spelled: `-1`, `2.5e-3`, `inf`, `nan`.
  std::optional<std::string_view> Number();
  // Consumes a partial shape `[1,?,2..8]` if it comes next, but not `[1,2]`, a list of integers.
  std::optional<std::string_view> AcceptPartialShape();
  // Returns the text up to the next `end` and consumes both.
  std::optional<std::string_view> Until(char end);

  // The elements of constants that are stored outside of the text; null if there are none.
  const std::shared_ptr<const Buffer>& elements() const { return elements_; }
  // True once: for the first constant without elements.
  bool IsFirstElided() { return !std::exchange(has_reported_elided_, true); }

  // Emits an error at the next token, or at a range, and fails.
  template <typename... Args>
  void Error(const Rule& rule, fmt::format_string<Args...> format, Args&&... args) {
    ErrorAt(rule, Here(), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void ErrorAt(const Rule& rule, SourceRange range, fmt::format_string<Args...> format, Args&&... args) {
    if (!failed_) context_.emitter.Emit(rule, range, format, std::forward<Args>(args)...);
    failed_ = true;
  }
  bool failed() const { return failed_; }
  // Returns the byte offset of the next token.
  uint32_t position() { return static_cast<uint32_t>((SkipBlanks(), position_)); }
  // Returns the range from an offset to the end of the last token.
  SourceRange RangeFrom(uint32_t begin) const { return {file_, begin, static_cast<uint32_t>(position_)}; }
  // Returns the range of the first character of the next token, empty at the end of the text.
  SourceRange Here();

 private:
  void SkipBlanks();
  std::string Found();

  FileId file_;
  Context& context_;
  std::string_view text_;
  std::shared_ptr<const Buffer> elements_;
  size_t position_ = 0;
  bool failed_ = false;
  bool has_reported_elided_ = false;
};

}  // namespace nnefc::ir
