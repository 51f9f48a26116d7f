// Conversions of graphs to documents.

#include "tools/api/forms/conversion.h"

#include <filesystem>

#include "compiler/driver/rules.h"
#include "compiler/package/containers/tar_writer.h"
#include "tools/api/forms/device.h"
#include "tools/api/values/evaluator.h"

namespace nnefc::api {
namespace {

// Larger models are compared only on request.
constexpr double kMaxComparedOperations = 1e10;
// The highest accepted difference of an output, relative to its largest element.
constexpr double kTolerance = 1e-4;

// Returns an input whose extents the converted model leaves open, or null. Outputs are then not compared.
const ir::Node* FindOpenInput(const ir::Graph& graph, const ConversionOptions& options) {
  for (ir::NodeId id : graph.parameters()) {
    const ir::Node& node = graph.node(id);
    if (!node.output().shape.known() && options.input_shapes.count(node.name()) == 0) return &node;
  }
  return nullptr;
}

// Returns the differences of the outputs, or nothing after an error was emitted.
std::optional<std::vector<OutputDifference>> CheckOutputs(
    Program& program, const driver::ConvertedModel& converted, const ConversionOptions& options,
    const std::function<void(std::string_view)>& starts) {
  driver::Compilation& compilation = program.compilation();
  const ir::Graph& graph = compilation.lowered() != nullptr ? *compilation.lowered() : compilation.graph();
  const OutputCheck check = options.check;
  const ir::Node* open = FindOpenInput(graph, options);
  if (open != nullptr && check == OutputCheck::kAlways) {
    compilation.context().emitter.Emit(
        driver::kInputShape, open->origin().range,
        "the outputs cannot be compared: the input `{}` has the shape {}; set it by `--input-shape {}=..`",
        open->name(), ir::ToString(open->output().shape), open->name());
    return std::nullopt;
  }
  if (open != nullptr) return std::vector<OutputDifference>();
  const bool is_small = CountOperations(graph) <= kMaxComparedOperations;
  if (check == OutputCheck::kNever || (check == OutputCheck::kSmall && !is_small))
    return std::vector<OutputDifference>();
  if (starts) starts("compare outputs");
  auto differences = CompareConversion(program, converted, {});
  if (!differences) return std::nullopt;
  bool is_same = true;
  for (const OutputDifference& output : *differences) {
    if (output.difference <= kTolerance) continue;
    is_same = false;
    compilation.context().emitter.Emit(
        driver::kConversionDiffers, {},
        "a fault of nnefc, not of the model: the output `{}` of the converted model differs by {:.1e}, "
        "relative to its largest element; expected at most {:.0e}",
        output.name, output.difference, kTolerance);
  }
  return is_same ? std::move(differences) : std::nullopt;
}

}  // namespace

std::optional<Conversion> Convert(Program& program, const ConversionOptions& options,
                                  const std::function<void(std::string_view)>& starts,
                                  bool& environment_failed) {
  driver::Compilation& compilation = program.compilation();
  if (!compilation.RunUntil(driver::StageBeforeConversion(compilation.format()))) return std::nullopt;
  auto model =
      driver::ConvertModel(compilation, {.input_shapes = options.input_shapes,
                                         .evaluate = EvaluatorOf(compilation.plugins()),
                                         .target = options.target,
                                         .folds_batch_normalization = options.folds_batch_normalization,
                                         .unrolls = options.unrolls,
                                         .has_fragments = options.has_fragments});
  if (!model) return std::nullopt;
  if (!options.device_profile.empty()) {
    DeviceProfile profile(options.device_profile);
    const bool is_accepted = AdaptToDevice(program, *model, profile);
    environment_failed = profile.environment_failed();
    if (!is_accepted) return std::nullopt;
  }
  auto differences = CheckOutputs(program, *model, options, starts);
  if (!differences) return std::nullopt;
  return Conversion{.model = std::move(*model), .differences = std::move(*differences)};
}

ConvertedForm ConvertedFormOf(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".nnef") return ConvertedForm::kDocument;
  return package::IsArchiveName(path) ? ConvertedForm::kArchive : ConvertedForm::kFolder;
}

ErrorOr<Success> WriteConversion(const driver::ConvertedModel& model, const std::string& path,
                                 Existing existing) {
  const auto write = [&](const std::string& folder) -> ErrorOr<bool> {
    if (auto written = driver::WriteConvertedModel(model, folder); !written) return written.error();
    return true;
  };
  const ErrorOr<bool> written = WriteFolderOrArchive(path, existing, write);
  if (!written) return written.error();
  return Success{};
}

}  // namespace nnefc::api
