#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "CLI/CLI.hpp"
#include "compiler/driver/compilation.h"
#include "tools/nnefc/common.h"

namespace nnefc::cli {

// What the commands share that lower a model and write or print its graph.
struct LoweredCommand : CommonOptions {
  TransformOptions transform;
  std::optional<uint64_t> random_weights;
  bool force = false;
  bool list = false;
  std::string updated_configuration;

  // Adds the common options, those of the product, of transformations and of
  // data that variables lack.
  void AddTo(CLI::App& command);

  // Where it is asked for, lists transformations or updates their configuration
  // in place of all else. Otherwise lowers the model and writes its graph in the form that the end of the
  // output's name says. `told` is called once what was told is reported, also after mistakes. Returns the
  // exit code; `command` is the name of the command.
  int LowerAndWrite(std::string_view command, const std::function<void(const Compilation&)>& told = nullptr);

 private:
  // Returns the exit code.
  int UpdateConfiguration() const;
  // The text form, to standard output or a file; beside `net.ir` the elements of
  // large constants go to `net.bin`.
  void WriteText(const ir::Graph& graph) const;
};

}  // namespace nnefc::cli
