// Kernels that pack quantized filters.

#include "runtime/fast/int8/convolution/filter_packing.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/fast/simd/dispatch.h"
#include "runtime/fast/simd/loop_math.h"
#include "runtime/tensor/parallel.h"
#include "runtime/tensor/round_up.h"
#include "runtime/tensor/thread_team.h"

namespace nnefc::runtime::fast::int8 {

namespace {

using Places = std::vector<int64_t>;

// The assignment of scales to the numbers of a filter.
struct NumberScales {
  int64_t rows, row;  // extent of the outermost axis, and numbers per row
  // Row i has the scales starting at `i * row_scale`, each for numbers_of_scale consecutive numbers.
  int64_t row_scale, numbers_of_scale;
  bool by_columns;  // true if number j has scale j instead

  // Returns nullopt for filters that are not matrices.
  static std::optional<NumberScales> Find(llvm::ArrayRef<int64_t> shape,
                                          const memory::BlockedLayout::Form& form) {
    const auto scales = static_cast<int64_t>(form.filter_codes->scales.size());
    const int64_t rows = shape[0], row = Volume(shape.drop_front()).value_or(0);
    if (rows == 0 || row == 0 || scales == 0) return std::nullopt;
    constexpr int kColumns = 1 << 1;
    NumberScales found{
        .rows = rows, .row = row, .row_scale = 1, .numbers_of_scale = row, .by_columns = false};
    if (form.filter_codes->mask == kColumns) {
      found.by_columns = form.order.empty();
      if (shape.size() != 2 || scales != (found.by_columns ? row : rows)) return std::nullopt;
      return found;
    }
    if (!form.order.empty() || scales % rows != 0 || row % (scales / rows) != 0) return std::nullopt;
    found.row_scale = scales / rows;
    found.numbers_of_scale = row / found.row_scale;
    return found;
  }
};

// Returns the offsets of elements in row-major order over some axes.
Places PlacesOfRow(const memory::BlockedFormat& target, llvm::ArrayRef<size_t> axes) {
  Places places = {0};
  for (size_t axis : axes) {
    Places longer;
    for (int64_t place : places) {
      for (int64_t more : memory::PlacesOfAxis(target, axis)) longer.push_back(place + more);
    }
    places = std::move(longer);
  }
  return places;
}

// The offsets of a quantized filter's elements.
struct QuantizedOffsets {
  Places rows;  // offset of the first element of each row
  // Source and target index within a row, sorted by target.
  std::vector<int32_t> from, to;
  bool four_together = false;  // targets always come in groups of four consecutive ones
  bool four_in_a_row = false;  // the sources too
  int64_t sums = 0;            // byte offset of the compensation (sums per scale); 0 if there are none
  int64_t inner_scales = 1, inner_sums = 1;  // extents of the innermost axis of scales and of sums
  size_t bytes = 0;
  bool is_padded = false;

  int32_t* SumOf(int64_t scale, std::byte* out) const {
    const int64_t at = scale / inner_scales * inner_sums + scale % inner_scales;
    return reinterpret_cast<int32_t*>(out + sums) + at;
  }
};

bool AreFourTogether(const std::vector<int32_t>& numbers) {
  if (numbers.size() % 4 != 0) return false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != numbers[i / 4 * 4] + static_cast<int32_t>(i % 4)) return false;
  }
  return true;
}

// Compensation sums follow the filter if the source's zero point is not 0.
bool FindSums(const memory::BlockedFormat& target, int mask, QuantizedOffsets& places) {
  if (target.sum_axes == 0) return true;
  if (target.sum_axes != mask) return false;
  size_t codes = 1;
  for (size_t axis = 0; axis < target.shape().size(); ++axis) {
    codes *= static_cast<size_t>(target.padded_extents[axis]);
    if ((mask & 1 << axis) == 0) continue;
    places.inner_scales = target.extents[axis];
    places.inner_sums = target.padded_extents[axis];
  }
  if (codes % sizeof(int32_t) != 0) return false;
  places.sums = static_cast<int64_t>(codes);
  return true;
}

