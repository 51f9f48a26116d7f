// The C++ interface's tensors.

#include "tools/api/tensor.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler/driver/rules.h"
#include "compiler/package/tensors/npz.h"
#include "tools/api/internals.h"
#include "tools/api/values/difference.h"

namespace nnefc::api {

Tensor::State::State(TensorValue tensor) : value(std::move(tensor)) {
  shape.assign(value.shape().begin(), value.shape().end());
}

Tensor ToTensor(TensorValue value) {
  // Users read elements as numbers, so they must be aligned.
  return Tensor(std::make_shared<Tensor::State>(value.Aligned(alignof(std::max_align_t))));
}

Tensor::Tensor() : Tensor(std::make_shared<State>(TensorValue::Scalar(0))) {}

namespace {

// Returns whether the elements of a shape occupy this number of bytes.
bool Fill(ElementType type, const std::vector<int64_t>& shape, size_t bytes) {
  const std::optional<int64_t> volume = Volume(shape);
  const std::optional<size_t> size = volume ? ByteSize(type, *volume) : std::nullopt;
  return size && *size == bytes && BitWidth(type) != 0;
}

}  // namespace

std::optional<Tensor> Tensor::Copy(ElementType type, const std::vector<int64_t>& shape,
                                   std::span<const std::byte> bytes) {
  if (!Fill(type, shape, bytes.size())) return std::nullopt;
  auto buffer = Buffer::Allocate(bytes.size());
  if (buffer == nullptr) return std::nullopt;
  if (!bytes.empty()) std::memcpy(buffer->mutable_data(), bytes.data(), bytes.size());
  return ToTensor(TensorValue(type, Shape(shape.begin(), shape.end()), std::move(buffer)));
}

std::optional<Tensor> Tensor::Borrow(ElementType type, const std::vector<int64_t>& shape,
                                     std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  if (!Fill(type, shape, bytes.size())) return std::nullopt;
  return ToTensor(
      TensorValue(type, Shape(shape.begin(), shape.end()), Buffer::Borrow(bytes, std::move(owner))));
}

std::optional<Tensor> Tensor::Copy(const std::vector<int64_t>& shape, std::span<const float> values) {
  return Copy(ElementType::kF32, shape, std::as_bytes(values));
}

ElementType Tensor::type() const {
  return state_->value.type();
}
const std::vector<int64_t>& Tensor::shape() const {
  return state_->shape;
}
int64_t Tensor::volume() const {
  return state_->value.volume();
}
std::span<const std::byte> Tensor::bytes() const {
  return {state_->value.bytes(), state_->value.byte_size()};
}
std::span<const float> Tensor::floats() const {
  if (type() != ElementType::kF32) return {};
  const llvm::ArrayRef<float> elements = state_->value.elements<float>();
  return {elements.data(), elements.size()};
}
double Tensor::ElementAsDouble(int64_t index) const {
  return state_->value.ElementAsDouble(index);
}

Outcome<Tensors> ReadTensors(const std::string& path, uint64_t max_bytes) {
  return Guard([&]() -> Outcome<Tensors> {
    Context context;
    ErrorOr<package::DataSource> source = package::OpenData(path, context);
    if (!source) return {.value = std::nullopt, .report = EnvironmentReport(source.error().message)};
    auto read = package::ReadNpz(*source, context, {.max_bytes = max_bytes});
    Outcome<Tensors> outcome{.value = std::nullopt, .report = TakeReport(context)};
    if (!read) return outcome;
    outcome.value.emplace();
    for (package::NamedTensor& tensor : *read)
      outcome.value->emplace(tensor.name, ToTensor(std::move(tensor.value)));
    return outcome;
  });
}

Report WriteTensors(const std::string& path, const Tensors& tensors) {
  return Guard([&]() -> Report {
    std::vector<package::NamedTensor> named;
    named.reserve(tensors.size());
    for (const auto& [name, tensor] : tensors) named.push_back({name, tensor.state().value});
    auto written = package::WriteNpz(path, named);
    return written ? Report() : EnvironmentReport(written.error().message);
  });
}

double RelativeDifference(const TensorValue& actual, const TensorValue& expected) {
  if (actual.shape() != expected.shape()) return std::numeric_limits<double>::infinity();
  double difference = 0;
  double magnitude = 0;
  for (int64_t i = 0; i < actual.volume(); ++i) {
    const double a = actual.ElementAsDouble(i);
    const double b = expected.ElementAsDouble(i);
    const bool both_nan = std::isnan(a) && std::isnan(b);
    if (both_nan || a == b) {
      if (std::isfinite(b)) magnitude = std::max(magnitude, std::abs(b));
      continue;
    }
    if (!std::isfinite(a) || !std::isfinite(b)) return std::numeric_limits<double>::infinity();
    difference = std::max(difference, std::abs(a - b));
    magnitude = std::max(magnitude, std::abs(b));
  }
  if (difference == 0) return 0;
  return magnitude == 0 ? std::numeric_limits<double>::infinity() : difference / magnitude;
}

double RelativeDifference(const Tensor& actual, const Tensor& expected) {
  return RelativeDifference(actual.state().value, expected.state().value);
}

}  // namespace nnefc::api
