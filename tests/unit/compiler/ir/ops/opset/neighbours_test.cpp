// Shape functions of OpenVINO operations where one input is not as in a case of shape_cases.txt.

#include <fstream>
#include <map>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

// How many results of an operation are not those of OpenVINO.
struct Differences {
  int refused = 0;   // but accepted by OpenVINO
  int accepted = 0;  // but refused by OpenVINO
  int other = 0;     // types with more unknown extents than OpenVINO's, or with fewer
  bool operator==(const Differences&) const = default;
};

void PrintTo(const Differences& differences, std::ostream* out) {
  *out << "{" << differences.refused << ", " << differences.accepted << ", " << differences.other << "}";
}

// Refused: element types that OpenVINO compares only when it compiles a model, or converts; extents that are
// compared there (of recurrent cells), or never, so that it reads beyond the data (of proposals, regions and
// prior boxes). Accepted: an empty batch of a pool; inputs of an unknown rank; numbers in tensors of one
// element. Other: intervals of windows of unknown kernels, and extents that follow from another input's.
const std::map<std::string, Differences>& ExpectedDifferences() {
  static const std::map<std::string, Differences> expected{
      {"opset1.AvgPool", {0, 3, 0}},
      {"opset1.BatchNormInference", {0, 0, 2}},
      {"opset1.Broadcast", {1, 0, 0}},
      {"opset1.CTCGreedyDecoder", {4, 0, 0}},
      {"opset1.Concat", {0, 0, 3}},
      {"opset1.Convolution", {0, 0, 11}},
      {"opset1.ConvolutionBackpropData", {0, 0, 12}},
      {"opset1.DeformableConvolution", {0, 0, 6}},
      {"opset1.DeformablePSROIPooling", {12, 0, 1}},
      {"opset1.DetectionOutput", {4, 14, 0}},
      {"opset1.FakeQuantize", {39, 0, 3}},
      {"opset1.GRN", {4, 0, 0}},
      {"opset1.Gather", {2, 0, 1}},
      {"opset1.GroupConvolution", {0, 0, 5}},
      {"opset1.GroupConvolutionBackpropData", {0, 0, 10}},
      {"opset1.LRN", {4, 0, 0}},
      {"opset1.LSTMCell", {7, 1, 0}},
      {"opset1.Less", {0, 0, 4}},
      {"opset1.MaxPool", {0, 3, 0}},
      {"opset1.NonMaxSuppression", {5, 3, 0}},
      {"opset1.NormalizeL2", {2, 0, 0}},
      {"opset1.OneHot", {0, 0, 1}},
      {"opset1.PReLU", {12, 0, 0}},
      {"opset1.PSROIPooling", {0, 6, 0}},
      {"opset1.Pad", {0, 0, 2}},
      {"opset1.PriorBox", {15, 0, 0}},
      {"opset1.PriorBoxClustered", {6, 0, 0}},
      {"opset1.Proposal", {23, 6, 0}},
      {"opset1.RNNCell", {4, 0, 0}},
      {"opset1.RegionYolo", {9, 3, 3}},
      {"opset1.Reshape", {0, 0, 1}},
      {"opset1.Reverse", {0, 1, 0}},
      {"opset1.Select", {0, 0, 7}},
      {"opset1.Selu", {4, 0, 1}},
      {"opset1.Squeeze", {8, 0, 0}},
      {"opset1.StridedSlice", {0, 0, 13}},
      {"opset1.VariadicSplit", {1, 0, 2}},
      {"opset11.Interpolate", {4, 2, 0}},
      {"opset12.ScatterElementsUpdate", {0, 0, 1}},
      {"opset13.FakeConvert", {0, 0, 3}},
      {"opset13.Multinomial", {0, 0, 2}},
      {"opset13.ScaledDotProductAttention", {0, 0, 11}},
      {"opset14.AvgPool", {0, 2, 0}},
      {"opset14.ConvertPromoteTypes", {0, 0, 6}},
      {"opset14.MaxPool", {0, 2, 0}},
      {"opset15.EmbeddingBagOffsets", {0, 2, 0}},
      {"opset15.EmbeddingBagPacked", {0, 1, 0}},
      {"opset15.STFT", {0, 0, 5}},
      {"opset15.ScatterNDUpdate", {0, 0, 1}},
      {"opset15.SliceScatter", {12, 0, 4}},
      {"opset15.Squeeze", {8, 0, 0}},
      {"opset16.AvgPool", {0, 2, 0}},
      {"opset16.ISTFT", {10, 0, 5}},
      {"opset16.OneHot", {0, 0, 1}},
      {"opset16.SparseFillEmptyRows", {4, 1, 2}},
      {"opset2.BatchToSpace", {0, 0, 6}},
      {"opset2.ROIPooling", {0, 2, 0}},
      {"opset2.ReorgYolo", {4, 0, 2}},
      {"opset2.SpaceToBatch", {0, 0, 6}},
      {"opset3.Broadcast", {0, 0, 1}},
      {"opset3.EmbeddingBagOffsetsSum", {0, 2, 0}},
      {"opset3.EmbeddingBagPackedSum", {0, 1, 0}},
      {"opset3.EmbeddingSegmentsSum", {0, 8, 0}},
      {"opset3.GRUCell", {12, 0, 0}},
      {"opset3.NonMaxSuppression", {5, 0, 0}},
      {"opset3.ROIAlign", {0, 0, 3}},
      {"opset3.ScatterElementsUpdate", {0, 0, 1}},
      {"opset4.CTCLoss", {0, 1, 0}},
      {"opset4.LSTMCell", {4, 0, 0}},
      {"opset4.NonMaxSuppression", {5, 0, 0}},
      {"opset4.Proposal", {23, 6, 0}},
      {"opset4.ScatterNDUpdate", {0, 0, 1}},
      {"opset4.Swish", {0, 2, 0}},
      {"opset5.GatherND", {1, 0, 0}},
      {"opset5.LSTMSequence", {15, 0, 0}},
      {"opset5.NonMaxSuppression", {1, 0, 0}},
      {"opset6.CTCGreedyDecoderSeqLen", {2, 0, 0}},
      {"opset6.ExperimentalDetectronGenerateProposalsSingleImage", {6, 0, 0}},
      {"opset6.GatherElements", {0, 1, 3}},
      {"opset6.MVN", {9, 0, 0}},
      {"opset7.Einsum", {0, 0, 3}},
      {"opset8.DeformableConvolution", {2, 0, 9}},
      {"opset8.DetectionOutput", {4, 14, 4}},
      {"opset8.Gather", {0, 0, 2}},
      {"opset8.GatherND", {1, 0, 0}},
      {"opset8.MatrixNms", {0, 2, 3}},
      {"opset8.MaxPool", {0, 3, 0}},
      {"opset8.MulticlassNms", {0, 3, 3}},
      {"opset8.PriorBox", {15, 0, 0}},
      {"opset8.RandomUniform", {0, 2, 0}},
      {"opset8.Slice", {0, 0, 1}},
      {"opset9.GenerateProposals", {16, 0, 2}},
      {"opset9.IRDFT", {0, 0, 1}},
      {"opset9.MulticlassNms", {0, 3, 3}},
      {"opset9.NonMaxSuppression", {1, 0, 0}},
      {"opset9.RDFT", {0, 0, 1}},
      {"opset9.ROIAlign", {0, 0, 6}},
  };
  return expected;
}

