#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "CLI/CLI.hpp"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// The common part of commands that lower a model and write or print its graph.
struct LoweredCommand : CommonOptions {
  driver::TransformOptions transform;
  std::optional<uint64_t> random_weights;
  bool force = false;
  bool list = false;
  std::string updated_configuration;

  // Adds the options for common settings, output, transformations and random weights.
  void AddTo(CLI::App& command);

  // Lists transformations or updates their configuration, if requested. Otherwise lowers the model and writes
  // its graph in the format of the output's extension. `reported` is called after diagnostics are reported,
  // also after errors. `command` is the name of the command. Returns the exit code.
  int LowerAndWrite(std::string_view command,
                    const std::function<void(const api::Program&)>& reported = nullptr);

 protected:
  // Returns the options to lower the model. `structure_only` accepts variables without data.
  driver::CompileOptions LoweringOptions(bool structure_only) const;

 private:
  // Returns the exit code.
  int UpdateConfiguration() const;
};

}  // namespace nnefc::cli
