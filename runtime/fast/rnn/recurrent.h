// LSTMCell, GRUCell and RNNCell, and the corresponding sequences.
#pragma once

#include <memory>

#include "runtime/fast/rnn/recurrent_matmul.h"
#include "runtime/kernels/arithmetic/recurrent.h"
#include "runtime/kernels/implementation.h"

namespace nnefc::runtime::fast::rnn {

// A recurrent operation with all operands in f32.
struct RecurrentLayer {
  kernels::Cell cell;
  bool is_sequence;
  bool is_side_by_side;  // W and R are one matrix
  size_t w;              // input with the weights W; those of the state, R, follow
  RecurrentSizes sizes;
};
kernels::OrReason<RecurrentLayer> RecurrentLayerOf(const kernels::KernelRequest& request);

// Makes a kernel with constant weights packed in panels (recurrent_panels.h). `inputs` computes the matmuls
// of inputs if it is not null.
kernels::KernelOrReason MakePanelRecurrent(const kernels::KernelRequest& request, const RecurrentLayer& layer,
                                           std::shared_ptr<const RecurrentMatmuls> inputs);
// Makes a kernel with one matmul per step for the whole batch.
kernels::KernelOrReason MakeMatmulRecurrent(const kernels::KernelRequest& request,
                                            const RecurrentLayer& layer,
                                            std::shared_ptr<const RecurrentMatmuls> matmuls);

}  // namespace nnefc::runtime::fast::rnn
