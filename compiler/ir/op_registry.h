#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/ids.h"
#include "llvm/ADT/StringMap.h"

namespace nnefc::ir {

struct OpTag;
using OpId = TypedId<OpTag>;

class InferContext;
// Checks the arguments of a node and sets its outputs' types and shapes;
// mistakes are emitted through the context.
using InferFunction = void (*)(InferContext&);

// The name of the set of NNEF operations.
inline constexpr std::string_view kNnefSet = "nnef";

// A tensor input in the order of the signature.
struct InputInfo {
  std::string name;
  bool variadic = false;  // `tensor<scalar>[]`: any number of inputs
  bool optional = false;  // may be left out (OpenVINO) or has a default (NNEF)
};

// What is known of an operation beyond its NNEF declaration.
struct OpInfo {
  std::string set;      // "nnef", "opset1" .. "opset13", or a vendor's
  std::string name;     // "conv", "Convolution"
  std::string section;  // where it is specified: "R 4.3.1"; or the opset document
  std::vector<InputInfo> inputs;
  std::vector<std::string> outputs;  // names of results; a variadic last one ends with "[]"
  InferFunction infer = nullptr;
  bool is_source = false;  // Parameter, Const, external, constant, variable
  bool is_sink = false;    // update, Assign: kept although nothing uses it
};

// The operations that a run knows: an OpId indexes it. Open: custom
// primitives, plug-ins and unknown layers add rows.
class OpRegistry {
 public:
  OpRegistry() = default;
  // Begins with the operations of `base`, which keep their ids. `base` must
  // outlive this registry and not grow any more; threads may share it.
  explicit OpRegistry(const OpRegistry* base) : base_(base), infos_(base->infos_) {}
  OpRegistry(OpRegistry&&) = default;
  OpRegistry& operator=(OpRegistry&&) = default;

  // Adds an operation; a set holds a name once (later opsets hold new
  // versions of a name).
  OpId Add(OpInfo info);
  // The operation of exactly that set and name, or an invalid id.
  OpId Find(std::string_view set, std::string_view name) const;
  // The OpenVINO operation `name` by the set that introduced it, the newest
  // first.
  OpId FindNewest(std::string_view name) const;
  const OpInfo& Info(OpId op) const { return *infos_[op]; }
  size_t size() const { return infos_.size(); }

 private:
  OpId FindKey(llvm::StringRef key) const;

  const OpRegistry* base_ = nullptr;
  ValueStore<OpId, const OpInfo*> infos_;  // those of the base, too
  std::vector<std::unique_ptr<OpInfo>> added_;
  llvm::StringMap<OpId> by_name_;  // "set.name" of what was added
};

// Registers NNEF's standard operations and the OpenVINO operations of
// ir/ops: one Register<Family>() call each.
void RegisterStandardOps(OpRegistry& registry);

// The registry of these operations that the process shares.
const OpRegistry& StandardOps();

}  // namespace nnefc::ir
