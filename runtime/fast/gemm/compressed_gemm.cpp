// Constants with compressed floats (f16, bf16, 4-bit blocks), read directly by matmuls with few rows and by
// row lookups.

#include "runtime/fast/gemm/compressed_gemm.h"

#include <algorithm>
#include <array>

#include "runtime/fast/factories.h"
#include "runtime/fast/gemm/compressed_rows.h"
#include "runtime/fast/gemm/dot_products.h"
#include "runtime/fast/reasons.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/shapes/indices.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"

namespace nnefc::runtime::fast::gemm {

using kernels::Reason;

namespace {

using Form = CompressedFloats::Form;

// Weights decompressed at a time, to stay in L1.
constexpr int64_t kTile = 1024;

// Rows of weights [inputs, outputs] accumulated per thread, enough to reach memory bandwidth.
constexpr int64_t kBlock = 512;

int64_t CountBlocks(const InnerProduct& shape) {
  return (shape.inputs + kBlock - 1) / kBlock;
}

class CompressedLayout final : public tensor::OpaqueLayout {
 public:
  explicit CompressedLayout(const CompressedFloats& floats)
      : form_(floats.form()),
        bytes_(static_cast<size_t>(CompressedFloats::ByteSize(form_, floats.count()))) {}

  size_t byte_size() const override { return bytes_; }
  bool Equals(const tensor::OpaqueLayout& other) const override {
    const auto* same = dynamic_cast<const CompressedLayout*>(&other);
    return same != nullptr && same->form_ == form_ && same->bytes_ == bytes_;
  }
  std::string ToString() const override { return Name(form_); }
  std::shared_ptr<const Buffer> BytesOf(const TensorValue& value) const override {
    const CompressedFloats* floats = value.compressed();
    return floats != nullptr && floats->form() == form_ ? floats->data() : nullptr;
  }

  static std::string Name(Form form) {
    switch (form) {
      case Form::kHalf:
        return "f16";
      case Form::kBfloat:
        return "bf16";
      case Form::kBlocksOfHalves:
      case Form::kBlocksOfPairs:
        break;
    }
    return "q4_0";
  }

 private:
  Form form_;
  size_t bytes_;
};

const CompressedFloats* CompressedOf(const kernels::ValueInfo& value) {
  return value.constant == nullptr || value.type != ElementType::kF32 ? nullptr
                                                                      : value.constant->compressed();
}

class CompressedGemm final : public kernels::Kernel {
 public:
  CompressedGemm(const InnerProduct& shape, Form form) : shape_(shape), form_(form) {}
  std::string implementation() const override { return "packed:" + CompressedLayout::Name(form_); }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const float* x = run.input(0).data<float>();
    const std::byte* weights = run.input(1).bytes();
    float* y = run.output().mutable_data<float>();
    if (shape_.inputs_first) {
      AddRows(x, weights, reinterpret_cast<float*>(run.scratch), y);
    } else {
      MultiplyRows(x, weights, y);
    }
    return Success();
  }

 private:
  // Weights [outputs, inputs]: each output is a dot product with its row.
  void MultiplyRows(const float* x, const std::byte* weights, float* y) const {
    if (shape_.rows == 1 && HasCompressedRows()) return MultiplyVector(x, weights, y);
    const LeftFactors left{x, shape_.inputs, shape_.rows};
    tensor::ParallelFor(shape_.outputs, shape_.inputs, [&](int64_t output) {
      std::array<float, kMaxLeftRows> sums = {};
      if (HasCompressedRows()) {
        DotCompressedRow(form_, weights, output * shape_.inputs, shape_.inputs, left, sums.data());
      } else {
        std::array<float, kTile> tile;
        for (int64_t input = 0; input < shape_.inputs; input += kTile) {
          const int64_t count = std::min(kTile, shape_.inputs - input);
          CompressedFloats::Unpack(form_, weights, output * shape_.inputs + input, count, tile.data());
          simd::Vectorized([&] {
            for (int64_t row = 0; row < shape_.rows; ++row)
              AddDotProducts<1>({tile.data(), kTile}, x + row * shape_.inputs + input, count, &sums[row]);
          });
        }
      }
      for (int64_t row = 0; row < shape_.rows; ++row) y[row * shape_.outputs + output] = sums[row];
    });
  }

  void MultiplyVector(const float* x, const std::byte* weights, float* y) const {
    const int64_t inputs = shape_.inputs, groups = tensor::CeilDivide(shape_.outputs, kRowsTogether);
    tensor::ParallelFor(groups, kRowsTogether * inputs, [&](int64_t group) {
      const int64_t first = group * kRowsTogether, left = shape_.outputs - first;
      if (left >= kRowsTogether)
        return DotCompressedRows(form_, weights, first * inputs, inputs, x, y + first);
      for (int64_t output = first; output < shape_.outputs; ++output)
        DotCompressedRow(form_, weights, output * inputs, inputs, {x, inputs, 1}, y + output);
    });
  }

