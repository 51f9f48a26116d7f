#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/support/tensor/element_type.h"
#include "tools/api/report.h"

namespace nnefc::api {

// A dense row-major tensor. Its bytes never change; copies share them.
class Tensor {
 public:
  struct State;

  // Creates an f32 scalar 0.
  Tensor();
  explicit Tensor(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // Creates a tensor with a copy of `bytes`: row-major elements in native byte order, with one byte per
  // boolean. Returns nothing if the size does not match the shape, an extent is negative or memory is short.
  static std::optional<Tensor> Copy(ElementType type, const std::vector<int64_t>& shape,
                                    std::span<const std::byte> bytes);
  static std::optional<Tensor> Copy(const std::vector<int64_t>& shape, std::span<const float> values);
  // The same as Copy for bytes that the non-null `owner` keeps alive and unchanged. They are only copied if
  // they are not aligned to 16 bytes.
  static std::optional<Tensor> Borrow(ElementType type, const std::vector<int64_t>& shape,
                                      std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  ElementType type() const;
  const std::vector<int64_t>& shape() const;
  int64_t volume() const;
  std::span<const std::byte> bytes() const;
  // Returns the elements of an f32 tensor, or an empty span for other types.
  std::span<const float> floats() const;
  // Returns element `index` in row-major order; `index` must be below the volume.
  double ElementAsDouble(int64_t index) const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Tensors by name.
using Tensors = std::map<std::string, Tensor>;

// Reads a NumPy archive (.npz). `max_bytes` limits its unpacked size.
Outcome<Tensors> ReadTensors(const std::string& path, uint64_t max_bytes = uint64_t{16} << 30);
// Writes a NumPy archive under a temporary name, then renames it.
Report WriteTensors(const std::string& path, const Tensors& tensors);

// Returns max|a-b| / max|b| over all elements; NaN equals NaN. The result is 0 if all are equal, and infinite
// if shapes differ or a non-finite element differs.
double RelativeDifference(const Tensor& actual, const Tensor& expected);

}  // namespace nnefc::api
