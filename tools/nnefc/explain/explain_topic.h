#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/lint/rule_book.h"
#include "tools/nnefc/output/paint.h"

namespace nnefc::cli {

// Returns the topics with a text in compiler/explain/topics, and `control_flow`, sorted by name.
std::vector<std::string_view> TopicNames();

// Prints the text of a topic, or returns false if there is none of this name. A name may lack its final `s`.
bool ExplainTopic(std::string_view name, bool as_json);

// Prints the operations and rules of a section such as `4.3.1`, or returns false if it has none.
bool ExplainSection(std::string_view section, const lint::RuleBook& book, bool as_json, const Painter& paint);

}  // namespace nnefc::cli
