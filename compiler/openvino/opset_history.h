#pragma once

#include <string_view>

#include "compiler/ir/op_registry.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::openvino {

// The known operations of OpenVINO's sets, by what a file calls them.
class OpsetIndex {
 public:
  explicit OpsetIndex(const ir::OpRegistry& registry);

  // The operation that `type` names in `version`, or an invalid id. A set
  // holds what earlier sets introduced: opset8 has Add of opset1 and Pad of
  // opset1, opset12 has a Pad of its own. The case of `type` does not count.
  ir::OpId Find(std::string_view type, std::string_view version);

 private:
  ir::OpId Search(std::string_view type, std::string_view version) const;

  llvm::StringMap<ir::OpId> by_name_;  // "opset1.relu"
  llvm::StringMap<ir::OpId> found_;    // "version type" -> operation, of earlier calls
};

}  // namespace nnefc::openvino
