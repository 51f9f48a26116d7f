// Drawings as pages of HTML.

#include "tools/api/views/graph_page.h"

#include "tools/api/views/page_template.h"

namespace nnefc::api {

std::string GraphPage(const nlohmann::ordered_json& description) {
  return FillPage("page.html", {{"DESCRIPTION", JsonForScript(description)}});
}

}  // namespace nnefc::api
