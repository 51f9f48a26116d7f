#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tools/api/differences/model_difference.h"

namespace nnefc::api {

// Returns a line for each changed attribute, input and body: "attribute axes: [1] became [0]".
// An operation of a body has the role before its line: "then_body: relu y is removed".
std::vector<std::string> NotesOf(const OperationDetails& details, const GraphOutline& before,
                                 const GraphOutline& after);
// Returns a line for the data of a variable if they are compared and differ: "data differ by up to 0.5 in 2
// elements".
std::vector<std::string> NotesOf(const VariableDifference& variable);
// The note of the first operation whose results leave the tolerance.
inline constexpr std::string_view kFirstNote = "the first operation whose results leave the tolerance";

// Adds to the nodes of both descriptions (DescribeModel, DescribeGraph) how they differ, also to those of
// bodies that differ:
//
//   "counterpart": the id of the matched node of the other graph or body
//   "difference": {"change": "added", "removed" or "changed", "notes": [text..],
//                  "is_first": true for `first`, the first operation beyond the tolerance}
//
// Readers of a variable that differs are changed.
void MarkDifferences(const ModelDifference& difference, const GraphOutline& before, const GraphOutline& after,
                     const std::optional<ItemPair>& first, nlohmann::ordered_json& old_description,
                     nlohmann::ordered_json& new_description);

}  // namespace nnefc::api
