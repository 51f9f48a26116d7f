// GatherND, ScatterUpdate and ScatterNDUpdate.

#include <algorithm>
#include <cstring>

#include "compiler/support/tensor/element_visitor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

using tensor::TensorView;

namespace {

// Calls use(first, offsets) for consecutive tuples in the last axis of `indices`, from tuple `first` on: the
// offset of each, in blocks, among `extents`. Negative coordinates count from the end. Parts of tuples take
// little memory.
FaultOr<Success> ForTupleOffsets(const TensorView& indices, llvm::ArrayRef<int64_t> extents,
                                 llvm::function_ref<void(int64_t, llvm::ArrayRef<int64_t>)> use) {
  constexpr int64_t kTogether = 4096;
  const auto length = static_cast<int64_t>(extents.size());
  const int64_t count = length == 0 ? 0 : indices.volume() / length;
  std::vector<int64_t> offsets(static_cast<size_t>(std::min(count, kTogether)));
  FaultOr<Success> result = Success();
  const bool known = VisitIntegerType(indices.type(), [&]<typename T>(TypeTag<T>) {
    const T* items = indices.data<T>();
    for (int64_t first = 0; first < count; first += kTogether) {
      const int64_t some = std::min(kTogether, count - first);
      for (int64_t tuple = 0; tuple < some; ++tuple, items += length) {
        int64_t offset = 0;
        for (int64_t i = 0; i < length; ++i) {
          const int64_t extent = extents[static_cast<size_t>(i)];
          const auto at = static_cast<int64_t>(items[i]);
          if (at < -extent || at >= extent) {
            result = KernelFault("index {} is outside an axis of extent {}", at, extent);
            return;
          }
          offset = offset * extent + NormalAxis(at, extent);
        }
        offsets[static_cast<size_t>(tuple)] = offset;
      }
      use(first, llvm::ArrayRef<int64_t>(offsets).take_front(static_cast<size_t>(some)));
    }
  });
  if (!known) return KernelFault("indices have the element type {}", Name(indices.type()));
  return result;
}

// out[batch, i.., rest] = data[batch, indices[batch, i.., :].., rest]
FaultOr<Success> GatherNd(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const auto batch_dims = static_cast<size_t>(run.node.Int("batch_dims"));
  const auto length = static_cast<size_t>(indices.shape().back());
  const llvm::ArrayRef<int64_t> shape = data.shape();
  const int64_t batches = VolumeOf(shape.take_front(batch_dims));
  const llvm::ArrayRef<int64_t> indexed = shape.slice(batch_dims, length);
  const int64_t block =
      VolumeOf(shape.drop_front(batch_dims + length)) * static_cast<int64_t>(data.element_bytes());
  const int64_t count = VolumeOf(llvm::ArrayRef<int64_t>(indices.shape()).drop_back());
  const int64_t per_batch = batches == 0 ? 0 : count / batches;
  return ForTupleOffsets(indices, indexed, [&](int64_t first, llvm::ArrayRef<int64_t> offsets) {
    if (block == 0) return;
    tensor::ParallelFor(static_cast<int64_t>(offsets.size()), block, [&](int64_t i) {
      const int64_t batch = (first + i) / per_batch;
      const int64_t from = batch * VolumeOf(indexed) + offsets[static_cast<size_t>(i)];
      std::memcpy(run.output().mutable_bytes() + (first + i) * block, data.bytes() + from * block,
                  static_cast<size_t>(block));
    });
  });
}

void CopyData(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  if (data.byte_size() > 0 && data.bytes() != run.output().bytes()) {
    std::memcpy(run.output().mutable_bytes(), data.bytes(), data.byte_size());
  }
}

// out[.., indices[i..], ..] = updates[.., i.., ..]; the last of equal indices wins.
FaultOr<Success> ScatterUpdate(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& updates = run.input(2);
  const FaultOr<size_t> given = AxisOf(run.input(3), data.rank());
  if (!given) return given.error();
  const size_t axis = *given;
  const llvm::ArrayRef<int64_t> shape = data.shape();
  FaultOr<std::vector<int64_t>> positions = Positions(run.input(1), shape[axis]);
  if (!positions) return positions.error();
  const int64_t needed = VolumeOf(shape.take_front(axis)) * static_cast<int64_t>(positions->size()) *
                         VolumeOf(shape.drop_front(axis + 1));
  if (updates.volume() != needed) return KernelFault("{} updates; expected {}", updates.volume(), needed);
  CopyData(run);
  const int64_t block = VolumeOf(shape.drop_front(axis + 1)) * static_cast<int64_t>(data.element_bytes());
  const auto count = static_cast<int64_t>(positions->size());
  for (int64_t row = 0; row < VolumeOf(shape.take_front(axis)); ++row) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t to = row * shape[axis] + (*positions)[static_cast<size_t>(i)];
      std::memcpy(run.output().mutable_bytes() + to * block, updates.bytes() + (row * count + i) * block,
                  static_cast<size_t>(block));
    }
  }
  return Success();
}

