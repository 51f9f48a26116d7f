// Several runs of a session with the data of all of them, such as the parts of a stream.

#include "tools/api/runs_in_turn.h"

#include <cstring>
#include <new>

namespace nnefc::api {

using runtime::kernels::FaultOr;
using runtime::kernels::KernelFault;

namespace {

// Returns part `index` of a tensor along its first axis, without that axis.
TensorValue PartOf(const TensorValue& whole, int64_t index) {
  const Shape shape(whole.shape().begin() + 1, whole.shape().end());
  const size_t size = whole.byte_size() / static_cast<size_t>(whole.shape()[0]);
  return TensorValue(whole.type(), shape,
                     Buffer::Slice(whole.buffer(), static_cast<size_t>(index) * size, size))
      .AlignedToElements();
}

// Returns tensors of one type and shape along a new first axis.
TensorValue Stack(const std::vector<TensorValue>& parts) {
  const TensorValue& first = parts.front();
  Shape shape = {static_cast<int64_t>(parts.size())};
  shape.append(first.shape().begin(), first.shape().end());
  const std::shared_ptr<Buffer> bytes = Buffer::Allocate(first.byte_size() * parts.size());
  if (bytes == nullptr) throw std::bad_alloc();
  for (size_t i = 0; i < parts.size(); ++i)
    std::memcpy(bytes->mutable_data() + i * first.byte_size(), parts[i].bytes(), first.byte_size());
  return TensorValue(first.type(), shape, bytes);
}

}  // namespace

FaultOr<std::vector<TensorValue>> RunInTurn(runtime::engine::Session& session,
                                            const std::vector<TensorValue>& inputs, int64_t runs) {
  std::vector<std::vector<TensorValue>> outputs;  // by output, then by run
  for (int64_t run = 0; run < runs; ++run) {
    std::vector<TensorValue> parts;
    for (const TensorValue& input : inputs) {
      if (BitWidth(input.type()) < 8)
        return KernelFault("elements of {} do not fill whole bytes", Name(input.type()));
      parts.push_back(PartOf(input, run));
    }
    FaultOr<std::vector<TensorValue>> results = session.Run(parts);
    if (!results) return results.error();
    outputs.resize(results->size());
    for (size_t i = 0; i < results->size(); ++i) {
      const TensorValue& result = (*results)[i];
      if (run > 0 && result.shape() != outputs[i].front().shape()) {
        return KernelFault("output {} has the shape {} in run {} and {} before; one array cannot have both",
                           i, ToString(result.shape()), run, ToString(outputs[i].front().shape()));
      }
      outputs[i].push_back(result);
    }
  }
  std::vector<TensorValue> stacked;
  stacked.reserve(outputs.size());
  for (const std::vector<TensorValue>& parts : outputs) stacked.push_back(Stack(parts));
  return stacked;
}

}  // namespace nnefc::api
