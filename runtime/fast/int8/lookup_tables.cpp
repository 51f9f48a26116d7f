// The kernel of table lookups for functions of one 8-bit tensor. A Convert and a Gather represent the lookup
// and run as one step (the transformation target.InsertLookupTables).

#include "compiler/ir/ops/arithmetic/quantized_values.h"
#include "runtime/fast/factories.h"
#include "runtime/fast/int8/quantization.h"
#include "runtime/fast/memory/blocked_layout.h"
#include "runtime/fast/reasons.h"
#include "runtime/fast/simd/int8/table_lookup_microkernel.h"
#include "runtime/tensor/parallel.h"

namespace nnefc::runtime::fast::int8 {

using kernels::Reason;

namespace {

// A lookup from 8-bit values to numbers or 8-bit values.
template <typename Number>
class LookupTable final : public kernels::Kernel {
 public:
  LookupTable(std::vector<Number> table, int64_t count) : table_(std::move(table)), count_(count) {}

  std::string implementation() const override { return "nnefc:int8_table"; }
  kernels::FaultOr<Success> Run(const kernels::KernelRun& run) const override {
    const auto* codes = reinterpret_cast<const uint8_t*>(run.input(0).bytes());
    auto* out = reinterpret_cast<Number*>(run.output().mutable_bytes());
    const Number* table = table_.data();
    tensor::ParallelParts(count_, [=](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<Number, uint8_t>) {
        simd::LookUpUint8({table, codes + begin, end - begin, out + begin});
      } else {
        simd::LookUpFloats({table, codes + begin, end - begin, out + begin});
      }
    });
    return Success();
  }

 private:
  std::vector<Number> table_;
  int64_t count_;
};

}  // namespace

kernels::KernelOrReason MakeLookupTable(const kernels::KernelRequest& request) {
  if (request.posts.empty() || request.posts.size() > 2) return Reason("no lookup follows");
  const kernels::ValueInfo& input = request.inputs[0];
  const memory::ValueQuantization* codes = memory::QuantizationOf(input);
  const auto first = static_cast<size_t>(request.posts[0].first_operand);
  const TensorValue* numbers = request.inputs[first].constant;
  if (!simd::HasSimd()) return kNeedsSimd;
  if (codes == nullptr || codes->scale != 1 || codes->zero != 0) return Reason("the input is not quantized");
  if (numbers == nullptr) return Reason("the table is not constant");
  if (numbers->type() != ElementType::kF32 || numbers->volume() != ir::ops::kQuantizedValues)
    return Reason("a table of {} elements", numbers->volume());
  const memory::BlockedFormat format = memory::FormatInF32(input);
  if (memory::IsPadded(format)) return Reason("the layout has padding channels");
  if (input.shape != request.outputs[0].shape) return Reason("the shapes differ");
  const TensorValue loaded = numbers->Loaded().Aligned(alignof(float));
  const std::vector<float> table(loaded.elements<float>().begin(), loaded.elements<float>().end());
  const int64_t count = Volume(input.shape).value_or(0);
  kernels::PreparedKernel prepared;
  prepared.inputs.resize(request.inputs.size());
  prepared.inputs[0] = input.layout;
  if (request.posts.size() == 1) {
    prepared.kernel = std::make_shared<LookupTable<float>>(table, count);
    prepared.outputs.push_back(memory::LayoutOf(format));
    return prepared;
  }
  const Int8Request coded(request);
  if (!coded.range || coded.sum) return Reason("the result is not quantized");
  std::vector<uint8_t> of_codes;
  of_codes.reserve(table.size());
  for (float number : table) of_codes.push_back(coded.range->Quantize(number));
  prepared.kernel = std::make_shared<LookupTable<uint8_t>>(std::move(of_codes), count);
  prepared.outputs.push_back(memory::QuantizedLayout(format, coded.range->codes));
  prepared.in_place = 0;
  return prepared;
}

}  // namespace nnefc::runtime::fast::int8
