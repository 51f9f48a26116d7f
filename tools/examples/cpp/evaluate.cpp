// Opens a model, fills its inputs with ones, and prints the shape and the largest element of each output.
//
//   evaluate MODEL

#include <nnefc/model.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <vector>

namespace api = nnefc::api;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: evaluate MODEL\n";
    return 2;
  }
  // Weights that the model lacks are random.
  api::Outcome<api::Model> model = api::Model::Open(argv[1], {.random_weights = 1});
  if (!model) {
    std::cerr << model.report.ToText();
    return 1;
  }
  api::Outcome<api::Executable> executable = model->Compile();
  if (!executable) {
    std::cerr << executable.report.ToText();
    return 1;
  }
  api::Tensors inputs;
  for (const api::Port& input : model->inputs()) {
    size_t volume = 1;
    for (const int64_t extent : *input.shape) volume *= static_cast<size_t>(extent);
    inputs[input.name] = *api::Tensor::Copy(*input.shape, std::vector<float>(volume, 1.0F));
  }
  api::Outcome<api::Tensors> outputs = executable->Run(inputs);
  if (!outputs) {
    std::cerr << outputs.report.ToText();
    return 1;
  }
  for (const auto& [name, tensor] : *outputs) {
    double largest = tensor.ElementAsDouble(0);
    for (int64_t i = 1; i < tensor.volume(); ++i) largest = std::max(largest, tensor.ElementAsDouble(i));
    std::printf("%s: rank %zu, largest element %g\n", name.c_str(), tensor.shape().size(), largest);
  }
  return 0;
}
