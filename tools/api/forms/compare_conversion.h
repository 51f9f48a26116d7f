#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/stages/convert_model.h"
#include "runtime/engine/executable.h"
#include "tools/api/program.h"

namespace nnefc::api {

// Returns twice the number of multiply-adds of a graph whose shapes are known, or an underestimate.
double CountOperations(const ir::Graph& graph);

// The name of a converted document in messages.
inline constexpr const char* kConvertedName = "converted";
// Returns the options to compile a converted model, with the plug-ins and limits of its source.
driver::CompileOptions ConvertedOptions(const driver::Compilation& source,
                                        const driver::ConvertedModel& converted);

// The largest difference of one output of a converted model, max|a-b| / max|b|.
struct OutputDifference {
  std::string name;
  double difference = 0;
};

// Runs a graph of OpenVINO operations and the document converted from it on the same random inputs. `source`
// is the program that was converted; this lowers it. Emits errors to it, and returns nothing after one.
[[nodiscard]] std::optional<std::vector<OutputDifference>> CompareConversion(
    Program& source, const driver::ConvertedModel& converted,
    const runtime::engine::ExecutableOptions& options);

}  // namespace nnefc::api
