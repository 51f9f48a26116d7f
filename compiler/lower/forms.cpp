// NNEF operations without an OpenVINO form, with the reasons.

#include "compiler/lower/forms.h"

#include "compiler/lower/table.h"

namespace nnefc::lower {

namespace {

constexpr std::string_view kBins = "ROIPooling rounds regions and divides them into bins by other rules";
constexpr std::string_view kInterpolation =
    "ROIAlign interpolates across the edge of a region, where NNEF crops first";
constexpr std::string_view kWideWindow = "with a window along more than three dimensions";
constexpr std::string_view kManySpatial = "with more than three spatial dimensions";
constexpr std::string_view kConvolutionRank = "Convolution has one to three spatial dimensions";
constexpr std::string_view kPoolingRank = "MaxPool has at most three spatial dimensions";

// The complete list: no other standard operation is left after lowering.
constexpr MissingForm kForms[] = {
    {"argmax_pool", kWideWindow, kPoolingRank},
    {"avg_roi_align", "", kInterpolation},
    {"avg_roi_pool", "", kBins},
    {"conv", kManySpatial, kConvolutionRank},
    {"deconv", kManySpatial, kConvolutionRank},
    {"max_pool_with_index", kWideWindow, kPoolingRank},
    {"max_roi_align", "", kInterpolation},
    {"max_roi_pool", "", kBins},
    {"roi_resample", "", kInterpolation},
    {"separable_conv", kManySpatial, kConvolutionRank},
    {"separable_deconv", kManySpatial, kConvolutionRank},
};

}  // namespace

const MissingForm* FindMissingForm(std::string_view operation) {
  for (const MissingForm& form : kForms) {
    if (form.operation == operation) return &form;
  }
  return nullptr;
}

bool HasLowering(std::string_view operation) {
  return StandardLowerings().count(llvm::StringRef(operation.data(), operation.size())) > 0;
}

}  // namespace nnefc::lower
