#include "tests/fuzz/mutators/operation_names.h"

#include "compiler/ir/op_registry.h"

namespace nnefc::fuzz {

const std::vector<OperationName>& OperationNames() {
  static const std::vector<OperationName> names = [] {
    const ir::OpRegistry& registry = ir::StandardOps();
    std::vector<OperationName> found;
    for (size_t i = 0; i < registry.size(); ++i) {
      const ir::OpInfo& info = registry.Info(ir::OpId(static_cast<int32_t>(i)));
      found.push_back({info.set, info.name});
    }
    return found;
  }();
  return names;
}

}  // namespace nnefc::fuzz
