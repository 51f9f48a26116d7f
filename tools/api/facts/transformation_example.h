#pragma once

#include <string>

#include "compiler/plugin/plugins.h"
#include "compiler/transform/pipeline/transformation_list.h"

namespace nnefc::api {

// The graph of a transformation's example before and after it, as text; empty if it has no working example.
struct TransformationExample {
  std::string before;
  std::string after;
};

// Runs a transformation of the list on its example. The evaluator has the kernels of the plug-ins.
TransformationExample RunExample(const transform::Transformation& transformation,
                                 const transform::TransformationList& list, const plugin::Plugins& plugins);

}  // namespace nnefc::api
