// The comparison of the outputs of two models.

#include "tools/api/differences/output_difference.h"

#include <map>
#include <set>
#include <utility>

#include "fmt/format.h"
#include "tools/api/facts/transformations.h"
#include "tools/api/values/bind_inputs.h"
#include "tools/api/values/outputs.h"

namespace nnefc::api {
namespace {

using Json = nlohmann::ordered_json;
using package::NamedTensor;

// The inputs and results of a run.
struct RunValues {
  std::vector<NamedTensor> inputs;
  std::vector<NamedTensor> outputs;
  std::map<std::string, TensorValue> values;  // outputs, and dumped values, by name
};

class OutputComparer {
 public:
  OutputComparer(const OutputOptions& options, const ModelDifference& difference, const ComparedGraph& before,
                 const ComparedGraph& after)
      : options_(options), difference_(difference), before_(before), after_(after) {}

  std::optional<OutputsOfModels> Compare() {
    if (!RunBoth({})) return std::nullopt;
    result_.json = {{"within", true}, {"outputs", Json::array()}};
    for (size_t i = 0; i < new_.outputs.size(); ++i) {
      const NamedTensor* expected = Counterpart(old_.outputs, new_.outputs, i);
      if (expected == nullptr) continue;  // an added output
      const Comparison comparison = CompareWith(new_.outputs[i], *expected);
      result_.within = result_.within && comparison.within;
      result_.text += comparison.text;
      result_.json["outputs"].push_back(comparison.json);
    }
    result_.json["within"] = result_.within;
    if (result_.within) return std::move(result_);
    if (!RunBoth({"all"})) return std::nullopt;
    FindFirst();
    return std::move(result_);
  }

 private:
  bool RunBoth(const std::vector<std::string>& dump) {
    std::optional<RunValues> old_values = Run(options_.old_model, options_.old_compile, dump, nullptr);
    if (!old_values) return false;
    old_ = std::move(*old_values);
    std::optional<RunValues> new_values = Run(options_.new_model, options_.new_compile, dump, &old_.inputs);
    if (!new_values) return false;
    new_ = std::move(*new_values);
    return true;
  }

  // Runs a model on `inputs`, or on its own if it is null.
  std::optional<RunValues> Run(const std::string& model, driver::CompileOptions compile,
                               const std::vector<std::string>& dump, const std::vector<NamedTensor>* inputs) {
    if (!dump.empty()) KeepTensors(compile.transform);
    Program program(model, std::move(compile));
    std::optional<Execution> prepared = options_.prepare(program, dump);
    std::optional<std::vector<TensorValue>> results;
    RunValues run;
    if (prepared && (inputs == nullptr || Replace(*inputs, *prepared, program))) {
      const std::vector<runtime::engine::Port>& ports = prepared->executable->inputs();
      for (size_t i = 0; i < ports.size(); ++i) run.inputs.push_back({ports[i].name, prepared->inputs[i]});
      results = program.Run(*prepared);
    }
    if (!options_.report(program) || !results) return std::nullopt;
    for (ComputedValue& value : NameResults(*prepared, *results)) {
      run.values.insert_or_assign(value.tensor.name, value.tensor.value);
      if (value.is_output) run.outputs.push_back(std::move(value.tensor));
    }
    return run;
  }

  // Replaces the data of inputs by those of the old model. Returns false after an error for other shapes.
  static bool Replace(const std::vector<NamedTensor>& inputs, Execution& prepared, Program& program) {
    std::vector<NamedTensor> own;
    const std::vector<runtime::engine::Port>& ports = prepared.executable->inputs();
    for (size_t i = 0; i < ports.size(); ++i) own.push_back({ports[i].name, prepared.inputs[i]});
    Emitter& emitter = program.compilation().context().emitter;
    for (size_t i = 0; i < ports.size(); ++i) {
      const NamedTensor* data = Counterpart(inputs, own, i);
      if (data == nullptr) continue;  // an added input
      std::optional<TensorValue> fitting = FitInput(data->value, ports[i], /*may_reshape=*/false, emitter);
      if (!fitting) return false;
      prepared.inputs[i] = std::move(*fitting);
    }
    return true;
  }

  // Returns the old tensor with the name of item `index` of `tensors`; without one, that with its index, if
  // no new tensor has its name.
  static const NamedTensor* Counterpart(const std::vector<NamedTensor>& old_tensors,
                                        const std::vector<NamedTensor>& tensors, size_t index) {
    for (const NamedTensor& tensor : old_tensors) {
      if (tensor.name == tensors[index].name) return &tensor;
    }
    if (index >= old_tensors.size()) return nullptr;
    for (const NamedTensor& tensor : tensors) {
      if (tensor.name == old_tensors[index].name) return nullptr;
    }
    return &old_tensors[index];
  }

  Comparison CompareWith(const NamedTensor& actual, const NamedTensor& expected) const {
    return api::Compare(actual, {{actual.name, expected.value}}, options_.tolerance);
  }

  // Finds the first matched operation with a result beyond the tolerance.
  void FindFirst() {
    for (const size_t node : after_.outline.operations) {
      const std::optional<size_t> old_node = difference_.matching.old_of_new[node];
      if (!old_node) continue;
      const OutlineNode& before = before_.outline.nodes[*old_node];
      const OutlineNode& after = after_.outline.nodes[node];
      for (size_t i = 0; i < std::min(before.outputs.size(), after.outputs.size()); ++i) {
        const auto expected = old_.values.find(before.outputs[i].name);
        const auto actual = new_.values.find(after.outputs[i].name);
        if (expected == old_.values.end() || actual == new_.values.end()) continue;
        const Comparison comparison =
            CompareWith({actual->first, actual->second}, {expected->first, expected->second});
        if (comparison.within) continue;
        result_.text += fmt::format("the first operation that leaves the tolerance is `{}` ({})\n{}",
                                    after.outputs[i].name, after.type, comparison.text);
        result_.first = {.before = *old_node, .after = node};
        result_.json["first"] = {{"operation", after.type},
                                 {"old", before.outputs[i].name},
                                 {"new", after.outputs[i].name},
                                 {"comparison", comparison.json}};
        return;
      }
    }
    result_.text +=
        "no operation of both models leaves the tolerance before the outputs; `nnefc transform --bisect` "
        "finds a transformation that changes them\n";
  }

  const OutputOptions& options_;
  const ModelDifference& difference_;
  const ComparedGraph& before_;
  const ComparedGraph& after_;
  RunValues old_;
  RunValues new_;
  OutputsOfModels result_;
};

}  // namespace

std::optional<OutputsOfModels> CompareOutputs(const OutputOptions& options, const ModelDifference& difference,
                                              const ComparedGraph& before, const ComparedGraph& after) {
  return OutputComparer(options, difference, before, after).Compare();
}

}  // namespace nnefc::api
