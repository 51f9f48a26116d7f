#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/files/file.h"

namespace nnefc::openvino {

// A writer of indented XML to a file, or to a string if `file` is null:
//
//   xml.Begin("port");
//   xml.Attribute("id", 0);
//   xml.End();
class XmlWriter {
 public:
  explicit XmlWriter(OutputFile* file);

  // Begins an element within the innermost one.
  void Begin(std::string_view tag);
  // Adds an attribute to the element that was just begun. The value is escaped.
  void Attribute(std::string_view name, std::string_view value);
  void Attribute(std::string_view name, int64_t value);
  // Ends the innermost element: "/>" if it is empty.
  void End();
  // Writes an element that contains only text.
  void TextElement(std::string_view tag, std::string_view text);

  // Flushes the buffer; returns the first write error, if any.
  ErrorOr<Success> Finish();
  // Returns the text after all elements have ended.
  std::string TakeText();

 private:
  void CloseStartTag();
  void Indent();
  void AppendEscaped(std::string_view text);
  void FlushIfLarge();

  OutputFile* file_;
  std::string buffer_;
  std::vector<std::string> open_;
  bool in_start_tag_ = false;
  std::optional<SystemError> error_;
};

}  // namespace nnefc::openvino
