#include "runtime/fast/filter_rows.h"

#include <algorithm>

#include "runtime/fast/dnnl_kernel.h"
#include "runtime/fast/vector_math.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime {

namespace {

// Which code of a filter each of its numbers becomes.
struct CodePlaces {
  int64_t rows, row;  // of the outermost axis, numbers of each
  // Of the number [i, j], which lies in the i-th of the rows: where its code lies, and which scale is its.
  int64_t row_stride, stride;
  int64_t row_scale, numbers_of_scale;
  bool by_columns;  // the j-th scale instead

  // Nothing of matrices that are more than that.
  static std::optional<CodePlaces> Find(llvm::ArrayRef<int64_t> shape, const DnnLayout::Form& form) {
    const auto scales = static_cast<int64_t>(form.filter_codes->scales.size());
    const int64_t rows = shape[0], row = Volume(shape.drop_front()).value_or(0);
    if (rows == 0 || row == 0 || scales == 0) return std::nullopt;
    constexpr int kColumns = 1 << 1;
    const bool is_matrix = form.filter_codes->mask == kColumns;
    if (is_matrix && (shape.size() != 2 || scales != (form.order.empty() ? row : rows))) return std::nullopt;
    if (is_matrix && form.order.empty())
      return CodePlaces{.rows = rows,
                        .row = row,
                        .row_stride = row,
                        .stride = 1,
                        .row_scale = 0,
                        .numbers_of_scale = 1,
                        .by_columns = true};
    if (is_matrix)
      return CodePlaces{.rows = rows,
                        .row = row,
                        .row_stride = 1,
                        .stride = rows,
                        .row_scale = 1,
                        .numbers_of_scale = row,
                        .by_columns = false};
    if (!form.order.empty() || scales % rows != 0 || row % (scales / rows) != 0) return std::nullopt;
    return CodePlaces{.rows = rows,
                      .row = row,
                      .row_stride = row,
                      .stride = 1,
                      .row_scale = scales / rows,
                      .numbers_of_scale = row / (scales / rows),
                      .by_columns = false};
  }
};

int8_t CodeOf(float number, float units) {
  // Rounds to the even one of two that are as near.
  constexpr float kWhole = 12582912.0F;
  const float code = std::clamp(number * units, -128.0F, 127.0F) + kWhole;
  return static_cast<int8_t>(static_cast<int>(code - kWhole));
}

// The same of a filter that is to be computed, without all of its numbers at once.
class FilterByRows final : public ConstantKernel {
 public:
  FilterByRows(std::shared_ptr<const Kernel> whole, const CodePlaces& places, std::vector<float> units,
               const dnnl::reorder::primitive_desc& to_order)
      : whole_(std::move(whole)),
        places_(places),
        units_(std::move(units)),
        to_order_(to_order),
        threads_(CurrentThreads()) {}

  std::string implementation() const override { return whole_->implementation(); }
  FaultOr<Success> Run(const KernelRun& run) const override { return whole_->Run(run); }

  FaultOr<Success> RunByRows(const TensorValue& value, std::byte* out) const override {
    return GuardedDnnRun(threads_, [&](dnnl::stream& stream) {
      dnnl::memory codes(to_order_.src_desc(), DnnEngine());
      dnnl::memory target(to_order_.dst_desc(), DnnEngine(), out);
      WriteCodes(value, static_cast<int8_t*>(codes.get_data_handle()));
      dnnl::reorder(to_order_).execute(stream, codes, target);
      // Before the codes are gone.
      stream.wait();
    });
  }

 private:
  void WriteCodes(const TensorValue& value, int8_t* codes) const {
    constexpr int64_t kNumbers = 1 << 16;
    const int64_t step = std::max<int64_t>(1, kNumbers / places_.row);
    for (int64_t first = 0; first < places_.rows; first += step) {
      const int64_t last = std::min(places_.rows, first + step);
      const TensorValue part = value.LoadedRows(first, last);
      const auto* numbers = reinterpret_cast<const float*>(part.bytes());
      ParallelFor(places_.stride == 1 ? last - first : 1, places_.row, [&](int64_t at) {
        if (places_.stride == 1) return WriteRow(numbers + at * places_.row, first + at, codes);
        WriteColumns(numbers, first, last, codes);
      });
    }
  }

  void WriteRow(const float* numbers, int64_t row, int8_t* codes) const {
    int8_t* out = codes + row * places_.row_stride;
    const float* units = units_.data() + row * places_.row_scale;
    Vectorized([&] {
      if (places_.by_columns) {
        for (int64_t j = 0; j < places_.row; ++j) out[j] = CodeOf(numbers[j], units[j]);
        return;
      }
      for (int64_t begin = 0; begin < places_.row; begin += places_.numbers_of_scale) {
        const float unit = units[begin / places_.numbers_of_scale];
        for (int64_t j = begin; j < begin + places_.numbers_of_scale; ++j) out[j] = CodeOf(numbers[j], unit);
      }
    });
  }

  // Rows become columns.
  void WriteColumns(const float* numbers, int64_t first, int64_t last, int8_t* codes) const {
    for (int64_t j = 0; j < places_.row; ++j) {
      int8_t* out = codes + j * places_.stride;
      for (int64_t i = first; i < last; ++i)
        out[i] = CodeOf(numbers[(i - first) * places_.row + j], units_[static_cast<size_t>(i)]);
    }
  }

  std::shared_ptr<const Kernel> whole_;
  CodePlaces places_;
  std::vector<float> units_;  // of each scale, by what numbers are multiplied
  dnnl::reorder::primitive_desc to_order_;
  int threads_;
};

}  // namespace

std::shared_ptr<const Kernel> WithFilterRows(std::shared_ptr<const Kernel> whole,
                                             llvm::ArrayRef<int64_t> shape, const DnnLayout::Form& form,
                                             const dnnl::memory::desc& target) {
  if (whole == nullptr || !form.filter_codes || shape.empty()) return whole;
  const std::optional<CodePlaces> places = CodePlaces::Find(shape, form);
  const dnnl::engine& engine = DnnEngine();
  const dnnl::reorder::primitive_desc to_order(engine, PlainDesc(target.dims(), DnnType::s8), engine, target,
                                               dnnl::primitive_attr(), true);
  if (!places || !to_order) return whole;
  std::vector<float> units;
  for (float scale : form.filter_codes->scales) units.push_back(1 / scale);
  return std::make_shared<FilterByRows>(std::move(whole), *places, std::move(units), to_order);
}

}  // namespace nnefc::runtime
