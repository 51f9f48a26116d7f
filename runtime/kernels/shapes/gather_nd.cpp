// GatherND, ScatterUpdate and ScatterNDUpdate.

#include <cstring>

#include "runtime/kernels/arithmetic/unary.h"
#include "runtime/kernels/attributes.h"
#include "runtime/kernels/registry.h"
#include "runtime/kernels/shapes/indices.h"

namespace nnefc::runtime::kernels {

using tensor::TensorView;

namespace {

// Returns the offset, in blocks, of each tuple in the last axis of `indices` among `extents`. Negative
// coordinates count from the end.
FaultOr<std::vector<int64_t>> TupleOffsets(const TensorView& indices, llvm::ArrayRef<int64_t> extents) {
  const size_t length = extents.size();
  FaultOr<std::vector<int64_t>> items = IndexElements(indices);
  if (!items) return items.error();
  std::vector<int64_t> offsets;
  for (size_t tuple = 0; tuple + length <= items->size(); tuple += length) {
    int64_t offset = 0;
    for (size_t i = 0; i < length; ++i) {
      const int64_t at = (*items)[tuple + i];
      if (at < -extents[i] || at >= extents[i]) {
        return KernelFault("index {} is outside an axis of extent {}", at, extents[i]);
      }
      offset = offset * extents[i] + NormalAxis(at, extents[i]);
    }
    offsets.push_back(offset);
  }
  return offsets;
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
  FaultOr<std::vector<int64_t>> offsets = TupleOffsets(indices, indexed);
  if (!offsets) return offsets.error();
  const auto count = static_cast<int64_t>(offsets->size());
  const int64_t per_batch = batches == 0 ? 0 : count / batches;
  tensor::ParallelFor(count, block, [&](int64_t i) {
    const int64_t from = i / per_batch * VolumeOf(indexed) + (*offsets)[static_cast<size_t>(i)];
    if (block > 0) {
      std::memcpy(run.output().mutable_bytes() + i * block, data.bytes() + from * block,
                  static_cast<size_t>(block));
    }
  });
  return Success();
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

template <typename C>
C Reduced(const std::string& reduction, C a, C b) {
  if (reduction == "sum") return static_cast<C>(a + b);
  if (reduction == "sub") return static_cast<C>(a - b);
  if (reduction == "prod") return static_cast<C>(a * b);
  if (reduction == "min") return b < a ? b : a;
  if (reduction == "max") return a < b ? b : a;
  return b;
}

// out[indices[i.., :].., rest] is combined with updates[i.., rest] sequentially.
FaultOr<Success> ScatterNdUpdate(const ReferenceRun& run) {
  const TensorView& data = run.input(0);
  const TensorView& indices = run.input(1);
  const auto length = static_cast<size_t>(indices.shape().back());
  const llvm::ArrayRef<int64_t> shape = data.shape();
  FaultOr<std::vector<int64_t>> offsets = TupleOffsets(indices, shape.take_front(length));
  if (!offsets) return offsets.error();
  CopyData(run);
  const int64_t block = VolumeOf(shape.drop_front(length));
  const std::string& reduction = run.node.String("reduction");
  const bool known = VisitAnyType(data.type(), [&]<typename T>(TypeTag<T>) {
    using C = ComputeType<T>;
    T* out = run.output().mutable_data<T>();
    const T* update = run.input(2).data<T>();
    for (int64_t offset : *offsets) {
      for (int64_t i = 0; i < block; ++i, ++update) {
        T& element = out[offset * block + i];
        element = T(Reduced(reduction, static_cast<C>(element), static_cast<C>(*update)));
      }
    }
  });
  if (!known) return UnsupportedType(run);
  return Success();
}

}  // namespace

void RegisterGatherNd(KernelRegistry& registry) {
  registry.AddReference({"opset5", "opset8"}, "GatherND", GatherNd);
  registry.AddReference({"opset3"}, "ScatterUpdate", ScatterUpdate);
  registry.AddReference({"opset4", "opset15"}, "ScatterNDUpdate", ScatterNdUpdate);
}

}  // namespace nnefc::runtime::kernels