  // Weights [inputs, outputs]: accumulates rows, with separate partial sums per block of rows.
  void AddRows(const float* x, const std::byte* weights, float* partial, float* y) const {
    const int64_t size = shape_.rows * shape_.outputs, blocks = CountBlocks(shape_);
    tensor::ParallelFor(blocks, kBlock * shape_.outputs, [&](int64_t block) {
      float* sums = block == 0 ? y : partial + (block - 1) * size;
      std::fill_n(sums, size, 0.0f);
      for (int64_t input = block * kBlock; input < std::min(shape_.inputs, (block + 1) * kBlock); ++input) {
        std::array<float, kMaxLeftRows> factors = {};
        for (int64_t row = 0; row < shape_.rows; ++row) factors[row] = x[row * shape_.inputs + input];
        AddRow(weights, input * shape_.outputs, factors.data(), sums);
      }
    });
    tensor::ParallelParts(size, [&](int64_t begin, int64_t end) {
      for (int64_t block = 1; block < blocks; ++block) {
        const float* sums = partial + (block - 1) * size;
        for (int64_t i = begin; i < end; ++i) y[i] += sums[i];
      }
    });
  }
  void AddRow(const std::byte* weights, int64_t begin, const float* factors, float* y) const {
    const int64_t count = shape_.outputs;
    if (HasCompressedRows())
      return AddCompressedRow(form_, weights, begin, count, factors, {y, count, shape_.rows});
    std::array<float, kTile> tile;
    for (int64_t first = 0; first < count; first += kTile) {
      const int64_t numbers = std::min(kTile, count - first);
      CompressedFloats::Unpack(form_, weights, begin + first, numbers, tile.data());
      simd::Vectorized([&] {
        for (int64_t row = 0; row < shape_.rows; ++row) {
          float* sums = y + row * count + first;
          for (int64_t i = 0; i < numbers; ++i) sums[i] += factors[row] * tile[i];
        }
      });
    }
  }

  InnerProduct shape_;
  Form form_;
};

// Copies row `indices[i]` of a table to row i of the result.
class CompressedLookup final : public kernels::Kernel {
 public:
  CompressedLookup(int64_t rows, int64_t width, Form form) : rows_(rows), width_(width), form_(form) {}
  std::string implementation() const override { return "packed:" + CompressedLayout::Name(form_); }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    kernels::FaultOr<std::vector<int64_t>> rows = kernels::Positions(run.input(1), rows_);
    if (!rows) return rows.error();
    const std::byte* table = run.input(0).bytes();
    float* out = run.output().mutable_data<float>();
    tensor::ParallelFor(static_cast<int64_t>(rows->size()), width_, [&](int64_t i) {
      CompressedFloats::Unpack(form_, table, (*rows)[static_cast<size_t>(i)] * width_, width_,
                               out + i * width_);
    });
    return Success();
  }

 private:
  int64_t rows_, width_;
  Form form_;
};

kernels::PreparedKernel WithInput(std::shared_ptr<const kernels::Kernel> kernel,
                                  const kernels::KernelRequest& request, size_t input,
                                  const CompressedFloats& floats) {
  kernels::PreparedKernel prepared{.kernel = std::move(kernel)};
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[input] = std::make_shared<CompressedLayout>(floats);
  prepared.outputs.resize(request.outputs.size());
  return prepared;
}

kernels::KernelOrReason MakeLookup(const kernels::KernelRequest& request) {
  const CompressedFloats* floats = CompressedOf(request.inputs[0]);
  const TensorValue* axis = request.inputs[2].constant;
  if (floats == nullptr) return Reason("the table is not compressed");
  if (axis == nullptr || axis->volume() != 1) return Reason("the axis is not constant");
  if (!request.posts.empty()) return kHasFusedOperation;
  const Shape& shape = request.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  const ir::Attribute* batch_dims = request.node->attributes().Find("batch_dims");
  const bool has_batches = batch_dims != nullptr && request.node->Int("batch_dims") != 0;
  if (rank < 1 || kernels::NormalAxis(axis->ElementAsInt(0), rank) != 0 || has_batches || shape[0] == 0)
    return Reason("another axis than the first, or batches");
  const int64_t width = kernels::VolumeOf(llvm::ArrayRef<int64_t>(shape).drop_front());
  if (width % floats->step() != 0)
    return Reason("rows of {} elements, not a multiple of {}", width, floats->step());
  return WithInput(std::make_shared<CompressedLookup>(shape[0], width, floats->form()), request, 0, *floats);
}

}  // namespace

// More rows are faster with decompressed, packed weights (processor not recorded).
Reason CompressedGemmApplies(const kernels::KernelRequest& request, const InnerProduct& shape) {
  const CompressedFloats* floats = CompressedOf(request.inputs[1]);
  if (floats == nullptr) return Reason("the matrix is not compressed");
  if (shape.rows < 1 || shape.inputs < 1) return Reason("an empty matrix");
  if (shape.rows > kMaxLeftRows) return Reason("{} rows, more than {}", shape.rows, kMaxLeftRows);
  const int64_t columns = shape.inputs_first ? shape.outputs : shape.inputs;
  if (columns % floats->step() != 0)
    return Reason("rows of {} elements, not a multiple of {}", columns, floats->step());
  return Reason();
}

kernels::KernelOrReason MakeCompressedGemm(const kernels::KernelRequest& request, const InnerProduct& shape) {
  if (!request.posts.empty()) return Reason("a fused operation");
  const CompressedFloats& floats = *CompressedOf(request.inputs[1]);
  kernels::PreparedKernel prepared =
      WithInput(std::make_shared<CompressedGemm>(shape, floats.form()), request, 1, floats);
  if (shape.inputs_first)
    prepared.scratch_bytes =
        static_cast<size_t>((CountBlocks(shape) - 1) * shape.rows * shape.outputs) * sizeof(float);
  return prepared;
}

void RegisterCompressedKernels(kernels::KernelRegistry& registry) {
  registry.AddTables(kernels::Backend::kFast, {"opset1", "opset7", "opset8"}, "Gather",
                     TableOf<MakeLookup>("compressed"));
}

}  // namespace nnefc::runtime::fast::gemm
