#pragma once

#include <span>
#include <string_view>

namespace nnefc::semantics::foreign {

// NNEF's equivalent of an operation of PyTorch, ONNX, Keras, JAX, TensorFlow, NumPy, Caffe or OpenVINO.
// Several rows may share a name if frameworks define it differently.
struct ForeignOperation {
  // Names in lower case without `_`, separated by blanks. A number of dimensions (`2d`) is included only if
  // the name without it is a different operation.
  std::string_view names;
  // NNEF's name of the same function with the same arguments; empty if there is none.
  std::string_view ours;
  // NNEF code for the function of the first tensors `x`, `y`, `z`: an expression, or statements with the
  // result `y`. `..` is an argument of the framework's operation; other names describe themselves.
  std::string_view formula;
  // Further information, such as a condition or an extension.
  std::string_view note;
  // Frameworks with this definition, such as "PyTorch, ONNX"; empty for all that have the name.
  std::string_view frameworks;
  // Parameters whose defaults differ in NNEF: the function is the same only if all of them are named.
  std::string_view needs;

  bool is_known() const { return !ours.empty() || !formula.empty(); }
};

// A row for the same function under another name.
constexpr ForeignOperation Renamed(std::string_view names, std::string_view ours) {
  return {names, ours, "", "", "", ""};
}
// A row like Renamed, valid only if the parameters `needs` are named; `formula` shows them.
constexpr ForeignOperation RenamedIf(std::string_view needs, std::string_view names, std::string_view ours,
                                     std::string_view formula, std::string_view note = "",
                                     std::string_view frameworks = "") {
  return {names, ours, formula, note, frameworks, needs};
}
// A row for a function that NNEF expresses by `formula`.
constexpr ForeignOperation Computed(std::string_view names, std::string_view formula,
                                    std::string_view note = "", std::string_view frameworks = "") {
  return {names, "", formula, note, frameworks, ""};
}
// A row for a function that NNEF cannot express.
constexpr ForeignOperation Missing(std::string_view names, std::string_view note = "",
                                   std::string_view frameworks = "") {
  return {names, "", "", note, frameworks, ""};
}

// The note for a reduction that removes the axes in its framework.
inline constexpr std::string_view kKeepsAxes = "which keeps the axes with extent 1";

// The tables, one per family of operations.
std::span<const ForeignOperation> ForeignArithmetic();
std::span<const ForeignOperation> ForeignActivations();
std::span<const ForeignOperation> ForeignWindows();
std::span<const ForeignOperation> ForeignReductions();
std::span<const ForeignOperation> ForeignShapes();
std::span<const ForeignOperation> ForeignMatrices();
std::span<const ForeignOperation> ForeignOthers();

}  // namespace nnefc::semantics::foreign
