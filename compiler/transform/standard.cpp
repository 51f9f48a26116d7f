#include "compiler/transform/standard.h"

namespace nnefc::transform {

TransformationList StandardTransformations() {
  TransformationList list;
  RegisterAnchors(list);
  RegisterFusions(list);
  return list;
}

}  // namespace nnefc::transform
