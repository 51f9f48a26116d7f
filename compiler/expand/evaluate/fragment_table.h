#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "compiler/expand/build/build_settings.h"
#include "compiler/expand/evaluate/chunk.h"
#include "compiler/expand/evaluate/compile.h"
#include "compiler/expand/plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace nnefc::expand::evaluate {

// The treatment of calls of a fragment, and its compiled forms, shared by all calls.
struct FragmentInfo {
  enum class Mode : uint8_t { kUnknown, kInstantiate, kOperation, kInstantiateIfChanged };
  Mode mode = Mode::kUnknown;
  bool casts = false;  // a parameter or result may turn a literal into a tensor
  std::unique_ptr<Chunk> chunk;
  std::unique_ptr<OpPlan> plan;
  std::vector<std::unique_ptr<Value>> defaults;  // indexed by parameter, evaluated on demand
};

// The fragments of a document, its library, its extensions and its submodels.
class FragmentTable {
 public:
  explicit FragmentTable(const build::BuildSettings& settings) : settings_(settings) {}

  FragmentInfo& Info(const semantics::Callee& callee);
  // Returns the compiled body of a fragment.
  const Chunk& BodyOf(const semantics::Callee& callee, FragmentInfo& info);
  // Returns the plan of a fragment whose calls become nodes.
  const OpPlan& PlanOf(const semantics::Callee& callee, FragmentInfo& info);
  // Returns the compiled body of a submodel's graph.
  const Chunk& GraphOf(const semantics::CheckedDocument& document);
  // Returns the function that looks up default values of parameters.
  DefaultLookup Defaults() {
    return [this](const semantics::Callee& callee, size_t parameter) { return Default(callee, parameter); };
  }

 private:
  FragmentInfo::Mode ModeOf(const semantics::Callee& callee) const;
  bool LowerRequested(std::string_view name) const;
  const Value* Default(const semantics::Callee& callee, size_t parameter);

  struct DocumentInfos {
    const semantics::CheckedDocument* document = nullptr;
    std::vector<std::unique_ptr<FragmentInfo>> fragments = {};  // indexed by FragmentId
  };
  const build::BuildSettings& settings_;
  llvm::SmallVector<DocumentInfos, 4> infos_;
  llvm::DenseMap<const semantics::CheckedDocument*, std::unique_ptr<Chunk>> graphs_;
};

}  // namespace nnefc::expand::evaluate
