#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver/compilation.h"
#include "compiler/raise/raise.h"

namespace nnefc::driver {

struct ConvertOptions {
  // Shapes that replace those of the inputs of a graph that is no document.
  std::map<std::string, Shape> input_shapes;
  // Computes the constant parts of the graph. Never null.
  ir::Evaluator evaluate;
  // RaiseOptions
  raise::Target target = raise::Target::kRatified;
  bool folds_batch_normalization = false;
  bool unrolls = false;
  // Writes fragments for repeated blocks (expand/print/flat.h).
  bool has_fragments = false;
};

// A document and the data of its variables.
struct ConvertedModel {
  std::string document;
  std::map<std::string, TensorValue> data;  // key: label
  // The names of the source's tensors and their identifiers in the document, in order.
  std::vector<std::pair<std::string, std::string>> names;
};

// Returns the stage that precedes the conversion: a document is lowered to OpenVINO operations.
inline Stage StageBeforeConversion(ModelFormat format) {
  return format == ModelFormat::kNnef ? Stage::kLower : Stage::kOpen;
}

// Converts a graph of OpenVINO operations to a document (compiler/raise), and checks it, in strict mode
// unless it is for tract, where symbols stand for open extents of inputs. Emits errors and returns nothing
// after one.
[[nodiscard]] std::optional<ConvertedModel> ConvertModel(Compilation& compilation,
                                                         const ConvertOptions& options);

// Writes the document and the tensor files of a converted model to an existing folder.
ErrorOr<Success> WriteConvertedModel(const ConvertedModel& model, const std::string& folder);

}  // namespace nnefc::driver
