// The values of attributes that are left out, which OpenVINO states in defaults.txt.

#include <cmath>
#include <fstream>

#include "compiler/ir/text/text_values.h"
#include "compiler/support/context.h"
#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "tests/unit/compiler/ir/ops/opset/shape_cases.h"

namespace nnefc::ir::ops::opset {
namespace {

// The documents of OpenVINO state another default than its classes have; the rows have that of the documents.
constexpr std::string_view kOtherInDocuments[] = {"opset1.SoftMax.axis",
                                                  "opset1.LSTMCell.weights_format",
                                                  "opset2.ROIPooling.output_roi",
                                                  "opset2.ROIPooling.output_size",
                                                  "opset2.MVN.across_channels",
                                                  "opset2.MVN.eps",
                                                  "opset2.MVN.normalize_variance",
                                                  "opset2.MVN.reduction_axes",
                                                  "opset1.RegionYolo.do_softmax",
                                                  "opset1.PSROIPooling.spatial_bins_x",
                                                  "opset1.PSROIPooling.spatial_bins_y",
                                                  "opset4.CTCLoss.ctc_merge_repeated",
                                                  "opset6.ExperimentalDetectronPriorGridGenerator.flatten"};

// Whether the default of a row is that of OpenVINO, whose lists for axes have an item for each.
bool IsSame(const AttributeInfo& row, const Attribute& expected) {
  const Attribute& fallback = *row.fallback;
  switch (row.kind) {
    case AttributeKind::kDouble:
      return std::abs(fallback.AsDouble() - expected.AsDouble()) <= 1e-6 * std::abs(expected.AsDouble());
    case AttributeKind::kString:
      return expected.get<std::string>() != nullptr &&
             llvm::StringRef(fallback.AsString()).equals_insensitive(expected.AsString());
    case AttributeKind::kInts:
      if (!row.each_axis) return fallback.AsInts() == expected.AsInts();
      return llvm::all_of(expected.AsInts(), [&](int64_t item) { return item == *row.each_axis; });
    case AttributeKind::kDoubles:
      return fallback.AsDoubles() == expected.AsDoubles();
    default:
      return fallback == expected;
  }
}

TEST(OpsetDefaults, AreThoseOfOpenVino) {
  std::ifstream file("tests/unit/compiler/ir/ops/opset/defaults.txt");
  int compared = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> fields = SplitText(line, " | ");
    ASSERT_EQ(fields.size(), 5u) << line;
    const std::vector<std::string> name = SplitText(fields[0], ".");
    const OpInfo& info = Opsets().Info(Opsets().Find(name[0], name[1]));
    Context context;
    TextScanner scanner(context.sources.AddText("attribute", "{" + fields[3] + " = " + fields[4] + "}"),
                        context);
    const std::optional<AttributeMap> parsed = ir::ParseAttributesText(scanner);
    ASSERT_TRUE(parsed && parsed->size() == 1) << line;
    const auto& [attribute, expected] = *parsed->begin();
    const AttributeInfo* row = info.FindAttribute(attribute);
    const bool is_own =
        row != nullptr && row->kind == AttributeKind::kString && expected.IsList();  // `activations`
    if (row == nullptr || !row->fallback || is_own)
      continue;  // the factory has values for attributes that must be given, too
    ++compared;
    if (llvm::is_contained(kOtherInDocuments, fields[0] + "." + fields[3])) continue;
    EXPECT_TRUE(IsSame(*row, expected)) << "line " << number << ": " << fields[0] << " " << fields[3];
    // The default may be written.
    const std::string comma = fields[2].empty() ? "" : ", ";
    const std::string without = InferCase({number, fields[0], fields[1], fields[2], ""});
    const std::string with =
        InferCase({number, fields[0], fields[1], fields[2] + comma + fields[3] + " = " + fields[4], ""});
    EXPECT_EQ(with, without) << "line " << number << ": " << fields[0] << " " << fields[3];
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace nnefc::ir::ops::opset
