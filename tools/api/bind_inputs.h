#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// The input of that name, or the only one that has a tensor so called; null if
// there is none.
const runtime::Port* FindPort(const std::vector<runtime::Port>& ports, std::string_view name);
// "the graph has no input `y`; it has `x`"
std::string NoInput(const std::vector<runtime::Port>& ports, std::string_view name);
// Data of a wider or narrower type of the same kind is converted; numbers are
// never made of another kind silently, which is emitted.
[[nodiscard]] std::optional<TensorValue> FitType(const TensorValue& value, const runtime::Port& port,
                                                 Emitter& emitter);

// Whether data may have a shape, as far as what they ought to have is known.
[[nodiscard]] bool FitsShape(const ir::PartialShape& open, const Shape& shape);

// Returns advice for data whose shape is not that of `port`, such as "; put a batch of one before it (..)";
// empty if there is none. `may_reshape`: `--input-shape` can make the graph for another shape.
std::string ShapeAdvice(const runtime::Port& port, const Shape& shape, bool may_reshape);

// Puts named tensors in the order and types of a graph's inputs.
class InputBinder {
 public:
  InputBinder(const std::vector<runtime::Port>& ports, Emitter& emitter) : ports_(ports), emitter_(emitter) {}

  // A tensor of `source`; emits a name that no input has.
  void Bind(const std::string& name, TensorValue value, std::string_view source);
  // The data of all inputs; nothing if something was emitted, or one has none.
  std::optional<std::vector<TensorValue>> Finish();

 private:
  const std::vector<runtime::Port>& ports_;
  Emitter& emitter_;
  std::map<std::string, TensorValue> bound_;
};

}  // namespace nnefc::api