std::optional<QuantizedOffsets> FindPlaces(const NumberScales& numbers,
                                           const memory::BlockedLayout::Form& form,
                                           const memory::BlockedFormat& target) {
  if (!target.is_blocked() || target.type != memory::StorageType::kS8) return std::nullopt;
  QuantizedOffsets places;
  places.bytes = target.byte_size();
  if (places.bytes > INT32_MAX || !FindSums(target, form.filter_codes->mask, places)) return std::nullopt;
  memory::AxisOrder axes = form.order;
  for (size_t axis = 0; axes.size() < target.shape().size(); ++axis) axes.push_back(axis);
  if (target.extents[axes[0]] != numbers.rows) return std::nullopt;
  places.rows = memory::PlacesOfAxis(target, axes[0]);
  const Places row = PlacesOfRow(target, llvm::ArrayRef<size_t>(axes).drop_front());
  if (static_cast<int64_t>(row.size()) != numbers.row) return std::nullopt;
  places.from.resize(row.size());
  std::iota(places.from.begin(), places.from.end(), 0);
  std::sort(places.from.begin(), places.from.end(),
            [&](int32_t a, int32_t b) { return row[static_cast<size_t>(a)] < row[static_cast<size_t>(b)]; });
  for (int32_t number : places.from)
    places.to.push_back(static_cast<int32_t>(row[static_cast<size_t>(number)]));
  places.four_together = AreFourTogether(places.to);
  places.four_in_a_row = places.four_together && AreFourTogether(places.from);
  places.is_padded = places.bytes != static_cast<size_t>(numbers.rows * numbers.row);
  return places;
}

[[gnu::always_inline]] inline int8_t Quantize(float number, float units) {
  // Rounds half to even.
  constexpr float kWhole = 12582912.0F;
  const float code = simd::VectorClamp(number * units, -128.0F, 127.0F) + kWhole;
  return static_cast<int8_t>(static_cast<int>(code - kWhole));
}

class FilterPacking final : public kernels::ConstantKernel {
 public:
  FilterPacking(const NumberScales& numbers, QuantizedOffsets places, std::vector<float> units)
      : numbers_(numbers),
        places_(std::move(places)),
        units_(std::move(units)),
        threads_(tensor::CurrentThreads()) {}

  std::string implementation() const override { return "nnefc:filter_rows"; }

  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const float* numbers = run.input(0).data<float>();
    WriteBySteps(run.output().mutable_bytes(),
                 [&](int64_t first, int64_t /*last*/, auto write) { write(numbers + first * numbers_.row); });
    return Success();
  }

  kernels::FaultOr<Success> RunByRows(const TensorValue& value, std::byte* out) const override {
    const TensorValue rows = value.Reshaped({numbers_.rows, numbers_.row});
    WriteBySteps(out, [&](int64_t first, int64_t last, auto write) {
      const TensorValue part = rows.LoadedRows(first, last).Aligned(alignof(float));
      write(part.elements<float>().data());
    });
    return Success();
  }

 private:
  // Calls `read(first, last, write)` for consecutive groups of rows that fit a core's cache; `read` calls
  // `write` with their numbers.
  template <typename Read>
  void WriteBySteps(std::byte* out, Read read) const {
    constexpr int64_t kNumbers = 1 << 15;
    const tensor::ThreadScope scope(threads_);
    const int64_t step = std::clamp<int64_t>(kNumbers * threads_ / numbers_.row, 1, numbers_.rows);
    std::vector<int8_t> codes(static_cast<size_t>(step * numbers_.row));
    // Padding holds 0, and sums start from 0.
    if (places_.is_padded) std::memset(out, 0, places_.bytes);
    for (int64_t first = 0; first < numbers_.rows; first += step) {
      const int64_t last = std::min(numbers_.rows, first + step);
      read(first, last, [&](const float* numbers) { WriteRows(numbers, first, last, codes.data(), out); });
    }
  }

  void WriteRows(const float* numbers, int64_t first, int64_t last, int8_t* codes, std::byte* out) const {
    // Rows with adjacent results, and rows that share sums, belong to the same thread.
    constexpr int64_t kTogether = 16;
    const bool shares_sums = numbers_.by_columns && places_.sums != 0;
    const int64_t count = last - first, together = shares_sums ? count : kTogether;
    tensor::ParallelFor((count + together - 1) / together, together * numbers_.row, [&](int64_t part) {
      const int64_t end = std::min(count, (part + 1) * together);
      for (int64_t i = part * together; i < end; ++i) {
        const int64_t row = first + i, at = i * numbers_.row;
        QuantizeRow(numbers + at, row, codes + at);
        if (places_.sums != 0) AddSums(codes + at, row, out);
        Place(codes + at, reinterpret_cast<int8_t*>(out) + places_.rows[static_cast<size_t>(row)]);
      }
    });
  }

  void QuantizeRow(const float* numbers, int64_t row, int8_t* codes) const {
    if (numbers_.by_columns) {
      const float* units = units_.data();
      simd::Vectorized([=, count = numbers_.row] {
        for (int64_t j = 0; j < count; ++j) codes[j] = Quantize(numbers[j], units[j]);
      });
      return;
    }
    const float* units = units_.data() + row * numbers_.row_scale;
    simd::Vectorized([=, scales = numbers_.row_scale, count = numbers_.numbers_of_scale] {
      for (int64_t i = 0; i < scales; ++i) {
        const float unit = units[i];
        for (int64_t j = i * count; j < (i + 1) * count; ++j) codes[j] = Quantize(numbers[j], unit);
      }
    });
  }

  // Adds the compensation: negative sums of quantized values, multiplied by the source's zero point in
  // oneDNN.
  void AddSums(const int8_t* codes, int64_t row, std::byte* out) const {
    if (numbers_.by_columns) {
      for (int64_t j = 0; j < numbers_.row; ++j) *places_.SumOf(j, out) -= codes[j];
      return;
    }
    for (int64_t i = 0; i < numbers_.row_scale; ++i) {
      const int8_t* begin = codes + i * numbers_.numbers_of_scale;
      *places_.SumOf(row * numbers_.row_scale + i, out) -=
          std::accumulate(begin, begin + numbers_.numbers_of_scale, 0);
    }
  }

  void Place(const int8_t* codes, int8_t* out) const {
    const std::vector<int32_t>&from = places_.from, &to = places_.to;
    if (places_.four_in_a_row) {
      for (size_t i = 0; i < to.size(); i += 4) std::memcpy(out + to[i], codes + from[i], 4);
    } else if (places_.four_together) {
      for (size_t i = 0; i < to.size(); i += 4) {
        const int8_t four[] = {codes[from[i]], codes[from[i + 1]], codes[from[i + 2]], codes[from[i + 3]]};
        std::memcpy(out + to[i], four, sizeof(four));
      }
    } else {
      for (size_t i = 0; i < to.size(); ++i) out[to[i]] = codes[from[i]];
    }
  }

  NumberScales numbers_;
  QuantizedOffsets places_;
  std::vector<float> units_;  // factors per scale
  int threads_;
};

}  // namespace

