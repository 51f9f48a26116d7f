// The comparison of a converted model with its source by execution.

#include "tools/api/forms/compare_conversion.h"

#include "compiler/package/tensors/random.h"
#include "tools/api/values/bind_inputs.h"
#include "tools/api/values/difference.h"
#include "tools/api/values/evaluator.h"

namespace nnefc::api {

namespace {

constexpr uint64_t kSeed = 1;

// Lowers and plans a model; returns null and emits errors to `emitter` on failure.
std::shared_ptr<const runtime::engine::Executable> Plan(Program& program,
                                                        const runtime::engine::ExecutableOptions& options,
                                                        Emitter& emitter) {
  driver::Compilation& compilation = program.compilation();
  std::shared_ptr<const runtime::engine::Executable> executable;
  if (compilation.RunUntil(driver::Stage::kLower)) executable = program.Plan(options).executable;
  if (executable == nullptr && &emitter != &compilation.context().emitter)
    emitter.Take(compilation.context().emitter);
  return executable;
}

std::optional<std::vector<TensorValue>> Run(
    const std::shared_ptr<const runtime::engine::Executable>& executable,
    const std::vector<TensorValue>& inputs, Emitter& emitter) {
  auto results = runtime::engine::Session::Create(executable)->Run(inputs);
  if (results) return std::move(*results);
  runtime::kernels::Emit(results.error(), emitter);
  return std::nullopt;
}

// Returns the value in the type of another one, such as i32 results as the integers of NNEF.
TensorValue InTypeOf(const TensorValue& value, const TensorValue& other) {
  return value.type() == other.type() ? value : value.ConvertedTo(other.type());
}

}  // namespace

driver::CompileOptions ConvertedOptions(const driver::Compilation& source,
                                        const driver::ConvertedModel& converted) {
  driver::CompileOptions options;
  options.dialect = ast::Dialect::kRatified;
  options.executes = true;
  options.document = converted.document;
  options.data = converted.data;
  options.plugins = source.plugins();
  options.evaluate = EvaluatorOf(options.plugins);
  options.limits = source.context().limits;
  return options;
}

double CountOperations(const ir::Graph& graph) {
  double count = 0;
  for (ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    if (node.info().products == nullptr) continue;
    std::vector<Shape> inputs, outputs;
    bool known = true;
    const auto add = [&](std::vector<Shape>& shapes, const ir::Output& output) {
      known = known && output.shape.known();
      shapes.push_back(known ? output.shape.known_extents() : Shape());
    };
    for (ir::OutputPort port : node.inputs()) add(inputs, graph.output(port));
    for (const ir::Output& output : node.outputs()) add(outputs, output);
    if (known) count += 2 * node.info().products(node, inputs, outputs);
  }
  return count;
}

std::optional<std::vector<OutputDifference>> CompareConversion(
    Program& source, const driver::ConvertedModel& converted,
    const runtime::engine::ExecutableOptions& options) {
  Emitter& emitter = source.compilation().context().emitter;
  Program target(kConvertedName, ConvertedOptions(source.compilation(), converted));
  const auto planned = Plan(target, options, emitter);
  const auto expected = planned == nullptr ? nullptr : Plan(source, options, emitter);
  if (expected == nullptr) return std::nullopt;
  std::vector<TensorValue> given, taken;
  for (size_t i = 0; i < expected->inputs().size(); ++i) {
    const runtime::engine::Port& port = expected->inputs()[i];
    // The document has all extents of an input, the source may leave some open.
    const runtime::engine::Port& converted_port = planned->inputs()[i];
    given.push_back(package::RandomTensor(ir::DataRole::kInput, kSeed, port.name, port.type,
                                          converted_port.shape.known_extents()));
    if (!given.back().valid()) throw std::bad_alloc();
    taken.push_back(given.back().type() == converted_port.type
                        ? given.back()
                        : given.back().ConvertedTo(converted_port.type));
  }
  const auto reference = Run(expected, given, emitter);
  const auto results = reference ? Run(planned, taken, emitter) : std::nullopt;
  if (!results) return std::nullopt;
  std::vector<OutputDifference> differences;
  for (size_t i = 0; i < results->size(); ++i) {
    differences.push_back({planned->outputs()[i].name,
                           RelativeDifference(InTypeOf((*results)[i], (*reference)[i]), (*reference)[i])});
  }
  return differences;
}

}  // namespace nnefc::api
