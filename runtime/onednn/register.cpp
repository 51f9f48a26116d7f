// Registration of oneDNN's implementations.

#include "runtime/onednn/register.h"

#include "runtime/onednn/reorder.h"
#include "runtime/onednn/rows.h"

namespace nnefc::runtime::onednn {

const fast::FastExtension& OneDnnExtension() {
  static constexpr fast::FastExtension kExtension = {
      .add =
          [](fast::FastTables& tables) {
            AddConvolutionRows(tables);
            AddDeconvolutionRows(tables);
            AddMatmulRows(tables);
            AddPoolingRows(tables);
            AddElementwiseRows(tables);
            AddNormalizationRows(tables);
            AddRecurrentRows(tables);
            AddAttentionRows(tables);
          },
      .make_reorder = MakeOneDnnReorder,
  };
  return kExtension;
}

}  // namespace nnefc::runtime::onednn
