#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/rule_book.h"
#include "compiler/plugin/plugins.h"
#include "tools/api/explain/explain.h"

namespace nnefc::api {

// The pages that `Explain` composes. Each function returns nothing for an unknown name.

// Returns the page of an operation: signature with defaults, formula, section, lowered form and an example;
// the manual of the extension for `control_flow`; the declaration of a plug-in's fragment.
[[nodiscard]] std::optional<std::string> OperationText(const std::string& name,
                                                       const plugin::Plugins& plugins, PageForm form);

// Returns the text of a topic. A name may lack its final `s`.
[[nodiscard]] std::optional<std::string> TopicText(std::string_view name, PageForm form);

// Lists the operations and rules of a section such as `4.3.1`.
[[nodiscard]] std::optional<std::string> SectionPage(std::string_view section, const lint::RuleBook& book,
                                                     PageForm form);

// Returns the statement of a rule with the first example of each kind and dialect; in JSON all examples.
std::string RuleText(const Rule& rule, PageForm form);

// Returns the page of a transformation: phase, kind, state, order, description, and a graph before and after
// it. `name` is an id, a qualified class name or its last component.
[[nodiscard]] std::optional<std::string> TransformationText(const std::string& name,
                                                            const plugin::Plugins& plugins, PageForm form);
// Returns the names of transformations that have pages: last components of class names, or ids.
std::vector<std::string> ExplainedTransformations(const plugin::Plugins& plugins);

// Returns the lines of a text after four blanks; empty lines stay empty.
std::string IndentedLines(std::string_view text);

}  // namespace nnefc::api