std::shared_ptr<const kernels::ConstantKernel> MakeFilterPacking(llvm::ArrayRef<int64_t> shape,
                                                                 const memory::BlockedLayout::Form& form,
                                                                 const memory::BlockedFormat& target) {
  if (!form.filter_codes || shape.empty()) return nullptr;
  // Rows of a filter may be divided into groups.
  const llvm::ArrayRef<int64_t> groups = target.shape();
  if (form.order.empty() && groups.size() == 3 && Volume(groups) == Volume(shape)) shape = groups;
  const std::optional<NumberScales> numbers = NumberScales::Find(shape, form);
  if (!numbers) return nullptr;
  std::optional<QuantizedOffsets> places = FindPlaces(*numbers, form, target);
  if (!places) return nullptr;
  std::vector<float> units;
  units.reserve(form.filter_codes->scales.size());
  for (float scale : form.filter_codes->scales) units.push_back(1 / scale);
  return std::make_shared<FilterPacking>(*numbers, std::move(*places), std::move(units));
}

tensor::Layout FilterOfTiles(llvm::ArrayRef<int64_t> filter, size_t output_axis, int64_t inputs_together,
                             bool has_sums, memory::BlockedLayout::Form form) {
  const size_t input_axis = 1 - output_axis;
  memory::BlockedFormat format = memory::RowMajorFormat(filter, memory::StorageType::kS8);
  format.padded_extents[output_axis] = tensor::RoundUp(filter[output_axis], simd::kBlockColumns);
  format.padded_extents[input_axis] = tensor::RoundUp(filter[input_axis], inputs_together);
  format.num_blocks = 2;
  format.blocks[0] = {static_cast<int64_t>(output_axis), simd::kBlockColumns};
  format.blocks[1] = {static_cast<int64_t>(input_axis), inputs_together};
  int64_t stride = inputs_together * simd::kBlockColumns;
  format.strides[input_axis] = stride;
  stride *= format.padded_extents[input_axis] / inputs_together;
  for (size_t axis = filter.size(); axis-- > 2; stride *= filter[axis]) format.strides[axis] = stride;
  format.strides[output_axis] = stride;
  if (has_sums) format.sum_axes = 1 << output_axis;
  return std::make_shared<memory::BlockedLayout>(std::move(format), std::move(form));
}

void StripFilter::Pack(const int8_t* given, int64_t tiles, int8_t* out) const {
  constexpr int64_t kOutputs = simd::kBlockColumns;
  const int64_t padded = tensor::RoundUp(length_, together_);
  for (int64_t strip = 0; strip < tiles * strips_; ++strip, out += padded * kOutputs) {
    std::fill_n(out + (padded - together_) * kOutputs, together_ * kOutputs, int8_t{0});
    for (int64_t i = 0; i < length_; ++i, given += kOutputs) {
      int8_t* to = out + i / together_ * together_ * kOutputs + i % together_;
      for (int64_t output = 0; output < kOutputs; ++output) to[together_ * output] = given[output];
    }
  }
}

tensor::Layout DepthwiseFilter(llvm::ArrayRef<int64_t> filter, memory::BlockedLayout::Form form) {
  return std::make_shared<memory::BlockedLayout>(
      memory::AxisBlockedFormat(filter, 0, simd::kBlockColumns, memory::StorageType::kS8), std::move(form));
}

}  // namespace nnefc::runtime::fast::int8
