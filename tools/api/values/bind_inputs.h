#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/diagnostics/diagnostics.h"
#include "compiler/support/tensor/tensor_value.h"
#include "runtime/engine/executable.h"

namespace nnefc::api {

// Returns the input with that name, or the only input that has a tensor with that name; null if there is
// none.
const runtime::engine::Port* FindPort(const std::vector<runtime::engine::Port>& ports, std::string_view name);
// Returns a message: "the graph has no input `y`; it has `x`".
std::string NoInput(const std::vector<runtime::engine::Port>& ports, std::string_view name);
// Converts data of a wider or narrower type of the same kind. Emits an error for other types.
[[nodiscard]] std::optional<TensorValue> FitType(const TensorValue& value, const runtime::engine::Port& port,
                                                 Emitter& emitter);

// Returns true if data of this shape may be used where `open` is expected.
[[nodiscard]] bool FitsShape(const ir::PartialShape& open, const Shape& shape);

// Returns advice for data whose shape differs from that of `port`, such as "; put a batch of one before it
// (..)", or an empty string. `may_reshape`: `--input-shape` can change the shapes of the graph.
std::string ShapeAdvice(const runtime::engine::Port& port, const Shape& shape, bool may_reshape);

// Returns data for an input, converted as by FitType. Emits an error for data of another shape or type.
[[nodiscard]] std::optional<TensorValue> FitInput(const TensorValue& value, const runtime::engine::Port& port,
                                                  bool may_reshape, Emitter& emitter);

// Collects named tensors in the order and types of a graph's inputs.
class InputBinder {
 public:
  // `may_reshape` as for ShapeAdvice.
  InputBinder(const std::vector<runtime::engine::Port>& ports, bool may_reshape, Emitter& emitter)
      : ports_(ports), may_reshape_(may_reshape), emitter_(emitter) {}

  // Adds a tensor from `source`. Emits an error if no input has this name, shape and type.
  void Bind(const std::string& name, TensorValue value, std::string_view source);
  // Returns the data of all inputs, or nothing if the emitter has errors. Emits an error for the first input
  // without data if there is none yet.
  [[nodiscard]] std::optional<std::vector<TensorValue>> Finish();

 private:
  const std::vector<runtime::engine::Port>& ports_;
  bool may_reshape_;
  Emitter& emitter_;
  std::map<std::string, TensorValue> bound_;
};

}  // namespace nnefc::api
