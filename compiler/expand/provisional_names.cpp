// Ratified names of provisional operations and arguments.

#include "compiler/expand/provisional_names.h"

namespace nnefc::expand {

std::string_view RatifiedName(std::string_view name) {
  if (name == "idn") return "copy";
  if (name == "planewise_conv") return "conv";
  if (name == "planewise_deconv") return "deconv";
  return name;
}

std::string_view ProvisionalParameter(std::string_view operation, std::string_view parameter) {
  if (operation == "matmul" && parameter == "transposeA") return "trA";
  if (operation == "matmul" && parameter == "transposeB") return "trB";
  if (operation == "transpose" && parameter == "axes") return "perm";
  return parameter;
}

bool IsPlanewise(std::string_view name) {
  return name == "planewise_conv" || name == "planewise_deconv";
}

bool IsQuantization(std::string_view name) {
  return name == "linear_quantize" || name == "logarithmic_quantize";
}

bool MayChangeMeaning(std::string_view name) {
  return IsQuantization(name) || name == "l1_normalization" || name == "l2_normalization" ||
         name == "local_variance_normalization" || name == "local_contrast_normalization" ||
         name == "separable_deconv";
}

}  // namespace nnefc::expand