// Calls body(combine) with the function of a reduction other than `none`, of an element and its update.
template <typename C, typename Body>
void VisitReduction(const std::string& reduction, const Body& body) {
  if (reduction == "sum") return body([](C a, C b) { return static_cast<C>(a + b); });
  if (reduction == "sub") return body([](C a, C b) { return static_cast<C>(a - b); });
  if (reduction == "prod") return body([](C a, C b) { return static_cast<C>(a * b); });
  if (reduction == "min") return body([](C a, C b) { return b < a ? b : a; });
  body([](C a, C b) { return a < b ? b : a; });  // max
}

// Copies blocks of bytes to their offsets, in blocks. Consecutive ones are copied together.
void CopyBlocks(llvm::ArrayRef<int64_t> offsets, size_t block, const std::byte* from, std::byte* to) {
  for (size_t begin = 0, end = 0; begin < offsets.size(); begin = end) {
    for (end = begin + 1; end < offsets.size() && offsets[end] == offsets[end - 1] + 1;) ++end;
    std::memcpy(to + static_cast<size_t>(offsets[begin]) * block, from + begin * block,
                (end - begin) * block);
  }
}

// out[indices[i.., :].., rest] is combined with updates[i.., rest] sequentially.
FaultOr<Success> ScatterNdUpdate(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const TensorView& updates = run.input(2);
  const auto length = static_cast<size_t>(indices.shape().back());
  const llvm::ArrayRef<int64_t> shape = data.shape();
  const llvm::ArrayRef<int64_t> indexed = shape.take_front(length);
  CopyData(run);
  const int64_t block = VolumeOf(shape.drop_front(length));
  const std::string& reduction = run.node.String("reduction");
  if (reduction.empty() || reduction == "none") {
    const int64_t bytes = block * static_cast<int64_t>(data.element_bytes());
    return ForTupleOffsets(indices, indexed, [&](int64_t first, llvm::ArrayRef<int64_t> offsets) {
      if (bytes > 0)
        CopyBlocks(offsets, static_cast<size_t>(bytes), updates.bytes() + first * bytes,
                   run.output().mutable_bytes());
    });
  }
  FaultOr<Success> result = Success();
  const bool known = VisitAnyType(data.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    T* out = run.output().mutable_data<T>();
    VisitReduction<C>(reduction, [&](const auto& combine) {
      result = ForTupleOffsets(indices, indexed, [&](int64_t first, llvm::ArrayRef<int64_t> offsets) {
        const T* update = updates.data<T>() + first * block;
        for (int64_t offset : offsets) {
          for (int64_t i = 0; i < block; ++i, ++update) {
            T& element = out[offset * block + i];
            element = T(combine(static_cast<C>(element), static_cast<C>(*update)));
          }
        }
      });
    });
  });
  if (!known) return UnsupportedType(run);
  return result;
}

}  // namespace

void RegisterGatherNd(KernelRegistry& registry) {
  registry.AddReference({"opset5", "opset8"}, "GatherND", GatherNd);
  registry.AddReference({"opset3"}, "ScatterUpdate", ScatterUpdate);
  registry.AddReference({"opset4", "opset15"}, "ScatterNDUpdate", ScatterNdUpdate);
}

}  // namespace nnefc::runtime::kernels
