#pragma once

#include <cstdint>
#include <functional>

#include "nlohmann/json.hpp"
#include "tools/api/differences/model_difference.h"
#include "tools/api/differences/output_difference.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// Output forms of the difference between two graphs.
enum class DifferenceForm : uint8_t { kText, kJson, kPage };
// Returns a page for an `--output` with the extension `.html`, JSON for `.json` and for `--format json`,
// otherwise text.
DifferenceForm DifferenceFormOf(const CommonOptions& options);

// Two compared graphs, their difference, and what a page needs to draw them.
struct DifferenceReport {
  const api::ComparedGraph& before;
  const api::ComparedGraph& after;
  const api::ModelDifference& difference;
  const api::OutputsOfModels* outputs = nullptr;  // null: outputs are not compared
  // Return the descriptions of both graphs (api::DescribeGraph).
  std::function<nlohmann::ordered_json()> describe_before;
  std::function<nlohmann::ordered_json()> describe_after;
};

// Writes a difference in its form to `--output`. Throws MisuseError if the file cannot be written.
void WriteDifference(const DifferenceReport& report, const CommonOptions& options);

}  // namespace nnefc::cli
