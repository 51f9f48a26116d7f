#pragma once

#include <map>
#include <optional>
#include <string>

#include "compiler/driver/data/quantization.h"
#include "compiler/ir/graph.h"
#include "compiler/package/model.h"
#include "compiler/package/tensors/random.h"
#include "compiler/support/context.h"
#include "llvm/ADT/StringSet.h"

namespace nnefc::driver {

// Returns the roles of a graph's variables, by ir::ops::VariableKey: the use of the variable by the first
// operation that reads it directly (tests/networks/README.md, rule 3). Requires a `graph` of NNEF operations.
std::map<std::string, ir::DataRole> DataRoles(const ir::Graph& graph);

// Reads quantized items without a range as the integers that tract stores by them.
void ReadPlainIntegers(package::DatFile& dat);

// The data of variables, from the model or generated from a seed. Variables with the same
// ir::ops::VariableKey share their data.
class VariableStore {
 public:
  VariableStore(const package::ModelContainer& model, const ir::Graph& graph,
                const QuantizationTable& quantization, std::optional<uint64_t> seed, Context& context);

  // Accepts data that differ from the shape in trailing singular extents, as in the provisional dialect, even
  // if the graph will be printed in the ratified dialect.
  void ImplyTrailingOnes() { trailing_ones_ = true; }

  // Returns the data of the variable, converted to `type`. Emits an error and returns nothing if they are
  // missing or do not fit.
  [[nodiscard]] std::optional<TensorValue> Load(const std::string& label, ElementType type,
                                                const ir::PartialShape& shape, const ir::Origin& origin);

  // Validates the data that a program passed for the variable. Emits an error at `origin` if they are missing
  // (unless a seed generates them), of an unsuitable type, or of another shape.
  void CheckPassed(const std::string& label, const ir::Output& variable, const ir::Origin& origin);

  // Checks the variable's file without reading its items. Emits an error if it is missing from a model with
  // data, corrupt, or of another shape.
  void CheckFile(const std::string& label, const ir::PartialShape& shape, const ir::Origin& origin);

 private:
  [[nodiscard]] std::optional<TensorValue> Read(const std::string& label, ElementType type,
                                                const Shape& shape, const ir::Origin& origin);
  [[nodiscard]] std::optional<TensorValue> ReadModel(const std::string& label, ElementType type,
                                                     Emitter& emitter);

  void EmitMissing(const std::string& label, const ir::Origin& origin);
  void EmitShape(const std::string& label, const Shape& actual, const Shape& expected,
                 const ir::Origin& origin);
  // Returns true if data of shape `actual` fit a variable of shape `expected`.
  bool Fits(const std::string& label, const Shape& actual, const Shape& expected) const;

  const package::ModelContainer& model_;
  const QuantizationTable& quantization_;
  std::optional<uint64_t> seed_;
  bool has_reported_missing_weights_ = false;
  bool trailing_ones_ = false;
  Context& context_;
  // Returns the key of the variables with a label.
  std::string KeyOf(const std::string& label) const;

  std::map<std::string, ir::DataRole> roles_;
  llvm::StringSet<> exact_labels_;
  std::map<std::string, std::optional<TensorValue>> loaded_;
};

// Emits a warning for a folder or archive without any tensor file for the variables of its graph.
void ReportNoTensorFiles(const ir::Graph& graph, const package::ModelContainer& model, Context& context);

// Checks the files of all variables of a graph, for a model with data; see VariableStore::CheckFile and
// ReportNoTensorFiles. Shapes with extents that stand for symbols are not compared.
void CheckVariableFiles(const ir::Graph& graph, const package::ModelContainer& model,
                        const QuantizationTable& quantization, bool has_trial_extents, Context& context);

// Checks the data that a program passed for the variables of a graph; see VariableStore::CheckPassed. A seed,
// if any, generates missing data.
void CheckPassedData(const ir::Graph& graph, const package::ModelContainer& model,
                     const QuantizationTable& quantization, std::optional<uint64_t> seed, Context& context);

}  // namespace nnefc::driver