TEST(OpsetShapes, AreThoseOfOpenVinoForNeighbours) {
  std::ifstream file("tests/unit/compiler/ir/ops/opset/neighbour_cases.txt");
  std::map<std::string, Differences> found;
  ShapeCase base;
  int number = 0, compared = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with("opset")) {
      const std::vector<std::string> fields = SplitText(line, " | ");
      ASSERT_EQ(fields.size(), 3u) << line;
      base = {number, fields[0], fields[1], fields[2], ""};
      continue;
    }
    const size_t blank = line.find(' '), arrow = line.find(" => ");
    ASSERT_NE(arrow, std::string::npos) << line;
    ShapeCase neighbour = base;
    neighbour.results = line.substr(arrow + 4);
    std::vector<std::string> inputs = SplitText(base.inputs, "; ");
    inputs.at(static_cast<size_t>(std::stoi(line))) = line.substr(blank + 1, arrow - blank - 1);
    neighbour.inputs = fmt::format("{}", fmt::join(inputs, "; "));
    const std::string inferred = InferCase(neighbour);
    ++compared;
    const bool is_refused = inferred.starts_with("opset."), is_error = neighbour.results == "error";
    if (is_refused ? is_error : inferred == neighbour.results) continue;
    Differences& differences = found[base.op];
    ++(is_refused ? differences.refused : is_error ? differences.accepted : differences.other);
    if (!ExpectedDifferences().contains(base.op))
      ADD_FAILURE() << "line " << number << ": " << base.op << ": " << inferred;
  }
  EXPECT_GT(compared, 6000);
  for (const auto& [op, differences] : ExpectedDifferences()) EXPECT_EQ(found[op], differences) << op;
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
