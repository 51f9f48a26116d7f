#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/driver/stages/convert_model.h"
#include "tools/api/forms/compare_conversion.h"
#include "tools/api/forms/output_folder.h"
#include "tools/api/program.h"

namespace nnefc::api {

// Whether the outputs of a converted model are compared with those of its source.
enum class OutputCheck : uint8_t {
  kSmall,  // if the model has at most 10 billion operations
  kAlways,
  kNever,
};

struct ConversionOptions {
  // Shapes that replace those of the inputs of a graph that is no document.
  std::map<std::string, Shape> input_shapes;
  // RaiseOptions
  raise::Target target = raise::Target::kRatified;
  bool folds_batch_normalization = false;
  bool unrolls = false;
  // ConvertOptions
  bool has_fragments = false;
  // The profile of the device that the result is for (AdaptToDevice); empty for none.
  std::string device_profile;
  OutputCheck check = OutputCheck::kSmall;
};

// A converted model with the differences of its outputs from those of the source; no differences if they were
// not compared.
struct Conversion {
  driver::ConvertedModel model;
  std::vector<OutputDifference> differences;
};

// Converts a model to a flat document with its data, and compares the outputs of both models on
// random inputs. Emits errors, also for a difference above 1e-4 of the largest element of an output, and
// returns nothing after one. `starts` is called before the comparison. Sets `environment_failed` if the
// profile of the device cannot be read.
[[nodiscard]] std::optional<Conversion> Convert(Program& program, const ConversionOptions& options,
                                                const std::function<void(std::string_view)>& starts,
                                                bool& environment_failed);

// The files of a converted model.
enum class ConvertedForm : uint8_t {
  kDocument,  // `.nnef`, without the data of variables
  kArchive,   // `.tar`, `.tgz`, `.tar.gz`
  kFolder,
};
// Returns the form that the name of the output selects.
ConvertedForm ConvertedFormOf(const std::string& path);

// Writes an archive or a folder, completely or not at all. `existing` applies to a folder.
ErrorOr<Success> WriteConversion(const driver::ConvertedModel& model, const std::string& path,
                                 Existing existing);

}  // namespace nnefc::api
