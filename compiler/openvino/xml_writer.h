#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/file.h"

namespace nnefc::openvino {

// Writes indented XML to a file, or where that is null to a text, piece by piece:
//
//   xml.Begin("port");
//   xml.Attribute("id", 0);
//   xml.End();
class XmlWriter {
 public:
  explicit XmlWriter(OutputFile* file);

  void Begin(std::string_view tag);
  void Attribute(std::string_view name, std::string_view value);
  void Attribute(std::string_view name, int64_t value);
  // Ends the innermost element: "/>" if nothing was put into it.
  void End();
  // An element that holds text alone.
  void TextElement(std::string_view tag, std::string_view text);

  // Writes what is buffered; tells the first failure of the file.
  ErrorOr<Success> Finish();
  // The text, once all elements ended.
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
