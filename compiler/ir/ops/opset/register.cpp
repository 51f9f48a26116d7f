// Registration of the operations of OpenVINO.

#include "compiler/ir/ops/opset/register.h"

#include <utility>

#include "compiler/ir/ops/opset/detection/rows.h"
#include "compiler/ir/ops/opset/schema.h"
#include "compiler/ir/ops/opset/signal/rows.h"
#include "compiler/ir/ops/opset/sparse/rows.h"

namespace nnefc::ir::ops::opset {

void RegisterOpsets(OpRegistry& registry) {
  for (auto family : {CoreRows,
                      ElementwiseRows,
                      ActivationRows,
                      ConvolutionRows,
                      PoolingRows,
                      ResamplingRows,
                      MatmulRows,
                      ReduceRows,
                      ShapeOpsRows,
                      SectionRows,
                      SlicingRows,
                      IndexingRows,
                      GatherNdRows,
                      CountingRows,
                      RearrangingRows,
                      AttentionRows,
                      NormalizationRows,
                      QuantizationRows,
                      RoiRows,
                      YoloRows,
                      DetectionRows,
                      PriorBoxRows,
                      CtcRows,
                      RecurrentRows,
                      ControlFlowRows,
                      signal::FourierRows,
                      signal::UniqueRows,
                      signal::RandomRows,
                      signal::ColorRows,
                      sparse::EmbeddingRows,
                      sparse::SegmentRows,
                      detection::ClassSelectionRows,
                      detection::DeformableRows,
                      detection::ProposalRows,
                      detection::PooledRegionRows}) {
    for (OpInfo& row : family()) registry.Add(std::move(row));
  }
}

}  // namespace nnefc::ir::ops::opset
