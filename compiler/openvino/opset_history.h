#pragma once

#include <string_view>

#include "compiler/ir/op_registry.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::openvino {

// The known operations of OpenVINO's sets, by their names in files.
class OpsetIndex {
 public:
  explicit OpsetIndex(const ir::OpRegistry& registry);

  // Returns the operation `type` of the set `version`, or an invalid id. A set inherits the operations of
  // earlier sets: opset8 has Add of opset1 and Pad of opset1, while opset12 has a new Pad. The case of `type`
  // is ignored.
  ir::OpId Find(std::string_view type, std::string_view version);

 private:
  ir::OpId Search(std::string_view type, std::string_view version) const;

  llvm::StringMap<ir::OpId> by_name_;  // "opset1.relu"
  llvm::StringMap<ir::OpId> found_;    // "version type" -> operation, a cache
};

}  // namespace nnefc::openvino
