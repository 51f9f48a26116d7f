// Pages in HTML made of the files of the folder `page`.

#include "tools/api/views/page_template.h"

namespace nnefc::api {

std::string FillPage(std::string_view file, const std::map<std::string_view, std::string>& values) {
  std::string page;
  std::string_view rest = PageFile(file);
  while (true) {
    const size_t begin = rest.find('@');
    page += rest.substr(0, begin);
    if (begin == std::string_view::npos) return page;
    const size_t end = rest.find('@', begin + 1);
    const std::string_view name = rest.substr(begin + 1, end - begin - 1);
    rest.remove_prefix(end + 1);
    const auto found = values.find(name);
    page += found == values.end() ? PageFile(name) : std::string_view(found->second);
  }
}

std::string EscapedHtml(std::string_view text) {
  const std::string valid =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string escaped;
  for (const char each : nlohmann::json::parse(valid).get<std::string>()) {
    switch (each) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default: {
        const bool is_control = static_cast<unsigned char>(each) < ' ' && each != '\n' && each != '\t';
        if (is_control || each == '\x7f')
          escaped += "\xEF\xBF\xBD";
        else
          escaped += each;
      }
    }
  }
  return escaped;
}

std::string JsonForScript(const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  // `<` could end the element around it, or start a comment.
  for (const char each : text) {
    if (each == '<')
      escaped += "\\u003c";
    else
      escaped += each;
  }
  return escaped;
}

}  // namespace nnefc::api
