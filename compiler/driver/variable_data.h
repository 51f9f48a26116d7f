#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/driver/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/package/model.h"
#include "compiler/package/random.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc {

// The roles of a graph's variables, by ir::VariableKey: what the first
// operation that takes the variable directly uses it for
// (tests/networks/README.md, rule 3). `graph` is of NNEF operations.
std::map<std::string, ir::DataRole> DataRoles(const ir::Graph& graph);

// Finds the data of variables: in the model, or made from a seed. Variables
// of one ir::VariableKey share their data.
class VariableStore {
 public:
  VariableStore(const ModelContainer& model, const ir::Graph& graph, const QuantizationTable& quantization,
                std::optional<uint64_t> seed, Context& context);

  // Data may lack or have trailing singular extents, as in the provisional
  // dialect, also where the graph is made to be printed in the other one.
  void ImplyTrailingOnes() { trailing_ones_ = true; }

  // The data of the variable, converted to `type`; nothing if there is none
  // or it does not fit, which was emitted.
  [[nodiscard]] std::optional<TensorValue> Load(const std::string& label, ElementType type,
                                                const ir::PartialShape& shape, const ir::Origin& origin);

  // Emits at `origin` whether data that a program passed for the variable are missing, of a type that the
  // variable cannot have, or of another shape. None need be passed where a seed makes them.
  void CheckPassed(const std::string& label, const ir::Output& variable, const ir::Origin& origin);

  // Emits what of the variable's file can be told without its items: that it is
  // missing from a model with data, damaged, or of another shape.
  void CheckFile(const std::string& label, const ir::PartialShape& shape, const ir::Origin& origin);

 private:
  [[nodiscard]] std::optional<TensorValue> Read(const std::string& label, ElementType type,
                                                const Shape& shape, const ir::Origin& origin);
  [[nodiscard]] std::optional<TensorValue> ReadModel(const std::string& label, ElementType type,
                                                     Emitter& emitter);

  void EmitMissing(const std::string& label, const ir::Origin& origin);
  void EmitShape(const std::string& label, const Shape& actual, const Shape& expected,
                 const ir::Origin& origin);
  // True if data of one shape are those of a variable of the other.
  bool Fits(const std::string& label, const Shape& actual, const Shape& expected) const;

  const ModelContainer& model_;
  const QuantizationTable& quantization_;
  std::optional<uint64_t> seed_;
  bool told_of_no_weights_ = false;
  bool trailing_ones_ = false;
  Context& context_;
  // The key of the variables with a label.
  std::string KeyOf(const std::string& label) const;

  std::map<std::string, ir::DataRole> roles_;
  llvm::StringSet<> exact_labels_;
  std::map<std::string, std::optional<TensorValue>> loaded_;
};

// Warns of a folder or archive that holds no tensor file at all for the variables of its graph.
void ReportNoTensorFiles(const ir::Graph& graph, const ModelContainer& model, Context& context);

// Checks the files of all variables of a graph that the model holds data for;
// see VariableStore::CheckFile and ReportNoTensorFiles.
void CheckVariableFiles(const ir::Graph& graph, const ModelContainer& model,
                        const QuantizationTable& quantization, Context& context);

// Checks the data that a program passed for the variables of a graph, by a seed for those without
// any; see VariableStore::CheckPassed.
void CheckPassedData(const ir::Graph& graph, const ModelContainer& model,
                     const QuantizationTable& quantization, std::optional<uint64_t> seed, Context& context);

}  // namespace nnefc
