#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/plugin/plugins.h"
#include "compiler/support/error_or.h"

namespace nnefc::api {

// The form of a page: text without or with colours of a terminal, or a JSON object.
enum class PageForm : uint8_t { kPlain, kColored, kJson };

// Returns the names of the topics that `Explain` accepts, sorted.
std::vector<std::string_view> TopicNames();

// Returns the page of a rule, an operation, a transformation, a topic or a section of the specification, such
// as `4.3.1`. The name of a rule may lack its first part, that of a transformation its namespaces. Operations
// and transformations of `plugins` have pages too; they must be free of errors. Returns an error that
// proposes a similar name for an unknown one.
ErrorOr<std::string> Explain(const std::string& name, const plugin::Plugins& plugins, PageForm form);

// Returns one line per rule with its severity and sections, or a JSON object with a list `rules`.
std::string ListRules(PageForm form);

}  // namespace nnefc::api
