// CTCGreedyDecoder.

#include <algorithm>

#include "runtime/kernels/families.h"
#include "runtime/kernels/unary.h"

namespace nnefc::runtime {

namespace {

// The first class of the highest score.
template <typename T>
int64_t BestClass(const T* scores, int64_t classes) {
  int64_t best = 0;
  for (int64_t c = 1; c < classes; ++c) {
    if (AsDouble(scores[c]) > AsDouble(scores[best])) best = c;
  }
  return best;
}

// out[n] = the best class at each time before the first 0 of the mask, without
// the blank, which is the last class, nor what follows its like where these are
// merged; then -1.
template <typename T>
void CtcGreedyDecoderAs(const ReferenceRun& run, llvm::ArrayRef<double> mask) {
  const TensorView& data = run.input(0);
  const int64_t times = data.extent(0), batches = data.extent(1), classes = data.extent(2);
  const bool merge = run.node.Bool("ctc_merge_repeated");
  ParallelFor(batches, times * classes, [&](int64_t n) {
    T* out = run.output().mutable_data<T>() + n * times;
    T* const end = out + times;
    int64_t before = -1;
    for (int64_t t = 0; t < times && mask[static_cast<size_t>(t * batches + n)] != 0; ++t) {
      const int64_t best = BestClass(data.data<T>() + (t * batches + n) * classes, classes);
      const bool is_repeated = merge && best == before;
      if (best != classes - 1 && !is_repeated) *out++ = ConvertElement<T>(static_cast<double>(best));
      before = best;
    }
    std::fill(out, end, ConvertElement<T>(-1.0));
  });
}

FaultOr<Success> CtcGreedyDecoder(const ReferenceRun& run) {
  const llvm::SmallVector<double, 8> mask = ElementsAsDoubles(run.input(1));
  if (!VisitFloatType(run.input(0).type(),
                      [&]<typename T>(TypeTag<T>) { CtcGreedyDecoderAs<T>(run, mask); })) {
    return UnsupportedType(run);
  }
  return Success();
}

}  // namespace

void RegisterCtc(KernelRegistry& registry) {
  registry.AddReference({"opset1"}, "CTCGreedyDecoder", CtcGreedyDecoder);
}

}  // namespace nnefc::runtime
