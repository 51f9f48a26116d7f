#pragma once

#include <string>
#include <string_view>

#include "fmt/core.h"

namespace nnefc::api {

// Colours parts of a text for terminals.
class Painter {
 public:
  explicit Painter(bool on) : on_(on) {}

  // Return the text in the style of a heading, a name, a success or a failure; unchanged if colours are off.
  std::string Head(std::string_view text) const { return Paint("1", text); }
  std::string Name(std::string_view text) const { return Paint("36", text); }
  std::string Good(std::string_view text) const { return Paint("1;32", text); }
  std::string Bad(std::string_view text) const { return Paint("1;31", text); }

 private:
  std::string Paint(std::string_view code, std::string_view text) const {
    return on_ ? fmt::format("\033[{}m{}\033[0m", code, text) : std::string(text);
  }

  bool on_;
};

}  // namespace nnefc::api
