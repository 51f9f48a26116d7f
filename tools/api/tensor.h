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

  // f32, shape [], 0.
  Tensor();
  explicit Tensor(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  // A tensor with a copy of `bytes`: as many as the elements of the shape take,
  // outermost extent first, in the machine's byte order; a boolean is a byte.
  // Nothing where the number is another, an extent is negative or memory is short.
  static std::optional<Tensor> Copy(ElementType type, const std::vector<int64_t>& shape,
                                    std::span<const std::byte> bytes);
  static std::optional<Tensor> Copy(const std::vector<int64_t>& shape, std::span<const float> values);
  // As Copy, of bytes that `owner`, which is not null, keeps alive and unchanged:
  // they are copied only where they are not aligned to 16 bytes.
  static std::optional<Tensor> Borrow(ElementType type, const std::vector<int64_t>& shape,
                                      std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  ElementType type() const;
  const std::vector<int64_t>& shape() const;
  int64_t volume() const;
  std::span<const std::byte> bytes() const;
  // The elements of a tensor of type f32; nothing of others.
  std::span<const float> floats() const;
  // Element `index` in row-major order, which must be below the volume.
  double ElementAsDouble(int64_t index) const;

  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// Tensors by name.
using Tensors = std::map<std::string, Tensor>;

// Reads NumPy's archive of arrays (.npz). `max_bytes` bounds its unpacked size.
Outcome<Tensors> ReadTensors(const std::string& path, uint64_t max_bytes = uint64_t{16} << 30);
// Writes one, aside and then renamed.
Report WriteTensors(const std::string& path, const Tensors& tensors);

// max|a-b| / max|b| over all elements; NaN equals NaN. 0 where all are equal,
// infinite where shapes differ, or one is not finite and the other differs.
double RelativeDifference(const Tensor& actual, const Tensor& expected);

}  // namespace nnefc::api
