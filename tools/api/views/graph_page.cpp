// Drawings as pages of HTML.

#include "tools/api/views/graph_page.h"

#include <string_view>

#include "tools/api/views/page_parts.h"

namespace nnefc::api {
namespace {

// Appends JSON to a page. `<` could end the element around it, or start a comment.
void AppendJson(std::string& page, const nlohmann::ordered_json& json) {
  const std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (const char each : text) {
    if (each == '<')
      page += "\\u003c";
    else
      page += each;
  }
}

}  // namespace

std::string GraphPage(const nlohmann::ordered_json& description) {
  std::string page;
  std::string_view rest = PageTemplate();
  // The template has `@NAME@` where parts belong.
  while (true) {
    const size_t begin = rest.find('@');
    page += rest.substr(0, begin);
    if (begin == std::string_view::npos) return page;
    const size_t end = rest.find('@', begin + 1);
    const std::string_view name = rest.substr(begin + 1, end - begin - 1);
    rest.remove_prefix(end + 1);
    if (name == "DESCRIPTION")
      AppendJson(page, description);
    else if (name == "STYLE")
      page += PageStyle();
    else if (name == "LAYOUT_LIBRARY")
      page += PageLayoutLibrary();
    else
      page += PageScript();
  }
}

}  // namespace nnefc::api
