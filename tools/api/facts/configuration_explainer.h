#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/compile_options.h"
#include "compiler/plugin/plugins.h"
#include "compiler/support/context.h"
#include "compiler/transform/configuration/configuration.h"
#include "compiler/transform/pipeline/transformation_list.h"

namespace nnefc::api {

// Describes the entries of a configuration file of transformations: the transformation that reads the entry,
// the selected nodes and, after visits, the instances in a model.
class ConfigurationExplainer {
 public:
  // Reads the configuration of the options. Returns nothing after errors.
  [[nodiscard]] static std::optional<ConfigurationExplainer> Make(const driver::TransformOptions& options,
                                                                  const plugin::Plugins& plugins,
                                                                  Context& context, bool& environment_failed);
  // Makes a compilation with these options find the instances in its model. This object must outlive it.
  void Watch(driver::TransformOptions& options);
  // Returns the description.
  std::string Text() const;

 private:
  // Finds the instances of the entries that a transformation reads, in the graph that it is about to change.
  void Visit(const transform::Transformation& transformation, const ir::Graph& graph);

  std::string path_;
  transform::Configuration configuration_;
  std::vector<int> lines_;            // line of each entry
  std::vector<std::string> readers_;  // descriptions of the entries' transformations
  std::map<size_t, std::string> instances_;
};

}  // namespace nnefc::api
